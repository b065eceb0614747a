/* Parser for the arithmetic of a Python expression: operands and the operators between them, as
 * a tree. */
#include "runtime/view/why/reason/expression.h"

#include <assert.h>
#include <stdlib.h>

/* Precedence levels of operators. */
enum level {
    LEVEL_NONE,
    LEVEL_BITS,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_SIGN,
    LEVEL_POWER,
};

/* ---- bytes, words and strings of the text ---- */

static void reading_skip_bracket(struct expressions *all);

static bool reading_is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

static bool reading_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The byte at this distance, or 0 after the end. */
static char reading_peek(const struct expressions *all, size_t ahead)
{
    return all->at + ahead < all->text.size ? all->text.bytes[all->at + ahead] : '\0';
}

static void reading_skip_blanks(struct expressions *all)
{
    while (reading_peek(all, 0) == ' ' || reading_peek(all, 0) == '\t') {
        all->at++;
    }
}

/* Adds an item with the text from `start` to the current position. */
static uint32_t
reading_add(struct expressions *all, enum expression_kind kind, size_t start)
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
        .result = EXPRESSION_NONE,
        .next = EXPRESSION_NONE,
        .key = {"", 0},
    };
    return all->count++;
}

/* Skips the rest of a string, after its opening quote. */
static void reading_skip_string(struct expressions *all, char quote)
{
    bool is_long = reading_peek(all, 0) == quote && reading_peek(all, 1) == quote;

    all->at += is_long ? 2 : 0;
    while (all->at < all->text.size) {
        char byte = reading_peek(all, 0);

        all->at++;
        if (byte == '\\') {
            all->at++;
        } else if (byte == quote && (!is_long || (reading_peek(all, 0) == quote &&
                                                  reading_peek(all, 1) == quote))) {
            all->at += is_long ? 2 : 0;
            break;
        }
    }
    all->at = all->at < all->text.size ? all->at : all->text.size;
}

/* Skips that word if it is there. */
static bool reading_skip_word(struct expressions *all, struct slice word)
{
    size_t end = all->at + word.size;

    if (!slice_starts(slice_part(all->text, all->at, all->text.size), word) ||
        (end < all->text.size && reading_is_word(all->text.bytes[end]))) {
        return false;
    }
    all->at = end;
    return true;
}

static struct slice reading_read_word(struct expressions *all)
{
    size_t start = all->at;

    while (reading_is_word(reading_peek(all, 0))) {
        all->at++;
    }
    return slice_part(all->text, start, all->at);
}

static uint32_t reading_whole(struct expressions *all);

static uint32_t reading_operators(struct expressions *all);
static uint32_t reading_binary(struct expressions *all, enum level lowest);

/* ---- the smallest parts of expressions, and text between brackets ---- */

static uint32_t read_number(struct expressions *all)
{
    size_t start = all->at;
    char digits[64];
    size_t size = 0;
    uint32_t number;

    while (reading_is_word(reading_peek(all, 0)) || reading_peek(all, 0) == '.' ||
           ((reading_peek(all, 0) == '-' || reading_peek(all, 0) == '+') &&
            all->at > start &&
            (all->text.bytes[all->at - 1] == 'e' ||
             all->text.bytes[all->at - 1] == 'E'))) {
        if (reading_peek(all, 0) != '_' && size + 1 < sizeof digits) {
            digits[size++] = reading_peek(all, 0);
        }
        all->at++;
    }
    digits[size] = '\0';
    number = reading_add(all, EXPRESSION_NUMBER, start);
    if (number != EXPRESSION_NONE) {
        all->items[number].number = strtod(digits, NULL);
    }
    return number;
}

/* Skips text up to a comma or to the bracket that closes the current one. */
static void skip_rest(struct expressions *all)
{
    uint32_t depth = 0;

    while (all->at < all->text.size) {
        char byte = reading_peek(all, 0);

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
            reading_skip_string(all, byte);
        }
    }
}

