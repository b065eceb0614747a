/* The struct recorder, and functions shared by the recorder's files. */
#ifndef MONITORCH_RECORD_STATE_H
#define MONITORCH_RECORD_STATE_H

#include "runtime/record/recorder.h"

struct recorder_setting {
    char *text; /* owned: the name, then the value */
    size_t name_size;
    size_t value_size;
};

struct recorder {
    struct recorder_options options;  /* names: owned */
    struct log_writer *log;           /* owned; may be NULL after a failed fork */
    struct call_table *calls;         /* owned */
    struct history *history;          /* owned */
    struct recorded_module **modules; /* owned, each too */
    size_t module_count;
    size_t module_capacity;
    uint32_t site_count;               /* in all modules */
    uint64_t start;                    /* monotonic, nanoseconds */
    uint32_t process;                  /* the process that owns the log */
    struct recorder_setting *settings; /* owned: written again in a forked child */
    size_t setting_count;
    size_t setting_capacity;
    struct log_event *late;        /* borrowed from the log; may be NULL */
    struct gradient_owner written; /* the tensor written last … */
    bool has_written;              /* … if there is one */
    uint64_t nan_count;            /* events that hold a NaN */
    uint32_t step_count;
    uint64_t training_step; /* the current one; 0: none yet */
    /* The stream's chunk that holds its record; UINT64_MAX: none. */
    uint64_t training_chunk;
    struct slice end_error; /* error of the call that recorder_end_call is ending */
    const struct call *ended;
};

/* ---- recorder.c ---- */

/* Passes an event to the tap. `head` and `verdict` are the ones of its record, `number` is its
 * number. */
void recorder_tap_event(struct recorder *recorder,
                        const struct visit *visit,
                        const struct log_event *head,
                        uint64_t number,
                        struct slice name,
                        struct slice path,
                        const struct value *value,
                        const struct verdict *verdict);

/* ---- history.c ---- */

/* Compares the value with the name's last state. Returns false if an inspection found no change:
 * the event is not written then. */
bool recorder_follow_name(struct recorder *recorder,
                          const struct visit *visit,
                          uint32_t place,
                          const struct value *value,
                          const struct name_state *now,
                          struct log_event *head,
                          struct verdict *verdict);

/* Compares the value with the parameter's last state `state`, and stores `now` there. */
struct verdict recorder_follow_parameter(struct recorder *recorder,
                                         const struct visit *visit,
                                         bool is_read,
                                         struct name_state *state,
                                         const struct value *value,
                                         const struct name_state *now,
                                         struct log_event *head);

#endif
