/* The recorder: takes visits of sites, finds out what happened to their values, and writes it
 * all to a trace. Knows nothing of Python. Callers hold a lock: one thread at a time. */
#ifndef MONITORCH_RECORD_RECORDER_H
#define MONITORCH_RECORD_RECORDER_H

#include "runtime/array/array.h"
#include "runtime/array/sample.h"
#include "runtime/array/statistics/statistics.h"
#include "runtime/array/uninitialised.h"
#include "runtime/record/calls.h"
#include "runtime/trace/kinds.h"
#include "runtime/trace/reader.h"
#include "runtime/trace/writer.h"

#include <stdbool.h>
#include <stdint.h>

/* Who reads along. It is told of tracked calls and of those that are made from them, as log_reader
 * would tell of them, but at once, and also while nothing can be written: LOG_CALL, LOG_TRACKED,
 * LOG_EVENT and LOG_END. What an item points to is valid until on_item returns, its modules until
 * the recorder is freed. */
struct recorder_tap {
    void (*on_item)(void *context, const struct log_item *item); /* may be NULL */
    void *context;
};

struct recorder_options {
    struct log_options log;
    struct recorder_tap tap;
    bool has_statistics;
    bool has_hash;
    uint64_t every; /* statistics, hash and sample at each n-th visit of a site */
    uint64_t element_limit; /* none of them for larger arrays; 0: no limit */
    bool has_imports;       /* what runs while a module is imported is recorded too */
    bool
        has_sources; /* names that are read before they were written are recorded too */
    bool has_gradients; /* of recorded values, when a backward makes them */
    bool
        has_parameters; /* of modules, as they are read and written; with has_gradients always */
    bool leaves_out; /* most visits of sites that never held a tensor: see left_out.h */
    const char *const
        *names; /* globs of the names whose whole values are kept; copied */
    size_t name_count;
};

struct recorder;

/* `path` may be NULL: there is no trace, only those who read along. */
struct recorder *recorder_new(const char *path,
                              const struct recorder_options *options,
                              struct error *error);
/* Ends the recording and frees it; false where the file could not be finished. */
bool recorder_close(struct recorder *recorder, struct error *error);
/* In the child after a fork, instead of closing: frees it, lets the parent's file be. */
void recorder_abandon(struct recorder *recorder);
/* In the child after a fork: goes on in a file of its own. Where that fails the recorder can
 * only be closed. */
bool recorder_fork(struct recorder *recorder, const char *path, struct error *error);

const struct recorder_options *recorder_options(const struct recorder *recorder);
/* Somebody begins to read along, of calls that begin from now on; or ends. */
void recorder_set_tap(struct recorder *recorder, const struct recorder_tap *tap);
/* The log goes away with a fork: ask anew each time. May be NULL after a failed fork. */
struct log_writer *recorder_log(const struct recorder *recorder);

/* The module takes part from now on: the recorder uses it, and owns what it gives. NULL: no memory. */
struct recorded_module *recorder_add_module(struct recorder *recorder,
                                            struct site_module *source,
                                            struct error *error);
/* The same of a module that only this recorder knows. NULL where its table cannot be read, too. */
struct recorded_module *recorder_add_text(struct recorder *recorder,
                                          const struct module_text *text,
                                          struct error *error);

/* The thread that goes by `key`, which no two threads of a process share. NULL: no memory. */
struct call_thread *recorder_thread(struct recorder *recorder,
                                    uint64_t key,
                                    uint64_t native,
                                    struct slice name);

/* The system's id of the thread with that number in the trace; 0: there is none. */
uint64_t recorder_thread_native(const struct recorder *recorder, uint16_t number);

struct call_table *recorder_calls(const struct recorder *recorder);

/* The module with that number in the trace; NULL: there is none. */
struct recorded_module *recorder_module(const struct recorder *recorder,
                                        uint32_t number);

/* Nanoseconds since the recording's start. */
uint64_t recorder_time(const struct recorder *recorder);

