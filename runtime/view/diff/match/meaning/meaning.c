/* The formulas of a run's contents, from the statements that made them. */
#include "runtime/view/diff/match/meaning/meaning.h"

#include "runtime/base/buffer.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum state { STATE_NONE, STATE_BEING_MADE, STATE_MADE };

struct formula match_reading_note(struct match_meanings *meanings,
                                  struct formula formula)
{
    void *items = meanings->parts;

    if (!formula.is_known || formula.term_count == 0 || meanings->side == 1) {
        return formula;
    }
    if (!memory_grow(&items, &meanings->part_capacity, meanings->part_count + 1,
                     sizeof *meanings->parts)) {
        meanings->has_failed = true;
        return formula;
    }
    meanings->parts = items;
    meanings->parts[meanings->part_count++] = formula;
    return formula;
}

double match_reading_number(struct match_meanings *meanings, double value)
{
    size_t at = 0;

    while (at < meanings->number_count && meanings->numbers[at] != value) {
        at++;
    }
    if (at == meanings->number_count && at < MATCH_MEANING_NUMBERS && isfinite(value)) {
        meanings->numbers[meanings->number_count++] = value;
    }
    return value == meanings->number ? meanings->other_number : value;
}

struct formula match_reading_note_step(struct match_meanings *meanings,
                                       const struct formula *argument,
                                       struct formula result)
{
    void *items = meanings->steps;

    match_reading_note(meanings, *argument);
    if (!result.is_known || !argument->is_known || meanings->side == 1) {
        return result;
    }
    if (!memory_grow(&items, &meanings->step_capacity, meanings->step_count + 1,
                     sizeof *meanings->steps)) {
        meanings->has_failed = true;
        return result;
    }
    meanings->steps = items;
    meanings->steps[meanings->step_count++] =
        (struct match_meaning_step){formula_hash(argument), result};
    return result;
}

struct formula match_reading_apply(struct reading *reading,
                                   struct slice name,
                                   const struct formula *argument)
{
    return match_reading_note_step(
        reading->meanings, argument,
        formula_function(match_reading_arena(reading), name, argument, 1));
}

/* ---- names ---- */

static struct slice key_of(const struct match_value *value)
{
    return slice_part(value->path, 2, value->path.size - 2);
}

/* Whether the text ends with the part, as a whole or after a dot. */
static bool match_reading_ends(struct slice text, struct slice part)
{
    return slice_ends(text, part) &&
           (text.size == part.size || text.bytes[text.size - part.size - 1] == '.');
}

uint32_t match_reading_input(const struct reading *reading, struct slice name)
{
    const struct match_links *in = &reading->run->in;
    uint32_t found = MATCH_NONE;

    for (uint32_t i = in->first[reading->value]; i < in->first[reading->value + 1];
         i++) {
        const struct match_value *source = &reading->run->values[in->items[i]];

        if (slice_equal(source->name, name) &&
            (found == MATCH_NONE || source->path.size == 0)) {
            found = in->items[i];
        }
    }
    return found;
}

uint32_t match_reading_weight(const struct reading *reading,
                              struct slice attribute,
                              const char *part)
{
    const struct match_links *in = &reading->run->in;
    struct buffer name = BUFFER_INIT;
    uint32_t found = MATCH_NONE;

    buffer_add(&name, attribute);
    buffer_add(&name, slice_of(part));
    for (uint32_t i = in->first[reading->value]; i < in->first[reading->value + 1];
         i++) {
        const struct match_value *source = &reading->run->values[in->items[i]];

        if (source->is_weight &&
            match_reading_ends(key_of(source), buffer_slice(&name))) {
            found = in->items[i];
        }
    }
    reading->meanings->has_failed |= name.has_failed;
    buffer_release(&name);
    return found;
}

/* The last literal at the end of a subscript: `q.w` of `prefix + "q.w"`, `.up` of `f"{i}.up"`. */
static struct slice literal_tail(struct slice text)
{
    size_t end = text.size, start;
    char quote;

