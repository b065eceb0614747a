/* Evidence for suspects: numbers and operations that only one of the two regions has, and inputs
 * that differ. */
#include "runtime/view/diff/match/ranking.h"

#include <assert.h>
#include <math.h>

/* Inputs of the two regions: values that only one of them reads, and steps of A that B leaves
 * out. */

static void add_input(struct ranking *ranking, unsigned side, uint32_t content)
{
    for (size_t i = 0; i < ranking->input_counts[side]; i++) {
        if (ranking->inputs[side][i] == content) {
            return;
        }
    }
    if (ranking->input_counts[side] < INPUTS_MAX) {
        ranking->inputs[side][ranking->input_counts[side]++] = content;
    }
}

void match_collect_inputs(struct ranking *ranking, unsigned side)
{
    const struct match_contents *contents = &ranking->match->contents[side];

    for (uint32_t i = 0; i < contents->count; i++) {
        if (!ranking->region->is_in[side][i]) {
            continue;
        }
        for (uint32_t k = contents->in.first[i]; k < contents->in.first[i + 1]; k++) {
            uint32_t source = contents->in.items[k];

            if (contents->items[source].partner != MATCH_NONE) {
                add_input(ranking, side, source);
            }
        }
    }
}

/* Blames the lines of the region that read the content. */
static void blame_readers(struct ranking *ranking,
                          uint32_t content,
                          enum match_reason reason,
                          double score)
{
    const struct match_contents *contents = &ranking->match->contents[1];

    assert(content < contents->count);
    for (uint32_t i = contents->out.first[content];
         i < contents->out.first[content + 1]; i++) {
        uint32_t reader = contents->out.items[i];

        if (match_is_suspect(ranking, reader)) {
            match_blame(match_add_line(ranking, contents->items[reader].first), reason,
                        score);
        }
    }
}

static bool has_input(const struct ranking *ranking, unsigned side, uint32_t content)
{
    for (size_t i = 0; i < ranking->input_counts[side]; i++) {
        if (ranking->inputs[side][i] == content) {
            return true;
        }
    }
    return false;
}

/* Whether the region of `side` reads the content and the other region does not read its partner. */
static bool
is_read_alone(const struct ranking *ranking, unsigned side, uint32_t content)
{
    const struct match_contents *contents = ranking->match->contents;
    const struct match_content *item = &contents[side].items[content];

    assert(content < contents[side].count);
    if (item->is_weak || item->is_weight) {
        return false;
    }
    if (side == 1) {
        return !has_input(ranking, 0, item->partner);
    }
    for (size_t i = 0; i < ranking->input_counts[1]; i++) {
        if (contents[1].items[ranking->inputs[1][i]].partner == content) {
            return false;
        }
    }
    return true;
}

/* The content that A's region reads where B's reads `input`; MATCH_NONE: none. */
static uint32_t find_replaced(const struct ranking *ranking, uint32_t input)
{
    const struct match_contents *contents = ranking->match->contents;

    for (size_t i = 0; i < ranking->input_counts[0]; i++) {
        uint32_t other = ranking->inputs[0][i];

        if (is_read_alone(ranking, 0, other) &&
            match_count_of(&contents[0], other) ==
                match_count_of(&contents[1], input)) {
            return other;
        }
    }
    return MATCH_NONE;
}

/* The weight with the highest score among the inputs of the content; NULL: none. */
static struct match_suspect *find_weight_above(struct ranking *ranking,
                                               uint32_t content)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    struct match_suspect *worst = NULL;

    assert(content < contents->count);
    for (uint32_t i = contents->in.first[content]; i < contents->in.first[content + 1];
         i++) {
        for (size_t k = 0; k < ranking->leave->suspect_count; k++) {
            struct match_suspect *suspect = &ranking->leave->suspects[k];

            if (suspect->is_weight &&
                (worst == NULL || suspect->score > worst->score) &&
                contents->run->values[suspect->value].content ==
                    contents->in.items[i]) {
                worst = suspect;
            }
        }
    }
    return worst;
}

