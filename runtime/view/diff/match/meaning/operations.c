/* Formulas of operations: operators, functions, methods, and modules of torch. */
#include "runtime/view/diff/match/meaning/formula.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/match/meaning/meaning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The maximum nesting of formulas. */
#define DEPTH_MAX 40

static const struct {
    const char *name;
    enum match_meaning_kind kind;
    const char *canonical;
} table[] = {
#define MEANING(name, how, canonical) {name, MEANING_##how, canonical},
#include "runtime/view/diff/match/meaning/meaning.def"
#undef MEANING
};

/* ---- operators ---- */

/* exp(of), or 1 / exp(-of) if `of` begins with a negative number. */
static struct formula exponential(struct reading *reading, const struct formula *of)
{
    struct arena *arena = match_reading_arena(reading);
    struct formula zero = formula_number(arena, 0), turned;
    bool is_negative =
        of->is_known && of->term_count == 1 && of->terms[0].coefficient < 0;

    if (!is_negative) {
        return match_reading_apply(reading, SLICE("exp"), of);
    }
    turned = formula_add(arena, &zero, of, -1);
    turned = match_reading_apply(reading, SLICE("exp"), &turned);
    return formula_power(arena, &turned, -1);
}

/* A number to the power of a formula: exp(log(number) * formula). */
static struct formula
raise_number(struct reading *reading, double base, const struct formula *exponent)
{
    struct formula logarithm = formula_number(match_reading_arena(reading), log(base));

    logarithm = formula_multiply(match_reading_arena(reading), &logarithm, exponent);
    return exponential(reading, &logarithm);
}

static struct formula read_binary(struct reading *reading,
                                  const struct expression *item)
{
    struct formula left = match_reading_expression(reading, item->left);
    struct formula right = match_reading_expression(reading, item->right);
    struct arena *arena = match_reading_arena(reading);
    char sign = item->word.size > 0 ? item->word.bytes[0] : '\0';

    match_reading_note(reading->meanings, left);
    match_reading_note(reading->meanings, right);
    if (item->word.size == 2 && sign == '*') {
        return isnan(formula_constant(&right)) && formula_constant(&left) > 0
                   ? raise_number(reading, formula_constant(&left), &right)
                   : formula_power(arena, &left, formula_constant(&right));
    }
    if (item->word.size == 2 && sign == '/') {
        double quotient = formula_constant(&left) / formula_constant(&right);

        return formula_number(arena, floor(quotient));
    }
    if (sign == '+' || sign == '-') {
        return formula_add(arena, &left, &right, sign == '+' ? 1 : -1);
    }
    if (sign == '/') {
        right = formula_power(arena, &right, -1);
    }
    return sign == '*' || sign == '@' || sign == '/'
               ? formula_multiply(arena, &left, &right)
               : formula_unknown();
}

static struct formula read_unary(struct reading *reading, const struct expression *item)
{
    struct formula operand = match_reading_expression(reading, item->left);
    struct formula zero = formula_number(match_reading_arena(reading), 0);

    if (slice_equal(item->word, SLICE("-"))) {
        return formula_add(match_reading_arena(reading), &zero, &operand, -1);
    }
    return slice_equal(item->word, SLICE("+")) ? operand : formula_unknown();
}

/* A size of a shape: `x.shape[-1]`. */
static struct formula read_shape(struct reading *reading, const struct expression *item)
{
    struct slice text = match_reading_item_of(reading, item->left)->text,
                 last = slice_last_part(text, '.');
    double index = NAN;
    uint32_t value;

    if (!slice_equal(last, SLICE("shape")) || last.size == text.size ||
        item->first == EXPRESSION_NONE) {
        return formula_unknown();
    }
    if (match_reading_item_of(reading, item->first)->kind != EXPRESSION_OTHER) {
        struct formula formula = match_reading_expression(reading, item->first);

        index = formula_constant(&formula);
    }
    value =
        match_reading_input(reading, slice_part(text, 0, text.size - last.size - 1));
    if (value != MATCH_NONE && reading->run->values[value].shape != NULL &&
        isfinite(index)) {
        const struct log_shape *shape = reading->run->values[value].shape;
        double place = index < 0 ? index + shape->dimension_count : index;

        if (place >= 0 && place < shape->dimension_count) {
            return formula_number(match_reading_arena(reading),
                                  (double)shape->shape[(size_t)place]);
        }
    }
    return formula_unknown();
}

