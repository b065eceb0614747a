/* The lines of an answer, folded to the width of a terminal. */
#ifndef MONITORCH_VIEW_WORDS_FOLD_H
#define MONITORCH_VIEW_WORDS_FOLD_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stddef.h>

/* Appends the text with its longer lines broken at blanks, where two stand together if possible. A line
 * goes on under what follows its label:
 *
 *   gave     weights = float32 [4, 4, 16, 16] grad  !! 1024 NaN of 4096
 *              min 0 max 1 mean 0.0625
 *
 * Colours count nothing. A line of code behind its number (`  34 | …`), and one without a blank where it
 * could be broken, stays as it is. */
void text_fold(struct slice text, size_t width, struct buffer *folded);

#endif
