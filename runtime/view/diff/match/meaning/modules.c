/* Formulas of the torch modules that a statement calls: reads the constructor's line that made
 * the module, and applies it to a value. */
#include "runtime/view/diff/match/meaning/meaning.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"

#include <math.h>

/* Adds the module's weights among the inputs, in the order of a function's arguments. */
static void add_weights(struct reading *reading,
                        struct slice attribute,
                        enum match_meaning_kind kind,
                        struct match_operands *operands)
{
    static const char *const names[] = {".weight", ".bias", ".running_mean",
                                        ".running_var"};
    size_t count = kind == MEANING_BATCH_NORM ? 4 : 2;

    for (size_t i = 0; i < count; i++) {
        uint32_t found = match_reading_weight(reading, attribute, names[i]);

        if (found == MATCH_NONE ||
            !match_operands_add(operands, match_reading_value(reading->meanings, found),
                                EXPRESSION_NONE)) {
            return;
        }
    }
}

static struct formula apply_module(struct reading *made,
                                   const struct expression *call,
                                   struct slice attribute,
                                   struct formula of);

/* The modules of a Sequential from `first` up to `end`. */
struct part {
    unsigned first, end;
};

static const struct part whole = {0, UINT32_MAX};

/* Applies the modules of the arguments one after the other. Their weights are stored under their
 * numbers. */
static struct formula apply_sequence(struct reading *made,
                                     uint32_t first,
                                     struct slice attribute,
                                     struct part part,
                                     struct formula of)
{
    unsigned place = 0;

    for (uint32_t i = first; i != EXPRESSION_NONE && of.is_known && place < part.end;
         i = match_reading_item_of(made, i)->next, place++) {
        struct buffer name = BUFFER_INIT;

        if (place < part.first) {
            continue;
        }
        buffer_add(&name, attribute);
        buffer_add_byte(&name, '.');
        buffer_add_number(&name, place);
        of = name.has_failed || match_reading_item_of(made, i)->kind != EXPRESSION_CALL
                 ? formula_unknown()
                 : apply_module(made, match_reading_item_of(made, i),
                                buffer_slice(&name), of);
        match_reading_note(made->meanings, of);
        made->meanings->has_failed |= name.has_failed;
        buffer_release(&name);
    }
    return of;
}

static struct formula apply_module(struct reading *made,
                                   const struct expression *call,
                                   struct slice attribute,
                                   struct formula of)
{
    enum match_meaning_kind kind = match_reading_kind(call->word);
    struct match_operands operands = {
        .items = {of}, .expressions = {EXPRESSION_NONE}, .count = 1};

    if (kind == MEANING_NONE) {
        return formula_unknown();
    }
    if (kind == MEANING_SEQUENTIAL) {
        return apply_sequence(made, call->first, attribute, whole, of);
    }
    add_weights(made, attribute, kind, &operands);
    return match_reading_compute(made, call->word, &operands, call->first);
}

/* Applies the module that `statement` made, or a part of it, to `of`. */
static struct formula apply_made(struct reading *made,
                                 struct slice statement,
                                 struct slice attribute,
                                 struct part part,
                                 struct formula of)
{
    uint32_t number = match_reading_parse(made, statement);
    const struct expression *call;

    if (number == EXPRESSION_NONE) {
        return formula_unknown();
    }
    call = match_reading_item_of(made, number);
    if (call->kind != EXPRESSION_CALL) {
        return formula_unknown();
    }
    if (part.end == whole.end && part.first == 0) {
        return apply_module(made, call, attribute, of);
    }
    return match_reading_kind(call->word) == MEANING_SEQUENTIAL
               ? apply_sequence(made, call->first, attribute, part, of)
               : formula_unknown();
}

static struct formula apply_attribute(struct reading *reading,
                                      struct slice name,
                                      struct part part,
                                      struct formula of)
{
    const struct match_value *value = &reading->run->values[reading->value];
    struct reading made = *reading;
    struct buffer statement = BUFFER_INIT;
    struct formula result = formula_unknown();
    uint32_t line, module, unused;

