/* The recorder: receives visits of sites, judges what happened to their values, and writes it
 * all to a trace. Does not depend on Python. The caller holds a lock: one thread at a time. */
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

/* A reader during recording. It gets the items of tracked calls and of calls made from them, as
 * log_reader would return them, but at once, and even if nothing can be written: LOG_CALL,
 * LOG_TRACKED, LOG_EVENT and LOG_END. Data that an item points to is valid until on_item
 * returns, its modules until the recorder is freed. */
struct recorder_tap {
    void (*on_item)(void *context, const struct log_item *item); /* may be NULL */
    void *context;
};

struct recorder_options {
    struct log_options log;
    struct recorder_tap tap;
    bool has_statistics;
    bool has_hash;
    uint64_t every; /* statistics, hash and sample at every n-th visit of a site */
    uint64_t element_limit; /* larger arrays get none of them; 0: no limit */
    bool has_imports;       /* records code that runs while a module is imported, too */
    bool has_sources; /* records names that are read before they are written, too */
    /* Records gradients of recorded values when a backward computes them. */
    bool has_gradients;
    /* Records parameters as they are read and written; implied by has_gradients. */
    bool has_parameters;
    /* Leaves out most visits of sites that never held a tensor: see left_out.h. */
    bool leaves_out;
    const char *const *names; /* globs of names whose whole values are kept; copied */
    size_t name_count;
};

struct recorder;

/* Returns NULL on failure; `error` says why. `path` may be NULL: then there is no trace, only
 * the tap. */
struct recorder *recorder_new(const char *path,
                              const struct recorder_options *options,
                              struct error *error);
/* Ends the recording and frees the recorder. Returns false if the file could not be finished;
 * `error` says why. */
bool recorder_close(struct recorder *recorder, struct error *error);
/* In the child after a fork, instead of closing: frees the recorder and leaves the parent's file
 * untouched. */
void recorder_abandon(struct recorder *recorder);
/* In the child after a fork: continues in a file of its own. Returns false on failure; the
 * recorder can only be closed then. */
bool recorder_fork(struct recorder *recorder, const char *path, struct error *error);

const struct recorder_options *recorder_options(const struct recorder *recorder);
/* Sets or removes the tap. It gets calls that start from now on. */
void recorder_set_tap(struct recorder *recorder, const struct recorder_tap *tap);
/* The current log; a fork replaces it, so do not keep the pointer. NULL without a trace, or
 * after a failed fork. */
struct log_writer *recorder_log(const struct recorder *recorder);

/* Adds a module to the recording: adds a use of `source` and returns a module that the recorder
 * owns. NULL: out of memory. */
struct recorded_module *recorder_add_module(struct recorder *recorder,
                                            struct site_module *source,
                                            struct error *error);
/* Adds a module that only this recorder uses. Returns NULL also if its table cannot be read. */
struct recorded_module *recorder_add_text(struct recorder *recorder,
                                          const struct module_text *text,
                                          struct error *error);

/* Returns the thread with that key, which is unique among the threads of the process. NULL: out
 * of memory. */
struct call_thread *recorder_thread(struct recorder *recorder,
                                    uint64_t key,
                                    uint64_t native,
                                    struct slice name);

/* The system's id of the thread with that number in the trace; 0 if there is none. */
uint64_t recorder_thread_native(const struct recorder *recorder, uint16_t number);

struct call_table *recorder_calls(const struct recorder *recorder);

/* The module with that number in the trace. NULL if there is none. */
struct recorded_module *recorder_module(const struct recorder *recorder,
                                        uint32_t number);

/* Nanoseconds since the recording's start. */
uint64_t recorder_time(const struct recorder *recorder);

/* The properties of a call at its start. */
struct call_start {
    struct call_thread *thread;
    struct recorded_module *module;
    uint32_t function;
    const void *frame;
    const void *code;
    const struct call *parent; /* may be NULL */
    uint32_t line;             /* of the call, in the parent */
    bool is_joined;
    bool is_left_out;        /* neither the call nor its events are recorded */
    const void *self;        /* stored in the call */
    const void *tracked;     /* stored in the call; NULL: not tracked */
    struct slice path;       /* of `self` */
    struct slice class_name; /* of `self` */
    /* For a tracked call: the wish, and the frames that the call was made from, as in struct
     * log_tracked. Else "". */
    struct slice wish, callers;
};
/* NULL: out of memory. */
struct call *recorder_begin_call(struct recorder *recorder,
                                 const struct call_start *start);

