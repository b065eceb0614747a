/* A Python expression as a tree, as far as arithmetic goes: what stands behind operands, and
 * the operators between them. */
#include "runtime/view/why/reason/reading.h"

/* Whether the first part of a dotted name is a library whose functions are called so. */
static bool is_library(struct slice name)
{
    static const char *const libraries[] = {"torch", "np",    "numpy", "math",      "F",
                                            "nn",    "cmath", "jnp",   "functional"};
    size_t end = slice_find(name, SLICE("."), 0);
    struct slice first = slice_part(name, 0, end);

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (slice_equal(first, slice_of(libraries[i]))) {
            return true;
        }
    }
    return false;
}

/* ---- what stands behind an operand ---- */

/* `x.softmax`, called: the method of `x`; `torch.softmax`: a function of that name. */
static void
split_callee(struct expressions *all, uint32_t callee, struct expression *call)
{
    struct expression *item = &all->items[callee];
    size_t dot = item->text.size;

    if (item->kind == EXPRESSION_ATTRIBUTE) {
        call->word = item->word;
        call->left = item->left;
        return;
    }
    if (item->kind != EXPRESSION_NAME) {
        call->left = callee;
        return;
    }
    while (dot > 0 && item->text.bytes[dot - 1] != '.') {
        dot--;
    }
    call->word = slice_part(item->text, dot, item->text.size);
    call->is_library = dot > 0 && is_library(item->text);
    if (dot > 0 && !call->is_library) {
        item->text = slice_part(item->text, 0, dot - 1);
        call->left = callee;
    }
}

static uint32_t read_call(struct expressions *all, uint32_t callee, size_t start)
{
    uint32_t first;
    uint32_t call;

    all->at++;
    first = reading_arguments(all);
    call = reading_add(all, EXPRESSION_CALL, start);
    if (call != EXPRESSION_NONE) {
        all->items[call].first = first;
        split_callee(all, callee, &all->items[call]);
    }
    return call;
}

static uint32_t read_postfix(struct expressions *all)
{
    size_t start = all->at;
    uint32_t operand = reading_atom(all);

    while (operand != EXPRESSION_NONE) {
        reading_skip_blanks(all);
        if (reading_peek(all, 0) == '(') {
            operand = read_call(all, operand, start);
        } else if (reading_peek(all, 0) == '[') {
            uint32_t first;
            uint32_t index;

            all->at++;
            first = reading_arguments(all);
            index = reading_add(all, EXPRESSION_INDEX, start);
            if (index != EXPRESSION_NONE) {
                all->items[index].left = operand;
                all->items[index].first = first;
            }
            operand = index;
        } else if (reading_peek(all, 0) == '.' &&
                   reading_is_word(reading_peek(all, 1))) {
            struct slice word;
            uint32_t attribute;

            all->at++;
            word = reading_take_word(all);
            attribute = reading_add(all, EXPRESSION_ATTRIBUTE, start);
            if (attribute != EXPRESSION_NONE) {
                all->items[attribute].left = operand;
                all->items[attribute].word = word;
            }
            operand = attribute;
        } else {
            break;
        }
    }
    return operand;
}

static uint32_t read_unary(struct expressions *all)
{
    size_t start;
    uint32_t operand;
    uint32_t unary;

    reading_skip_blanks(all);
    start = all->at;
    if (reading_peek(all, 0) != '-' && reading_peek(all, 0) != '+' &&
        reading_peek(all, 0) != '~') {
        return read_postfix(all);
    }
    all->at++;
    if (all->depth >= EXPRESSION_DEPTH) {
        all->has_failed = true;
        return reading_add(all, EXPRESSION_OTHER, start);
    }
    all->depth++;
    operand = reading_binary(all, LEVEL_SIGN);
    all->depth--;
    unary = reading_add(all, EXPRESSION_UNARY, start);
    if (unary != EXPRESSION_NONE) {
        all->items[unary].word = slice_part(all->text, start, start + 1);
        all->items[unary].left = operand;
    }
    return unary;
}

/* The operator that stands there; LEVEL_NONE: none of arithmetic. */
static enum level operator_at(const struct expressions *all, size_t *size)
{
    char first = reading_peek(all, 0);
    char second = reading_peek(all, 1);

    *size = 1;
    switch (first) {
    case '*':
        *size = second == '*' ? 2 : 1;
        return second == '*' ? LEVEL_POWER : LEVEL_PRODUCT;
    case '/':
        *size = second == '/' ? 2 : 1;
        return LEVEL_PRODUCT;
    case '%':
    case '@':
        return LEVEL_PRODUCT;
    case '+':
    case '-':
        return LEVEL_SUM;
    case '|':
    case '&':
    case '^':
        return LEVEL_BITS;
    default:
        return LEVEL_NONE;
    }
}

uint32_t reading_binary(struct expressions *all, enum level lowest)
{
    size_t start;
    uint32_t left;

    reading_skip_blanks(all);
    start = all->at;
    left = read_unary(all);
    for (;;) {
        size_t size;
        size_t at;
        enum level level;
        uint32_t right;
        uint32_t binary;

        reading_skip_blanks(all);
        level = operator_at(all, &size);
        if (level == LEVEL_NONE || level < lowest || left == EXPRESSION_NONE ||
            all->depth >= EXPRESSION_DEPTH) {
            return left;
        }
        at = all->at;
        all->at += size;
        all->depth++;
        /* A power groups to the right, and binds tighter than a sign before it. */
        right = reading_binary(all, level == LEVEL_POWER ? LEVEL_SIGN
                                                         : (enum level)(level + 1));
        all->depth--;
        binary = reading_add(all, EXPRESSION_BINARY, start);
        if (binary == EXPRESSION_NONE) {
            return left;
        }
        all->items[binary].word = slice_part(all->text, at, at + size);
        all->items[binary].left = left;
        all->items[binary].right = right;
        left = binary;
    }
}