    while (end > 0 && (text.bytes[end - 1] == ' ' || text.bytes[end - 1] == ']')) {
        end--;
    }
    if (end == 0 || (text.bytes[end - 1] != '"' && text.bytes[end - 1] != '\'')) {
        return SLICE("");
    }
    quote = text.bytes[--end];
    start = end;
    while (start > 0 && text.bytes[start - 1] != quote &&
           text.bytes[start - 1] != '}') {
        start--;
    }
    return slice_part(text, start, end);
}

/* Counts the visits of the value's site: those before the value, and all. */
static void count_visits(const struct reading *reading, uint32_t *before, uint32_t *all)
{
    const struct match_run *run = reading->run;
    const struct match_value *value = &run->values[reading->value];

    *before = 0;
    *all = 0;
    for (uint32_t i = 0; i < run->value_count; i++) {
        bool is_same = run->values[i].site == value->site &&
                       slice_equal(run->values[i].name, value->name) &&
                       slice_equal(run->values[i].path, value->path);

        *before += is_same && i < reading->value;
        *all += is_same;
    }
}

/* The item under a computed key. If as many items have that ending as the statement had visits,
 * each visit reads one of them, in order. MATCH_NONE: not known. */
static uint32_t
find_item_by_visit(const struct reading *reading, struct slice name, struct slice tail)
{
    const struct match_run *run = reading->run;
    uint32_t before, all, count = 0, found = MATCH_NONE, last = MATCH_NONE;

    count_visits(reading, &before, &all);
    for (uint32_t i = 0; i < run->value_count; i++) {
        const struct match_value *item = &run->values[i];

        if (item->path.size > 4 && item->path.bytes[1] == '\'' && item->shape != NULL &&
            slice_equal(item->name, name) && slice_ends(key_of(item), tail)) {
            if (last != MATCH_NONE && (run->values[last].site != item->site ||
                                       run->values[last].call != item->call)) {
                count =
                    0; /* a newer container of that name, or the same as an argument */
                break;
            }
            found = count++ == before ? i : found;
            last = i;
        }
    }
    return count == all || count == 1 ? (count == 1 ? last : found) : MATCH_NONE;
}

uint32_t match_reading_item(const struct reading *reading,
                            struct slice name,
                            struct slice subscript)
{
    const struct match_links *in = &reading->run->in;
    struct slice tail = literal_tail(subscript);

    for (uint32_t i = in->first[reading->value];
         tail.size > 0 && i < in->first[reading->value + 1]; i++) {
        const struct match_value *source = &reading->run->values[in->items[i]];

        if (source->path.size > 4 && slice_equal(source->name, name) &&
            slice_ends(key_of(source), tail)) {
            return in->items[i];
        }
    }
    return tail.size == 0 ? MATCH_NONE : find_item_by_visit(reading, name, tail);
}

static bool is_return(const struct reading *reading, const struct match_value *value)
{
    const struct site *site = match_run_site(reading->run, value);

    return site != NULL && site->kind == SITE_RETURN;
}

uint32_t match_reading_returned(const struct reading *reading, struct slice word)
{
    const struct match_links *in = &reading->run->in;

    for (uint32_t i = in->first[reading->value]; i < in->first[reading->value + 1];
         i++) {
        const struct match_value *source = &reading->run->values[in->items[i]];
        const struct match_call *call = &reading->run->calls[source->call];
        const struct log_module *module =
            log_reader_module(reading->run->reader, call->module);

        if (is_return(reading, source) &&
            (match_reading_ends(call->path, word) ||
             match_reading_ends(module->table.functions[call->function].name, word))) {
            return in->items[i];
        }
    }
    return MATCH_NONE;
}

