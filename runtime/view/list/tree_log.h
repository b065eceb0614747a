/* A trace as a tree for people: one line for each call, and one line for each of its events
 * below it. */
#ifndef MONITORCH_VIEW_LIST_TREE_LOG_H
#define MONITORCH_VIEW_LIST_TREE_LOG_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_log {
    const struct log_reader *reader; /* borrowed */
    struct source_lines *sources;    /* borrowed */
    bool has_color;
    bool has_source; /* the text of each line is printed above its events */
    bool
        is_canonical; /* calls have the numbers of canonical.h; lines name no threads */
    bool has_threads; /* a call of another thread was printed */
    bool has_failed;  /* memory ran out: some calls are printed more than once */
    /* The calls whose lines apply to the next line, by depth, from the depth `above_start` on.
     * The calls further out belong to another thread. */
    uint32_t *above; /* owned */
    size_t above_start;
    size_t above_count;
    size_t above_capacity;
    /* The visit that was printed last. */
    uint32_t last_call;
    uint32_t last_site;
    uint32_t last_visit;
    uint32_t last_source_call;
    uint32_t last_source_line;
};

void tree_log_init(struct tree_log *log,
                   const struct log_reader *reader,
                   struct source_lines *sources);
void tree_log_release(struct tree_log *log);

/* Prints the lines of the call and of the calls around it that are needed here. */
void tree_log_add_call(struct tree_log *log,
                       struct open_call *call,
                       struct buffer *text);
/* Prints an event, after its call's line if that is not above it. */
void tree_log_add_event(struct tree_log *log,
                        const struct log_event_view *event,
                        struct open_call *call,
                        struct buffer *text);
/* Prints a line if the call was printed and may have been left by an exception. */
void tree_log_add_end(struct tree_log *log,
                      const struct log_item *item,
                      const struct open_call *call,
                      struct buffer *text);
/* Print a backward, and a gradient of it. */
void tree_log_add_step(struct tree_log *log,
                       const struct log_step_view *step,
                       struct buffer *text);
void tree_log_add_gradient(struct tree_log *log,
                           const struct log_event_view *gradient,
                           struct buffer *text);
void tree_log_add_note(struct tree_log *log,
                       const struct log_item *item,
                       struct buffer *text);

#endif