/* Whether the subscript is or contains a tensor. */
static bool has_tensor(struct reading *reading, uint32_t first)
{
    for (uint32_t i = first; i != EXPRESSION_NONE;
         i = match_reading_item_of(reading, i)->next) {
        const struct expression *item = match_reading_item_of(reading, i);

        if (item->kind == EXPRESSION_NAME) {
            uint32_t found = match_reading_input(reading, item->text);

            if (found != MATCH_NONE && reading->run->values[found].shape != NULL) {
                return true;
            }
        }
    }
    return false;
}

/* Picks elements of `of` by indices. This only changes the layout, unless the indices are a
 * range that does not begin at 0. */
static struct formula
pick(struct reading *reading, struct formula of, const struct formula *indices)
{
    struct formula range =
        formula_function(match_reading_arena(reading), SLICE("range"), NULL, 0);
    struct formula both[2] = {of, *indices};

    reading->meanings->blindness += 2;
    if (!indices->is_known || !isnan(formula_constant(indices)) ||
        formula_find(indices, &range) == FORMULA_WHOLE ||
        formula_find(&range, indices) == FORMULA_NOWHERE) {
        return of;
    }
    return formula_function(match_reading_arena(reading), SLICE("pick"), both, 2);
}

/* Whether the subscript leaves something out, as `[:, None]` does not. */
static bool picks_part(struct slice text)
{
    size_t open = slice_find(text, SLICE("["), 0);
    struct slice subscript = slice_part(text, open < text.size ? open : 0, text.size);

    for (size_t i = 0; i < subscript.size; i++) {
        if (memchr("[]:,. None", subscript.bytes[i], 11) == NULL) {
            return true;
        }
    }
    return false;
}

static struct formula read_index(struct reading *reading, const struct expression *item)
{
    const struct expression *left = match_reading_item_of(reading, item->left);
    struct formula formula;

    if (left->kind == EXPRESSION_NAME) {
        uint32_t found = match_reading_item(reading, left->text, item->text);

        formula = read_shape(reading, item);
        if (formula.is_known || found != MATCH_NONE) {
            return found != MATCH_NONE ? match_reading_value(reading->meanings, found)
                                       : formula;
        }
    }
    formula = match_reading_expression(reading, item->left);
    if (has_tensor(reading, item->first)) {
        struct formula indices = match_reading_expression(reading, item->first);

        return pick(reading, formula, &indices);
    }
    reading->meanings->blindness += picks_part(item->text) ? 2 : 0;
    return formula;
}

/* ---- numbers among arguments ---- */

uint32_t match_reading_argument(struct reading *reading,
                                uint32_t first,
                                const char *key,
                                size_t place)
{
    size_t at = 0;

    for (uint32_t i = first; i != EXPRESSION_NONE;
         i = match_reading_item_of(reading, i)->next) {
        if (slice_equal(match_reading_item_of(reading, i)->key, slice_of(key))) {
            return i;
        }
        if (match_reading_item_of(reading, i)->key.size == 0 && at++ == place) {
            return i;
        }
    }
    return EXPRESSION_NONE;
}

double match_reading_number_of(struct reading *reading,
                               uint32_t first,
                               const char *key,
                               size_t place,
                               double otherwise)
{
    uint32_t found = match_reading_argument(reading, first, key, place);
    struct formula formula;

    if (found == EXPRESSION_NONE) {
        return otherwise;
    }
    formula = match_reading_expression(reading, found);
    return formula_constant(&formula);
}

/* ---- formulas of functions ---- */

static struct formula root(struct reading *reading, struct formula of, double power)
{
    match_reading_note(reading->meanings, of);
    return formula_power(match_reading_arena(reading), &of, power);
}

static struct formula times(struct reading *reading, struct formula a, struct formula b)
{
    return formula_multiply(match_reading_arena(reading), &a, &b);
}

static struct formula plus(struct reading *reading, struct formula a, struct formula b)
{
    return formula_add(match_reading_arena(reading), &a, &b, 1);
}

static struct formula number(struct reading *reading, double value)
{
    return formula_number(match_reading_arena(reading), value);
}