/* Writes the call's record if the trace does not hold it, or if a ring may drop it soon. The
 * first event of a call does the same. */
void recorder_write_call(struct recorder *recorder, struct call *call);

/* Starts a training step, from 1. Step 0 starts with the recording. */
void recorder_begin_training_step(struct recorder *recorder, uint64_t step);

/* Ends the call, and the calls above it. For callers that see the end itself: `error` is the
 * type of the exception that left the call, "" if none did. */
void recorder_end_call(struct recorder *recorder,
                       struct call *call,
                       struct slice error);

/* Whether a visit of this enter site, in the frame of `call`, only repeats the call's header, so
 * that no new call starts. */
bool recorder_is_entered(const struct recorded_module *module,
                         const struct call *call,
                         uint32_t site);

struct visit {
    struct recorded_module *module;
    const struct site *site;
    uint32_t index; /* of the site in its module */
    struct call *call;
    uint64_t time;
    uint32_t number;  /* how often the call visited the site before */
    bool is_measured; /* statistics, hash and sample are computed in this visit */
    /* The visit inspects known names: only changed ones are recorded. */
    bool is_inspection;
};

/* Starts a visit of a site. Returns false if it is not recorded because it only repeats a while
 * header. */
bool recorder_begin_visit(struct recorder *recorder,
                          struct recorded_module *module,
                          uint32_t site,
                          struct call *call,
                          struct visit *visit);

/* An array and its origin. Texts that do not apply are "". */
struct recorded_array {
    const struct array *array;
    uint64_t data;
    int64_t offset;
    uint32_t version;
    unsigned flags; /* enum log_form_flag */
    struct slice type, dtype_text, device, layout, note;
    const struct statistics *statistics; /* NULL: not measured */
    /* The part of its memory that was written: the sample has zeros elsewhere. NULL: all of it
     * was. */
    const struct uninitialised_piece *fresh;
    uint64_t hash;
    bool has_hash;
    bool is_sampled;
    bool is_kept; /* the whole values are written too */
    /* Not measured yet: space is reserved for its statistics, see recorder_late. */
    bool is_late;
};

struct value {
    enum value_kind kind;
    int64_t integer;
    double real, imaginary;
    struct slice text; /* TEXT, BIG_INT */
    struct slice type; /* CONTAINER, OBJECT */
    uint64_t object;   /* its address */
    bool is_cut;       /* CONTAINER: some of its items are not recorded */
    /* CONTAINER: leaves without an event are as they were recorded last. */
    bool is_continued;
    const struct recorded_array *array; /* TENSOR */
};

/* Returns the recorded leaves of the container in the site's `write`-th name. `is_known` is set
 * if leaves were recorded before in this call. NULL: out of memory, or the name has no number. */
struct known_container *
recorder_known_container(const struct visit *visit, uint32_t write, bool *is_known);
/* Whether the site reads a name that it writes, as `x += y` does. */
bool recorder_reads_own_name(const struct visit *visit, uint32_t write);
/* Whether the address is known to hold the same object as before the event of that number. */
bool recorder_is_same_since(const struct recorder *recorder,
                            uint64_t object,
                            uint64_t event);
/* A hash of a value that is no tensor: equal values have equal hashes. */
uint64_t recorder_value_hash(const struct value *value);

/* A value for `write` that means the site's `read`-th read name; above the indices of all
 * writes. */
#define RECORDER_READ(read) (UINT32_C(0x80000000) + (read))

/* Whether this call has no state yet of the name that is the site's `read`-th read. False if
 * sources are not recorded. */
bool recorder_is_read_new(const struct recorder *recorder,
                          const struct visit *visit,
                          uint32_t read);
/* Returns a visit that is not counted, to record what a site will read before the site is
 * visited. */
struct visit recorder_peek(const struct recorder *recorder,
                           struct recorded_module *module,
                           uint32_t site,
                           struct call *call);
/* Whether this call has a state of the name that is the site's `read`-th read, and the state may
 * be outdated: another object, another version, or no version at all. */
