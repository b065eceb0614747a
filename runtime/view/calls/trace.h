/* The paths of the modules that were called, read from a file. The file is a trace, or the text
 * that CallTracer writes: one path a line, with an optional shape after a tab. */
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
    struct call_path *paths; /* owned; its texts are borrowed from the fields below */
    size_t count;
    size_t capacity;
    bool is_log;                  /* the file was a trace (.mtrace) */
    bool is_recording;            /* the trace was not finished when it was read */
    uint64_t lost_count;          /* events that the recorder could not keep */
    size_t damage_count;          /* places where the trace could not be read */
    char damage[ERROR_TEXT_SIZE]; /* the first of them; "" */
    struct buffer text;           /* content of the text file */
    struct arena arena;
};

void call_trace_init(struct call_trace *trace);
void call_trace_release(struct call_trace *trace);

/* Reads a file of either kind. Returns false if it cannot be read, is neither, or memory runs
 * out. A file without paths succeeds. */
bool call_trace_read(struct call_trace *trace, const char *path, struct error *error);

/* Reads the text, which must live as long as the trace. Skips blank lines, and blanks around a
 * path. Returns false if memory runs out. */
bool call_trace_read_text(struct call_trace *trace, struct slice text);

#endif