/* The formula of a list's items, if all of them have the same. Otherwise unknown, because the
 * way they are joined is not known. */
static struct formula join_list(struct reading *reading, struct slice name)
{
    const struct match_links *in = &reading->run->in;
    struct formula joined = formula_unknown();

    for (uint32_t i = in->first[reading->value]; i < in->first[reading->value + 1];
         i++) {
        const struct match_value *item = &reading->run->values[in->items[i]];
        struct formula own;

        if (!slice_equal(item->name, name) || item->path.size == 0) {
            continue;
        }
        own = match_reading_value(reading->meanings, in->items[i]);
        if (!own.is_known ||
            (joined.is_known && formula_find(&own, &joined) != FORMULA_WHOLE)) {
            return formula_unknown();
        }
        joined = own;
    }
    return joined;
}

/* The formula of the first item, if all items are equal to it or its negative; otherwise a
 * function of all items. */
static struct formula join(struct reading *reading, uint32_t sequence)
{
    struct formula items[MATCH_ARGUMENTS_MAX];
    size_t count = 0;
    bool are_alike = true;

    if (sequence != EXPRESSION_NONE &&
        match_reading_item_of(reading, sequence)->kind == EXPRESSION_NAME) {
        return join_list(reading, match_reading_item_of(reading, sequence)->text);
    }
    if (sequence == EXPRESSION_NONE ||
        match_reading_item_of(reading, sequence)->kind != EXPRESSION_SEQUENCE) {
        return formula_unknown();
    }
    for (uint32_t i = match_reading_item_of(reading, sequence)->first;
         i != EXPRESSION_NONE; i = match_reading_item_of(reading, i)->next) {
        if (count == MATCH_ARGUMENTS_MAX) {
            return formula_unknown();
        }
        items[count] =
            match_reading_note(reading->meanings, match_reading_expression(reading, i));
        are_alike =
            are_alike &&
            (count == 0 || formula_find(&items[count], &items[0]) >= FORMULA_SCALED);
        count++;
    }
    if (count == 0) {
        return formula_unknown();
    }
    if (are_alike) {
        double first = items[0].is_known && items[0].term_count > 0
                           ? items[0].terms[0].coefficient
                           : 1;

        return first < 0 ? times(reading, items[0], number(reading, -1)) : items[0];
    }
    return formula_function(match_reading_arena(reading), SLICE("joined"), items,
                            count);
}

/* (x - mean) / sqrt(variance + eps), or without the mean if not `is_centred`. */
static struct formula normalise(struct reading *reading,
                                struct formula of,
                                struct slice mean,
                                double eps,
                                bool is_centred)
{
    struct arena *arena = match_reading_arena(reading);
    struct formula centre =
        is_centred ? match_reading_apply(reading, mean, &of) : number(reading, 0);
    struct formula centred = formula_add(arena, &of, &centre, -1);
    struct formula square = formula_power(arena, &centred, 2);
    struct formula variance = match_reading_apply(reading, mean, &square);

    match_reading_note(reading->meanings, centred);
    match_reading_note(reading->meanings, variance);
    variance = plus(reading, variance,
                    number(reading, match_reading_number(reading->meanings, eps)));
    return match_reading_note_step(
        reading->meanings, &of, times(reading, centred, root(reading, variance, -0.5)));
}

/* Multiplies by the weight and adds the bias of the module or the call, if it has them. */
static struct formula scale_and_shift(struct reading *reading,
                                      struct formula of,
                                      const struct match_operands *operands,
                                      size_t weight)
{
    struct formula result = of;

    if (operands->count > weight) {
        result = times(reading, result, operands->items[weight]);
    }
    match_reading_note(reading->meanings, result);
    if (operands->count > weight + 1) {
        result = plus(reading, result, operands->items[weight + 1]);
    }
    return match_reading_note(reading->meanings, result);
}

/* Normalisation by groups of channels. The number of groups is the first argument of a module,
 * the second of a function. */
