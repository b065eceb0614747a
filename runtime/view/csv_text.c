/* Rows of comma-separated values as RFC 4180 has them. */
#include "runtime/view/csv_text.h"

#include "runtime/view/number_text.h"

#include <math.h>
#include <string.h>

static bool begins_formula(struct slice value)
{
    return value.size > 0 && value.bytes[0] != '\0' &&
           strchr("=+-@\t\r", value.bytes[0]) != NULL;
}

static bool needs_quotes(struct slice value)
{
    if (value.size == 0 || value.bytes[0] == ' ' ||
        value.bytes[value.size - 1] == ' ') {
        return true;
    }
    for (size_t i = 0; i < value.size; i++) {
        char byte = value.bytes[i];

        if (byte == ',' || byte == '"' || byte == '\n' || byte == '\r') {
            return true;
        }
    }
    return false;
}

void csv_text_add(struct buffer *text, struct slice value)
{
    struct slice guard = begins_formula(value) ? SLICE("'") : SLICE("");
    size_t start = 0;

    if (!needs_quotes(value)) {
        buffer_add(text, guard);
        buffer_add(text, value);
        return;
    }
    buffer_add_byte(text, '"');
    buffer_add(text, guard);
    while (start < value.size) {
        size_t end = slice_find(value, SLICE("\""), start);

        buffer_add(text, slice_part(value, start, end));
        if (end < value.size) {
            buffer_add(text, SLICE("\"\""));
        }
        start = end + 1;
    }
    buffer_add_byte(text, '"');
}

void csv_value_add(struct buffer *text, const struct column_value *value)
{
    if (value->is_empty) {
        return;
    }
    switch (value->type) {
    case COLUMN_INTEGER:
        integer_add(text, value->integer);
        break;
    case COLUMN_REAL:
        if (isfinite(value->real)) {
            real_add_exact(text, value->real);
        } else {
            buffer_add(text, isnan(value->real)  ? SLICE("NaN")
                             : value->real < 0.0 ? SLICE("-Infinity")
                                                 : SLICE("Infinity"));
        }
        break;
    default:
        csv_text_add(text, value->text);
    }
}
