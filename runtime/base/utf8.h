/* UTF-8 as RFC 3629 has it: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef MONITORCH_BASE_UTF8_H
#define MONITORCH_BASE_UTF8_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The offset of the first byte that does not belong to a whole valid character, or
 * `text.size` where all is well. NUL is a valid character here. */
size_t utf8_find_invalid(struct slice text);

/* The size in bytes of the character at `offset`, its number in `code`; 0 where there is
 * none (end of the text, or invalid). */
size_t utf8_read(struct slice text, size_t offset, uint32_t *code);

/* How many characters the bytes hold: those that do not continue one. */
size_t utf8_count(struct slice text);

/* Whether a terminal may be given the character: no C0, C1 or DEL, no line or paragraph
 * separator, nothing that changes the direction of writing. */
bool utf8_is_printable(uint32_t code);

/* The size that is left when the text is cut to at most `limit` bytes between characters. */
size_t utf8_cut(struct slice text, size_t limit);

#endif
