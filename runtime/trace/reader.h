/* Reads a trace, whole or damaged, on any machine, in memory that does not grow with the
 * number of events. Also reads a trace that is being written. */
#ifndef MONITORCH_TRACE_READER_H
#define MONITORCH_TRACE_READER_H

#include "runtime/array/sample.h"
#include "runtime/array/statistics/statistics.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/site/site.h"
#include "runtime/trace/format.h"
#include "runtime/trace/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_reader;

/* A module of the trace. */
struct log_module {
    struct site_table table;
    uint32_t first_site;
    struct slice name; /* __name__ */
    struct slice file; /* that ran */
    struct slice
        source; /* its text, see source_tag; size 0 where it is not in the trace */
    enum log_source_tag source_tag;
};

/* All pointers are borrowed from the reader. */
struct log_shape {
    enum dtype dtype;
    struct slice dtype_text; /* "float32" */
    uint32_t dimension_count;
    const int64_t *shape;
    const int64_t *strides; /* may be NULL */
    bool strides_are_bytes;
    unsigned flags;                 /* enum log_form_flag */
    struct slice type;              /* "" for a plain tensor or array */
    struct slice device;            /* "cpu" */
    struct slice layout;            /* "strided" */
    struct slice note;              /* why there are no values; "" */
    const struct sample_grid *grid; /* of its samples */
};

/* One event, decoded and checked: every number in it leads to something that is there. */
struct log_event_view {
    uint64_t number;
    uint64_t time;
    const struct log_module *module;
    uint32_t module_number;
    const struct site *site;
    uint32_t site_number; /* of the trace */
    uint32_t call;
    uint32_t visit;
    uint16_t thread;
    enum value_kind kind;
    enum change change;
    unsigned difference; /* enum log_difference */
    unsigned flags;      /* enum log_event_flag */
    struct slice name;   /* the written name; "" where the site writes none */
    struct slice path;   /* inside the value; "" */
    struct slice type;   /* OBJECT, CONTAINER */
    uint64_t object;     /* OBJECT, CONTAINER: its address; 0: not known */
    int64_t integer;
    double real, imaginary;
    struct slice text;             /* TEXT, BIG_INT */
    const struct log_shape *shape; /* TENSOR; else NULL */
    struct log_tensor tensor;      /* TENSOR */
    bool has_statistics, has_hash;
    struct statistics statistics;
    uint64_t hash;
    uint64_t training_step;         /* that was under way, from 0 */
    uint32_t step;                  /* of a gradient: the backward's number; else 0 */
    enum log_gradient_tag gradient; /* LOG_GRADIENT; else 0 */
    const void *sample;             /* grid.count elements, not aligned; may be NULL */
    struct sample_grid
        grid; /* of the sample; count 0 where there is none. The last: it is large, and what
                              * is not used of it is not cleared. */
};

struct log_call_view {
    uint64_t time;
    uint32_t call, parent;
    const struct log_module *module;
    uint32_t module_number;
    const struct site_function *function;
    uint32_t line;
    uint16_t thread;
    unsigned flags; /* enum log_call_flag */
    struct slice path, class_name;
};

struct log_step_view {
    uint64_t time;
    enum log_step_tag tag;
    uint32_t number;
    struct slice file; /* the program's line that called it; "": not known */
    uint32_t line;
    uint16_t thread;
    struct slice name; /* "SGD.step"; "": the tag says it all */
};

/* "backward", "optimizer", "gradients", "settings". */
struct slice log_step_text(enum log_step_tag tag);

struct log_birth_view {
    uint64_t time;
    uint64_t event; /* whose gradient it is */
    uint32_t step;  /* the backward's number */
    uint32_t count;
    const char *sources; /* see log_birth_source_read */
};

struct log_item {
    enum log_kind kind; /* of the stream */
    uint64_t offset;    /* in the file */
    union {
        /* LOG_EVENT. LOG_GRADIENT: with the figures of the gradient, and the number, the place and
         * the name of the value that it belongs to. */
        struct log_event_view event;
        struct log_call_view call;
        struct {
            uint64_t time;
            uint32_t call;
            enum log_end_tag how;
            struct slice
                error; /* LEFT: the exception's type; "" where it was not seen */
        } end;
        struct {
            uint64_t time;
            uint32_t call;
            struct slice wish, callers;
        } tracked;
        struct {
            uint64_t time;
            uint64_t number;
            bool is_again; /* LOG_TRAINING_STEP_AGAIN */
        } training_step;
        struct log_step_view step;
        struct log_birth_view birth;
        struct {
            uint64_t event; /* the number of the event whose values these are */
            bool is_once;   /* LOG_DATA_ONCE */
            uint64_t offset;
            struct slice bytes;
        } data;
        struct {
            uint64_t time;
            enum log_note_tag tag;
            const struct log_module *module; /* may be NULL */
            const struct site *site;         /* may be NULL */
            struct slice text;
        } note;
    };
};

