/* Slices: borrowed runs of bytes, most often text in a file whose buffer has another owner. */
#ifndef MONITORCH_BASE_SLICE_H
#define MONITORCH_BASE_SLICE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *bytes; /* borrowed; not terminated; may be NULL if size is 0 */
    size_t size;
};

/* Makes a slice of a string literal, or of an array of a size known to the compiler. */
#define SLICE(literal) ((struct slice){(literal), sizeof(literal) - 1})

static inline struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

/* The bytes from `start` up to `end`. Even adding 0 to a null pointer is undefined. */
static inline struct slice slice_part(struct slice whole, size_t start, size_t end)
{
    assert(start <= end && end <= whole.size);
    return (struct slice){start == 0 ? whole.bytes : whole.bytes + start, end - start};
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

static inline bool slice_starts(struct slice text, struct slice prefix)
{
    return text.size >= prefix.size &&
           slice_equal((struct slice){text.bytes, prefix.size}, prefix);
}

/* The part after the last separator, or the whole text if there is none. */
static inline struct slice slice_last_part(struct slice text, char separator)
{
    size_t start = text.size;

    while (start > 0 && text.bytes[start - 1] != separator) {
        start--;
    }
    return slice_part(text, start, text.size);
}

static inline bool slice_ends(struct slice text, struct slice suffix)
{
    return text.size >= suffix.size &&
           slice_equal(
               (struct slice){text.bytes + text.size - suffix.size, suffix.size},
               suffix);
}

/* The text without leading and trailing blanks. */
static inline struct slice slice_trim(struct slice text)
{
    while (text.size > 0 && text.bytes[0] == ' ') {
        text = slice_part(text, 1, text.size);
    }
    while (text.size > 0 && text.bytes[text.size - 1] == ' ') {
        text.size--;
    }
    return text;
}

/* Copies the text to `*at`, which must have space for it, and advances `*at`. */
static inline struct slice slice_put(char **at, struct slice text)
{
    struct slice copy = {*at, text.size};

    if (text.size > 0) {
        memcpy(*at, text.bytes, text.size);
        *at += text.size;
    }
    return copy;
}

/* The offset of the first occurrence of `part` at or after `start`. `text.size` if there is
 * none. */
size_t slice_find(struct slice text, struct slice part, size_t start);

#endif
