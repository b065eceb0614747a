/* The lexer: skips the tokens of Python into which nothing is inserted, which are strings and
 * comments. */
#ifndef MONITORCH_INSTRUMENT_TEXT_LEXER_H
#define MONITORCH_INSTRUMENT_TEXT_LEXER_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

static inline bool lexer_is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

/* The offset after the identifier or number at `at`. */
size_t lexer_word_end(struct slice text, size_t at);

/* The offset after the string whose prefix is the word from `at` to `quote`. Returns `quote` if
 * that word begins no string. */
size_t lexer_prefixed_string_end(struct slice text, size_t at, size_t quote);

/* The offset after the string whose first quote is at `at`. `is_format`: braces hold
 * expressions. `is_raw`: backslashes are literal. A string without an end stops at the end of
 * its line, or of the text if it has three quotes. */
size_t lexer_string_end(struct slice text, size_t at, bool is_format, bool is_raw);

/* A word in an expression inside a format string: `text` from `start` to `end`. */
typedef void (*lexer_visit_word)(void *data,
                                 struct slice text,
                                 size_t start,
                                 size_t end);

/* Calls `visit` for each word of the expressions in the format strings of `text`, which is one
 * string or several in a row. Words of strings inside these expressions are skipped. */
void lexer_visit_fields(struct slice text, lexer_visit_word visit, void *data);

#endif