static struct formula group_norm(struct reading *reading,
                                 const struct match_operands *operands,
                                 uint32_t first)
{
    bool is_function =
        operands->count > 1 && operands->expressions[1] != EXPRESSION_NONE;
    double groups = match_reading_number(
        reading->meanings,
        match_reading_number_of(reading, first, "num_groups", is_function, NAN));
    struct buffer mean = BUFFER_INIT;
    struct formula result;

    buffer_add(&mean, SLICE("mean of groups "));
    buffer_add_number(&mean, groups >= 1 && groups <= 1e6 ? (uint64_t)groups : 0);
    result =
        isnan(groups) || mean.has_failed
            ? formula_unknown()
            : normalise(reading, operands->items[0], buffer_slice(&mean),
                        match_reading_number_of(reading, first, "eps", 99, 1e-5), true);
    reading->meanings->has_failed |= mean.has_failed;
    buffer_release(&mean);
    return scale_and_shift(reading, result, operands, 1u + is_function);
}

/* Normalisation with the module's running figures: (x - mean) * weight / sqrt(variance + eps) +
 * bias. */
static struct formula
batch_norm(struct reading *reading, const struct match_operands *operands, double eps)
{
    struct formula factor, shift;

    if (operands->count < 5) {
        return formula_unknown();
    }
    factor =
        root(reading, plus(reading, operands->items[4], number(reading, eps)), -0.5);
    factor = match_reading_note(reading->meanings,
                                times(reading, factor, operands->items[1]));
    shift = times(reading, operands->items[3], factor);
    shift = formula_add(match_reading_arena(reading), &operands->items[2], &shift, -1);
    match_reading_note(reading->meanings, shift);
    return plus(reading, times(reading, operands->items[0], factor), shift);
}

static struct formula gelu(struct reading *reading, struct formula of, bool is_tanh)
{
    struct formula inner = times(reading, of, number(reading, M_SQRT1_2));
    struct formula half = times(reading, of, number(reading, 0.5));

    if (is_tanh) {
        struct formula cube = formula_power(match_reading_arena(reading), &of, 3);

        cube = of.term_count == 1 ? cube : times(reading, of, times(reading, of, of));
        inner = plus(reading, of, times(reading, cube, number(reading, 0.044715)));
        inner = times(reading, inner, number(reading, sqrt(2 / M_PI)));
        inner = match_reading_apply(reading, SLICE("tanh"), &inner);
    } else {
        inner = match_reading_apply(reading, SLICE("erf"), &inner);
    }
    return plus(reading, half, times(reading, half, inner));
}

/* `arange(end)`, `arange(start, end)`, `arange(start, end, step)`. */
static struct formula range(struct reading *reading,
                            const struct match_operands *operands)
{
    struct formula base =
        formula_function(match_reading_arena(reading), SLICE("range"), NULL, 0);

    if (operands->count > 2) {
        base = times(reading, base, operands->items[2]);
    }
    return operands->count > 1 ? plus(reading, operands->items[0], base) : base;
}

/* The share of a mask's elements that are true, non-zero or infinite. NaN: not known. */
static double share_of_mask(struct reading *reading, uint32_t expression)
{
    const struct expression *item;

    if (expression == EXPRESSION_NONE) {
        return NAN;
    }
    item = match_reading_item_of(reading, expression);
    if (item->kind == EXPRESSION_UNARY && slice_equal(item->word, SLICE("~"))) {
        return 1 - share_of_mask(reading, item->left);
    }
    if (item->kind == EXPRESSION_INDEX) {
        return share_of_mask(reading, item->left);
    }
    if (item->kind == EXPRESSION_NAME) {
        uint32_t found = match_reading_input(reading, item->text);
        const struct match_value *value =
            found == MATCH_NONE ? NULL : &reading->run->values[found];

        if (value != NULL && value->shape != NULL && value->statistics->count > 0) {
            return match_reading_share(value);
        }
    }
    return NAN;
}

/* The shape of a value, or of the first value in arithmetic. NULL: not known. */
static const struct log_shape *shape_of(struct reading *reading, uint32_t expression)
{
    const struct expression *item;
    const struct log_shape *left;
    uint32_t value;

    if (expression == EXPRESSION_NONE) {
        return NULL;
    }
    item = match_reading_item_of(reading, expression);
    if (item->kind == EXPRESSION_BINARY && !slice_equal(item->word, SLICE("@"))) {
        left = shape_of(reading, item->left);
        return left != NULL ? left : shape_of(reading, item->right);
    }
    value = item->kind == EXPRESSION_NAME ? match_reading_input(reading, item->text)
                                          : MATCH_NONE;
    return value == MATCH_NONE ? NULL : reading->run->values[value].shape;
}

