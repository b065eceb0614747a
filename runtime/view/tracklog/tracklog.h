/* The tree log: tracked calls as a tree for people, one per thread, written while the program runs.
 * Its input is the items of a trace, from a file or during the recording.
 *
 *   ┌── [model.py:12] function [Net.forward] called from step:57 (train.py:57 <- run.py:3)
 *   ├─ input [Tensor] x@0 → shape=torch.Size([4, 8]) | dtype=torch.float32 | sum=… | …
 *   │   ├─ [Tensor] h@14 → shape=torch.Size([4, 16]) | dtype=torch.float32 | …
 *   │   └─ output shape=torch.Size([4, 2]) | …
 *   │   └─ elapsed 0.0123s
 *
 * docs/reference/tracker_log.md describes the lines. Memory grows with the open calls and the names
 * in them, up to a limit for each call; not with the length of the run. */
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
    struct track_labels labels; /* texts are borrowed, and must outlive the log */
    bool has_color;
    bool is_canonical;  /* without elapsed times */
    bool is_all;        /* every call is written as if it were tracked */
    bool is_selective;  /* a call is written only if it has events */
    bool has_lines;     /* write the text of each line, as if each call wished it */
    source_strip strip; /* for instrumented sources; may be NULL */
};

struct track_log;

/* NULL: out of memory. */
struct track_log *track_log_new(const struct track_options *options);
void track_log_free(struct track_log *log); /* may be NULL */

/* Processes an item and appends the lines that it causes. They are whole lines, and all belong
 * to `*thread`. The data to which the item's `module` points must outlive the log; the item and
 * the `module` itself need not. If memory runs out, lines are missing; text->has_failed or
 * track_log_has_failed is true then. */
void track_log_add(struct track_log *log,
                   const struct log_item *item,
                   struct buffer *text,
                   uint16_t *thread);
bool track_log_has_failed(const struct track_log *log);

#endif
