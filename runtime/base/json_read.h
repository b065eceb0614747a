/* JSON reader: reads values one by one, strictly by RFC 8259. The text is not trusted. After a
 * failure every function returns false; json_reader_finish reports whether there was one. */
#ifndef MONITORCH_BASE_JSON_READ_H
#define MONITORCH_BASE_JSON_READ_H

#include "runtime/base/arena.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_reader {
    struct slice text;   /* borrowed */
    struct arena *arena; /* borrowed: for texts with escapes */
    size_t offset;
    unsigned depth; /* of open objects and arrays */
    bool is_first;  /* the object or array was just opened */
    bool has_failed;
};

void json_reader_init(struct json_reader *reader,
                      struct slice text,
                      struct arena *arena);

/* The first byte of the next value, such as `{` or `"`; 0 at the end. */
char json_reader_peek(struct json_reader *reader);

bool json_reader_begin_object(struct json_reader *reader);
/* Reads the next key, whose value must be read or skipped next. Returns false after the last
 * one. */
bool json_reader_next_key(struct json_reader *reader, struct slice *key);

bool json_reader_begin_array(struct json_reader *reader);
/* Whether another item follows, which must be read or skipped next. */
bool json_reader_next_item(struct json_reader *reader);

/* Reads a text as UTF-8, borrowed from the JSON text or the arena. An escape of half a surrogate
 * pair becomes U+FFFD. */
bool json_reader_text(struct json_reader *reader, struct slice *text);
/* Reads a whole number without sign, fraction or exponent. */
bool json_reader_natural(struct json_reader *reader, uint64_t *number);
/* Skips any value. */
bool json_reader_skip(struct json_reader *reader);

/* Whether nothing has failed, and only white space is left. */
bool json_reader_finish(struct json_reader *reader);

#endif