struct log_birth_source_view {
    bool is_start; /* no event's value: what backward() began with */
    uint64_t event;
    struct slice functions; /* autograd's between the two, the last one first; "" */
};

/* Fails where there is nothing to read: no such file, no trace, a version of the future.
 * Damage further on is not a failure: see log_reader_damage. */
struct log_reader *log_reader_new(const char *path, struct error *error);
void log_reader_free(struct log_reader *reader); /* may be NULL */

/* The next item of the stream, in the order in which it was recorded. false at the end.
 * What it points to is valid until the next call. */
bool log_reader_next(struct log_reader *reader, struct log_item *item);
/* The gradient that the birth's was made from, one of its `count`. */
struct log_birth_source_view log_birth_source_read(const struct log_reader *reader,
                                                   const struct log_birth_view *birth,
                                                   uint32_t index);
/* Whether log_reader_next gives events of parameters (LOG_EVENT_PARAMETER) too: at first it does not.
 * They have numbers as others do. */
void log_reader_show_parameters(struct log_reader *reader, bool are_shown);
/* Starts again from the beginning. */
void log_reader_rewind(struct log_reader *reader);

/* A place in the stream: where log_reader_next continues. */
struct log_place {
    size_t chunk;
    size_t position;
    uint64_t next_event;
    uint64_t training_step;
    bool is_counting;
};
struct log_place log_reader_place(const struct log_reader *reader);
/* Returns the reader to an earlier place. Costs nothing within a chunk (1 MiB), else the loading of
 * one. */
void log_reader_go(struct log_reader *reader, struct log_place place);
/* The next event will be the one of that number, or the first that is there after it. Items before
 * it in its chunk, calls too, are skipped. */
void log_reader_go_to_event(struct log_reader *reader, uint64_t number);

const struct log_header *log_reader_header(const struct log_reader *reader);
/* The number of the oldest event that is given: above 0 where a ring has dropped some. */
uint64_t log_reader_first_event(const struct log_reader *reader);
uint32_t log_reader_module_count(const struct log_reader *reader);
/* NULL from the count on. */
const struct log_module *log_reader_module(const struct log_reader *reader,
                                           uint32_t number);
/* From now on the module's table has this path, which is borrowed. */
void log_reader_rename(struct log_reader *reader, uint32_t number, struct slice path);
/* "" where there is no such thread. */
struct slice log_reader_thread_name(const struct log_reader *reader, uint16_t thread);

/* What the run was made with: "python.version", "seed" … (docs/reference/rerun.md). In the order of
 * their first records; complete after the stream was read to its end. */
struct log_setting {
    struct slice name;
    struct slice value;
};
size_t log_reader_setting_count(const struct log_reader *reader);
/* NULL from the count on. */
const struct log_setting *log_reader_setting(const struct log_reader *reader,
                                             size_t index);
/* That of the name; NULL: there is none. */
const struct log_setting *log_reader_find_setting(const struct log_reader *reader,
                                                  struct slice name);

/* Which recording it is, as settings of other traces name it: "START PROCESS". */
#define LOG_IDENTITY_SIZE 48
void log_reader_identity(const struct log_reader *reader, char text[LOG_IDENTITY_SIZE]);

/* Visits of a site that the recording left out, because it had never held a tensor. Complete after
 * the stream was read to its end. */
struct log_left_out_view {
    uint32_t site;  /* of the trace */
    uint64_t event; /* the first event after the first visit that was left out */
    uint64_t
        until; /* the event from which on visits were recorded again; UINT64_MAX: never */
    uint64_t count; /* how many; at least 0 where the recording was not ended */
};
size_t log_reader_left_out_count(const struct log_reader *reader);
/* NULL from the count on. */
const struct log_left_out_view *log_reader_left_out(const struct log_reader *reader,
                                                    size_t index);
/* The one of a site; NULL: none of its visits was left out. */
const struct log_left_out_view *
log_reader_find_left_out(const struct log_reader *reader, uint32_t site);

/* What was found damaged so far, in the order of the file: complete after the stream was read
 * to its end. `message` says what, and at which offset. */
size_t log_reader_damage_count(const struct log_reader *reader);
const char *log_reader_damage(const struct log_reader *reader, size_t index);

#endif
