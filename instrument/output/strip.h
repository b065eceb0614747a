/* Removes insertions from a text by their form. No other text has these forms, because the
 * hook's name is no word of the original. Added brackets are found as the partners of the
 * insertions beside them. */
#ifndef MONITORCH_INSTRUMENT_OUTPUT_STRIP_H
#define MONITORCH_INSTRUMENT_OUTPUT_STRIP_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>

/* The name of `_mt` in an instrumented text. Empty if the text is not instrumented. */
struct slice strip_find_hook(struct slice text);

/* Finds the table text in an instrumented text, borrowed from it. Returns false if there is
 * none. */
bool strip_find_table(struct slice text, struct slice *table);

/* Appends the UTF-8 `text` without its insertions. Returns false if out of memory. */
bool strip_text(struct slice text, struct arena *arena, struct buffer *output);

/* Does the same with memory of its own: a `source_strip` for readers of traces. */
bool strip_source(struct slice text, struct buffer *original);

#endif