    line = match_reading_setting(reading, name, &made.maker);
    if (line == 0) {
        return result;
    }
    made.expressions = memory_allocate(1, sizeof *made.expressions);
    match_place(reading->run, value, &module, &unused);
    match_statement_add(&reading->run->sources, module, line, &statement);
    if (made.expressions != NULL && !statement.has_failed) {
        result = apply_made(&made, buffer_slice(&statement),
                            slice_part(name, 5, name.size), part, of);
    }
    reading->meanings->has_failed |= made.expressions == NULL || statement.has_failed;
    memory_free(made.expressions);
    buffer_release(&statement);
    return result;
}

struct formula match_reading_module(struct reading *reading,
                                    struct slice name,
                                    const struct match_operands *operands)
{
    return operands->count == 0
               ? formula_unknown()
               : apply_attribute(reading, name, whole, operands->items[0]);
}

enum match_meaning_kind match_reading_module_kind(struct reading *reading,
                                                  struct slice name)
{
    const struct match_value *value = &reading->run->values[reading->value];
    struct reading made = *reading;
    struct buffer statement = BUFFER_INIT;
    uint32_t line = match_reading_setting(reading, name, &made.maker), module, unused;
    enum match_meaning_kind kind = MEANING_NONE;

    if (line == 0) {
        return kind;
    }
    made.expressions = memory_allocate(1, sizeof *made.expressions);
    match_place(reading->run, value, &module, &unused);
    match_statement_add(&reading->run->sources, module, line, &statement);
    if (made.expressions != NULL && !statement.has_failed) {
        uint32_t number = match_reading_parse(&made, buffer_slice(&statement));
        const struct expression *call =
            number == EXPRESSION_NONE ? NULL : match_reading_item_of(&made, number);

        kind = call != NULL && call->kind == EXPRESSION_CALL
                   ? match_reading_kind(call->word)
                   : MEANING_NONE;
    }
    reading->meanings->has_failed |= made.expressions == NULL || statement.has_failed;
    memory_free(made.expressions);
    buffer_release(&statement);
    return kind;
}

/* ---- `self.layers[0](x)`, `self.layers[1:](x)` ---- */

/* Reads the number at the beginning of the text, or `otherwise` if there is none. Returns false
 * if the text is no number. */
static bool read_place(struct slice text, unsigned otherwise, unsigned *place)
{
    unsigned number = 0;
    size_t digits = 0;

    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] >= '0' && text.bytes[i] <= '9' && digits++ < 6) {
            number = 10 * number + (unsigned)(text.bytes[i] - '0');
        } else if (text.bytes[i] != ' ') {
            return false;
        }
    }
    *place = digits == 0 ? otherwise : number;
    return true;
}

static bool read_part(struct slice subscript, struct part *part)
{
    size_t colon = slice_find(subscript, SLICE(":"), 0);

    if (colon == subscript.size) {
        if (!read_place(subscript, UINT32_MAX, &part->first) ||
            part->first == UINT32_MAX) {
            return false;
        }
        part->end = part->first + 1;
        return true;
    }
    return read_place(slice_part(subscript, 0, colon), 0, &part->first) &&
           read_place(slice_part(subscript, colon + 1, subscript.size), UINT32_MAX,
                      &part->end);
}

struct formula match_reading_module_part(struct reading *reading,
                                         const struct expression *index,
                                         const struct match_operands *operands)
{
    const struct expression *left = match_reading_item_of(reading, index->left);
    size_t open = slice_find(index->text, SLICE("["), 0),
           close = slice_find(index->text, SLICE("]"), open);
    struct part part;

    if (operands->count == 0 || left->kind != EXPRESSION_NAME ||
        !slice_starts(left->text, SLICE("self.")) || close == index->text.size ||
        !read_part(slice_part(index->text, open + 1, close), &part)) {
        return formula_unknown();
    }
    return apply_attribute(reading, left->text, part, operands->items[0]);
}