/* What is known of a call when it begins. */
struct call_start {
    struct call_thread *thread;
    struct recorded_module *module;
    uint32_t function;
    const void *frame;
    const void *code;
    const struct call *parent; /* may be NULL */
    uint32_t line;             /* in the parent */
    bool is_joined;
    bool is_left_out;        /* neither it nor its events are recorded */
    const void *self;        /* kept in the call */
    const void *tracked;     /* kept in the call; NULL: it is not tracked */
    struct slice path;       /* of `self` */
    struct slice class_name; /* of `self` */
    /* Of a tracked call: what is wanted of it, and the frames that it was made from, as struct
     * log_tracked has them. Else "". */
    struct slice wish, callers;
};
/* NULL: out of memory. */
struct call *recorder_begin_call(struct recorder *recorder,
                                 const struct call_start *start);

/* Tells the call where the trace does not hold it, or where a ring may soon have dropped it. Its
 * first event does that too. */
void recorder_write_call(struct recorder *recorder, struct call *call);

/* A training step begins, from 1; step 0 began with the recording. */
void recorder_begin_training_step(struct recorder *recorder, uint64_t step);

/* The call has ended, as somebody saw who waited for it; `error` is the type of the exception that
 * left it, "" where none did. Calls above it have ended too. */
void recorder_end_call(struct recorder *recorder,
                       struct call *call,
                       struct slice error);

/* Whether a visit of this enter site, in a frame that `call` is known by, is that call's header
 * read once more and no new call. */
bool recorder_is_entered(const struct recorded_module *module,
                         const struct call *call,
                         uint32_t site);

struct visit {
    struct recorded_module *module;
    const struct site *site;
    uint32_t index; /* of the site in its module */
    struct call *call;
    uint64_t time;
    uint32_t number;  /* how often the call had visited the site before */
    bool is_measured; /* statistics, hash and sample are wanted this time */
    /* Known names are inspected: only what has changed is recorded. */
    bool is_inspection;
};

/* Begins a visit of a site; false where it is not to be told: a while header read again. */
bool recorder_begin_visit(struct recorder *recorder,
                          struct recorded_module *module,
                          uint32_t site,
                          struct call *call,
                          struct visit *visit);

/* An array and where it comes from. Texts are "" where there is nothing to tell. */
struct recorded_array {
    const struct array *array;
    uint64_t data;
    int64_t offset;
    uint32_t version;
    unsigned flags; /* enum log_form_flag */
    struct slice type, dtype_text, device, layout, note;
    const struct statistics *statistics; /* NULL: not measured */
    /* Its memory was written in part: the sample has zeros for what was not. NULL: it was written. */
    const struct uninitialised_piece *fresh;
    uint64_t hash;
    bool has_hash;
    bool is_sampled;
    bool is_kept; /* the whole values are written too */
    bool
        is_late; /* not measured yet: room is left for its statistics, see recorder_late */
};

struct value {
    enum value_kind kind;
    int64_t integer;
    double real, imaginary;
    struct slice text; /* TEXT, BIG_INT */
    struct slice type; /* CONTAINER, OBJECT */
    uint64_t object;   /* its address */
    bool is_cut;       /* CONTAINER: not all of it is told */
    bool
        is_continued; /* CONTAINER: leaves that are not told are as they were told last */
    const struct recorded_array *array; /* TENSOR */
};

/* What was told of the leaves of the container that the site's `write`-th name stands for. `is_known`:
 * something was told before, in this call. NULL: out of memory, or the name has no number. */
struct known_container *
recorder_known_container(const struct visit *visit, uint32_t write, bool *is_known);
/* Whether the site reads a name that it writes, as `x += y` does. */
bool recorder_reads_own_name(const struct visit *visit, uint32_t write);
/* Whether the object at that address is known to be the one that was there before the event of that
 * number. */
bool recorder_is_same_since(const struct recorder *recorder,
                            uint64_t object,
                            uint64_t event);
/* What two equal numbers, texts and the like have in common. */
uint64_t recorder_value_hash(const struct value *value);

/* As `write`: the site's read-th read name, behind all that a site may write. */
#define RECORDER_READ(read) (UINT32_C(0x80000000) + (read))

/* Whether nothing is known yet, in this call, of the name that the site reads as its `read`-th.
 * Only where sources are wanted. */
bool recorder_is_read_new(const struct recorder *recorder,
                          const struct visit *visit,
                          uint32_t read);
/* A visit that does not count: for telling what a site will read before it is visited. */
struct visit recorder_peek(const struct recorder *recorder,
                           struct recorded_module *module,
                           uint32_t site,
                           struct call *call);
