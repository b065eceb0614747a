/* Rows of comma-separated values in the format of RFC 4180. */
#include "runtime/view/list/csv_text.h"

#include "runtime/base/utf8.h"
#include "runtime/view/words/number_text.h"

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

/* Appends a character of a field. Line ends and tabs are kept, other control characters become
 * `?`, and invalid UTF-8 becomes U+FFFD. */
static void add_character(struct buffer *text, struct slice value, size_t *at)
{
    uint32_t code;
    size_t size = utf8_read(value, *at, &code);

    if (size == 0) {
        buffer_add(text, SLICE("\xEF\xBF\xBD"));
        size = 1;
    } else if (code == '"') {
        buffer_add(text, SLICE("\"\""));
    } else if (code == '\n' || code == '\r' || code == '\t' ||
               utf8_is_printable(code)) {
        buffer_add(text, slice_part(value, *at, *at + size));
    } else {
        buffer_add_byte(text, '?');
    }
    *at += size;
}

static void add_text(struct buffer *text, struct slice value)
{
    bool has_quotes = needs_quotes(value);
    size_t start = 0;

    buffer_add(text, has_quotes ? SLICE("\"") : SLICE(""));
    buffer_add(text, begins_formula(value) ? SLICE("'") : SLICE(""));
    while (start < value.size) {
        size_t end = start;

        while (end < value.size && value.bytes[end] >= ' ' && value.bytes[end] < 0x7F &&
               value.bytes[end] != '"') {
            end++;
        }
        buffer_add(text, slice_part(value, start, end));
        start = end;
        if (start < value.size) {
            add_character(text, value, &start);
        }
    }
    buffer_add(text, has_quotes ? SLICE("\"") : SLICE(""));
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
        add_text(text, value->text);
    }
}