bool recorder_read_may_differ(const struct visit *visit,
                              uint32_t read,
                              uint64_t object,
                              bool has_version,
                              uint32_t version);
/* Marks the name's value as known and not to be recorded. */
void recorder_pass_read(const struct visit *visit, uint32_t read);

/* Writes one event: the value of the site's `write`-th name, or of its part at `path`. A site
 * without values gets one value of kind NOTHING. Names after the 256th are skipped. */
void recorder_write(struct recorder *recorder,
                    const struct visit *visit,
                    uint32_t write,
                    struct slice path,
                    const struct value *value);

/* Writes one event of a parameter, its gradient or a setting of an optimizer, under the name
 * `name`. `state` is its last seen state, zeroed at first. `is_read`: the visit's line did not
 * write it. */
void recorder_write_parameter(struct recorder *recorder,
                              const struct visit *visit,
                              struct slice name,
                              bool is_read,
                              struct name_state *state,
                              const struct value *value);

/* Counts an event with these statistics if it holds a NaN. recorder_write and
 * recorder_write_gradient count their own events; late events are counted by the caller. */
void recorder_count_nan(struct recorder *recorder, const struct statistics *statistics);
/* How many events held a NaN. */
uint64_t recorder_nan_count(const struct recorder *recorder);

/* The record of the last event if its array was late and the event was written; else NULL. Valid
 * until options.log.before_seal is called. */
struct log_event *recorder_late(const struct recorder *recorder);

/* The event of a tensor, as the owner of a gradient. */
struct gradient_owner {
    uint64_t event;
    uint32_t site, call, visit;
    uint32_t path; /* text */
    uint8_t write;
    uint8_t flags; /* LOG_EVENT_READ, LOG_EVENT_PARAMETER */
};

/* Finds the tensor that the last recorder_write wrote. Returns false if it wrote none. */
bool recorder_find_written(const struct recorder *recorder,
                           struct gradient_owner *owner);

/* Writes that a backward, or another step of kind `tag`, was called there. Returns its number;
 * 0: it is not in the trace. */
uint32_t recorder_write_step(struct recorder *recorder,
                             enum log_step_tag tag,
                             const struct call_thread *thread,
                             struct slice name,
                             struct slice file,
                             uint32_t line);

/* Writes the gradient of the owner's value, which is of kind TENSOR. If its array is late,
 * recorder_late returns its record. */
void recorder_write_gradient(struct recorder *recorder,
                             const struct gradient_owner *owner,
                             enum log_gradient_tag tag,
                             const struct call_thread *thread,
                             uint32_t step,
                             const struct value *value);

/* One input of a backward's first gradient that is not finite. */
struct gradient_source {
    uint64_t event; /* 1 + its number; 0: the gradient that backward() started with */
    struct slice functions;
};
void recorder_write_birth(struct recorder *recorder,
                          uint64_t event,
                          uint32_t step,
                          const struct gradient_source *sources,
                          size_t count);

/* Whether the whole values of this name, at that path in its value, are to be kept. */
bool recorder_keeps(const struct recorder *recorder,
                    struct slice name,
                    struct slice path);

/* Writes a setting of the run, or its new value. A setting that was written already with this
 * value is skipped. */
void recorder_write_setting(struct recorder *recorder,
                            struct slice name,
                            struct slice value);

/* The data that a view of an array points to. */
#define VIEWED_ELEMENT_SIZE_MAX 16 /* large enough for the elements of any dtype */
struct viewed_array {
    struct log_shape shape;
    union {
        char bytes[SAMPLE_MAX * VIEWED_ELEMENT_SIZE_MAX];
        uint64_t aligned;
    } sample;
};
/* Fills in the value as a reader of the trace would return it; only the value's own fields are
 * set. `view` is zeroed before, and borrows from `value` and `viewed`. */
void recorder_view_value(const struct value *value,
                         uint32_t sample,
                         struct viewed_array *viewed,
                         struct log_event_view *view);

/* Writes a note. `site` is a site of the trace or UINT32_MAX. */
void recorder_note(struct recorder *recorder,
                   enum log_note_tag tag,
                   uint32_t site,
                   struct slice text);

#endif
