/* The reading of an expression's text: bytes, words and strings. */
#include "runtime/view/why/reason/reading.h"

bool reading_is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

bool reading_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

char reading_peek(const struct expressions *all, size_t ahead)
{
    return all->at + ahead < all->text.size ? all->text.bytes[all->at + ahead] : '\0';
}

void reading_skip_blanks(struct expressions *all)
{
    while (reading_peek(all, 0) == ' ' || reading_peek(all, 0) == '\t') {
        all->at++;
    }
}

uint32_t reading_add(struct expressions *all, enum expression_kind kind, size_t start)
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

void reading_skip_string(struct expressions *all, char quote)
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

bool reading_skip_word(struct expressions *all, struct slice word)
{
    size_t end = all->at + word.size;

    if (!slice_starts(slice_part(all->text, all->at, all->text.size), word) ||
        (end < all->text.size && reading_is_word(all->text.bytes[end]))) {
        return false;
    }
    all->at = end;
    return true;
}

struct slice reading_read_word(struct expressions *all)
{
    size_t start = all->at;

    while (reading_is_word(reading_peek(all, 0))) {
        all->at++;
    }
    return slice_part(all->text, start, all->at);
}
