/* A trace in the JSON format of Chrome's trace events, which Perfetto opens: calls are slices,
 * events are instants, and each thread has a track. It is written while the trace is read, in
 * constant memory. */
#ifndef MONITORCH_VIEW_LIST_PERFETTO_LOG_H
#define MONITORCH_VIEW_LIST_PERFETTO_LOG_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfetto_thread {
    bool is_reported; /* its name was written */
    uint64_t last;    /* time of its last object */
    uint32_t *stack;  /* owned: the calls whose slices are open, outermost first */
    size_t depth;
    size_t capacity;
};

/* The state of one trace, which is a process. */
struct perfetto_log {
    const struct log_reader *reader; /* borrowed */
    uint32_t process;                /* unique in a file */
    uint64_t shift;  /* nanoseconds from the file's start to that of this trace */
    uint64_t newest; /* time of the last item */
    struct perfetto_thread *threads; /* owned; by number */
    size_t thread_count;
    size_t thread_capacity;
    struct buffer summary; /* owned; text of one value */
    bool has_failed;       /* memory ran out */
};

/* The text before the first trace and after the last one. */
#define PERFETTO_START SLICE("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")
#define PERFETTO_END   SLICE("\n]}\n")

/* Starts a trace as a process of that name. `index` is the trace's index in the file. */
void perfetto_log_init(struct perfetto_log *log,
                       const struct log_reader *reader,
                       uint32_t process,
                       uint64_t shift,
                       struct slice name,
                       size_t index,
                       struct buffer *text);
void perfetto_log_release(struct perfetto_log *log);

/* Writes the start of a call. To be called once for each call. */
void perfetto_log_add_call(struct perfetto_log *log,
                           const struct open_call *call,
                           struct buffer *text);
void perfetto_log_add_event(struct perfetto_log *log,
                            const struct log_event_view *event,
                            struct buffer *text);
/* Writes the end of a call. To be called before the call is removed from the open ones. */
void perfetto_log_add_end(struct perfetto_log *log,
                          uint64_t time,
                          const struct open_call *call,
                          struct buffer *text);
void perfetto_log_add_note(struct perfetto_log *log,
                           const struct log_item *item,
                           struct buffer *text);
/* Ends the calls that are open at the end of the trace, at the time of its last item. */
void perfetto_log_finish(struct perfetto_log *log,
                         const struct open_calls *calls,
                         struct buffer *text);

#endif
