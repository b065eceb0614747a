/* The block of labelled lines under a verdict, printed by `why` and `check`:
 *
 *   34 |     weights = scores.softmax(dim=-1)
 *   in       Attention.forward  model.py:23
 */
#ifndef MONITORCH_VIEW_WORDS_VERDICT_TEXT_H
#define MONITORCH_VIEW_WORDS_VERDICT_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* The column of the text after a label, two blanks after the longest label. */
#define VERDICT_LABEL_WIDTH 9

/* Adds the label, and blanks up to the column of its text. */
void verdict_label_add(struct buffer *text, const char *label, bool has_color);

/* Adds a source line after its number. Adds nothing if `source` is "". */
void verdict_source_add(struct buffer *text,
                        uint32_t line,
                        struct slice source,
                        bool has_color);

/* Adds lines, the first of them after the label. Each ends with a line end. */
void verdict_lines_add(struct buffer *text,
                       const char *label,
                       struct slice lines,
                       bool has_color);

#endif
