/* A Python expression as a tree, as far as arithmetic goes. */
#include "runtime/view/why_expression.h"

#include <stdlib.h>

/* How tightly operators bind. */
enum level {
    LEVEL_NONE,
    LEVEL_CHOICE, /* if else, or, and, comparisons: no arithmetic */
    LEVEL_BITS,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_SIGN,
    LEVEL_POWER,
};

static uint32_t read_binary(struct expressions *all, enum level lowest);

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static char peek(const struct expressions *all, size_t ahead)
{
    return all->at + ahead < all->text.size ? all->text.bytes[all->at + ahead] : '\0';
}

static void skip_blanks(struct expressions *all)
{
    while (peek(all, 0) == ' ' || peek(all, 0) == '\t') {
        all->at++;
    }
}

static uint32_t add(struct expressions *all, enum expression_kind kind, size_t start)
{
    if (all->count == EXPRESSIONS_MAX) {
        all->has_failed = true;
        return EXPRESSION_NONE;
    }
    all->items[all->count] = (struct expression){
        .kind = kind,
        .text = slice_part(all->text, start, all->at),
        .word = {"", 0},
        .left = EXPRESSION_NONE,
        .right = EXPRESSION_NONE,
        .first = EXPRESSION_NONE,
        .next = EXPRESSION_NONE,
        .key = {"", 0},
    };
    return all->count++;
}

bool expression_is_library(struct slice name)
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

/* ---- the smallest parts ---- */

/* Behind its opening quote. */
static void skip_string(struct expressions *all, char quote)
{
    bool is_long = peek(all, 0) == quote && peek(all, 1) == quote;

    all->at += is_long ? 2 : 0;
    while (all->at < all->text.size) {
        char byte = peek(all, 0);

        all->at++;
        if (byte == '\\') {
            all->at++;
        } else if (byte == quote &&
                   (!is_long || (peek(all, 0) == quote && peek(all, 1) == quote))) {
            all->at += is_long ? 2 : 0;
            break;
        }
    }
    all->at = all->at < all->text.size ? all->at : all->text.size;
}

static uint32_t read_number(struct expressions *all)
{
    size_t start = all->at;
    char digits[64];
    size_t size = 0;
    uint32_t number;

    while (is_word(peek(all, 0)) || peek(all, 0) == '.' ||
           ((peek(all, 0) == '-' || peek(all, 0) == '+') && all->at > start &&
            (all->text.bytes[all->at - 1] == 'e' ||
             all->text.bytes[all->at - 1] == 'E'))) {
        if (peek(all, 0) != '_' && size + 1 < sizeof digits) {
            digits[size++] = peek(all, 0);
        }
        all->at++;
    }
    digits[size] = '\0';
    number = add(all, EXPRESSION_NUMBER, start);
    if (number != EXPRESSION_NONE) {
        all->items[number].number = strtod(digits, NULL);
    }
    return number;
}

static struct slice take_word(struct expressions *all)
{
    size_t start = all->at;

    while (is_word(peek(all, 0))) {
        all->at++;
    }
    return slice_part(all->text, start, all->at);
}

/* Whatever stands up to the bracket that closes this one, or to a comma: no arithmetic. */
static void skip_rest(struct expressions *all)
{
    uint32_t depth = 0;

    while (all->at < all->text.size) {
        char byte = peek(all, 0);

        if (byte == '(' || byte == '[' || byte == '{') {
            depth++;
        } else if (byte == ')' || byte == ']' || byte == '}') {
            if (depth-- == 0) {
                return;
            }
        } else if (depth == 0 && byte == ',') {
            return;
        }
        all->at++;
        if (byte == '"' || byte == '\'') {
            skip_string(all, byte);
        }
    }
}

/* An expression and what stands behind it up to a comma or closing bracket. */
static uint32_t read_whole(struct expressions *all)
{
    size_t start;
    uint32_t found;

    skip_blanks(all);
    start = all->at;
    if (all->depth >= EXPRESSION_DEPTH) {
        all->has_failed = true;
        skip_rest(all);
        return add(all, EXPRESSION_OTHER, start);
    }
    all->depth++;
    found = read_binary(all, LEVEL_BITS);
    all->depth--;
    skip_blanks(all);
    if (all->at < all->text.size && peek(all, 0) != ',' && peek(all, 0) != ')' &&
        peek(all, 0) != ']' && peek(all, 0) != '}') {
        skip_rest(all);
        return add(all, EXPRESSION_OTHER, start);
    }
    return found;
}

