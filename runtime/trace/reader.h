/* Trace reader: reads a whole or damaged trace on any machine, also one that is still being
 * written. Its memory does not grow with the number of events. */
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
    struct slice file; /* path of the file that ran */
    /* The file's text, see source_tag; size 0 if the trace does not hold it. */
    struct slice source;
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
    struct slice note;              /* why there are no values; or "" */
    const struct sample_grid *grid; /* of its samples */
};

/* One event, decoded and checked: every reference in it is valid. */
struct log_event_view {
    uint64_t number;
    uint64_t time;
    const struct log_module *module;
    uint32_t module_number;
    const struct site *site;
    uint32_t site_number; /* number in the trace */
    uint32_t call;
    uint32_t visit;
    uint16_t thread;
    enum value_kind kind;
    enum change change;
    unsigned difference; /* enum log_difference */
    unsigned flags;      /* enum log_event_flag */
    struct slice name;   /* the name that is written or read; "" if there is none */
    struct slice path;   /* path in the value; or "" */
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
    uint64_t training_step;         /* the current training step, from 0 */
    uint32_t step;                  /* gradient: the backward's number; else 0 */
    enum log_gradient_tag gradient; /* LOG_GRADIENT; else 0 */
    const void *sample;             /* grid.count elements, unaligned; may be NULL */
    /* The grid of the sample; count 0: none. Last, because it is large and its unused part is
     * not cleared. */
    struct sample_grid grid;
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
    struct slice file; /* of the calling line in the program; "": not known */
    uint32_t line;
    uint16_t thread;
    struct slice name; /* "SGD.step"; "": only the tag describes it */
};

/* The tag's text: "backward", "optimizer", "gradients" or "settings". */
struct slice log_step_text(enum log_step_tag tag);

struct log_birth_view {
    uint64_t time;
    uint64_t event; /* number of the event whose gradient it is */
    uint32_t step;  /* the backward's number */
    uint32_t count;
    const char *sources; /* see log_birth_source_read */
};

struct log_item {
    enum log_kind kind; /* a kind of the stream */
    uint64_t offset;    /* in the file */
    union {
        /* LOG_EVENT, LOG_GRADIENT. A gradient has its own statistics, with the number, path and
         * name of the value that it belongs to. */
        struct log_event_view event;
        struct log_call_view call;
        struct {
            uint64_t time;
            uint32_t call;
            enum log_end_tag how;
            struct slice error; /* LEFT: the exception's type; "" if it was not seen */
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
    bool is_start; /* it is the gradient that backward() started with; no event */
    uint64_t event;
    /* Autograd's functions between the two, last one first; or "". */
    struct slice functions;
};

/* Returns NULL if the file does not exist, is no trace, or has a newer version; `error` says
 * why. Damage after the header is no failure: see log_reader_damage. */
struct log_reader *log_reader_new(const char *path, struct error *error);
void log_reader_free(struct log_reader *reader); /* may be NULL */

/* Reads the next item of the stream, in recorded order. Returns false at the end. Data that the
 * item points to is valid until the next call. */
bool log_reader_next(struct log_reader *reader, struct log_item *item);
/* One of the `count` gradients that the birth's gradient was computed from. */
struct log_birth_source_view log_birth_source_read(const struct log_reader *reader,
                                                   const struct log_birth_view *birth,
                                                   uint32_t index);
/* Sets whether log_reader_next returns events of parameters (LOG_EVENT_PARAMETER); at first it
 * does not. They are numbered like all events. */
void log_reader_show_parameters(struct log_reader *reader, bool are_shown);
/* Restarts at the beginning. */
void log_reader_rewind(struct log_reader *reader);

/* A place in the stream, at which log_reader_next continues. */
struct log_place {
    size_t chunk;
    size_t position;
    uint64_t next_event;
    uint64_t training_step;
    bool is_counting;
};
struct log_place log_reader_place(const struct log_reader *reader);
/* Returns the reader to an earlier place. Costs nothing within the loaded chunk (up to 1 MiB),
 * else the chunk is loaded. */
void log_reader_go(struct log_reader *reader, struct log_place place);
/* Makes the event of that number the next one, or the first one after it that exists. Earlier
 * items of its chunk are skipped, including calls. */
void log_reader_go_to_event(struct log_reader *reader, uint64_t number);

const struct log_header *log_reader_header(const struct log_reader *reader);
/* The number of the oldest event that is returned. Above 0 if a ring has dropped some. */
uint64_t log_reader_first_event(const struct log_reader *reader);
uint32_t log_reader_module_count(const struct log_reader *reader);
/* NULL if `number` is out of range. */
const struct log_module *log_reader_module(const struct log_reader *reader,
                                           uint32_t number);
/* Replaces the path in the module's table. `path` is borrowed. */
void log_reader_rename(struct log_reader *reader, uint32_t number, struct slice path);
/* "" if there is no such thread. */
struct slice log_reader_thread_name(const struct log_reader *reader, uint16_t thread);

/* A setting of the run: "python.version", "seed" … (docs/reference/rerun.md). Settings are in
 * the order of their first records, and complete after the stream was read to its end. */
struct log_setting {
    struct slice name;
    struct slice value;
};
size_t log_reader_setting_count(const struct log_reader *reader);
/* NULL if `index` is out of range. */
const struct log_setting *log_reader_setting(const struct log_reader *reader,
                                             size_t index);
/* The setting of that name. NULL if there is none. */
const struct log_setting *log_reader_find_setting(const struct log_reader *reader,
                                                  struct slice name);

/* The recording's identity, as settings of other traces refer to it: "START PROCESS". */
#define LOG_IDENTITY_SIZE 48
void log_reader_identity(const struct log_reader *reader, char text[LOG_IDENTITY_SIZE]);

/* Left-out visits of a site that had never held a tensor. Complete after the stream was read to
 * its end. */
struct log_left_out_view {
    uint32_t site;  /* number in the trace */
    uint64_t event; /* first event after the first left-out visit */
    uint64_t until; /* first event recorded in full again; UINT64_MAX: none */
    /* Left-out visits; may be too low if the recording was not closed. */
    uint64_t count;
};
size_t log_reader_left_out_count(const struct log_reader *reader);
/* NULL if `index` is out of range. */
const struct log_left_out_view *log_reader_left_out(const struct log_reader *reader,
                                                    size_t index);
/* The left-out visits of one site. NULL if there are none. */
const struct log_left_out_view *
log_reader_find_left_out(const struct log_reader *reader, uint32_t site);

/* The damage found so far, in the order of the file; complete after the stream was read to its
 * end. Each message describes the damage and its offset. */
size_t log_reader_damage_count(const struct log_reader *reader);
const char *log_reader_damage(const struct log_reader *reader, size_t index);

#endif