/* Whether weights of B's region may be parts of A's weight, as q is of packed q, k and v. */
static bool is_split(const struct ranking *ranking, uint32_t content)
{
    const struct match_contents *contents = &ranking->match->contents[1];

    assert(content < ranking->match->contents[0].count);
    uint64_t whole = match_count_of(&ranking->match->contents[0], content), parts = 0;

    for (uint32_t i = 0; i < contents->count; i++) {
        if (ranking->region->is_in[1][i] && contents->items[i].is_weight &&
            match_count_of(contents, i) > 0 &&
            whole % match_count_of(contents, i) == 0) {
            parts++;
        }
    }
    return parts > 0 && ranking->match->contents[0].items[content].is_weight;
}

/* Whether no content of B's region reads the partner of A's content, not even as parts of a
 * split weight. */
static bool is_unread(const struct ranking *ranking, uint32_t content)
{
    for (size_t i = 0; i < ranking->input_counts[1]; i++) {
        if (ranking->match->contents[1].items[ranking->inputs[1][i]].partner ==
            content) {
            return false;
        }
    }
    return !is_split(ranking, content);
}

bool match_is_step(const struct match_contents *contents,
                   uint32_t content,
                   uint32_t later)
{
    assert(content < contents->count);
    for (uint32_t i = contents->out.first[content];
         i < contents->out.first[content + 1]; i++) {
        if (contents->out.items[i] == later) {
            return true;
        }
    }
    return false;
}

void match_blame_makers(struct ranking *ranking,
                        uint32_t input,
                        enum match_reason reason,
                        double score)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;
    unsigned count = 0;

    assert(input < contents->count);
    for (uint32_t i = contents->items[input].first; i != MATCH_NONE && count < 2;
         i = contents->next[i]) {
        const struct match_value *value = &run->values[i];

        if (!value->is_argument && !value->is_weight &&
            (i == contents->items[input].last || !match_is_innocent(ranking, value))) {
            match_blame(match_add_line(ranking, i), reason,
                        count++ == 0 ? score : score - SCORE_STEP / 4);
        }
    }
}

/* Blames the line that gave the input the name by which the region reads it, if another line
 * made the input: `residual = hidden`. */
static void blame_alias(struct ranking *ranking, uint32_t input)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;

    assert(input < contents->count);
    for (uint32_t i = contents->next[contents->items[input].first]; i != MATCH_NONE;
         i = contents->next[i]) {
        for (uint32_t k = run->out.first[i]; k < run->out.first[i + 1]; k++) {
            uint32_t reader = run->values[run->out.items[k]].content;

            if (reader != MATCH_NONE && match_is_suspect(ranking, reader) &&
                !run->values[i].is_argument) {
                match_blame(match_add_line(ranking, i), MATCH_REASON_INPUT,
                            SCORE_INPUT + 3 * SCORE_STEP);
            }
        }
    }
}

/* Another input of A's step that B's region does not read. MATCH_NONE: none. */
static uint32_t
find_beside(const struct ranking *ranking, uint32_t step, uint32_t partner)
{
    const struct match_contents *contents = &ranking->match->contents[0];

    assert(step < contents->count);
    for (uint32_t k = contents->in.first[step]; k < contents->in.first[step + 1]; k++) {
        uint32_t beside = contents->in.items[k];

        if (beside != partner && contents->items[beside].partner != MATCH_NONE &&
            !contents->items[beside].is_weak && is_unread(ranking, beside)) {
            return beside;
        }
    }
    return MATCH_NONE;
}

/* Blames a step that B leaves out, such as a residual or a gain: A makes a content from the
 * input and a value that B's region does not read. The step may be missing where the input was
 * made or where it is read. */
static void judge_step(struct ranking *ranking, uint32_t input)
{
    const struct match_contents *contents = ranking->match->contents;
    uint32_t partner = contents[1].items[input].partner, beside = MATCH_NONE,
             step = MATCH_NONE;

    assert(input < contents[1].count);
    if (contents[1].items[input].is_weak || contents[1].items[input].is_weight) {
        return;
    }
    for (uint32_t i = contents[0].out.first[partner];
         beside == MATCH_NONE && i < contents[0].out.first[partner + 1]; i++) {
        step = contents[0].out.items[i];
        if (ranking->region->is_in[0][step] && !contents[0].items[step].is_weight) {
            beside = find_beside(ranking, step, partner);
        }
    }
    if (beside == MATCH_NONE) {
        return;
    }
    if (step == ranking->region->ends[0]) {
        match_blame_makers(ranking, input, MATCH_REASON_INPUT_MISSING, SCORE_REORDERED);
    } else if (contents[0].items[beside].is_weight) {
        match_blame_makers(ranking, input, MATCH_REASON_INPUT_MISSING,
                           SCORE_INPUT + SCORE_STEP);
        blame_readers(ranking, input, MATCH_REASON_INPUT_MISSING, SCORE_STEP);
    } else {
        match_blame_makers(ranking, input, MATCH_REASON_INPUT_MISSING, SCORE_INPUT);
        blame_readers(ranking, input, MATCH_REASON_INPUT_MISSING, SCORE_INPUT);
    }
}