/* The arguments up to the closing bracket: gives the first. */
static uint32_t read_arguments(struct expressions *all)
{
    uint32_t first = EXPRESSION_NONE;
    uint32_t last = EXPRESSION_NONE;

    for (;;) {
        struct slice key = SLICE("");
        size_t start;
        uint32_t argument;

        skip_blanks(all);
        if (all->at >= all->text.size || peek(all, 0) == ')' || peek(all, 0) == ']' ||
            peek(all, 0) == '}') {
            all->at += all->at < all->text.size;
            return first;
        }
        start = all->at;
        key = take_word(all);
        skip_blanks(all);
        if (key.size > 0 && peek(all, 0) == '=' && peek(all, 1) != '=') {
            all->at++;
        } else {
            all->at = start;
            key = SLICE("");
        }
        argument = read_whole(all);
        if (argument != EXPRESSION_NONE) {
            all->items[argument].key = key;
            if (last == EXPRESSION_NONE) {
                first = argument;
            } else {
                all->items[last].next = argument;
            }
            last = argument;
        }
        skip_blanks(all);
        if (peek(all, 0) == ',') {
            all->at++;
        } else if (all->at == start) {
            all->at++; /* whatever it is, on we go */
        }
    }
}

static uint32_t read_bracket(struct expressions *all, size_t start)
{
    char open = peek(all, 0);
    uint32_t first;
    uint32_t sequence;
    bool is_group;

    all->at++;
    first = read_arguments(all);
    is_group = open == '(' && first != EXPRESSION_NONE &&
               all->items[first].next == EXPRESSION_NONE &&
               slice_find(slice_part(all->text, start, all->at), SLICE(",)"), 0) ==
                   all->at - start;
    if (is_group) {
        return first;
    }
    sequence = add(all, EXPRESSION_SEQUENCE, start);
    if (sequence != EXPRESSION_NONE) {
        all->items[sequence].first = first;
    }
    return sequence;
}

static uint32_t read_name(struct expressions *all)
{
    size_t start = all->at;

    for (;;) {
        take_word(all);
        if (peek(all, 0) != '.' || !is_word(peek(all, 1)) || is_digit(peek(all, 1))) {
            break;
        }
        all->at++;
    }
    if ((peek(all, 0) == '"' || peek(all, 0) == '\'') && all->at - start <= 2) {
        char quote = peek(all, 0);

        all->at++;
        skip_string(all, quote);
        return add(all, EXPRESSION_STRING, start);
    }
    return add(all, EXPRESSION_NAME, start);
}

static uint32_t read_atom(struct expressions *all)
{
    size_t start = all->at;
    char byte = peek(all, 0);

    if (is_digit(byte) || (byte == '.' && is_digit(peek(all, 1)))) {
        return read_number(all);
    }
    if (is_word(byte)) {
        return read_name(all);
    }
    if (byte == '"' || byte == '\'') {
        all->at++;
        skip_string(all, byte);
        return add(all, EXPRESSION_STRING, start);
    }
    if (byte == '(' || byte == '[' || byte == '{') {
        return read_bracket(all, start);
    }
    return add(all, EXPRESSION_OTHER, start);
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
    if (dot > 0 && !expression_is_library(item->text)) {
        item->text = slice_part(item->text, 0, dot - 1);
        call->left = callee;
    }
}

static uint32_t read_call(struct expressions *all, uint32_t callee, size_t start)
{
    uint32_t first;
    uint32_t call;

    all->at++;
    first = read_arguments(all);
    call = add(all, EXPRESSION_CALL, start);
    if (call != EXPRESSION_NONE) {
        all->items[call].first = first;
        split_callee(all, callee, &all->items[call]);
    }
    return call;
}