uint32_t match_reading_only_return(const struct reading *reading,
                                   const struct expression *call)
{
    const struct match_links *in = &reading->run->in;
    uint32_t found = MATCH_NONE;

    for (uint32_t i = 0; i < reading->expressions->count; i++) {
        const struct expression *other = &reading->expressions->items[i];

        if (other != call && other->kind == EXPRESSION_CALL && !other->is_library &&
            !match_reading_is_operation(other->word)) {
            return MATCH_NONE;
        }
    }
    for (uint32_t i = in->first[reading->value]; i < in->first[reading->value + 1];
         i++) {
        const struct match_value *source = &reading->run->values[in->items[i]];

        if (!is_return(reading, source) || source->shape == NULL) {
            continue;
        }
        if (found != MATCH_NONE) {
            return MATCH_NONE;
        }
        found = in->items[i];
    }
    return call->is_library ? MATCH_NONE : found;
}

/* The class of a method, with the dot: `Attention.` of `Attention.forward`. */
static struct slice class_of(struct slice function)
{
    return slice_part(function, 0, function.size - slice_last_part(function, '.').size);
}

static struct slice function_of(const struct match_run *run,
                                const struct match_value *value)
{
    const struct match_call *call = &run->calls[value->call];

    return log_reader_module(run->reader, call->module)
        ->table.functions[call->function]
        .name;
}

/* The newest value of that name that a method of the statement's class made, or that a container
 * holds under that key: a buffer, or a parameter of the outermost module. MATCH_NONE: none. */
static uint32_t find_attribute(const struct reading *reading, struct slice name)
{
    const struct match_run *run = reading->run;
    struct slice class = class_of(function_of(run, &run->values[reading->value]));

    for (uint32_t i = reading->value; class.size > 0 && i-- > 0;) {
        const struct match_value *value = &run->values[i];

        if (value->shape == NULL) {
            continue;
        }
        if (value->path.size > 4 && value->path.bytes[1] == '\'' &&
            slice_equal(key_of(value), name)) {
            return i;
        }
        if (slice_equal(slice_last_part(value->name, '.'), name) &&
            slice_equal(class_of(function_of(run, value)), class)) {
            return i;
        }
    }
    return MATCH_NONE;
}

bool match_reading_is_view(struct slice attribute)
{
    return slice_equal(attribute, SLICE("T")) || slice_equal(attribute, SLICE("mT")) ||
           slice_equal(attribute, SLICE("data")) ||
           slice_equal(attribute, SLICE("real")) ||
           slice_equal(attribute, SLICE("imag"));
}

/* The number that was passed to the constructor under that name, if all its calls have the same.
 * MATCH_NONE: none. */
static uint32_t find_made_with(const struct reading *reading, struct slice name)
{
    const struct match_run *run = reading->run;
    uint32_t module = run->calls[run->values[reading->value].call].module;
    uint32_t found = MATCH_NONE;

    for (uint32_t i = 0; i < run->value_count; i++) {
        const struct match_value *value = &run->values[i];
        const struct match_call *call = &run->calls[value->call];

        if (value->shape != NULL || call->function != reading->maker ||
            call->module != module || !slice_equal(value->name, name)) {
            continue;
        }
        if (found != MATCH_NONE && run->values[found].number != value->number) {
            return MATCH_NONE;
        }
        found = i;
    }
    return found;
}

struct formula match_reading_name(struct reading *reading, struct slice name)
{
    struct slice last = slice_last_part(name, '.');
    uint32_t found = reading->maker == MATCH_MAKER_NONE
                         ? match_reading_input(reading, name)
                         : find_made_with(reading, name);

    if (found != MATCH_NONE) {
        return match_reading_value(reading->meanings, found);
    }
    if (slice_equal(name, SLICE("math.pi"))) {
        return formula_number(match_reading_arena(reading), M_PI);
    }
    if (last.size < name.size && match_reading_is_view(last)) {
        reading->meanings->blindness += 2;
        return match_reading_name(reading,
                                  slice_part(name, 0, name.size - last.size - 1));
    }
    if (slice_starts(name, SLICE("self."))) {
        found = match_reading_weight(reading, slice_part(name, 5, name.size), "");
        found = found == MATCH_NONE ? find_attribute(reading, last) : found;
    }
    return found == MATCH_NONE ? formula_unknown()
                               : match_reading_value(reading->meanings, found);
}

