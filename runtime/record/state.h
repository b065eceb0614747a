/* What the files of the recorder share. */
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
    uint32_t site_count;               /* of all modules */
    uint64_t start;                    /* monotonic, nanoseconds */
    uint32_t process;                  /* that the log belongs to */
    struct recorder_setting *settings; /* owned: a child tells them too */
    size_t setting_count;
    size_t setting_capacity;
    struct log_event *late;        /* borrowed from the log; may be NULL */
    struct gradient_owner written; /* the tensor written last … */
    bool has_written;              /* … where there is one */
    uint64_t nan_count;            /* events that hold a NaN */
    uint32_t step_count;
    uint64_t training_step; /* that is under way */
    uint64_t
        training_chunk; /* of the stream, that holds its record; UINT64_MAX: none does */
    struct slice end_error; /* of the call that is being ended by recorder_end_call */
    const struct call *ended;
};

/* ---- recorder.c ---- */

/* `head` and `verdict` are what the event's record was made from, `number` is its own. */
void recorder_tap_event(struct recorder *recorder,
                        const struct visit *visit,
                        const struct log_event *head,
                        uint64_t number,
                        struct slice name,
                        struct slice path,
                        const struct value *value,
                        const struct verdict *verdict);

/* ---- history.c ---- */

/* Compares with what the name had before. False: nothing is to be told, it was only looked at. */
bool recorder_follow_name(struct recorder *recorder,
                          const struct visit *visit,
                          uint32_t place,
                          const struct value *value,
                          const struct name_state *now,
                          struct log_event *head,
                          struct verdict *verdict);

/* Compares with what was last seen of a parameter, which `state` has, and keeps `now` there. */
struct verdict recorder_follow_parameter(struct recorder *recorder,
                                         const struct visit *visit,
                                         bool is_read,
                                         struct name_state *state,
                                         const struct value *value,
                                         const struct name_state *now,
                                         struct log_event *head);

#endif
