/* UTF-8 by RFC 3629: no surrogates, no overlong forms, no characters above U+10FFFF. */
#ifndef MONITORCH_BASE_UTF8_H
#define MONITORCH_BASE_UTF8_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The offset of the first byte that is not part of a valid character. `text.size` if there is
 * none. NUL counts as valid. */
size_t utf8_find_invalid(struct slice text);

/* Returns the size in bytes of the character at `offset`, and sets `code`. 0 at the end of the
 * text and for invalid bytes. */
size_t utf8_read(struct slice text, size_t offset, uint32_t *code);

/* The number of characters: the bytes that do not continue one. */
size_t utf8_count(struct slice text);

/* Whether the character can be printed on a terminal: no C0, C1 or DEL, no line or paragraph
 * separator, no change of the direction of writing. */
bool utf8_is_printable(uint32_t code);

/* The size of the text if it is cut to at most `limit` bytes, between characters. */
size_t utf8_cut(struct slice text, size_t limit);

#endif