/* Finds inputs of B's region that replace other inputs of A's region. Blames the weight that
 * changed the input, the line that stopped one step before A's, or the lines that read the
 * input. */
void match_judge_inputs(struct ranking *ranking)
{
    const struct match_contents *contents = ranking->match->contents;

    for (size_t i = 0; i < ranking->input_counts[1]; i++) {
        uint32_t input = ranking->inputs[1][i];
        uint32_t replaced = is_read_alone(ranking, 1, input)
                                ? find_replaced(ranking, input)
                                : MATCH_NONE;
        struct match_suspect *weight = find_weight_above(ranking, input);

        judge_step(ranking, input);
        if (replaced == MATCH_NONE) {
            continue;
        }
        if (weight != NULL && weight->score >= SCORE_OF_INNOCENT) {
            match_blame(weight, MATCH_REASON_INPUT, SCORE_INPUT);
        } else if (match_is_step(&contents[0], contents[1].items[input].partner,
                                 replaced)) {
            match_blame_makers(ranking, input, MATCH_REASON_INPUT_MISSING,
                               SCORE_INPUT + 2 * SCORE_STEP);
        } else {
            blame_readers(ranking, input, MATCH_REASON_INPUT, SCORE_INPUT);
            blame_alias(ranking, input);
        }
    }
}

/* ---- statements ---- */

/* The class of a method: `Attention` of `Attention.forward`. */
static struct slice class_of(struct slice function)
{
    size_t end = function.size;

    while (end > 0 && function.bytes[end - 1] != '.') {
        end--;
    }
    return slice_part(function, 0, end);
}

/* The line that assigns `self.name` in the constructor of the value's class. 0: none. */
static uint32_t find_setting(const struct match_run *run,
                             const struct match_value *value,
                             struct slice name)
{
    const struct log_module *module = log_reader_module(run->reader, value->module);
    const struct site_table *table = &module->table;
    const struct site *site = match_run_site(run, value);
    struct slice class = class_of(table->functions[site->function].name);

    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *other = &table->sites[i];

        for (uint32_t k = 0; k < other->write_count; k++) {
            if (slice_equal(other->writes[k].name, name) &&
                slice_equal(class_of(table->functions[other->function].name), class)) {
                return other->line;
            }
        }
    }
    return 0;
}

/* A function that is called for each module that a statement calls, with the statement that made
 * the module. */
typedef void (*setting_found)(void *context,
                              uint32_t module,
                              uint32_t line,
                              struct slice statement);

static void each_setting(struct ranking *ranking,
                         unsigned side,
                         const struct match_value *value,
                         setting_found found,
                         void *context)
{
    struct match_run *run = &ranking->match->runs[side];
    const struct match_attribute *attribute;
    struct buffer made = BUFFER_INIT;
    uint32_t module, line;

    match_place(run, value, &module, &line);
    if (!match_attributes_find(&run->attributes, module, line, &attribute)) {
        ranking->text.has_failed = true;
        return;
    }
    for (; attribute != NULL; attribute = attribute->next) {
        line = attribute->is_called ? find_setting(run, value, attribute->name) : 0;
        if (line != 0) {
            match_statement_add(&run->sources, module, line, &made);
            found(context, module, line, buffer_slice(&made));
        }
    }
    buffer_release(&made);
}

static void
join_setting(void *context, uint32_t module, uint32_t line, struct slice statement)
{
    (void)module;
    (void)line;
    match_words_add(context, statement);
}