uint32_t
match_reading_setting(const struct reading *reading, struct slice name, uint32_t *maker)
{
    const struct match_value *value = &reading->run->values[reading->value];
    const struct match_call *call = &reading->run->calls[value->call];
    const struct log_module *module;
    const struct site_table *sites;
    struct slice class;
    uint32_t line = 0;

    if (value->is_argument && call->parent != MATCH_NONE && call->line != 0) {
        call = &reading->run->calls[call->parent];
    }
    module = log_reader_module(reading->run->reader, call->module);
    sites = &module->table;
    class = class_of(sites->functions[call->function].name);
    for (uint32_t i = 0; i < sites->site_count; i++) {
        if (site_writes(&sites->sites[i], name) &&
            slice_equal(class_of(sites->functions[sites->sites[i].function].name),
                        class)) {
            line = sites->sites[i].line; /* the last line: the first may assign None */
            *maker = sites->sites[i].function;
        }
    }
    return line;
}

/* ---- the tree ---- */

/* Whether a line of the module imports the name. */
static bool find_import(struct match_run *run, uint32_t module, struct slice name)
{
    for (uint32_t line = 1, empty = 0; empty < 64; line++) {
        struct slice source = source_lines_get(&run->sources, module, line);
        bool is_import = slice_find(source, SLICE("import "), 0) < source.size;

        empty = source.size == 0 ? empty + 1 : 0;
        for (size_t at = 0;
             is_import && (at = slice_find(source, name, at)) < source.size; at++) {
            size_t end = at + name.size;

            if ((at == 0 || memchr(" ,(", source.bytes[at - 1], 3) != NULL) &&
                (end == source.size || memchr(" ,)\r", source.bytes[end], 4) != NULL)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_imported(struct reading *reading, struct slice name)
{
    struct match_meanings *meanings = reading->meanings;
    struct slice first = slice_part(name, 0, slice_find(name, SLICE("."), 0));
    uint32_t module = reading->run->values[reading->value].module, found;
    uint64_t key = hash_64(first) ^ ((uint64_t)module << 32);

    if (match_reading_input(reading, first) != MATCH_NONE) {
        return false;
    }
    found = number_map_get(&meanings->imports, key);
    if (found == NUMBER_MAP_NONE) {
        found = find_import(reading->run, module, first);
        meanings->has_failed |= !number_map_put(&meanings->imports, key, found);
    }
    return found == 1;
}

uint32_t match_reading_parse(struct reading *reading, struct slice statement)
{
    uint32_t root = expression_read(reading->expressions, statement);

    for (uint32_t i = 0; i < reading->expressions->count; i++) {
        struct expression *item = &reading->expressions->items[i];

        if (item->kind == EXPRESSION_CALL && item->left != EXPRESSION_NONE &&
            !item->is_library) {
            const struct expression *left = match_reading_item_of(reading, item->left);

            item->is_library =
                left->kind == EXPRESSION_NAME && is_imported(reading, left->text);
            item->left = item->is_library ? EXPRESSION_NONE : item->left;
        }
    }
    return root;
}

/* ---- masks ---- */

double match_reading_share(const struct match_value *value)
{
    return 1 - (double)value->statistics->zero_count / (double)value->statistics->count;
}

struct formula match_reading_mask(struct arena *arena, double share)
{
    struct formula part = formula_number(arena, share);

    return isfinite(share) ? formula_function(arena, SLICE("mask"), &part, 1)
                           : formula_unknown();
}

/* ---- statements ---- */

static uint32_t find_parameter(struct reading *reading,
                               uint32_t first,
                               struct slice name,
                               uint32_t place)
{
    struct buffer key = BUFFER_INIT;
    uint32_t found;

    buffer_add(&key, name);
    buffer_add_byte(&key, '\0');
    found = key.has_failed ? EXPRESSION_NONE
                           : match_reading_argument(reading, first, key.bytes, place);
    reading->meanings->has_failed |= key.has_failed;
    buffer_release(&key);
    return found;
}

/* The argument that the caller's statement passes for the parameter. EXPRESSION_NONE: none. */
static uint32_t find_passed(struct reading *reading, const struct match_value *value)
{
    const struct match_call *call = &reading->run->calls[value->call];
    const struct log_module *module =
        log_reader_module(reading->run->reader, call->module);
    struct slice function =
        slice_last_part(module->table.functions[call->function].name, '.');
    const struct site *site = match_run_site(reading->run, value);
    uint32_t place = site == NULL ? SITE_NONE : site_find_write(site, value->name);

    if (place == SITE_NONE) {
        return EXPRESSION_NONE;
    }
    place -= site_has_self(site) && place > 0;
    for (uint32_t i = 0; i < reading->expressions->count; i++) {
        const struct expression *item = &reading->expressions->items[i];

        if (item->kind == EXPRESSION_CALL &&
            (slice_equal(item->word, function) ||
             (item->word.size > 0 && match_reading_ends(call->path, item->word)))) {
            return find_parameter(reading, item->first, value->name, place);
        }
    }
    for (uint32_t i = 0; i < reading->expressions->count; i++) {
        const struct expression *item = &reading->expressions->items[i];

        if (item->kind == EXPRESSION_CALL && item->left == EXPRESSION_NONE &&
            !item->is_library && !match_reading_is_operation(item->word)) {
            return find_parameter(reading, item->first, value->name, place);
        }
    }
    return EXPRESSION_NONE;
}

/* The expression of the statement's value: of several targets, the one with the value's name. */
static uint32_t find_target(struct reading *reading, uint32_t whole)
{
    const struct match_value *value = &reading->run->values[reading->value];
    const struct site *site = match_run_site(reading->run, value);
    const struct expression *item;
    uint32_t place, at;

    if (whole == EXPRESSION_NONE || site == NULL) {
        return whole;
    }
    item = match_reading_item_of(reading, whole);
    if (item->kind == EXPRESSION_CALL && item->left != EXPRESSION_NONE &&
        value->path.size > 2 && slice_equal(item->word, SLICE("append")) &&
        slice_equal(match_reading_item_of(reading, item->left)->text, value->name)) {
        return item->first;
    }
    place = value->path.size > 2 && value->path.bytes[0] == '[' &&
                    value->path.bytes[1] >= '0' && value->path.bytes[1] <= '9'
                ? (uint32_t)(value->path.bytes[1] - '0')
                : site_find_write(site, value->name);
    if (item->kind != EXPRESSION_SEQUENCE || place == SITE_NONE) {
        return whole;
    }
    at = item->first;
    for (uint32_t i = 0; i < place && at != EXPRESSION_NONE; i++) {
        at = match_reading_item_of(reading, at)->next;
    }
    return at;
}

static struct formula of_statement(struct match_meanings *meanings, uint32_t number);

/* Parses the value's statement. Returns false if there is none. The caller must call reading_end
 * in any case. */
static bool reading_begin(struct reading *reading,
                          struct buffer *statement,
                          struct match_meanings *meanings,
                          uint32_t number,
                          uint32_t *root)
{
    struct match_run *run = match_reading_run(meanings);
    const struct match_value *value = &run->values[number];
    uint32_t module, line;

    assert(number < run->value_count);
    *statement = (struct buffer)BUFFER_INIT;
    *reading = (struct reading){
        .meanings = meanings, .run = run, .value = number, .maker = MATCH_MAKER_NONE};
    if (value->shape == NULL || value->is_weight) {
        return false;
    }
    reading->expressions = memory_allocate(1, sizeof *reading->expressions);
    if (reading->expressions == NULL) {
        meanings->has_failed = true;
        return false;
    }
    match_place(run, value, &module, &line);
    match_statement_add(&run->sources, module, line, statement);
    *root = match_reading_parse(reading, buffer_slice(statement));
    return !statement->has_failed;
}

static void reading_end(struct reading *reading, struct buffer *statement)
{
    reading->meanings->has_failed |=
        statement->has_failed || reading->meanings->arena.has_failed;
    memory_free(reading->expressions);
    buffer_release(statement);
}

double match_meaning_axis(struct match_meanings *meanings, uint32_t number)
{
    struct reading reading;
    struct buffer statement;
    uint32_t root;
    double axis = NAN;
    bool is_read = reading_begin(&reading, &statement, meanings, number, &root);

    for (uint32_t i = 0; is_read && isnan(axis) && i < reading.expressions->count;
         i++) {
        const struct expression *item = &reading.expressions->items[i];

        if (item->kind == EXPRESSION_CALL &&
            (slice_equal(item->word, SLICE("softmax")) ||
             slice_equal(item->word, SLICE("cumsum")) ||
             slice_equal(item->word, SLICE("log_softmax")))) {
            axis = match_reading_number_of(&reading, item->first, "dim",
                                           item->is_library, NAN);
        }
    }
    reading_end(&reading, &statement);
    return axis < 0
               ? axis +
                     match_reading_run(meanings)->values[number].shape->dimension_count
               : axis;
}

struct match_axis match_meaning_weight_axis(struct match_meanings *meanings,
                                            uint32_t content,
                                            uint32_t weight)
{
    struct reading reading;
    struct buffer statement;
    uint32_t root;
    struct match_axis axis = {.axis = -1};

    if (reading_begin(&reading, &statement, meanings,
                      meanings->match->contents[meanings->side].items[content].first,
                      &root)) {
        axis = match_reading_axis(&reading, weight);
    }
    reading_end(&reading, &statement);
    return axis;
}

unsigned match_meaning_blindness(struct match_meanings *meanings, uint32_t value)
{
    unsigned before = meanings->blindness, found;

    meanings->blindness = 0;
    of_statement(meanings, value);
    found = meanings->blindness;
    meanings->blindness = before;
    return found;
}

static struct formula of_statement(struct match_meanings *meanings, uint32_t number)
{
    struct reading reading;
    struct buffer statement;
    struct formula result = formula_unknown();
    uint32_t root;

    if (reading_begin(&reading, &statement, meanings, number, &root) &&
        !reading.expressions->has_failed) {
        const struct match_value *value = &reading.run->values[number];

        result = match_reading_expression(&reading, value->is_argument
                                                        ? find_passed(&reading, value)
                                                        : find_target(&reading, root));
    }
    reading_end(&reading, &statement);
    return match_reading_note(meanings, result);
}

/* ---- contents ---- */

struct formula match_meaning_of_common(struct match_meanings *meanings, uint32_t of_a)
{
    assert(of_a < meanings->match->contents[0].count);

    uint32_t group = meanings->match->contents[0].items[of_a].group;
    struct formula number = formula_number(&meanings->arena, (double)group + 1);

    return formula_function(&meanings->arena, SLICE("value"), &number, 1);
}

/* The formula of a weight that the other run does not have. */
static struct formula of_unknown_weight(struct match_meanings *meanings,
                                        uint32_t content)
{
    struct formula number = formula_number(&meanings->arena, (double)content + 1);

    return formula_function(
        &meanings->arena,
        meanings->side == 0 ? SLICE("weight of A") : SLICE("weight of B"), &number, 1);
}

struct formula match_meaning_of_statement(struct match_meanings *meanings,
                                          uint32_t content)
{
    return of_statement(meanings,
                        meanings->match->contents[meanings->side].items[content].first);
}

bool match_is_mask(const struct match_value *value)
{
    const struct statistics *figures = value->statistics;

    return value->shape != NULL &&
           dtype_class(value->shape->dtype) == DTYPE_CLASS_FLOATING &&
           figures->zero_count > 0 &&
           statistics_bound_real(value->shape->dtype, figures->max) == 0 &&
           (figures->neginf_count > 0 ||
            statistics_bound_real(value->shape->dtype, figures->min) <= -1e3);
}

struct formula match_meaning_of(struct match_meanings *meanings, uint32_t content)
{
    const struct match_content *item =
        &meanings->match->contents[meanings->side].items[content];
    const struct match_value *first = &match_reading_run(meanings)->values[item->first];

    if (content == meanings->replaced) {
        return meanings->replacement;
    }
    if (content == meanings->exchanged) {
        return meanings->other;
    }
    if (match_is_mask(first)) {
        return match_reading_mask(
            &meanings->arena,
            match_reading_number(meanings, match_reading_share(first)));
    }
    if (item->partner != MATCH_NONE) {
        return match_meaning_of_common(meanings,
                                       meanings->side == 0 ? content : item->partner);
    }
    if (item->whole != MATCH_NONE) {
        return match_meaning_of_common(meanings, item->whole);
    }
    if (item->is_weight) {
        return of_unknown_weight(meanings, content);
    }
    if (meanings->states[content] == STATE_BEING_MADE) {
        return formula_unknown();
    }
    if (meanings->states[content] == STATE_NONE) {
        unsigned before = meanings->blindness;

        meanings->states[content] = STATE_BEING_MADE;
        meanings->formulas[content] = match_meaning_of_statement(meanings, content);
        meanings->states[content] = STATE_MADE;
        meanings->blindness = before;
    }
    return meanings->formulas[content];
}

/* The formula of an operand. A computed operand of A whose statement is not understood becomes a
 * base of its own, so that the statement that reads it still has a formula. An operand of B
 * stays unknown, because it may be one of A's values. So does a value made from nothing, such as
 * a parameter, which may have been loaded since. */
static struct formula of_operand(struct match_meanings *meanings, uint32_t content)
{
    struct formula formula = match_meaning_of(meanings, content), number;
    const struct match_links *in = &meanings->match->contents[meanings->side].in;

    if (formula.is_known || meanings->side == 1 ||
        in->first[content] == in->first[content + 1] ||
        meanings->states[content] == STATE_BEING_MADE) {
        return formula;
    }
    number = formula_number(&meanings->arena, (double)content + 1);
    return formula_function(&meanings->arena, SLICE("not understood"), &number, 1);
}

struct formula match_reading_value(struct match_meanings *meanings, uint32_t number)
{
    const struct match_value *value = &match_reading_run(meanings)->values[number];

    if (value->shape == NULL) {
        return formula_number(&meanings->arena,
                              match_reading_number(meanings, value->number));
    }
    return value->content == MATCH_NONE ? formula_unknown()
                                        : of_operand(meanings, value->content);
}

void match_meanings_forget(struct match_meanings *meanings,
                           uint32_t first,
                           uint32_t last)
{
    memset(meanings->states + first, STATE_NONE, last - first + 1);
}

bool match_meanings_init(struct match_meanings *meanings,
                         struct match *match,
                         unsigned side)
{
    size_t count = match->contents[side].count;

    *meanings = (struct match_meanings){
        .match = match,
        .side = side,
        .formulas = memory_allocate(count + 1, sizeof *meanings->formulas),
        .states = memory_allocate_zeroed(count + 1, sizeof *meanings->states),
        .replaced = MATCH_NONE,
        .exchanged = MATCH_NONE,
        .number = NAN,
    };
    arena_init(&meanings->arena);
    number_map_init(&meanings->imports);
    return meanings->formulas != NULL && meanings->states != NULL;
}

void match_meanings_release(struct match_meanings *meanings)
{
    memory_free(meanings->formulas);
    memory_free(meanings->states);
    memory_free(meanings->parts);
    memory_free(meanings->steps);
    number_map_release(&meanings->imports);
    arena_release(&meanings->arena);
}
