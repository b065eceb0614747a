/* Removes insertions from a text, by their form: the hook's name is no word of the original, so no
 * other text has their form. Brackets that were added are found as the partners of the insertions
 * beside them. */
#ifndef MONITORCH_INSTRUMENT_OUTPUT_STRIP_H
#define MONITORCH_INSTRUMENT_OUTPUT_STRIP_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>

/* The name of `_mt` in an instrumented text; empty where it is not one. */
struct slice strip_find_hook(struct slice text);

/* The table text in an instrumented text, borrowed from it; false where there is none. */
bool strip_find_table(struct slice text, struct slice *table);

/* Appends the UTF-8 `text` without its insertions. False where memory ran out. */
bool strip_text(struct slice text, struct arena *arena, struct buffer *output);

/* The same with memory of its own: the `source_strip` of what reads traces. */
bool strip_source(struct slice text, struct buffer *original);

#endif