/* Adds the numbers among the inputs of the value. */
static void
add_scalars(const struct match_run *run, uint32_t value, struct match_words *words)
{
    for (uint32_t i = run->in.first[value]; i < run->in.first[value + 1]; i++) {
        const struct match_value *source = &run->values[run->in.items[i]];

        if (source->shape == NULL) {
            match_words_add_number(words, source->number);
        }
    }
}

/* Reads the words of the statement that made the content, and of the modules that it calls. */
static void read_words(struct ranking *ranking,
                       unsigned side,
                       uint32_t content,
                       struct match_words *words)
{
    assert(content < ranking->match->contents[side].count);

    struct match_run *run = &ranking->match->runs[side];
    uint32_t first = ranking->match->contents[side].items[content].first;
    const struct match_value *value = &run->values[first];
    uint32_t module, line;

    match_place(run, value, &module, &line);
    match_statement_add(&run->sources, module, line, &ranking->text);
    match_words_add(words, buffer_slice(&ranking->text));
    add_scalars(run, first, words);
    each_setting(ranking, side, value, join_setting, words);
}

/* ---- words ---- */

static void collect_numbers(struct ranking *ranking)
{
    struct match_run *run = &ranking->match->runs[0];
    uint32_t count = log_reader_module_count(run->reader);

    for (uint32_t module = 0; module < count; module++) {
        uint32_t empty = 0;

        for (uint32_t line = 1; empty < 64; line++) {
            struct slice source = source_lines_get(&run->sources, module, line);

            empty = source.size == 0 ? empty + 1 : 0;
            match_words_add(&ranking->all, source);
        }
    }
}

/* Whether A has the number, in its source or as a recorded value. */
static bool has_number(const struct ranking *ranking, double number)
{
    const struct match_run *run = &ranking->match->runs[0];

    if (match_words_implies(&ranking->all, number)) {
        return true;
    }
    for (size_t i = 0; i < run->value_count; i++) {
        if (run->values[i].shape == NULL &&
            fabs(run->values[i].number - number) <= 1e-9 * fabs(number)) {
            return true;
        }
    }
    return false;
}

/* The search among the settings of a value's modules. */
struct setting_search {
    struct ranking *ranking;
    const struct match_value *value;
    uint32_t number;
};

/* Whether the number is evidence. Small whole numbers are not: they are sizes and axes, which
 * programs count differently. */
static bool is_telling(double number)
{
    return number != floor(number) || fabs(number) >= 100;
}

static void judge_number(struct ranking *ranking,
                         struct match_suspect *suspect,
                         const struct match_words *words)
{
    double number = match_words_foreign_number(words, &ranking->words[0]);
    bool is_foreign = !isnan(number) && !has_number(ranking, number);
    double score =
        is_foreign && is_telling(number) ? SCORE_NUMBER : SCORE_NUMBER_MORE / 2;

    if (suspect != NULL && is_foreign) {
        suspect->number = number;
        match_blame(suspect, MATCH_REASON_NUMBER, score);
    }
}

static void judge_operations(struct ranking *ranking,
                             struct match_suspect *suspect,
                             const struct match_words *words)
{
    if (match_words_count_foreign(words, &ranking->all) > 0) {
        match_blame(suspect, MATCH_REASON_OPERATION,
                    match_words_count_foreign(&ranking->words[0], &ranking->words[1]) >
                            0
                        ? SCORE_OPERATION
                        : SCORE_OPERATION_MORE);
    }
}

static bool has_foreign_number(const struct ranking *ranking,
                               const struct match_words *words)
{
    double number = match_words_foreign_number(words, &ranking->words[0]);

    return !isnan(number) && is_telling(number) && !has_number(ranking, number);
}

static void
judge_setting(void *context, uint32_t module, uint32_t line, struct slice statement)
{
    struct setting_search *search = context;
    struct ranking *ranking = search->ranking;
    struct match_words words = {.number_count = 0};

    match_words_add(&words, statement);
    if (match_words_count_foreign(&words, &ranking->all) > 0 ||
        has_foreign_number(ranking, &words)) {
        struct match_suspect *suspect =
            match_add_suspect(ranking, &(struct match_suspect){.value = search->number,
                                                               .other = MATCH_NONE,
                                                               .module = module,
                                                               .line = line,
                                                               .number = NAN});

        match_blame(suspect, MATCH_REASON_SETTING, SCORE_STEP);
        judge_number(ranking, suspect, &words);
        judge_operations(ranking, suspect, &words);
    }
}

