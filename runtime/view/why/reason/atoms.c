/* The smallest parts of expressions, and what is between brackets. */
#include "runtime/view/why/reason/reading.h"

#include <stdlib.h>

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

/* Whatever stands up to the bracket that closes this one, or to a comma: no arithmetic. */
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

/* Whether the expression ends there: at a comma, a closing bracket or the text's end. */
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

/* Goes over a condition: to a word that stands outside of brackets and strings. */
static bool skip_to_word(struct expressions *all, struct slice word)
{
    while (!is_end(all)) {
        char byte = reading_peek(all, 0);

        if (reading_skip_word(all, word)) {
            return true;
        }
        if (reading_is_word(byte)) {
            reading_take_word(all);
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

/* `left for name in right if …`; NONE: it is not so simple. */
static uint32_t read_each(struct expressions *all, size_t start, uint32_t left)
{
    struct slice word;
    uint32_t right;
    uint32_t each;

    reading_skip_blanks(all);
    word = reading_take_word(all);
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

/* What stands behind an operand and binds less than operators; NONE: not known. */
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

uint32_t reading_operators(struct expressions *all)
{
    uint32_t found;

    all->depth++;
    found = reading_binary(all, LEVEL_BITS);
    all->depth--;
    reading_skip_blanks(all);
    return found;
}

uint32_t reading_whole(struct expressions *all)
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

/* `*args`, `**kwargs`. */
static uint32_t read_rest(struct expressions *all, size_t start)
{
    uint32_t left;

    while (reading_peek(all, 0) == '*') {
        all->at++;
    }
    left = reading_whole(all);
    return add_two(all, EXPRESSION_REST, start, left, EXPRESSION_NONE);
}

/* Goes behind the key of a dictionary's item, a string and a colon, where one stands there. */
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

void reading_skip_bracket(struct expressions *all)
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

uint32_t reading_arguments(struct expressions *all)
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
        key = reading_take_word(all);
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
            all->at++; /* whatever it is, on we go */
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
        reading_take_word(all);
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

uint32_t reading_atom(struct expressions *all)
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
