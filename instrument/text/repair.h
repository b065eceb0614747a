/* Repairs: replaces constructs of Python that the grammar does not know by constructs that it
 * does. Only texts that the parser could not read are repaired, byte for byte in place, so that
 * all offsets stay valid. */
#ifndef MONITORCH_INSTRUMENT_TEXT_REPAIR_H
#define MONITORCH_INSTRUMENT_TEXT_REPAIR_H

#include <stddef.h>

/* Changes the text in place:
 * - a starred item such as `*[None] * 3` or `*f(x)` in an expression list becomes `-…`;
 * - line ends and comments inside brackets become blanks;
 * - type parameters such as `[T: int = bool]` become one name. */
void repair_text(char *text, size_t size);

#endif
