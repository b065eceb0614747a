/* What the files of the recorder share. */
#ifndef MONITORCH_TRACE_RECORDER_STATE_H
#define MONITORCH_TRACE_RECORDER_STATE_H

#include "runtime/trace/recorder.h"

struct recorder {
    struct recorder_options options;  /* names: owned */
    struct log_writer *log;           /* owned; may be NULL after a failed fork */
    struct call_table *calls;         /* owned */
    struct history *history;          /* owned */
    struct recorded_module **modules; /* owned, each too */
    size_t module_count;
    size_t module_capacity;
    uint32_t site_count;    /* of all modules */
    uint64_t start;         /* monotonic, nanoseconds */
    uint32_t process;       /* that the log belongs to */
    struct log_event *late; /* borrowed from the log; may be NULL */
};

#endif