/* Whether something is known, in this call, of the name that the site reads as its `read`-th, and
 * it need not be the same any more: another object, another version, or none at all. */
bool recorder_read_may_differ(const struct visit *visit,
                              uint32_t read,
                              uint64_t object,
                              bool has_version,
                              uint32_t version);
/* What the name stands for is nothing to tell: it is known from now on. */
void recorder_pass_read(const struct visit *visit, uint32_t read);

/* One event: the value of the site's `write`-th name, or of what stands at `path` in it. A site
 * without values is told with a value of kind NOTHING. Names behind the 256th are left out. */
void recorder_write(struct recorder *recorder,
                    const struct visit *visit,
                    uint32_t write,
                    struct slice path,
                    const struct value *value);

/* One event of a parameter, its gradient or a setting of an optimizer, which goes by `name`. `state` is
 * what was last seen of it, zeroed at first; `is_read`: the visit's line did not write it. */
void recorder_write_parameter(struct recorder *recorder,
                              const struct visit *visit,
                              struct slice name,
                              bool is_read,
                              struct name_state *state,
                              const struct value *value);

/* Counts an event whose values are of these statistics, if it holds a NaN. recorder_write and
 * recorder_write_gradient count their events; of a late event the caller does. */
void recorder_count_nan(struct recorder *recorder, const struct statistics *statistics);
/* How many events held a NaN. */
uint64_t recorder_nan_count(const struct recorder *recorder);

/* The record of the event told last, where its array was late and it was written; else NULL. It
 * stays until options.log.before_seal was called. */
struct log_event *recorder_late(const struct recorder *recorder);

/* The event of a tensor, as that which a gradient belongs to. */
struct gradient_owner {
    uint64_t event;
    uint32_t site, call, visit;
    uint32_t path; /* text */
    uint8_t write;
    uint8_t flags; /* LOG_EVENT_READ, LOG_EVENT_PARAMETER */
};

/* The tensor that recorder_write wrote last; false: it wrote none. */
bool recorder_find_written(const struct recorder *recorder,
                           struct gradient_owner *owner);

/* Writes that a backward, or what else `tag` says, was called there; gives its number, 0: it is not
 * in the trace. */
uint32_t recorder_write_step(struct recorder *recorder,
                             enum log_step_tag tag,
                             const struct call_thread *thread,
                             struct slice name,
                             struct slice file,
                             uint32_t line);

/* Writes the gradient of the owner's value, which is of kind TENSOR. recorder_late gives its record
 * where its array is late. */
void recorder_write_gradient(struct recorder *recorder,
                             const struct gradient_owner *owner,
                             enum log_gradient_tag tag,
                             const struct call_thread *thread,
                             uint32_t step,
                             const struct value *value);

/* What the first gradient of a backward that is not finite was made from. */
struct gradient_source {
    uint64_t event; /* 1 + its number; 0: what backward() began with */
    struct slice functions;
};
void recorder_write_birth(struct recorder *recorder,
                          uint64_t event,
                          uint32_t step,
                          const struct gradient_source *sources,
                          size_t count);

/* Whether the whole values under this name, at that path in its value, are wanted. */
bool recorder_keeps(const struct recorder *recorder,
                    struct slice name,
                    struct slice path);

/* Tells what the run is made with, or its newer value; one that is known already is not told
 * again. */
void recorder_write_setting(struct recorder *recorder,
                            struct slice name,
                            struct slice value);

/* What a view of an array points to. */
#define VIEWED_ELEMENT_SIZE_MAX 16 /* large enough for the elements of any dtype */
struct viewed_array {
    struct log_shape shape;
    union {
        char bytes[SAMPLE_MAX * VIEWED_ELEMENT_SIZE_MAX];
        uint64_t aligned;
    } sample;
};
/* The value as a reader of the trace would have it, without anything that only a recording knows;
 * `view` is zeroed. It borrows from `value` and from `viewed`. */
void recorder_view_value(const struct value *value,
                         uint32_t sample,
                         struct viewed_array *viewed,
                         struct log_event_view *view);

/* `site` is a site of the trace or UINT32_MAX. */
void recorder_note(struct recorder *recorder,
                   enum log_note_tag tag,
                   uint32_t site,
                   struct slice text);

#endif
