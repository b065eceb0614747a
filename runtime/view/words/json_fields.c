/* The fields of a JSON object. */
#include "runtime/view/words/json_fields.h"

#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <math.h>

void json_key_add(struct buffer *text, struct slice key)
{
    buffer_add(text, SLICE(",\""));
    buffer_add(text, key);
    buffer_add(text, SLICE("\":"));
}

void json_text_add(struct buffer *text, struct slice key, struct slice value)
{
    json_key_add(text, key);
    buffer_add_byte(text, '"');
    text_add_json(text, value);
    buffer_add_byte(text, '"');
}

void json_number_add(struct buffer *text, struct slice key, uint64_t value)
{
    json_key_add(text, key);
    buffer_add_number(text, value);
}

void json_integer_add(struct buffer *text, struct slice key, int64_t value)
{
    json_key_add(text, key);
    integer_add(text, value);
}

void json_boolean_add(struct buffer *text, struct slice key, bool value)
{
    json_key_add(text, key);
    buffer_add(text, value ? SLICE("true") : SLICE("false"));
}

/* NaN means that there is no such number, for example no mean of only NaNs. It becomes null. */
void json_real_add(struct buffer *text, struct slice key, double value)
{
    json_key_add(text, key);
    if (isnan(value)) {
        buffer_add(text, SLICE("null"));
    } else {
        real_add_exact(text, value);
    }
}

void json_integers_add(struct buffer *text,
                       struct slice key,
                       const int64_t *values,
                       uint32_t count)
{
    json_key_add(text, key);
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_add_byte(text, ',');
        }
        integer_add(text, values[i]);
    }
    buffer_add_byte(text, ']');
}