/* Whether the expression ends here: at a comma, a closing bracket or the text's end. */
static bool is_end(const struct expressions *all)
{
    return all->at >= all->text.size || memchr(",)]}", reading_peek(all, 0), 4) != NULL;
}

static uint32_t add_two(struct expressions *all,
                        enum expression_kind kind,
                        size_t start,
                        uint32_t left,
                        uint32_t right)
{
    uint32_t added = reading_add(all, kind, start);

    if (added != EXPRESSION_NONE) {
        all->items[added].left = left;
        all->items[added].right = right;
    }
    return added;
}

/* Skips a condition up to a word outside of brackets and strings. Returns false if the word is
 * missing. */
static bool skip_to_word(struct expressions *all, struct slice word)
{
    while (!is_end(all)) {
        char byte = reading_peek(all, 0);

        if (reading_skip_word(all, word)) {
            return true;
        }
        if (reading_is_word(byte)) {
            reading_read_word(all);
            continue;
        }
        all->at++;
        if (byte == '"' || byte == '\'') {
            reading_skip_string(all, byte);
        } else if (byte == '(' || byte == '[' || byte == '{') {
            all->at--;
            reading_skip_bracket(all);
        }
    }
    return false;
}

/* Reads `left for name in right if …`. EXPRESSION_NONE if the comprehension is not that simple. */
static uint32_t read_each(struct expressions *all, size_t start, uint32_t left)
{
    struct slice word;
    uint32_t right;
    uint32_t each;

    reading_skip_blanks(all);
    word = reading_read_word(all);
    reading_skip_blanks(all);
    if (word.size == 0 || !reading_skip_word(all, SLICE("in"))) {
        return EXPRESSION_NONE;
    }
    right = reading_operators(all);
    if (!is_end(all) && !reading_skip_word(all, SLICE("if"))) {
        return EXPRESSION_NONE;
    }
    if (!is_end(all)) {
        skip_rest(all);
    }
    each = add_two(all, EXPRESSION_EACH, start, left, right);
    if (each != EXPRESSION_NONE) {
        all->items[each].word = word;
    }
    return each;
}

/* Reads the words after an operand that bind less than operators do: `if`, `or`, `and`, `for`.
 * EXPRESSION_NONE if they are none of these. */
static uint32_t read_tail(struct expressions *all, size_t start, uint32_t left)
{
    if (reading_skip_word(all, SLICE("if"))) {
        return skip_to_word(all, SLICE("else"))
                   ? add_two(all, EXPRESSION_EITHER, start, left, reading_whole(all))
                   : EXPRESSION_NONE;
    }
    if (reading_skip_word(all, SLICE("or")) || reading_skip_word(all, SLICE("and"))) {
        return add_two(all, EXPRESSION_EITHER, start, left, reading_whole(all));
    }
    return reading_skip_word(all, SLICE("for")) ? read_each(all, start, left)
                                                : EXPRESSION_NONE;
}

/* Reads operands and operators, without the words that bind less. */
static uint32_t reading_operators(struct expressions *all)
{
    uint32_t found;

    all->depth++;
    found = reading_binary(all, LEVEL_BITS);
    all->depth--;
    reading_skip_blanks(all);
    return found;
}

/* Reads an expression up to a comma or closing bracket. */
static uint32_t reading_whole(struct expressions *all)
{
    size_t start;
    uint32_t found;

    reading_skip_blanks(all);
    start = all->at;
    if (all->depth >= EXPRESSION_DEPTH) {
        all->has_failed = true;
        skip_rest(all);
        return reading_add(all, EXPRESSION_OTHER, start);
    }
    found = reading_operators(all);
    if (is_end(all)) {
        return found;
    }
    all->depth++;
    found = read_tail(all, start, found);
    all->depth--;
    if (found == EXPRESSION_NONE || !is_end(all)) {
        skip_rest(all);
        found = reading_add(all, EXPRESSION_OTHER, start);
    }
    return found;
}

