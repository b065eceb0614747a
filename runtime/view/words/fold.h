/* Folds the lines of an answer to the width of a terminal. */
#ifndef MONITORCH_VIEW_WORDS_FOLD_H
#define MONITORCH_VIEW_WORDS_FOLD_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stddef.h>

/* Appends the text, with lines that are too long broken at blanks, preferably at two blanks. The
 * next line is indented relative to the text after the label:
 *
 *   gave     weights = float32 [4, 4, 16, 16] grad  !! 1024 NaN of 4096
 *              min 0 max 1 mean 0.0625
 *
 * Colours have no width. Lines of code with their number (`  34 | …`) and lines without a usable
 * blank are not broken. */
void text_fold(struct slice text, size_t width, struct buffer *folded);

#endif
