/* The paths of the modules that were called, read from a file: the text that CallTracer writes (a
 * path a line, a shape may follow behind a tab), or a trace. */
#ifndef MONITORCH_VIEW_CALLS_TRACE_H
#define MONITORCH_VIEW_CALLS_TRACE_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/calls/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_trace {
    struct call_path *paths; /* owned; texts are borrowed from what stands below */
    size_t count;
    size_t capacity;
    bool is_log;                  /* it was a trace (.mtrace) */
    bool is_recording;            /* which was not finished when it was read */
    uint64_t lost_count;          /* events that recording could not keep */
    size_t damage_count;          /* places where that could not be read */
    char damage[ERROR_TEXT_SIZE]; /* the first of them; "" */
    struct buffer text;           /* of the text file */
    struct arena arena;
};

void call_trace_init(struct call_trace *trace);
void call_trace_release(struct call_trace *trace);

/* Reads a file of either kind. Fails where it cannot be read, is neither, or memory runs out. No
 * paths in it are no failure. */
bool call_trace_read(struct call_trace *trace, const char *path, struct error *error);

/* Reads the text, which has to live as long. Blank lines count for nothing, blanks around a path
 * neither. false: out of memory. */
bool call_trace_read_text(struct call_trace *trace, struct slice text);

#endif
