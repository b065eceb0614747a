/* The text as it is passed to tree-sitter, with four changes that keep every offset.
 * - A CR that ends a line alone becomes LF.
 * - Each tab in an indentation becomes one space. CPython orders lines by columns with tabs of
 *   eight and demands the same order with tabs of one, so counting tabs as one gives its
 *   nesting; tree-sitter counts eight without stops.
 * - A line that a lone backslash begins is joined to the next, with its own indentation.
 * - Of a long run of comment lines all but the first and the last are empty. */
#ifndef MONITORCH_INSTRUMENT_TEXT_SHOWN_H
#define MONITORCH_INSTRUMENT_TEXT_SHOWN_H

#include "runtime/base/slice.h"

#include <stdbool.h>

/* Whether the text can be passed unchanged. */
bool shown_is_same(struct slice text);

/* Fills `copy`, which must have room for the text. */
void shown_copy(char *copy, struct slice text);

#endif
