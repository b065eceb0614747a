/* Which line, or which weight, made B leave A. The region holds the contents between what both have and
 * the first that differs; each line that made one is a suspect, and so is each weight that it used.
 * The evidence for each is added up; docs/internals/diff.md has the table. */
#include "runtime/base/hash/hash.h"
#include "runtime/view/diff/match/ranking.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

uint64_t match_count_of(const struct match_contents *contents, uint32_t content)
{
    return contents->run->values[contents->items[content].first].statistics.count;
}

struct match_suspect *match_add_suspect(struct ranking *ranking,
                                        const struct match_suspect *suspect)
{
    struct match_leave *leave = ranking->leave;

    for (size_t i = 0; i < leave->suspect_count; i++) {
        struct match_suspect *other = &leave->suspects[i];

        if (suspect->is_weight
                ? other->is_weight && other->value == suspect->value
                : !other->is_weight && other->module == suspect->module &&
                      other->line == suspect->line) {
            return other;
        }
    }
    if (leave->suspect_count == MATCH_SUSPECTS_MAX) {
        return NULL;
    }
    leave->suspects[leave->suspect_count] = *suspect;
    return &leave->suspects[leave->suspect_count++];
}

void match_blame(struct match_suspect *suspect, enum match_reason reason, double score)
{
    if (suspect != NULL) {
        suspect->score += (suspect->reasons & reason) != 0 ? 0 : score;
        suspect->reasons |= reason;
    }
}

struct match_suspect *match_add_line(struct ranking *ranking, uint32_t value)
{
    const struct match_run *run = &ranking->match->runs[1];
    struct match_suspect suspect = {.value = value, .other = MATCH_NONE, .number = NAN};

    match_place(run, &run->values[value], &suspect.module, &suspect.line);
    return match_add_suspect(ranking, &suspect);
}

/* The first value with the weight's key and numbers: where a line put it there. */
static uint32_t find_written(const struct match_run *run, uint32_t value)
{
    const struct match_value *weight = &run->values[value];

    for (uint32_t i = 0; i < value; i++) {
        const struct match_value *other = &run->values[i];

        if (other->is_weight && !other->is_argument && other->has_hash &&
            weight->has_hash && other->hash == weight->hash &&
            slice_equal(other->path, weight->path)) {
            return i;
        }
    }
    return value;
}

struct match_suspect *
match_add_weight(struct ranking *ranking, uint32_t value, uint32_t other)
{
    const struct match_run *run = &ranking->match->runs[1];
    uint32_t written = find_written(run, value);
    struct match_suspect suspect = {.is_weight = true,
                                    .value = value,
                                    .other = other,
                                    .module = run->values[written].module,
                                    .line = run->values[written].line,
                                    .number = NAN};

    return match_add_suspect(ranking, &suspect);
}

/* ---- lines of the region ---- */

bool match_is_suspect(const struct ranking *ranking, uint32_t content)
{
    return ranking->region->is_in[1][content] &&
           !ranking->match->contents[1].items[content].is_weight;
}

/* Whether the value's site made, elsewhere, a value that A has. */
bool match_is_innocent(const struct ranking *ranking, const struct match_value *value)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;

    for (size_t i = 0; i < run->value_count; i++) {
        const struct match_value *other = &run->values[i];

        if (other->site == value->site && other->content != MATCH_NONE &&
            other->content != value->content) {
            const struct match_content *content = &contents->items[other->content];

            if (!content->is_weak &&
                (content->partner != MATCH_NONE ||
                 (content->is_back && !ranking->region->is_in[1][other->content]))) {
                return true;
            }
        }
    }
    return false;
}

/* The statement with its names left out: what is done, not with what. 0: too little is done to say so. */
static uint64_t form_of(struct ranking *ranking, const struct match_value *value)
{
    struct slice text;
    struct buffer form = BUFFER_INIT;
    unsigned operations = 0;
    uint32_t module, line;
    uint64_t hash;

    match_place(&ranking->match->runs[1], value, &module, &line);
    match_statement_add(&ranking->match->runs[1].sources, module, line, &ranking->text);
    text = buffer_slice(&ranking->text);
    for (size_t i = 0; i < text.size;) {
        size_t end = i;

        while (end < text.size && (isalnum((unsigned char)text.bytes[end]) ||
                                   text.bytes[end] == '_' || text.bytes[end] == '.')) {
            end++;
        }
        if (end == i || isdigit((unsigned char)text.bytes[i])) {
            end = end == i ? i + 1 : end;
            operations += slice_find(SLICE("(*+@/"), slice_part(text, i, end), 0) < 5;
            buffer_add(&form, slice_part(text, i, end));
        } else if (end < text.size && text.bytes[end] == '(' &&
                   !slice_starts(slice_part(text, i, end), SLICE("self."))) {
            buffer_add(&form, slice_part(text, i, end));
        } else {
            buffer_add_byte(&form, 'n');
        }
        i = end;
    }
    hash = operations < 2 ? 0 : hash_64(buffer_slice(&form));
    buffer_release(&form);
    return hash;
}

/* A value that another line of the same function made by doing the same to other values, and that A has;
 * MATCH_NONE: none. */
uint32_t match_find_sibling(struct ranking *ranking, uint32_t number)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;
    const struct match_value *value = &run->values[number];
    uint64_t form = form_of(ranking, value);

    if (form == 0) {
        return MATCH_NONE;
    }
    for (uint32_t i = 0; i < run->value_count; i++) {
        const struct match_value *other = &run->values[i];

        if (other->content != MATCH_NONE && other->call == value->call &&
            other->site != value->site && !other->is_argument &&
            contents->items[other->content].partner != MATCH_NONE &&
            !contents->items[other->content].is_weak &&
            form_of(ranking, other) == form) {
            return i;
        }
    }
    return MATCH_NONE;
}