/* Adds the mask that hides this share of the scores. */
static struct formula hide(struct reading *reading, struct formula scores, double share)
{
    return plus(reading, scores,
                match_reading_mask(match_reading_arena(reading),
                                   match_reading_number(reading->meanings, share)));
}

static struct formula mask_scores(struct reading *reading,
                                  struct formula scores,
                                  const struct log_shape *query,
                                  uint32_t first)
{
    uint32_t causal = match_reading_argument(reading, first, "is_causal", 99),
             mask = match_reading_argument(reading, first, "attn_mask", 99);

    if (causal != EXPRESSION_NONE &&
        !slice_equal(match_reading_item_of(reading, causal)->text, SLICE("False"))) {
        double length = query == NULL || query->dimension_count < 2
                            ? NAN
                            : (double)query->shape[query->dimension_count - 2];

        return slice_equal(match_reading_item_of(reading, causal)->text, SLICE("True"))
                   ? hide(reading, scores, (length - 1) / (2 * length))
                   : formula_unknown();
    }
    if (mask != EXPRESSION_NONE) {
        double share = share_of_mask(reading, mask);
        const struct log_shape *shape = shape_of(reading, mask);

        if (shape != NULL && shape->dtype == DTYPE_BOOL) {
            return hide(reading, scores, 1 - share); /* true: visible */
        }
        return plus(reading, scores, match_reading_expression(reading, mask));
    }
    return scores;
}

/* Softmax of the scaled products, times the values. */
static struct formula attention(struct reading *reading,
                                const struct match_operands *operands,
                                uint32_t first)
{
    double scale = match_reading_number_of(reading, first, "scale", 99, NAN);
    const struct log_shape *query =
        operands->count == 3 ? shape_of(reading, operands->expressions[0]) : NULL;
    struct formula scores;

    if (operands->count != 3) {
        return formula_unknown();
    }
    if (isnan(scale) && query != NULL && query->dimension_count > 0) {
        scale = 1 / sqrt((double)query->shape[query->dimension_count - 1]);
    }
    scores = times(reading, operands->items[0], operands->items[1]);
    scale = match_reading_number(reading->meanings, scale);
    scores = times(reading, match_reading_note(reading->meanings, scores),
                   number(reading, scale));
    scores = mask_scores(reading, scores, query, first);
    return times(reading, match_reading_apply(reading, SLICE("softmax"), &scores),
                 operands->items[2]);
}

static struct formula product(struct reading *reading,
                              const struct match_operands *operands)
{
    struct formula result = number(reading, 1);

    for (size_t i = 0; i < operands->count; i++) {
        result = times(reading, result, operands->items[i]);
    }
    return result;
}

/* The mean or maximum that a pool computes if its output has one element for each channel;
 * otherwise unknown. */
static struct formula
pool_to(struct reading *reading, size_t row, struct formula of, uint32_t first)
{
    bool is_module = table[row].name[0] == 'A';
    uint32_t size =
        match_reading_argument(reading, first, "output_size", is_module ? 0 : 1);
    struct formula count = formula_unknown();

    if (size != EXPRESSION_NONE &&
        match_reading_item_of(reading, size)->kind == EXPRESSION_SEQUENCE) {
        size = match_reading_item_of(reading, size)->first;
    }
    if (size != EXPRESSION_NONE) {
        count = match_reading_expression(reading, size);
    }
    return formula_constant(&count) == 1
               ? match_reading_apply(reading, slice_of(table[row].canonical), &of)
               : formula_unknown();
}

static unsigned blindness_of(size_t row)
{
    switch (table[row].kind) {
    case MEANING_LAYOUT:
        return (unsigned)atoi(table[row].canonical);
    case MEANING_JOINED:
        return 3;
    case MEANING_FUNCTION:
        return slice_equal(slice_of(table[row].canonical), SLICE("softmax")) ||
                       slice_equal(slice_of(table[row].canonical), SLICE("mean")) ||
                       slice_equal(slice_of(table[row].canonical), SLICE("max_pool")) ||
                       slice_equal(slice_of(table[row].canonical),
                                   SLICE("average_pool")) ||
                       slice_equal(slice_of(table[row].canonical), SLICE("cumsum"))
                   ? 2
                   : 0;
    case MEANING_ADAPTIVE:
    case MEANING_GROUP_NORM:
        return 2;
    case MEANING_MASKED:
        return 1;
    case MEANING_AFFINE:
        return slice_starts(slice_of(table[row].name), SLICE("conv")) ||
               slice_starts(slice_of(table[row].name), SLICE("Conv"));
    default:
        return 0;
    }
}