static uint32_t read_postfix(struct expressions *all)
{
    size_t start = all->at;
    uint32_t operand = read_atom(all);

    while (operand != EXPRESSION_NONE) {
        skip_blanks(all);
        if (peek(all, 0) == '(') {
            operand = read_call(all, operand, start);
        } else if (peek(all, 0) == '[') {
            uint32_t first;
            uint32_t index;

            all->at++;
            first = read_arguments(all);
            index = add(all, EXPRESSION_INDEX, start);
            if (index != EXPRESSION_NONE) {
                all->items[index].left = operand;
                all->items[index].first = first;
            }
            operand = index;
        } else if (peek(all, 0) == '.' && is_word(peek(all, 1))) {
            struct slice word;
            uint32_t attribute;

            all->at++;
            word = take_word(all);
            attribute = add(all, EXPRESSION_ATTRIBUTE, start);
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

    skip_blanks(all);
    start = all->at;
    if (peek(all, 0) != '-' && peek(all, 0) != '+' && peek(all, 0) != '~') {
        return read_postfix(all);
    }
    all->at++;
    if (all->depth >= EXPRESSION_DEPTH) {
        all->has_failed = true;
        return add(all, EXPRESSION_OTHER, start);
    }
    all->depth++;
    operand = read_binary(all, LEVEL_SIGN);
    all->depth--;
    unary = add(all, EXPRESSION_UNARY, start);
    if (unary != EXPRESSION_NONE) {
        all->items[unary].word = slice_part(all->text, start, start + 1);
        all->items[unary].left = operand;
    }
    return unary;
}

/* The operator that stands there; LEVEL_NONE: none of arithmetic. */
static enum level operator_at(const struct expressions *all, size_t *size)
{
    char first = peek(all, 0);
    char second = peek(all, 1);

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

static uint32_t read_binary(struct expressions *all, enum level lowest)
{
    size_t start;
    uint32_t left;

    skip_blanks(all);
    start = all->at;
    left = read_unary(all);
    for (;;) {
        size_t size;
        size_t at;
        enum level level;
        uint32_t right;
        uint32_t binary;

        skip_blanks(all);
        level = operator_at(all, &size);
        if (level == LEVEL_NONE || level < lowest || left == EXPRESSION_NONE ||
            all->depth >= EXPRESSION_DEPTH) {
            return left;
        }
        at = all->at;
        all->at += size;
        all->depth++;
        /* A power groups to the right, and binds tighter than a sign before it. */
        right = read_binary(all, level == LEVEL_POWER ? LEVEL_SIGN
                                                      : (enum level)(level + 1));
        all->depth--;
        binary = add(all, EXPRESSION_BINARY, start);
        if (binary == EXPRESSION_NONE) {
            return left;
        }
        all->items[binary].word = slice_part(all->text, at, at + size);
        all->items[binary].left = left;
        all->items[binary].right = right;
        left = binary;
    }
}

/* ---- statements ---- */

/* Where the statement's last `=` outside of brackets and strings stands; the text's size: there
 * is none. `sign` is where an operator before it begins: `x **= y`. */
static size_t find_assignment(struct expressions *all, size_t *sign)
{
    size_t found = all->text.size;
    uint32_t depth = 0;

    *sign = found;
    for (all->at = 0; all->at < all->text.size;) {
        char byte = peek(all, 0);
        char before = all->at > 0 ? all->text.bytes[all->at - 1] : '\0';

        if (byte == '(' || byte == '[' || byte == '{') {
            depth++;
        } else if (byte == ')' || byte == ']' || byte == '}') {
            depth -= depth > 0;
        } else if (depth == 0 && byte == '=' && peek(all, 1) != '=' && before != '=' &&
                   before != '!' && before != '<' && before != '>' && before != ':') {
            found = all->at;
            *sign = found;
            while (*sign > 0 &&
                   memchr("+-*/%@", all->text.bytes[*sign - 1], 6) != NULL) {
                *sign -= 1;
            }
        }
        all->at++;
        if (byte == '"' || byte == '\'') {
            skip_string(all, byte);
        }
    }
    return found;
}

static uint32_t read_augmented(struct expressions *all, size_t sign, size_t assignment)
{
    struct slice whole = all->text;
    uint32_t left;
    uint32_t right;
    uint32_t binary;

    all->text = slice_part(whole, 0, sign);
    all->at = 0;
    left = read_whole(all);
    all->text = whole;
    all->at = assignment + 1;
    right = read_whole(all);
    binary = add(all, EXPRESSION_BINARY, 0);
    if (binary != EXPRESSION_NONE) {
        all->items[binary].word = slice_part(whole, sign, assignment);
        all->items[binary].left = left;
        all->items[binary].right = right;
    }
    return binary;
}

/* `for`, `if` and their like: what they read is not what they give. */
static bool begins_block(struct slice statement)
{
    static const char *const words[] = {"if",   "elif",  "else", "for", "while",
                                        "with", "async", "def",  "try", "match"};
    size_t end = 0;

    while (end < statement.size && is_word(statement.bytes[end])) {
        end++;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_equal(slice_part(statement, 0, end), slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

uint32_t expression_read(struct expressions *all, struct slice statement)
{
    size_t assignment;
    size_t sign;
    uint32_t first;
    uint32_t sequence;

    all->count = 0;
    all->depth = 0;
    all->has_failed = false;
    all->text = statement;
    assignment = find_assignment(all, &sign);
    if (sign < assignment) {
        return read_augmented(all, sign, assignment);
    }
    all->at = assignment < statement.size ? assignment + 1 : 0;
    skip_blanks(all);
    if (slice_starts(slice_part(statement, all->at, statement.size), SLICE("return"))) {
        all->at += 6;
        skip_blanks(all);
    }
    if (begins_block(slice_part(statement, all->at, statement.size))) {
        return EXPRESSION_NONE;
    }
    first = read_whole(all);
    if (first == EXPRESSION_NONE || peek(all, 0) != ',') {
        return first;
    }
    all->at++;
    all->items[first].next = read_arguments(all);
    sequence = add(all, EXPRESSION_SEQUENCE, 0);
    if (sequence != EXPRESSION_NONE) {
        all->items[sequence].first = first;
    }
    return sequence;
}