static bool has_innocent_form(struct ranking *ranking, uint32_t number)
{
    return match_find_sibling(ranking, number) != MATCH_NONE;
}

static void add_lines(struct ranking *ranking)
{
    const struct match_contents *contents = &ranking->match->contents[1];

    for (uint32_t i = 0; i < contents->count; i++) {
        if (match_is_suspect(ranking, i)) {
            uint32_t first = contents->items[i].first;
            struct match_suspect *suspect = match_add_line(ranking, first);
            bool is_new = suspect != NULL && suspect->reasons == 0;

            match_blame(suspect, MATCH_REASON_STEP,
                        contents->in.first[i] < contents->in.first[i + 1]
                            ? SCORE_STEP
                            : SCORE_CONSTANT);
            ranking->line_count += is_new;
            if (is_new && (match_is_innocent(ranking, &contents->run->values[first]) ||
                           has_innocent_form(ranking, first))) {
                suspect->score += SCORE_INNOCENT;
            }
        }
    }
}

/* ---- the whole ---- */

static int compare_suspects(const void *left, const void *right)
{
    const struct match_suspect *a = left, *b = right;

    if (a->score != b->score) {
        return a->score > b->score ? -1 : 1;
    }
    return a->value < b->value ? -1 : a->value > b->value;
}

/* The only line of the region is it, unless something else speaks against another. */
static void blame_alone(struct ranking *ranking)
{
    struct match_suspect *alone = NULL;

    for (size_t i = 0; i < ranking->leave->suspect_count; i++) {
        struct match_suspect *suspect = &ranking->leave->suspects[i];

        if ((suspect->reasons & MATCH_REASON_STEP) != 0) {
            alone = suspect;
        } else if (suspect->score > SCORE_REORDERED) {
            return;
        }
    }
    if (ranking->line_count == 1 && alone != NULL) {
        alone->score += SCORE_ALONE;
    }
}

/* Words rank suspects; alone they make none certain. */
static double sure_score(const struct match_suspect *suspect)
{
    double score = suspect->score;

    score -= (suspect->reasons & MATCH_REASON_OPERATION) != 0 ? SCORE_OPERATION : 0;
    score -= (suspect->reasons & MATCH_REASON_MISSING) != 0 ? SCORE_MISSING : 0;
    return score;
}

/* Whether there is more evidence than that the line made a value which A does not have: A's step may be
 * two steps of B, with the mistake in the next one. */
static bool is_strong(const struct match_suspect *suspect)
{
    unsigned reasons = MATCH_REASON_NUMBER | MATCH_REASON_ORDER | MATCH_REASON_UNKNOWN |
                       MATCH_REASON_TWICE | MATCH_REASON_INPUT;

    return (suspect->reasons & reasons) != 0 && sure_score(suspect) >= CERTAIN_STRONG;
}

/* Whether the only line of the region does just what A's line does. */
static bool is_same_statement(const struct ranking *ranking)
{
    const struct match_words *words = ranking->words;

    return ranking->line_count == 1 && !ranking->has_unproved &&
           match_words_count_common(&words[0], &words[1]) > 0 &&
           match_words_count_foreign(&words[0], &words[1]) == 0 &&
           match_words_count_foreign(&words[1], &words[0]) == 0;
}

static bool is_certain(const struct ranking *ranking)
{
    const struct match_leave *leave = ranking->leave;
    const struct match_suspect *first = &leave->suspects[0];

    if (leave->suspect_count == 0 ||
        !(is_strong(first) || is_same_statement(ranking))) {
        return false;
    }
    return sure_score(first) >= CERTAIN_LEAST &&
           (leave->suspect_count == 1 ||
            sure_score(first) >= leave->suspects[1].score + CERTAIN_MORE);
}

static void settle(struct ranking *ranking)
{
    struct match_leave *leave = ranking->leave;
    const struct match_contents *a = &ranking->match->contents[0];

    blame_alone(ranking);
    if (leave->suspect_count > 1) {
        qsort(leave->suspects, leave->suspect_count, sizeof *leave->suspects,
              compare_suspects);
    }
    leave->is_certain = is_certain(ranking);
    for (size_t i = 0; i < ranking->input_counts[1] && leave->input_count < 4; i++) {
        if (!ranking->match->contents[1].items[ranking->inputs[1][i]].is_weight) {
            leave->inputs[leave->input_count++] = ranking->inputs[1][i];
        }
    }
    if (leave->counterpart != MATCH_NONE) {
        match_place(a->run, &a->run->values[a->items[leave->counterpart].first],
                    &leave->a_module, &leave->a_line);
    }
}

bool match_rank_suspects(struct match *match, const struct match_region *region)
{
    struct ranking ranking = {
        .match = match, .region = region, .leave = &match->leave, .text = BUFFER_INIT};
    bool is_done;

    add_lines(&ranking);
    match_collect_words(&ranking);
    match_collect_inputs(&ranking, 0);
    match_collect_inputs(&ranking, 1);
    match_judge_words(&ranking);
    match_judge_missing(&ranking);
    match_judge_weights(&ranking);
    match_judge_inputs(&ranking);
    settle(&ranking);
    is_done = !ranking.text.has_failed;
    buffer_release(&ranking.text);
    return is_done;
}
