/* The lexer of strings and of the expressions in format strings. */
#include "instrument/text/lexer.h"

#include <string.h>

/* The maximum nesting of strings in strings whose inside is read. */
#define DEPTH_LIMIT 64

/* A text, and the function to call for words of the expressions in it. */
struct reader {
    struct slice text;
    lexer_visit_word visit; /* may be NULL */
    void *data;
};

static size_t string_end(
    const struct reader *reader, size_t at, bool is_format, bool is_raw, int depth);

size_t lexer_word_end(struct slice text, size_t at)
{
    while (at < text.size && lexer_is_word_byte(text.bytes[at])) {
        at++;
    }
    return at;
}

/* Whether a word is a string's prefix: one to three letters of r, b, u, f, t. */
static bool lexer_is_string_prefix(struct slice word)
{
    if (word.size == 0 || word.size > 3) {
        return false;
    }
    for (size_t i = 0; i < word.size; i++) {
        if (strchr("rRbBuUfFtT", word.bytes[i]) == NULL || word.bytes[i] == '\0') {
            return false;
        }
    }
    return true;
}

static bool has_letter(struct slice word, char lower)
{
    for (size_t i = 0; i < word.size; i++) {
        if ((word.bytes[i] | 0x20) == lower) {
            return true;
        }
    }
    return false;
}

static size_t
prefixed_end(const struct reader *reader, size_t at, size_t quote, int depth)
{
    struct slice text = reader->text;
    struct slice word = slice_part(text, at, quote);

    if (quote < text.size && (text.bytes[quote] == '"' || text.bytes[quote] == '\'') &&
        lexer_is_string_prefix(word)) {
        return string_end(reader, quote, has_letter(word, 'f') || has_letter(word, 't'),
                          has_letter(word, 'r'), depth);
    }
    return quote;
}

size_t lexer_prefixed_string_end(struct slice text, size_t at, size_t quote)
{
    const struct reader reader = {.text = text};

    return prefixed_end(&reader, at, quote, 0);
}

/* The end of a word, or of the string that it begins if it is a prefix. */
static size_t word_end(const struct reader *reader, size_t at, int depth)
{
    size_t word = lexer_word_end(reader->text, at);
    size_t end = prefixed_end(reader, at, word, depth + 1);

    if (reader->visit != NULL && end == word) {
        reader->visit(reader->data, reader->text, at, word);
    }
    return end;
}

static size_t field_end(const struct reader *reader, size_t at, int depth);

/* The part of a replacement field after its colon: plain text with fields in it. */
static size_t specification_end(const struct reader *reader, size_t at, int depth)
{
    struct slice text = reader->text;

    while (at < text.size && text.bytes[at] != '}') {
        if (text.bytes[at] == '\n') {
            return at;
        }
        at = text.bytes[at] == '{' ? field_end(reader, at, depth + 1) : at + 1;
    }
    return at < text.size ? at + 1 : at;
}

/* The offset after the `}` that ends the replacement field at `at`. */
static size_t field_end(const struct reader *reader, size_t at, int depth)
{
    struct slice text = reader->text;
    size_t nesting = 0;

    if (depth > DEPTH_LIMIT) {
        return at + 1;
    }
    for (at++; at < text.size;) {
        char byte = text.bytes[at];

        if (lexer_is_word_byte(byte)) {
            at = word_end(reader, at, depth);
            continue;
        }
        switch (byte) {
        case '"':
        case '\'':
            at = string_end(reader, at, false, false, depth + 1);
            continue;
        case '(':
        case '[':
        case '{':
            nesting++;
            break;
        case ')':
        case ']':
            nesting -= nesting > 0;
            break;
        case '}':
            if (nesting == 0) {
                return at + 1;
            }
            nesting--;
            break;
        case ':':
            if (nesting == 0) {
                return specification_end(reader, at + 1, depth);
            }
            break;
        case '#':
            while (at + 1 < text.size && text.bytes[at + 1] != '\n') {
                at++;
            }
            break;
        default:
            break;
        }
        at++;
    }
    return at;
}

/* The offset after an escape. The braces of `\N{DASH}` are no field. A backslash before a
 * field's brace stands for itself. */
static size_t escape_end(struct slice text, size_t at, bool is_format, bool is_raw)
{
    size_t next = at + 1;

    if (next >= text.size) {
        return text.size;
    }
    if (is_format && (text.bytes[next] == '{' || text.bytes[next] == '}')) {
        return next;
    }
    if (is_format && !is_raw && text.bytes[next] == 'N' && next + 1 < text.size &&
        text.bytes[next + 1] == '{') {
        while (next < text.size && text.bytes[next] != '}' &&
               text.bytes[next] != '\n') {
            next++;
        }
        return next < text.size && text.bytes[next] == '}' ? next + 1 : next;
    }
    if (text.bytes[next] == '\r' && next + 1 < text.size &&
        text.bytes[next + 1] == '\n') {
        return next + 2;
    }
    return next + 1;
}

static size_t string_end(
    const struct reader *reader, size_t at, bool is_format, bool is_raw, int depth)
{
    struct slice text = reader->text;
    char quote = text.bytes[at];
    bool is_triple = at + 2 < text.size && text.bytes[at + 1] == quote &&
                     text.bytes[at + 2] == quote;

    at += is_triple ? 3 : 1;
    while (at < text.size) {
        char byte = text.bytes[at];

        if (byte == '\\') {
            at = escape_end(text, at, is_format, is_raw);
        } else if (byte == quote) {
            if (!is_triple) {
                return at + 1;
            }
            if (at + 2 < text.size && text.bytes[at + 1] == quote &&
                text.bytes[at + 2] == quote) {
                return at + 3;
            }
            at++;
        } else if (!is_triple && (byte == '\n' || byte == '\r')) {
            return at;
        } else if (is_format && byte == '{') {
            bool is_doubled = at + 1 < text.size && text.bytes[at + 1] == '{';

            at = is_doubled ? at + 2 : field_end(reader, at, depth);
        } else {
            at++;
        }
    }
    return at;
}

size_t lexer_string_end(struct slice text, size_t at, bool is_format, bool is_raw)
{
    const struct reader reader = {.text = text};

    return string_end(&reader, at, is_format, is_raw, 0);
}

void lexer_visit_fields(struct slice text, lexer_visit_word visit, void *data)
{
    const struct reader reader = {.text = text, .visit = visit, .data = data};
    size_t at = 0;

    while (at < text.size) {
        if (lexer_is_word_byte(text.bytes[at])) {
            size_t word = lexer_word_end(text, at);

            at = prefixed_end(&reader, at, word, 0);
        } else if (text.bytes[at] == '"' || text.bytes[at] == '\'') {
            at = string_end(&reader, at, false, false, 0);
        } else if (text.bytes[at] == '#') {
            while (at < text.size && text.bytes[at] != '\n' && text.bytes[at] != '\r') {
                at++;
            }
        } else {
            at++;
        }
    }
}
