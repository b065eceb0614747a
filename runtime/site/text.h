/* The parts that the text of a site table is made of (format.h), read one after the
 * other. Used by read.c alone. */
#ifndef MONITORCH_SITE_TEXT_H
#define MONITORCH_SITE_TEXT_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_reader {
    struct slice text;
    size_t offset;
    struct arena *arena; /* borrowed */
    struct error *error; /* borrowed */
    struct slice *names; /* owned; those that have a number */
    size_t name_count;
    size_t name_capacity;
};

/* All that return a bool fail with the error set, but for reader_accept. */

/* Says what was expected at the present byte; false. */
bool reader_fail(struct table_reader *reader, const char *wanted);
bool reader_fail_memory(struct table_reader *reader);

/* The next byte, or NUL at the end: NUL is never a part of a table. */
char reader_peek(const struct table_reader *reader);

/* Takes that byte where it is the next one: whether it was. */
bool reader_accept(struct table_reader *reader, char byte);

bool reader_expect(struct table_reader *reader, char byte);

/* Numbers: of so many hex digits, or in decimal. */
bool reader_hex(struct table_reader *reader, int digits, uint64_t *number);
bool reader_number(struct table_reader *reader, uint32_t *number);

/* Moves `number` on by the distance that stands next. */
bool reader_step(struct table_reader *reader, uint32_t *number);

/* Reads a name or a word: the bytes up to the first that cannot belong to it. */
bool reader_text(struct table_reader *reader, bool is_word, struct slice *text);

bool reader_word(struct table_reader *reader, struct slice *word);

#endif