static struct formula compute(struct reading *reading,
                              size_t row,
                              const struct match_operands *operands,
                              uint32_t first)
{
    struct arena *arena = match_reading_arena(reading);
    struct formula a = operands->count > 0 ? operands->items[0] : formula_unknown();
    struct formula b = operands->count > 1 ? operands->items[1] : formula_unknown();
    bool is_tanh = false;

    reading->meanings->blindness += blindness_of(row);
    switch (table[row].kind) {
    case MEANING_LAYOUT:
        return a;
    case MEANING_JOINED:
        return operands->count > 0 ? join(reading, operands->expressions[0]) : a;
    case MEANING_PRODUCT:
        return product(reading, operands);
    case MEANING_AFFINE:
        return operands->count < 2 ? formula_unknown()
                                   : scale_and_shift(reading, a, operands, 1);
    case MEANING_PICKED: /* indices, weight */
        return pick(reading, b, &a);
    case MEANING_PICKED_BY:
        return a;
    case MEANING_SUM:
        return plus(reading, a, b);
    case MEANING_DIFFERENCE:
        return formula_add(arena, &a, &b, -1);
    case MEANING_QUOTIENT:
        return times(reading, a, root(reading, b, -1));
    case MEANING_NEGATIVE:
        return times(reading, a, number(reading, -1));
    case MEANING_ADDED_PRODUCT:
        return operands->count < 3
                   ? formula_unknown()
                   : plus(reading, a, times(reading, b, operands->items[2]));
    case MEANING_POWER:
        return root(reading, a, formula_constant(&b));
    case MEANING_SQUARE:
        return root(reading, a, 2);
    case MEANING_ROOT:
        return root(reading, a, 0.5);
    case MEANING_INVERSE_ROOT:
        return root(reading, a, -0.5);
    case MEANING_INVERSE:
        return root(reading, a, -1);
    case MEANING_SILU:
        return match_reading_note_step(
            reading->meanings, &a,
            times(reading, a, match_reading_apply(reading, SLICE("sigmoid"), &a)));
    case MEANING_GELU:
        is_tanh = match_reading_argument(reading, first, "approximate", 99) !=
                  EXPRESSION_NONE;
        return match_reading_note_step(reading->meanings, &a,
                                       gelu(reading, a, is_tanh));
    case MEANING_FUNCTION:
        return match_reading_apply(reading, slice_of(table[row].canonical), &a);
    case MEANING_ADDED_AT: /* axis, places, values */
        return operands->count < 4 ? formula_unknown()
                                   : plus(reading, a, operands->items[3]);
    case MEANING_ADAPTIVE:
        return pool_to(reading, row, a, first);
    case MEANING_EXPONENTIAL:
        return exponential(reading, &a);
    case MEANING_TOTAL: /* the sum of a product is the end of a matrix product in steps */
        return a.is_known && a.term_count == 1 && a.terms[0].factor_count > 1
                   ? a
                   : match_reading_apply(reading, SLICE("sum"), &a);
    case MEANING_POLAR:
        return times(reading, a,
                     plus(reading, match_reading_apply(reading, SLICE("cos"), &b),
                          match_reading_apply(reading, SLICE("sin"), &b)));
    case MEANING_RANGE:
        return range(reading, operands);
    case MEANING_ONE:
        return number(reading, 1);
    case MEANING_ZERO:
        return number(reading, 0);
    case MEANING_FULL:
        return b;
    case MEANING_VARIANCE:
        return match_reading_apply(reading, SLICE("variance"), &a);
    case MEANING_LAYER_NORM:
        return scale_and_shift(
            reading,
            normalise(reading, a, SLICE("mean"),
                      match_reading_number_of(reading, first, "eps", 99, 1e-5), true),
            operands, 1);
    case MEANING_RMS_NORM:
        return scale_and_shift(
            reading,
            normalise(reading, a, SLICE("mean"),
                      match_reading_number_of(reading, first, "eps", 99, 1e-5), false),
            operands, 1);
    case MEANING_GROUP_NORM:
        return group_norm(reading, operands, first);
    case MEANING_BATCH_NORM:
        return batch_norm(reading, operands,
                          match_reading_number_of(reading, first, "eps", 1, 1e-5));
    case MEANING_MASKED:
        return operands->count < 2
                   ? formula_unknown()
                   : plus(reading, a,
                          match_reading_mask(
                              arena,
                              match_reading_number(
                                  reading->meanings,
                                  share_of_mask(reading, operands->expressions[1]))));
    case MEANING_ATTENTION:
        return attention(reading, operands, first);
    default:
        return formula_unknown();
    }
}