uint32_t match_find_literal(struct ranking *ranking, uint32_t module, double number)
{
    struct match_run *run = &ranking->match->runs[1];
    uint32_t found = 0, empty = 0;

    for (uint32_t line = 1; empty < 64; line++) {
        struct slice source = source_lines_get(&run->sources, module, line);
        struct match_words words = {.number_count = 0};

        empty = source.size == 0 ? empty + 1 : 0;
        match_words_add(&words, source);
        if (match_words_has_number(&words, number)) {
            if (found != 0) {
                return 0;
            }
            found = line;
        }
    }
    return found;
}

/* A search among the lines that made the modules of a statement, for a number. */
struct made_search {
    struct ranking *ranking;
    double number;
    uint32_t module, line; /* line 0: none */
};

static void
find_in_setting(void *context, uint32_t module, uint32_t line, struct slice statement)
{
    struct made_search *search = context;
    struct match_words words = {.number_count = 0};

    if (search->line != 0) {
        return;
    }
    match_words_add(&words, statement);
    search->module = module;
    search->line = match_words_has_number(&words, search->number)
                       ? line
                       : match_find_literal(search->ranking, module, search->number);
}

uint32_t match_find_made_with(struct ranking *ranking,
                              uint32_t value,
                              double number,
                              uint32_t *module)
{
    struct made_search search = {.ranking = ranking, .number = number};

    each_setting(ranking, 1, &ranking->match->runs[1].values[value], find_in_setting,
                 &search);
    *module = search.module;
    return search.line;
}

/* Judges the numbers among the inputs of the value that were read by name. The suspect is the
 * line with the literal. */
static void judge_scalars(struct ranking *ranking, uint32_t value)
{
    const struct match_run *run = &ranking->match->runs[1];

    for (uint32_t i = run->in.first[value]; i < run->in.first[value + 1]; i++) {
        uint32_t source = run->in.items[i];
        const struct match_value *scalar = &run->values[source];
        struct match_suspect suspect = {.value = source, .other = MATCH_NONE};

        if (scalar->shape != NULL || scalar->number == 0 || scalar->number == 1 ||
            scalar->number == 2 || scalar->number == -1 ||
            has_number(ranking, scalar->number)) {
            continue;
        }
        suspect.number = scalar->number;
        suspect.line = match_find_literal(ranking, scalar->module, scalar->number);
        suspect.module = scalar->module;
        if (suspect.line == 0) {
            match_place(run, scalar, &suspect.module, &suspect.line);
        }
        match_blame(match_add_suspect(ranking, &suspect), MATCH_REASON_NUMBER,
                    scalar->is_integer ? SCORE_NUMBER_MORE : SCORE_NUMBER + SCORE_STEP);
    }
}

/* Blames the lines of B's source with a fraction or a large number that A does not have: a
 * setting may reach the region in a way that is not recorded. */
static void judge_far_numbers(struct ranking *ranking)
{
    struct match_run *run = &ranking->match->runs[1];
    uint32_t count = log_reader_module_count(run->reader);

    for (uint32_t module = 0; module < count; module++) {
        uint32_t empty = 0;

        for (uint32_t line = 1; empty < 64; line++) {
            struct slice source = source_lines_get(&run->sources, module, line);
            struct match_words words = {.number_count = 0};

            empty = source.size == 0 ? empty + 1 : 0;
            match_words_add(&words, source);
            for (size_t i = 0; i < words.number_count; i++) {
                double number = words.numbers[i];

                if (is_telling(number) && !has_number(ranking, number)) {
                    match_blame(match_add_suspect(
                                    ranking,
                                    &(struct match_suspect){
                                        .value = ranking->match->contents[1]
                                                     .items[ranking->region->ends[1]]
                                                     .first,
                                        .other = MATCH_NONE,
                                        .module = module,
                                        .line = line,
                                        .number = number}),
                                MATCH_REASON_NUMBER, SCORE_NUMBER_FAR);
                }
            }
        }
    }
}

