/* Difference of two values in words. */
#ifndef MONITORCH_VIEW_DIFF_REPORT_WORDS_H
#define MONITORCH_VIEW_DIFF_REPORT_WORDS_H

#include "runtime/base/buffer.h"
#include "runtime/view/diff/values/compare.h"

const char *diff_cause_text(enum diff_cause cause);
const char *diff_class_text(enum diff_class class_);

/* Adds `shape [2, 4], A has [4, 2]`, without place and name. */
void diff_words_add(struct buffer *text,
                    const struct diff_comparison *comparison,
                    const struct log_event_view *a,
                    const struct log_event_view *b);

/* Adds `max abs 0.013, max rel 0.4, …`: all figures for whole values, else the known ones. */
void diff_distance_add(struct buffer *text,
                       const struct diff_distance *distance,
                       const struct log_shape *shape);

#endif
