/* A value that jumped in a training step: which figure between its visit before and this one first left
 * the range that it had in the turns before. A turn ends with a visit of that value.
 *
 * Memory grows with the lines of a turn, not with the turns. */
#ifndef MONITORCH_VIEW_SPIKE_SPIKE_H
#define MONITORCH_VIEW_SPIKE_SPIKE_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stdint.h>

enum spike_verdict {
    SPIKE_JUMPED, /* the answer begins with the line */
    SPIKE_WITHIN, /* the value is within the range */
    SPIKE_FEW,    /* too few turns were recorded before it */
    SPIKE_NONE,   /* no such value in that step */
};

/* Adds the answer for people: of the last value of that name (a glob) in the training step. False: out
 * of memory. The reader is at its beginning; its sources are borrowed. */
bool spike_find(struct log_reader *reader,
                struct source_lines *sources,
                struct slice name,
                uint64_t training_step,
                bool has_color,
                struct buffer *text,
                enum spike_verdict *verdict,
                struct error *error);

#endif
