/* The axes of matrices along which statements sum: the last axis of a Linear's weight, the first
 * axis of `w` in `x @ w`. */
#include "runtime/view/diff/match/meaning/meaning.h"

#include <string.h>

/* The way from an expression to a weight. */
struct way {
    uint32_t content; /* the weight */
    uint32_t value;   /* the weight's value that the statement reads */
    bool is_module;   /* a module of torch reads it */
    bool is_turned;
};

static bool is_of(const struct reading *reading, uint32_t value, struct way *way)
{
    if (value == MATCH_NONE || reading->run->values[value].content != way->content) {
        return false;
    }
    way->value = value;
    return true;
}

static bool leads(struct reading *reading, uint32_t expression, struct way *way);

static bool does_name_lead(struct reading *reading, struct slice name, struct way *way)
{
    struct slice last = slice_last_part(name, '.');

    if (last.size < name.size &&
        (slice_equal(last, SLICE("T")) || slice_equal(last, SLICE("mT")))) {
        way->is_turned = !way->is_turned;
        name = slice_part(name, 0, name.size - last.size - 1);
    }
    if (is_of(reading, match_reading_input(reading, name), way)) {
        return true;
    }
    return slice_starts(name, SLICE("self.")) &&
           is_of(reading,
                 match_reading_weight(reading, slice_part(name, 5, name.size), ""),
                 way);
}

static bool
does_call_lead(struct reading *reading, const struct expression *item, struct way *way)
{
    static const char *const turns[] = {"t", "transpose", "swapaxes", "permute"};
    static const char *const copies[] = {"contiguous", "float", "to", "clone",
                                         "detach"};

    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        if (slice_equal(item->word, slice_of(turns[i]))) {
            way->is_turned = !way->is_turned;
            return leads(reading, item->left, way);
        }
    }
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        if (slice_equal(item->word, slice_of(copies[i]))) {
            return leads(reading, item->left, way);
        }
    }
    return false;
}

/* Whether the expression is the weight, perhaps transposed. */
static bool leads(struct reading *reading, uint32_t expression, struct way *way)
{
    const struct expression *item;

    if (expression == EXPRESSION_NONE) {
        return false;
    }
    item = match_reading_item_of(reading, expression);
    if (item->kind == EXPRESSION_NAME) {
        return does_name_lead(reading, item->text, way);
    }
    if (item->kind == EXPRESSION_ATTRIBUTE &&
        (slice_equal(item->word, SLICE("T")) || slice_equal(item->word, SLICE("mT")))) {
        way->is_turned = !way->is_turned;
        return leads(reading, item->left, way);
    }
    if (item->kind == EXPRESSION_INDEX) {
        const struct expression *left = match_reading_item_of(reading, item->left);

        return left->kind == EXPRESSION_NAME &&
               is_of(reading, match_reading_item(reading, left->text, item->text), way);
    }
    return item->kind == EXPRESSION_CALL && does_call_lead(reading, item, way);
}

/* The axis of the weight along which the statement sums, if `axis` is the one of the expression.
 * -1: the expression is not the weight. */
static int
axis_through(struct reading *reading, uint32_t expression, int axis, struct way *way)
{
    struct way own = {.content = way->content};

    if (!leads(reading, expression, &own)) {
        return -1;
    }
    *way = own;
    return own.is_turned ? 1 - axis : axis;
}

/* The letters of an operand of an einsum: `bd` of `"bd,dh->bh"`. */
static struct slice letters_of(struct slice text, size_t operand)
{
    size_t start = 1;

    for (size_t i = 0; i < operand; i++) {
        start = slice_find(text, SLICE(","), start) + 1;
    }
    text = start < text.size ? slice_part(text, start, text.size) : SLICE("");
    start = 0;
    while (start < text.size && memchr(",-\"'", text.bytes[start], 4) == NULL) {
        start++;
    }
    return slice_part(text, 0, start);
}

static int
axis_of_einsum(struct reading *reading, const struct expression *item, struct way *way)
{
    uint32_t first = item->first;
    size_t operand = 0;
    struct slice text, output;

    if (first == EXPRESSION_NONE ||
        match_reading_item_of(reading, first)->kind != EXPRESSION_STRING) {
        return -1;
    }
    text = match_reading_item_of(reading, first)->text;
    output = slice_part(text, slice_find(text, SLICE("->"), 0), text.size);
    for (uint32_t i = match_reading_item_of(reading, first)->next; i != EXPRESSION_NONE;
         i = match_reading_item_of(reading, i)->next, operand++) {
        struct slice letters = letters_of(text, operand);

        for (int axis = 0; letters.size == 2 && output.size > 0 && axis < 2; axis++) {
            int found = memchr(output.bytes, letters.bytes[axis], output.size) == NULL
                            ? axis_through(reading, i, axis, way)
                            : -1;

            if (found >= 0) {
                return found;
            }
        }
    }
    return -1;
}

/* The axis of a module's weight: the last one of a Linear's weight, the input channels of a
 * convolution's. -1: not known. */
static int
axis_of_module(struct reading *reading, const struct expression *item, struct way *way)
{
    size_t end = slice_find(item->text, SLICE("("), 0);
    struct slice callee = slice_part(item->text, 0, end);
    uint32_t weight;

    if (!slice_starts(callee, SLICE("self."))) {
        return -1;
    }
    weight =
        match_reading_weight(reading, slice_part(callee, 5, callee.size), ".weight");
    if (match_reading_module_kind(reading, callee) != MEANING_AFFINE ||
        !is_of(reading, weight, way)) {
        return -1;
    }
    way->is_module = true;
    return 1;
}

static int
axis_of_call(struct reading *reading, const struct expression *item, struct way *way)
{
    enum match_meaning_kind kind = match_reading_kind(item->word);
    uint32_t first = item->first,
             second = first == EXPRESSION_NONE
                          ? first
                          : match_reading_item_of(reading, first)->next;
    int found = axis_of_module(reading, item, way);

    if (found >= 0) {
        return found;
    }
    if (kind == MEANING_AFFINE && item->is_library) {
        return axis_through(reading, second, 1, way);
    }
    if (slice_equal(item->word, SLICE("einsum"))) {
        return axis_of_einsum(reading, item, way);
    }
    if (!slice_equal(item->word, SLICE("matmul")) &&
        !slice_equal(item->word, SLICE("mm"))) {
        return -1;
    }
    found = axis_through(reading, item->is_library ? second : first, 0, way);
    return found >= 0
               ? found
               : axis_through(reading, item->is_library ? first : item->left, 1, way);
}

struct match_axis match_reading_axis(struct reading *reading, uint32_t weight)
{
    struct way way = {.content = weight};
    int found = -1;

    for (uint32_t i = 0; i < reading->expressions->count && found < 0; i++) {
        const struct expression *item = &reading->expressions->items[i];

        if (item->kind == EXPRESSION_BINARY && slice_equal(item->word, SLICE("@"))) {
            found = axis_through(reading, item->right, 0, &way);
            found = found < 0 ? axis_through(reading, item->left, 1, &way) : found;
        } else if (item->kind == EXPRESSION_CALL) {
            found = axis_of_call(reading, item, &way);
        }
    }
    return (struct match_axis){
        .axis = found, .value = way.value, .is_module = way.is_module};
}
