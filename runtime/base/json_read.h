/* JSON read piece by piece, strictly as RFC 8259 has it. The text is not trusted. After a failure
 * every function says false; json_reader_finish returns whether there was one. */
#ifndef MONITORCH_BASE_JSON_READ_H
#define MONITORCH_BASE_JSON_READ_H

#include "runtime/base/arena.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_reader {
    struct slice text;   /* borrowed */
    struct arena *arena; /* borrowed: for texts that hold escapes */
    size_t offset;
    unsigned depth; /* of objects and arrays that are open */
    bool is_first;  /* the object or array was just opened */
    bool has_failed;
};

void json_reader_init(struct json_reader *reader,
                      struct slice text,
                      struct arena *arena);

/* The byte that the next value begins with, such as `{` or `"`; 0 at the end. */
char json_reader_peek(struct json_reader *reader);

bool json_reader_begin_object(struct json_reader *reader);
/* The next key; its value has to be read or skipped then. false behind the last. */
bool json_reader_next_key(struct json_reader *reader, struct slice *key);

bool json_reader_begin_array(struct json_reader *reader);
/* Whether another item follows, which has to be read or skipped then. */
bool json_reader_next_item(struct json_reader *reader);

/* UTF-8, borrowed from the text or the arena. An escape that is half a surrogate pair becomes
 * U+FFFD. */
bool json_reader_text(struct json_reader *reader, struct slice *text);
/* A whole number without sign, fraction or exponent. */
bool json_reader_natural(struct json_reader *reader, uint64_t *number);
/* Any value. */
bool json_reader_skip(struct json_reader *reader);

/* Whether all was well, and nothing but white space is left. */
bool json_reader_finish(struct json_reader *reader);

#endif