/* Reads `*args` or `**kwargs`. */
static uint32_t read_rest(struct expressions *all, size_t start)
{
    uint32_t left;

    while (reading_peek(all, 0) == '*') {
        all->at++;
    }
    left = reading_whole(all);
    return add_two(all, EXPRESSION_REST, start, left, EXPRESSION_NONE);
}

/* Skips the key of a dictionary's item, which is a string before a colon. Skips nothing else. */
static void skip_key(struct expressions *all)
{
    size_t start = all->at;
    char quote = reading_peek(all, 0);

    if (quote != '"' && quote != '\'') {
        return;
    }
    all->at++;
    reading_skip_string(all, quote);
    reading_skip_blanks(all);
    if (reading_peek(all, 0) == ':') {
        all->at++;
        reading_skip_blanks(all);
    } else {
        all->at = start;
    }
}

/* Skips text up to and with the bracket that closes the current one. */
static void reading_skip_bracket(struct expressions *all)
{
    uint32_t depth = 0;

    while (all->at < all->text.size) {
        char byte = reading_peek(all, 0);

        all->at++;
        if (byte == '"' || byte == '\'') {
            reading_skip_string(all, byte);
        }
        depth += byte == '(' || byte == '[' || byte == '{';
        depth -= byte == ')' || byte == ']' || byte == '}';
        if (depth == 0) {
            return;
        }
    }
}

static uint32_t read_argument(struct expressions *all, size_t start, bool has_key)
{
    skip_key(all);
    return !has_key && reading_peek(all, 0) == '*' ? read_rest(all, start)
                                                   : reading_whole(all);
}

/* Reads the arguments up to the closing bracket. Returns the first one. */
static uint32_t reading_arguments(struct expressions *all)
{
    uint32_t first = EXPRESSION_NONE;
    uint32_t last = EXPRESSION_NONE;

    for (;;) {
        struct slice key = SLICE("");
        size_t start;
        uint32_t argument;

        reading_skip_blanks(all);
        if (all->at >= all->text.size || reading_peek(all, 0) == ')' ||
            reading_peek(all, 0) == ']' || reading_peek(all, 0) == '}') {
            all->at += all->at < all->text.size;
            return first;
        }
        start = all->at;
        key = reading_read_word(all);
        reading_skip_blanks(all);
        if (key.size > 0 && reading_peek(all, 0) == '=' &&
            reading_peek(all, 1) != '=') {
            all->at++;
        } else {
            all->at = start;
            key = SLICE("");
        }
        argument = read_argument(all, start, key.size > 0);
        if (argument != EXPRESSION_NONE) {
            all->items[argument].key = key;
            if (last == EXPRESSION_NONE) {
                first = argument;
            } else {
                all->items[last].next = argument;
            }
            last = argument;
        }
        reading_skip_blanks(all);
        if (reading_peek(all, 0) == ',') {
            all->at++;
        } else if (all->at == start) {
            all->at++; /* skips any other byte */
        }
    }
}

static uint32_t read_bracket(struct expressions *all, size_t start)
{
    char open = reading_peek(all, 0);
    uint32_t first;
    uint32_t sequence;
    bool is_group;

    all->at++;
    first = reading_arguments(all);
    is_group = open == '(' && first != EXPRESSION_NONE &&
               all->items[first].next == EXPRESSION_NONE &&
               slice_find(slice_part(all->text, start, all->at), SLICE(",)"), 0) ==
                   all->at - start;
    if (is_group) {
        return first;
    }
    sequence = reading_add(all, EXPRESSION_SEQUENCE, start);
    if (sequence != EXPRESSION_NONE) {
        all->items[sequence].first = first;
    }
    return sequence;
}

static uint32_t read_name(struct expressions *all)
{
    size_t start = all->at;

    for (;;) {
        reading_read_word(all);
        if (reading_peek(all, 0) != '.' || !reading_is_word(reading_peek(all, 1)) ||
            reading_is_digit(reading_peek(all, 1))) {
            break;
        }
        all->at++;
    }
    if ((reading_peek(all, 0) == '"' || reading_peek(all, 0) == '\'') &&
        all->at - start <= 2) {
        char quote = reading_peek(all, 0);

        all->at++;
        reading_skip_string(all, quote);
        return reading_add(all, EXPRESSION_STRING, start);
    }
    return reading_add(all, EXPRESSION_NAME, start);
}