void match_judge_words(struct ranking *ranking)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    struct match_run *run = contents->run;

    for (uint32_t i = 0; i < contents->count; i++) {
        struct match_words words = {.number_count = 0};
        struct setting_search search = {.ranking = ranking};
        struct match_suspect *suspect;
        uint32_t module, line;

        if (!match_is_suspect(ranking, i)) {
            continue;
        }
        search.number = contents->items[i].first;
        search.value = &run->values[search.number];
        match_place(run, search.value, &module, &line);
        match_statement_add(&run->sources, module, line, &ranking->text);
        match_words_add(&words, buffer_slice(&ranking->text));
        suspect = match_add_line(ranking, search.number);
        judge_number(ranking, suspect, &words);
        judge_operations(ranking, suspect, &words);
        judge_scalars(ranking, search.number);
        each_setting(ranking, 1, search.value, judge_setting, &search);
    }
    judge_far_numbers(ranking);
}

void match_collect_words(struct ranking *ranking)
{
    collect_numbers(ranking);
    for (unsigned side = 0; side < 2; side++) {
        const struct match_contents *contents = &ranking->match->contents[side];

        for (uint32_t i = 0; i < contents->count; i++) {
            if (ranking->region->is_in[side][i] && !contents->items[i].is_weight) {
                read_words(ranking, side, i, &ranking->words[side]);
            }
        }
    }
}

/* ---- operations that only A's lines have ---- */

/* Counts the inputs of A's content that are partners of inputs of B's content. */
static unsigned count_shared(const struct ranking *ranking, uint32_t a, uint32_t b)
{
    const struct match_contents *contents = ranking->match->contents;
    unsigned count = 0;

    assert(a < contents[0].count);
    assert(b < contents[1].count);
    for (uint32_t i = contents[0].in.first[a]; i < contents[0].in.first[a + 1]; i++) {
        for (uint32_t k = contents[1].in.first[b]; k < contents[1].in.first[b + 1];
             k++) {
            count += contents[1].items[contents[1].in.items[k]].partner ==
                     contents[0].in.items[i];
        }
    }
    return count;
}

/* Blames the line of B that has most in common with A's line: operations first, then inputs. */
static void
blame_nearest(struct ranking *ranking, uint32_t a, const struct match_words *words)
{
    const struct match_contents *contents = ranking->match->contents;
    uint32_t best = ranking->region->ends[1];
    unsigned most = 0;

    for (uint32_t i = 0; i < contents[1].count; i++) {
        if (match_is_suspect(ranking, i)) {
            struct match_words own = {.number_count = 0};
            unsigned count;

            read_words(ranking, 1, i, &own);
            count =
                4 * match_words_count_common(words, &own) + count_shared(ranking, a, i);
            if (count >= most) {
                most = count;
                best = i;
            }
        }
    }
    match_blame(match_add_line(ranking, contents[1].items[best].first),
                MATCH_REASON_MISSING, SCORE_MISSING);
}

/* If A makes the step from a value that B's region reads, and the step is not A's end, blames
 * the lines that made this value: B stopped before the step. Returns whether it did. */
static bool blame_stop(struct ranking *ranking, uint32_t step)
{
    const struct match_contents *contents = ranking->match->contents;

    for (size_t i = 0; step != ranking->region->ends[0] && i < ranking->input_counts[1];
         i++) {
        uint32_t input = ranking->inputs[1][i];

        if (!contents[1].items[input].is_weak && !contents[1].items[input].is_weight &&
            match_is_step(&contents[0], contents[1].items[input].partner, step)) {
            match_blame_makers(ranking, input, MATCH_REASON_MISSING,
                               SCORE_INPUT + SCORE_STEP);
            return true;
        }
    }
    return false;
}

void match_judge_missing(struct ranking *ranking)
{
    const struct match_contents *contents = &ranking->match->contents[0];

    if (match_words_count_foreign(&ranking->words[1], &ranking->all) > 0) {
        return; /* the line with the operation that A does not have is blamed for it */
    }
    for (uint32_t i = 0; i < contents->count; i++) {
        struct match_words words = {.number_count = 0};

        if (ranking->region->is_in[0][i] && !contents->items[i].is_weight) {
            read_words(ranking, 0, i, &words);
            if (match_words_count_foreign(&words, &ranking->words[1]) > 0 &&
                !blame_stop(ranking, i)) {
                blame_nearest(ranking, i, &words);
            }
        }
    }
}