static size_t find_row(struct slice name)
{
    size_t count = sizeof table / sizeof *table, row = 0;

    if (name.size > 1 && name.bytes[name.size - 1] == '_') {
        name.size--;
    }
    while (row < count && !slice_equal(name, slice_of(table[row].name))) {
        row++;
    }
    return row;
}

enum match_meaning_kind match_reading_kind(struct slice name)
{
    size_t row = find_row(name);

    return row < sizeof table / sizeof *table ? table[row].kind : MEANING_NONE;
}

struct formula match_reading_compute(struct reading *reading,
                                     struct slice name,
                                     const struct match_operands *operands,
                                     uint32_t first)
{
    size_t row = find_row(name);

    assert(row < sizeof table / sizeof *table);
    return compute(reading, row, operands, first);
}

bool match_reading_is_operation(struct slice name)
{
    return find_row(name) < sizeof table / sizeof *table;
}

bool match_operands_add(struct match_operands *operands,
                        struct formula formula,
                        uint32_t expression)
{
    if (operands->count == MATCH_ARGUMENTS_MAX) {
        return false;
    }
    operands->items[operands->count] = formula;
    operands->expressions[operands->count++] = expression;
    return true;
}

/* Whether operands after the first are part of the formula. */
static bool has_operands(size_t row)
{
    return table[row].kind != MEANING_LAYOUT && table[row].kind != MEANING_FUNCTION &&
           table[row].kind != MEANING_JOINED && table[row].kind != MEANING_VARIANCE &&
           table[row].kind != MEANING_TOTAL && table[row].kind != MEANING_ADAPTIVE;
}

/* Adds the first `most` arguments that are values and have no key. */
static void add_arguments(struct reading *reading,
                          uint32_t first,
                          struct match_operands *operands,
                          size_t most)
{
    for (uint32_t i = first; i != EXPRESSION_NONE && operands->count < most;
         i = match_reading_item_of(reading, i)->next) {
        const struct expression *item = match_reading_item_of(reading, i);
        bool is_weight = slice_equal(item->key, SLICE("weight")) ||
                         slice_equal(item->key, SLICE("bias"));

        if ((item->key.size == 0 || is_weight) && item->kind != EXPRESSION_STRING &&
            item->kind != EXPRESSION_REST) {
            struct formula formula = item->kind == EXPRESSION_SEQUENCE
                                         ? formula_unknown()
                                         : match_reading_expression(reading, i);

            if (!match_operands_add(operands, formula, i)) {
                return;
            }
        }
    }
}

/* ---- calls ---- */

/* The callee of a call's text, up to the bracket: `self.act.gelu`. */
static struct slice callee_of(const struct expression *item)
{
    return slice_part(item->text, 0, slice_find(item->text, SLICE("("), 0));
}

static struct formula read_numeric(struct reading *reading,
                                   const struct expression *item,
                                   const struct match_operands *operands)
{
    double x = operands->count > 0 ? formula_constant(&operands->items[0]) : NAN;

    if (slice_equal(item->word, SLICE("sqrt"))) {
        return number(reading, sqrt(x));
    }
    if (slice_equal(item->word, SLICE("log"))) {
        return number(reading, log(x));
    }
    if (slice_equal(item->word, SLICE("exp"))) {
        return number(reading, exp(x));
    }
    return slice_equal(item->word, SLICE("float")) ||
                   slice_equal(item->word, SLICE("int"))
               ? operands->items[0]
               : formula_unknown();
}

