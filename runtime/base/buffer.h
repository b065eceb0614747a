/* Buffers: growing runs of bytes.
 *
 *     struct buffer text = BUFFER_INIT;
 *     buffer_add(&text, SLICE("line "));
 *     buffer_add_number(&text, 12);
 *     is_done = !text.has_failed && …
 *     buffer_release(&text);
 *
 * If memory runs out, the whole addition is skipped, and later, shorter ones may succeed. So the
 * bytes of a buffer with has_failed must not be used. */
#ifndef MONITORCH_BASE_BUFFER_H
#define MONITORCH_BASE_BUFFER_H

#include "runtime/base/memory.h"
#include "runtime/base/slice.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    char *bytes; /* owned; may be NULL if capacity is 0 */
    size_t size;
    size_t capacity;
    bool has_failed; /* something could not be added; check once, at the end */
};

#define BUFFER_INIT ((struct buffer){NULL, 0, 0, false})

void buffer_release(struct buffer *buffer);

/* Makes space for `more` bytes after the current ones. Returns false if memory runs out. */
bool buffer_reserve(struct buffer *buffer, size_t more);

void buffer_add_number(struct buffer *buffer, uint64_t number);
/* Adds the lowest `digits` hexadecimal digits, with leading zeros. */
void buffer_add_hex(struct buffer *buffer, uint64_t number, int digits);
void buffer_add_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the text escaped as in JSON, without the quotes. Bytes that are not UTF-8 become U+FFFD. */
void buffer_add_json(struct buffer *buffer, struct slice text);

/* Adds text for a terminal: control characters (C0, DEL, C1, bidirectional overrides) become
 * `?`. */
void buffer_add_printable(struct buffer *buffer, struct slice text);

static inline void
buffer_add_bytes(struct buffer *buffer, const char *bytes, size_t size)
{
    assert(buffer->size <= buffer->capacity);
    if (size <= buffer->capacity - buffer->size || buffer_reserve(buffer, size)) {
        if (size > 0) {
            memcpy(buffer->bytes + buffer->size, bytes, size);
        }
        buffer->size += size;
    }
}

static inline void buffer_add(struct buffer *buffer, struct slice text)
{
    buffer_add_bytes(buffer, text.bytes, text.size);
}

static inline void buffer_add_byte(struct buffer *buffer, char byte)
{
    buffer_add_bytes(buffer, &byte, 1);
}

static inline struct slice buffer_slice(const struct buffer *buffer)
{
    return (struct slice){buffer->bytes == NULL ? "" : buffer->bytes, buffer->size};
}

#endif
