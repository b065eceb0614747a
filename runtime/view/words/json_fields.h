/* Fields of a JSON object. Each adds a comma before itself, so the first field must be written
 * otherwise. Keys are constants of ours and are not escaped. */
#ifndef MONITORCH_VIEW_WORDS_JSON_FIELDS_H
#define MONITORCH_VIEW_WORDS_JSON_FIELDS_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds only the key; the caller adds the value. */
void json_key_add(struct buffer *text, struct slice key);
void json_text_add(struct buffer *text, struct slice key, struct slice value);
void json_number_add(struct buffer *text, struct slice key, uint64_t value);
void json_integer_add(struct buffer *text, struct slice key, int64_t value);
void json_boolean_add(struct buffer *text, struct slice key, bool value);
/* Adds a number. NaN, which means that there is none, becomes null. */
void json_real_add(struct buffer *text, struct slice key, double value);
void json_integers_add(struct buffer *text,
                       struct slice key,
                       const int64_t *values,
                       uint32_t count);

#endif
