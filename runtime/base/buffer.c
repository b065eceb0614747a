/* Buffers: their growth, and numbers, JSON and printable text in them. */
#include "runtime/base/buffer.h"

#include "runtime/base/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

void buffer_release(struct buffer *buffer)
{
    memory_free(buffer->bytes);
    *buffer = BUFFER_INIT;
}

bool buffer_reserve(struct buffer *buffer, size_t more)
{
    void *bytes = buffer->bytes;
    size_t wanted;

    if (__builtin_add_overflow(buffer->size, more, &wanted) ||
        !memory_grow(&bytes, &buffer->capacity, wanted, 1)) {
        buffer->has_failed = true;
        return false;
    }
    buffer->bytes = bytes;
    return true;
}

void buffer_add_number(struct buffer *buffer, uint64_t number)
{
    char digits[20];
    size_t start = sizeof digits;

    do {
        assert(start > 0);
        digits[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    buffer_add_bytes(buffer, digits + start, sizeof digits - start);
}

void buffer_add_hex(struct buffer *buffer, uint64_t number, int digits)
{
    for (int i = digits - 1; i >= 0; i--) {
        buffer_add_byte(buffer,
                        i >= 16 ? '0' : "0123456789abcdef"[number >> (4 * i) & 15]);
    }
}

void buffer_add_format(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0 || !buffer_reserve(buffer, (size_t)size + 1)) {
        buffer->has_failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(buffer->bytes + buffer->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    buffer->size += (size_t)size;
    assert(buffer->size < buffer->capacity);
}

static void buffer_add_json_control(struct buffer *buffer, uint32_t code)
{
    static const char short_forms[] = "btn?fr"; /* for U+0008 to U+000D */

    buffer_add_byte(buffer, '\\');
    if (code >= 8 && code <= 13 && code != 11) {
        buffer_add_byte(buffer, short_forms[code - 8]);
    } else {
        buffer_add_byte(buffer, 'u');
        buffer_add_hex(buffer, code, 4);
    }
}

/* The number of ASCII bytes from `start` on that JSON holds unescaped. */
static size_t count_plain(struct slice text, size_t start)
{
    size_t end = start;

    while (end < text.size && text.bytes[end] >= ' ' && text.bytes[end] < 0x7f &&
           text.bytes[end] != '"' && text.bytes[end] != '\\') {
        end++;
    }
    return end - start;
}

void buffer_add_json(struct buffer *buffer, struct slice text)
{
    for (size_t i = 0; i < text.size;) {
        uint32_t code = 0;
        size_t size = count_plain(text, i);

        if (size > 0) {
            buffer_add_bytes(buffer, text.bytes + i, size);
            i += size;
            continue;
        }
        size = utf8_read(text, i, &code);
        if (size == 0) {
            buffer_add(buffer, SLICE("\xEF\xBF\xBD"));
            i++;
            continue;
        }
        if (code == '"' || code == '\\') {
            buffer_add_byte(buffer, '\\');
            buffer_add_byte(buffer, (char)code);
        } else if (code < 0x10000 && !utf8_is_printable(code)) {
            buffer_add_json_control(buffer, code);
        } else {
            buffer_add_bytes(buffer, text.bytes + i, size);
        }
        i += size;
    }
}

void buffer_add_printable(struct buffer *buffer, struct slice text)
{
    for (size_t i = 0; i < text.size;) {
        uint32_t code = 0;
        size_t size = utf8_read(text, i, &code);

        if (size == 0 || !utf8_is_printable(code)) {
            buffer_add_byte(buffer, '?');
        } else {
            buffer_add_bytes(buffer, text.bytes + i, size);
        }
        i += size == 0 ? 1 : size;
    }
}
