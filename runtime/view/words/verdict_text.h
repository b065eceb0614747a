/* The block of labelled lines under a verdict, as `why` and `check` print it:
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

/* The column of what a label is about, behind two blanks. */
#define VERDICT_LABEL_WIDTH 9

/* The label, and blanks up to the column of what it is about. */
void verdict_label_add(struct buffer *text, const char *label, bool has_color);

/* A line of source behind its number; nothing where it is "". */
void verdict_source_add(struct buffer *text,
                        uint32_t line,
                        struct slice source,
                        bool has_color);

/* Lines, the first behind the label; each ends with a line end. */
void verdict_lines_add(struct buffer *text,
                       const char *label,
                       struct slice lines,
                       bool has_color);

#endif
