/* The tree log: tracked calls as a tree for people, each thread's apart, told as it happens. Fed
 * with the items of a trace, read from a file or as they are recorded.
 *
 *   ┌── [model.py:12] function [Net.forward] called from step:57 (train.py:57 <- run.py:3)
 *   ├─ input [Tensor] x@0 → shape=torch.Size([4, 8]) | dtype=torch.float32 | sum=… | …
 *   │   ├─ [Tensor] h@14 → shape=torch.Size([4, 16]) | dtype=torch.float32 | …
 *   │   └─ output shape=torch.Size([4, 2]) | …
 *   │   └─ elapsed 0.0123s
 *
 * docs/reference/tracker_log.md tells the lines. Memory grows with the calls that are open and with the
 * names in them, up to a limit each; not with the length of the run. */
#ifndef MONITORCH_VIEW_TRACKLOG_TRACKLOG_H
#define MONITORCH_VIEW_TRACKLOG_TRACKLOG_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"
#include "runtime/view/tracklog/labels.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct track_options {
    struct track_labels labels; /* borrowed texts: as long as the log lives */
    bool has_color;
    bool is_canonical;  /* without elapsed times */
    bool is_all;        /* every call is told as if it were tracked */
    bool is_selective;  /* a call is told only where events of it come in */
    bool has_lines;     /* the text of each line, as if each call wished it */
    source_strip strip; /* for instrumented sources; may be NULL */
};

struct track_log;

/* NULL: out of memory. */
struct track_log *track_log_new(const struct track_options *options);
void track_log_free(struct track_log *log); /* may be NULL */

/* Takes notice of the item, and appends the lines that it gives rise to, whole ones, which all
 * belong to the thread of that number. Of the item only `module`s have to live as long as the
 * log: what they point to, not they themselves.
 * Where memory runs out, lines are missing: text->has_failed, or track_log_has_failed. */
void track_log_add(struct track_log *log,
                   const struct log_item *item,
                   struct buffer *text,
                   uint16_t *thread);
bool track_log_has_failed(const struct track_log *log);

#endif
