/* The part of a statement that is its value. */
#include "runtime/view/why/reason/reading.h"

/* Where the statement's last `=` outside of brackets and strings stands; the text's size: there
 * is none. `sign` is where an operator before it begins: `x **= y`. */
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

/* `for`, `if` and their like: what they read is not what they give. */
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

/* `for x in items:`: the items. */
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