/* Reads a name, a number, a string, or an expression in brackets. */
static uint32_t reading_atom(struct expressions *all)
{
    size_t start = all->at;
    char byte = reading_peek(all, 0);

    if (reading_is_digit(byte) ||
        (byte == '.' && reading_is_digit(reading_peek(all, 1)))) {
        return read_number(all);
    }
    if (reading_is_word(byte)) {
        return read_name(all);
    }
    if (byte == '"' || byte == '\'') {
        all->at++;
        reading_skip_string(all, byte);
        return reading_add(all, EXPRESSION_STRING, start);
    }
    if (byte == '(' || byte == '[' || byte == '{') {
        return read_bracket(all, start);
    }
    return reading_add(all, EXPRESSION_OTHER, start);
}

/* Whether the first part of a dotted name is a library of functions. */
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

/* ---- calls, indices and attributes after an operand ---- */

/* Splits the name of a call: in `x.softmax` the method of `x`, in `torch.softmax` a function of
 * that name. */
static void
split_callee(struct expressions *all, uint32_t callee, struct expression *call)
{
    assert(callee < all->count);

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
            word = reading_read_word(all);
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

/* The level of the operator here, or LEVEL_NONE. */
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

/* Reads operands, and the operators between them that bind at least this tightly. */
static uint32_t reading_binary(struct expressions *all, enum level lowest)
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
        /* A power groups to the right, and binds more tightly than a sign before it. */
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

/* ---- the part of a statement that is its value ---- */

/* The place of the statement's last `=` outside of brackets and strings, or the text's size.
 * `sign` is the start of an operator before it, as in `x **= y`. */
static size_t find_assignment(struct expressions *all, size_t *sign)
{
    size_t found = all->text.size;
    uint32_t depth = 0;

    *sign = found;
    for (all->at = 0; all->at < all->text.size;) {
        char byte = reading_peek(all, 0);
        char before = all->at > 0 ? all->text.bytes[all->at - 1] : '\0';

        if (byte == '(' || byte == '[' || byte == '{') {
            depth++;
        } else if (byte == ')' || byte == ']' || byte == '}') {
            depth -= depth > 0;
        } else if (depth == 0 && byte == '=' && reading_peek(all, 1) != '=' &&
                   before != '=' && before != '!' && before != '<' && before != '>' &&
                   before != ':') {
            found = all->at;
            *sign = found;
            while (*sign > 0 &&
                   memchr("+-*/%@", all->text.bytes[*sign - 1], 6) != NULL) {
                *sign -= 1;
            }
        }
        all->at++;
        if (byte == '"' || byte == '\'') {
            reading_skip_string(all, byte);
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
    left = reading_whole(all);
    all->text = whole;
    all->at = assignment + 1;
    right = reading_whole(all);
    binary = reading_add(all, EXPRESSION_BINARY, 0);
    if (binary != EXPRESSION_NONE) {
        all->items[binary].word = slice_part(whole, sign, assignment);
        all->items[binary].left = left;
        all->items[binary].right = right;
    }
    return binary;
}

/* Whether the statement is the head of a block, whose text is not the value that it assigns. */
static bool begins_block(struct slice statement)
{
    static const char *const words[] = {"if",   "elif",  "else", "for", "while",
                                        "with", "async", "def",  "try", "match"};
    size_t end = 0;

    while (end < statement.size && reading_is_word(statement.bytes[end])) {
        end++;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_equal(slice_part(statement, 0, end), slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Reads the items of `for x in items:`. */
static uint32_t read_for(struct expressions *all)
{
    size_t in = slice_find(all->text, SLICE(" in "), all->at);
    size_t end = all->text.size;

    while (end > 0 &&
           (all->text.bytes[end - 1] == ' ' || all->text.bytes[end - 1] == ':')) {
        end--;
    }
    if (in >= end) {
        return EXPRESSION_NONE;
    }
    all->text = slice_part(all->text, 0, end);
    all->at = in + 4;
    return reading_whole(all);
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
    reading_skip_blanks(all);
    if (assignment == statement.size && slice_starts(statement, SLICE("return")) &&
        !reading_is_word(reading_peek(all, 6))) {
        all->at += 6;
        reading_skip_blanks(all);
    }
    if (assignment == statement.size && reading_skip_word(all, SLICE("for"))) {
        return read_for(all);
    }
    if (begins_block(slice_part(statement, all->at, statement.size))) {
        return EXPRESSION_NONE;
    }
    first = reading_whole(all);
    if (first == EXPRESSION_NONE || reading_peek(all, 0) != ',') {
        return first;
    }
    all->at++;
    all->items[first].next = reading_arguments(all);
    sequence = reading_add(all, EXPRESSION_SEQUENCE, 0);
    if (sequence != EXPRESSION_NONE) {
        all->items[sequence].first = first;
    }
    return sequence;
}

/* ---- infinities that a program's text names, in a statement or as a parameter's default ---- */

bool infinity_is_named(struct slice text)
{
    for (size_t at = slice_find(text, SLICE("inf"), 0); at < text.size;
         at = slice_find(text, SLICE("inf"), at + 1)) {
        char before = at > 0 ? text.bytes[at - 1] : ' ';
        char after = at + 3 < text.size ? text.bytes[at + 3] : ' ';

        if (memchr(".-+'\" (=", before, 8) != NULL &&
            memchr("'\" ),]:", after, 7) != NULL) {
            return true;
        }
    }
    return false;
}

bool statement_hands_on(struct slice statement)
{
    for (size_t i = 0; i < statement.size; i++) {
        if (memchr("+-*/%@(", statement.bytes[i], 7) != NULL) {
            return false;
        }
    }
    return true;
}

/* The default in a parameter's text, such as `3` in `k: int = 3`; "" if it has none. */
static struct slice default_of(struct slice parameter)
{
    int depth = 0;

    for (size_t i = 0; i < parameter.size; i++) {
        char byte = parameter.bytes[i];

        depth += byte == '(' || byte == '[' || byte == '{';
        depth -= byte == ')' || byte == ']' || byte == '}';
        if (depth == 0 && byte == '=') {
            return slice_trim(slice_part(parameter, i + 1, parameter.size));
        }
    }
    return SLICE("");
}

/* Whether the parameter, without its stars, has that name. */
static bool is_of(struct slice parameter, struct slice name)
{
    while (slice_starts(parameter, SLICE("*"))) {
        parameter = slice_part(parameter, 1, parameter.size);
    }
    return slice_starts(parameter, name) &&
           (parameter.size == name.size ||
            !reading_is_word(parameter.bytes[name.size]));
}

/* The end of the parameter that begins at `start`: a comma, or the closing bracket after the
 * last one. */
static size_t parameter_end(struct slice text, size_t start)
{
    struct expressions reading = {.text = text, .at = start};

    while (reading.at < text.size) {
        char byte = reading_peek(&reading, 0);

        if (byte == ',' || byte == ')') {
            break;
        }
        if (byte == '(' || byte == '[' || byte == '{') {
            reading_skip_bracket(&reading);
            continue;
        }
        reading.at++;
        if (byte == '"' || byte == '\'') {
            reading_skip_string(&reading, byte);
        }
    }
    return reading.at;
}

struct slice parameter_default(struct slice definition, struct slice name)
{
    size_t start = slice_find(definition, SLICE("("), 0) + 1;

    while (start < definition.size) {
        size_t end = parameter_end(definition, start);
        struct slice parameter = slice_trim(slice_part(definition, start, end));

        if (is_of(parameter, name)) {
            return default_of(parameter);
        }
        if (end == definition.size || definition.bytes[end] == ')') {
            break;
        }
        start = end + 1;
    }
    return SLICE("");
}