/* Collects the object of the call and its arguments, as far as the formula needs them. */
static void collect_operands(struct reading *reading,
                             const struct expression *item,
                             bool is_own,
                             struct match_operands *operands)
{
    size_t row = find_row(item->word);
    bool has_many = row == sizeof table / sizeof *table || has_operands(row);

    if (item->left != EXPRESSION_NONE && !is_own && !item->is_library) {
        const struct expression *left = match_reading_item_of(reading, item->left);

        if (left->kind != EXPRESSION_NAME ||
            !slice_equal(left->text, SLICE("nn.functional"))) {
            match_operands_add(operands, match_reading_expression(reading, item->left),
                               item->left);
        }
    }
    if (operands->count == 0 || has_many) {
        add_arguments(reading, item->first, operands,
                      has_many ? MATCH_ARGUMENTS_MAX : 1);
    }
}

/* Puts the attribute before the arguments: `self.weight.view(…)`. */
static void
put_before(struct reading *reading, uint32_t left, struct match_operands *operands)
{
    struct match_operands all = {.count = 0};

    match_operands_add(&all, match_reading_expression(reading, left), left);
    for (size_t i = 0; i < operands->count; i++) {
        match_operands_add(&all, operands->items[i], operands->expressions[i]);
    }
    *operands = all;
}

static struct formula read_call(struct reading *reading, const struct expression *item)
{
    struct slice callee = callee_of(item);
    struct match_operands operands = {.count = 0};
    uint32_t returned = match_reading_returned(reading, item->word);
    size_t row = find_row(item->word);
    uint32_t maker;
    bool is_own = slice_starts(callee, SLICE("self.")) &&
                  (item->left == EXPRESSION_NONE ||
                   match_reading_item_of(reading, item->left)->kind == EXPRESSION_NAME);

    if (returned == MATCH_NONE && row == sizeof table / sizeof *table) {
        returned = match_reading_only_return(reading, item);
    }
    if (returned != MATCH_NONE) {
        return match_reading_value(reading->meanings, returned);
    }
    if (item->left != EXPRESSION_NONE && item->word.size == 0 &&
        match_reading_item_of(reading, item->left)->kind == EXPRESSION_INDEX) {
        add_arguments(reading, item->first, &operands, 1);
        return match_reading_module_part(
            reading, match_reading_item_of(reading, item->left), &operands);
    }
    collect_operands(reading, item, is_own, &operands);
    if (is_own && match_reading_setting(reading, callee, &maker) != 0) {
        return match_reading_module(reading, callee, &operands);
    }
    if (is_own && item->left != EXPRESSION_NONE) {
        put_before(reading, item->left, &operands);
    }
    if (operands.count > 0 && (row == sizeof table / sizeof *table ||
                               (slice_starts(callee, SLICE("math.")) &&
                                !isnan(formula_constant(&operands.items[0]))))) {
        return read_numeric(reading, item, &operands);
    }
    return row == sizeof table / sizeof *table
               ? formula_unknown()
               : compute(reading, row, &operands, item->first);
}

struct formula match_reading_expression(struct reading *reading,
                                        uint32_t number_of_item)
{
    struct match_meanings *meanings = reading->meanings;
    struct formula result = formula_unknown();
    const struct expression *item;

    if (number_of_item == EXPRESSION_NONE || meanings->depth >= DEPTH_MAX) {
        return result;
    }
    item = match_reading_item_of(reading, number_of_item);
    meanings->depth++;
    switch (item->kind) {
    case EXPRESSION_NAME:
        result = match_reading_name(reading, item->text);
        break;
    case EXPRESSION_NUMBER:
        result = formula_number(&meanings->arena,
                                match_reading_number(meanings, item->number));
        break;
    case EXPRESSION_UNARY:
        result = read_unary(reading, item);
        break;
    case EXPRESSION_BINARY:
        result = read_binary(reading, item);
        break;
    case EXPRESSION_CALL:
        result = read_call(reading, item);
        break;
    case EXPRESSION_INDEX:
        result = read_index(reading, item);
        break;
    case EXPRESSION_ATTRIBUTE:
        if (match_reading_is_view(item->word)) {
            result = match_reading_expression(reading, item->left);
            meanings->blindness += 2;
        }
        break;
    default:
        break;
    }
    meanings->depth--;
    return result;
}
