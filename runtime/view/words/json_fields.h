/* The fields of a JSON object: each puts a comma in front of itself, so another has to come
 * first. Keys are ours and need no escaping. */
#ifndef MONITORCH_VIEW_WORDS_JSON_FIELDS_H
#define MONITORCH_VIEW_WORDS_JSON_FIELDS_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* The key alone: the value follows. */
void json_key_add(struct buffer *text, struct slice key);
void json_text_add(struct buffer *text, struct slice key, struct slice value);
void json_number_add(struct buffer *text, struct slice key, uint64_t value);
void json_integer_add(struct buffer *text, struct slice key, int64_t value);
void json_boolean_add(struct buffer *text, struct slice key, bool value);
/* A figure: null where it is NaN, since there is none then. */
void json_real_add(struct buffer *text, struct slice key, double value);
void json_integers_add(struct buffer *text,
                       struct slice key,
                       const int64_t *values,
                       uint32_t count);

#endif
