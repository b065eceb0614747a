/* A line of a script: a command and its fields, `key=value`, a blank between; bytes of values may
 * be written %XX. What is wrong ends the program. */
#ifndef MONITORCH_TESTS_UNIT_SCRIPT_LINE_H
#define MONITORCH_TESTS_UNIT_SCRIPT_LINE_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline void give_up(const char *what)
{
    fprintf(stderr, "make_trace: %s\n", what);
    exit(2);
}

/* ---- fields of a line ---- */

static inline int hex_digit(char byte)
{
    const char *digits = "0123456789ABCDEF";
    const char *found = byte == '\0' ? NULL : strchr(digits, byte);

    return found == NULL ? 0 : (int)(found - digits);
}

/* The value of the field, decoded into the arena; "" where it is not given. */
static inline struct slice
field(struct arena *arena, struct slice line, const char *key)
{
    struct buffer wanted = BUFFER_INIT;
    struct buffer value = BUFFER_INIT;
    size_t at;
    struct slice result;

    buffer_add_format(&wanted, " %s=", key);
    at = slice_find(line, buffer_slice(&wanted), 0);
    at = at == line.size ? at : at + wanted.size;
    for (; at < line.size && line.bytes[at] != ' '; at++) {
        if (line.bytes[at] == '%' && at + 2 < line.size) {
            buffer_add_byte(&value, (char)(hex_digit(line.bytes[at + 1]) * 16 +
                                           hex_digit(line.bytes[at + 2])));
            at += 2;
        } else {
            buffer_add_byte(&value, line.bytes[at]);
        }
    }
    result = arena_copy(arena, buffer_slice(&value));
    buffer_release(&wanted);
    buffer_release(&value);
    return result;
}

static inline uint64_t number(struct arena *arena, struct slice line, const char *key)
{
    struct slice text = field(arena, line, key);

    return text.size > 0 && text.bytes[0] == '-'
               ? (uint64_t)strtoll(text.bytes, NULL, 0)
               : strtoull(text.bytes, NULL, 0);
}

static inline double real(struct arena *arena, struct slice line, const char *key)
{
    return strtod(field(arena, line, key).bytes, NULL);
}

/* Numbers with commas between. */
static inline uint32_t numbers(struct slice text, int64_t *values, uint32_t limit)
{
    uint32_t count = 0;
    const char *at = text.bytes;

    while (at < text.bytes + text.size && count < limit) {
        char *end;

        values[count++] = strtoll(at, &end, 10);
        at = end + 1;
    }
    return count;
}

#endif
