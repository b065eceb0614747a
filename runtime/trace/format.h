/* The trace file, byte by byte. Everything is little-endian.
 *
 *   file    = header (LOG_HEADER_SIZE bytes), chunk*
 *   chunk   = chunk header, record*, zeros up to its size
 *   record  = record head, body, zeros up to a multiple of 8
 *
 * A chunk holds definitions (what records refer to by number: never dropped) or the stream (events,
 * calls, notes: in ring mode the oldest chunk is used again). A record is written into zeros, body
 * first, and its head is stored last and at once, so a reader finds either a whole record or a size
 * of 0, whatever happens to the writer. A definition is in the file before the first record that
 * refers to it. docs/internals/trace.md describes it for authors of readers. */
#ifndef MONITORCH_TRACE_FORMAT_H
#define MONITORCH_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define LOG_MAGIC       "mtrace\r\n"
#define LOG_VERSION     1
#define LOG_HEADER_SIZE 4096
#define LOG_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
/* The first chunk begins right after the header, each other one where the chunk before it
 * ends; all end at multiples of this, but that the file's last one may be cut behind its
 * records. */
#define LOG_CHUNK_UNIT (64 * 1024)
/* No chunk of the stream is larger; no chunk of definitions than LOG_DEFINITIONS_MAX. */
#define LOG_CHUNK_MAX       (1024 * 1024)
#define LOG_DEFINITIONS_MAX (512 * 1024 * 1024)
/* The number of a chunk that a ring is about to use again: it holds nothing. */
#define LOG_CHUNK_EMPTY UINT64_MAX
/* No record of the stream is longer. */
#define LOG_RECORD_MAX (32 * 1024)

/* Which other traces are of the same run: those of one origin, and the one that it names. */
struct log_origin {
    uint64_t
        root_start; /* start_time of the recording that this one is a child's of, or 0 */
    uint64_t job;   /* a number of the process that started all ranks, or 0 */
    uint32_t root_process; /* the id of that recording's process, or 0 */
    uint32_t unused;
};

struct log_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size;
    uint64_t start_time; /* nanoseconds since 1970, UTC */
    uint64_t last;    /* ring mode: how many events are wanted; 0: all; UINT64_MAX: all
                             of the newest `last_steps` training steps */
    uint32_t sample;  /* the limit given to sample_grid_init */
    uint32_t process; /* its id */
    uint32_t parent;  /* the recorded process that it was forked from, or 0 */
    uint32_t is_closed;   /* 1: the writer finished; 0: it was killed, or is at it */
    uint64_t event_count; /* at closing: written, those that a ring dropped too */
    uint64_t lost_count;  /* at closing: lost by the size limit or a full disk */
    uint64_t start_clock; /* the monotonic clock at start, ns: times count from it */
    uint64_t checksum;    /* XXH3-64 of the fields above up to `parent`, included */
    struct log_origin origin;
    uint32_t last_steps; /* ring mode: how many whole training steps are wanted; or 0 */
    uint32_t unused;
};

enum log_chunk_kind {
    LOG_CHUNK_DEFINITIONS = 1,
    LOG_CHUNK_STREAM = 2,
};

struct log_chunk {
    uint32_t magic;
    uint32_t kind;
    uint64_t size;        /* with this header, uncut */
    uint64_t number;      /* stream: from 0, and on when a ring uses chunks again */
    uint64_t first_event; /* stream: the number of the first event in it */
    uint64_t used_size;   /* once full: where its records end; 0 before */
    uint64_t checksum;    /* once full: XXH3-64 of the bytes from the header's end up to
                             used_size */
};

enum log_kind {
    /* Definitions. */
    LOG_TABLE = 1, /* a module's site table */
    LOG_SOURCE,    /* a file's text */
    LOG_FORM,      /* what arrays have in common: shape, dtype … */
    LOG_TEXT,      /* a text, by its number */
    LOG_THREAD,
    LOG_SETTING, /* what the run was made with, in words: its name and its value */
    LOG_LEFT_OUT, /* visits of a site that are not recorded; a later one of a site replaces it */
    /* The stream. */
    LOG_CALL = 32, /* a call began, or was joined */
    LOG_END,       /* a call ended */
    LOG_EVENT,     /* a site was visited: one record for each value */
    LOG_DATA,      /* a piece of the whole values of the event before */
    LOG_NOTE,      /* something that a reader of the trace should know, in words */
    LOG_TRACKED,   /* the call before is tracked: somebody reads along */
    LOG_STEP, /* a backward or another call that gives gradients or parameters new values */
    LOG_GRADIENT,      /* the gradient of an event's value */
    LOG_BIRTH,         /* the first gradient of a backward that is not finite */
    LOG_TRAINING_STEP, /* a step of training begins: what follows is of it */
    LOG_KIND_LAST = LOG_TRAINING_STEP,
};

/* The first 8 bytes of each record. What `tag`, `mark` and `flags` mean depends on the kind. */
struct log_record {
    uint32_t size; /* with this head, before padding; the next record starts at the next
                      multiple of 8; 0: nothing has been written here yet */
    uint8_t kind;
    uint8_t tag;
    uint8_t mark;
    uint8_t flags;
};

static inline size_t log_record_padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

struct log_table {
    struct log_record record;
    uint32_t number;     /* from 0 */
    uint32_t first_site; /* site i of the table is site first_site + i of the trace */
    uint32_t site_count;
    uint32_t module; /* the text of the module's __name__; 0: none */
    uint32_t file;   /* the text of the file that ran; 0: none */
    uint32_t reserved;
    /* char text[]: the table (runtime/site/site.h) */
};

enum log_source_tag {
    LOG_SOURCE_ORIGINAL = 1,     /* its hash is the table's */
    LOG_SOURCE_INSTRUMENTED = 2, /* stripping gives the original */
    LOG_SOURCE_OTHER = 3,        /* the file has changed since it was instrumented */
};

struct log_source {
    struct log_record record; /* tag: enum log_source_tag */
    uint32_t table;           /* the number of the table whose source it is */
    uint32_t reserved;
    /* char text[] */
};

/* A site that had never held a tensor: from `event` on, its visits are recorded only where their
 * number is a power of two, or where they hold what is never left out. */
struct log_left_out {
    struct log_record record;
    uint32_t site; /* of the trace */
    uint32_t reserved;
    uint64_t
        event; /* the number of the first event after the first visit that was left out */
    uint64_t until; /* the same of when visits were recorded again; UINT64_MAX: never */
    uint64_t
        count; /* visits that were left out so far; exact where the trace was closed */
};

enum log_device {
    LOG_DEVICE_CPU = 0,
    LOG_DEVICE_OTHER = 1, /* the text `device` says which: "cuda:0", "meta" */
};

enum log_layout {
    LOG_LAYOUT_STRIDED = 0,
    LOG_LAYOUT_OTHER = 1, /* the text `layout` says which: "sparse_coo" */
};

enum log_form_flag {
    LOG_FORM_REQUIRES_GRAD = 1,
    LOG_FORM_PARAMETER = 2,  /* a torch.nn.Parameter */
    LOG_FORM_CONJUGATED = 4, /* memory holds the conjugates */
    LOG_FORM_NEGATED = 8,
    LOG_FORM_NUMPY = 16, /* an array of NumPy */
    LOG_FORM_NO_STRIDES = 32,
    LOG_FORM_BYTE_STRIDES = 64, /* strides are in bytes: no multiples of an element */
};

struct log_form {
    struct log_record record; /* tag: enum log_device; mark: enum log_layout */
    uint32_t number;          /* from 1 */
    uint8_t dtype;            /* enum dtype */
    uint8_t dimension_count;
    uint8_t flags; /* enum log_form_flag */
    uint8_t reserved;
    uint32_t type; /* text: the value's type, where it is no plain tensor or array */
    uint32_t dtype_text; /* text: what DTYPE_OTHER is; or 0 */
    uint32_t device;     /* text, or 0: "cpu" */
    uint32_t layout;     /* text, or 0: "strided" */
    uint32_t note;       /* text: why there are no values, "meta", "fake" …; or 0 */
    uint32_t reserved_2;
    /* int64_t shape[dimension_count], strides[dimension_count]; strides count elements, and
     * are left out where flags has LOG_FORM_NO_STRIDES */
};

struct log_text {
    struct log_record record;
    uint32_t number; /* from 1; 0 is the empty text */
    uint32_t reserved;
    /* char text[]: UTF-8 */
};

struct log_thread {
    struct log_record record;
    uint32_t number; /* from 0, in the order in which they were first seen */
    uint32_t name;   /* text */
    uint64_t native; /* the system's id */
};

/* Of a setting's values the newest holds. */
struct log_setting_record {
    struct log_record record;
    uint32_t name;  /* text: "seed" */
    uint32_t value; /* text: "17" */
};

enum log_call_flag {
    LOG_CALL_JOINED = 1,    /* recording began in its middle */
    LOG_CALL_GENERATOR = 2, /* may be left and entered again */
    LOG_CALL_AGAIN = 4,     /* told again: a ring may have dropped the first record */
};

struct log_call {
    struct log_record record; /* flags: enum log_call_flag */
    uint64_t time;
    uint32_t call;   /* from 1 */
    uint32_t parent; /* the call that it was made from; 0: none that is recorded */
    uint32_t table;
    uint32_t function; /* index into the table's functions */
    uint32_t line;     /* where in the parent it was made; 0: not known */
    uint16_t thread;
    uint16_t reserved;
    uint32_t path; /* text: of `self`, `encoder.layers.0`; 0: no module, the root */
    uint32_t class_name; /* text: of `self`; 0: no module */
};

enum log_end_tag {
    LOG_END_RETURNED = 1, /* by a return statement */
    LOG_END_LEFT = 2,     /* by an exception or at its end: no return site was seen */
};

struct log_end {
    struct log_record record; /* tag: enum log_end_tag */
    uint64_t time;            /* when it was noticed */
    uint32_t call;
    uint32_t error; /* LEFT: text: the type of the exception, where it was seen; or 0 */
};

/* Follows its LOG_CALL, each time that is written. */
struct log_tracked {
    struct log_record record;
    uint64_t time; /* when the call began */
    uint32_t call;
    uint32_t
        wish; /* text: what is wanted of it, see runtime/view/tracklog/tracklog.h */
    uint32_t callers; /* text: the frames that it was made from, the nearest first:
                    "step:57 (model.py:57 <- run.py:80)" */
    uint32_t reserved;
};

enum log_event_flag {
    LOG_EVENT_STATISTICS = 1, /* struct log_statistics follows the tensor part */
    LOG_EVENT_HASH = 2,       /* it follows as well, and its hash is filled in: without
                                 LOG_EVENT_STATISTICS nothing else of it is */
    LOG_EVENT_NONFINITE = 4, /* struct log_nonfinite follows; else those counts are 0 */
    LOG_EVENT_SAMPLE = 8,    /* the sample follows: as many elements as the grid of the
                                 form's shape and the header's limit has */
    LOG_EVENT_PARAMETER =
        32, /* of a parameter, its gradient or a setting of an optimizer: `path` is its
               name, and none of the site's; `write` is 0 */
    LOG_EVENT_MORE = 16, /* a container's walk ended at its limit here */
    LOG_EVENT_READ =
        64, /* the value of a name that the site reads: `write` says which */
    LOG_EVENT_CONTINUED =
        128, /* a container: leaves that do not follow are as they were written last */
};

/* What differs between the name's last form in this call and this one; beside `change`. */
enum log_difference {
    LOG_DIFFERS_SHAPE = 1,
    LOG_DIFFERS_DTYPE = 2,
    LOG_DIFFERS_DEVICE = 4,
    LOG_DIFFERS_STRIDES = 8,
    LOG_DIFFERS_REQUIRES_GRAD = 16,
    LOG_DIFFERS_VALUES = 32, /* the hash */
    LOG_DIFFERS_TYPE = 64,   /* the kind of value, or the layout */
};

struct log_event {
    struct log_record record; /* tag: enum value_kind; mark: enum change; flags: enum
                                 log_event_flag */
    uint64_t time;            /* since the start, nanoseconds */
    uint32_t site;            /* of the trace */
    uint32_t call;
    uint32_t visit; /* how many times this call had visited this site before */
    uint16_t thread;
    uint8_t write;      /* which of the site's written names */
    uint8_t difference; /* enum log_difference, combined */
    uint32_t path;      /* text: the place in the value, "[0]['logits']"; 0: itself */
    uint32_t type;      /* TENSOR: the form's number; CONTAINER, OBJECT: text */
};

/* After struct log_event by its kind: BOOL, INT, TEXT, BYTES, CONTAINER `integer`; FLOAT
 * `real`; COMPLEX both; TEXT and BIG_INT: after that, text up to the record's size. */
struct log_scalar {
    union {
        int64_t integer;
        double real;
    };
    union {
        double imaginary;
        uint64_t object; /* CONTAINER: its address; 0: not known */
    };
};

/* After struct log_event where the kind is OBJECT; traces of older versions end before it. */
struct log_object {
    uint64_t object; /* its address */
};

/* After struct log_event where the kind is TENSOR. Equal addresses are the same thing within one
 * run; they are not compared between runs. */
struct log_tensor {
    uint64_t object; /* address of the Python object */
    uint64_t data;   /* address of the first element; 0: not known */
    int64_t offset;  /* of the first element in its storage, in elements */
    uint64_t origin; /* 1 + the number of the last event that held it; 0: none */
    uint32_t version;
    uint32_t alias_site; /* where change is ALIASED: the site, else UINT32_MAX */
};

struct log_statistics {
#define STATISTIC_NONFINITE(field, name, function)
#define STATISTIC_COUNT(field, name, function) uint64_t field;
#define STATISTIC_BOUND(field, name)           uint64_t field; /* union statistics_bound */
#define STATISTIC_REAL(field, name)            double field;
#include "runtime/array/statistics/statistics.def"
    uint64_t hash;
};

struct log_nonfinite {
#define STATISTIC_NONFINITE(field, name, function) uint64_t field;
#include "runtime/array/statistics/statistics.def"
};

enum log_gradient_tag {
    LOG_GRADIENT_ARRIVED = 1,     /* at a value that a function made */
    LOG_GRADIENT_ACCUMULATED = 2, /* in the `.grad` of a leaf: the figures are its */
};

/* Time and thread are the gradient's own; site, call, visit, `write` and `path` are those of the
 * value. The part of a tensor follows as in an event: there `origin` is 1 + the number of the
 * value's event. A gradient has no number of its own. */
struct log_gradient {
    struct log_event
        event;     /* record.tag: enum log_gradient_tag; mark and `difference`: 0 */
    uint32_t step; /* the backward's number */
    uint32_t reserved;
};

enum log_step_tag {
    LOG_STEP_BACKWARD = 1,
    LOG_STEP_OPTIMIZER = 2, /* an optimizer's step() */
    LOG_STEP_GRADIENTS = 3, /* a function of torch that writes to gradients */
    LOG_STEP_SETTINGS =
        4, /* a scheduler, a GradScaler or the program sets what steps use */
    LOG_STEP_LAST = LOG_STEP_SETTINGS,
};

/* Is before the first record that names it. */
struct log_step {
    struct log_record record; /* tag: enum log_step_tag */
    uint64_t time;
    uint32_t number; /* from 1, ascending */
    uint32_t file;   /* text: the program's line that called it; 0: not known */
    uint32_t line;
    uint16_t thread;
    uint16_t reserved;
    uint32_t name; /* text: "SGD.step"; 0: the tag says it all */
    uint32_t reserved_2;
};

/* The first gradient of a backward that holds NaN or an infinity, and the gradients that autograd
 * made it from. */
struct log_birth {
    struct log_record record;
    uint64_t time;
    uint64_t event; /* whose gradient it is */
    uint32_t step;  /* the backward's number */
    uint32_t count;
    /* struct log_birth_source sources[count] */
};

struct log_birth_source {
    uint64_t
        event; /* 1 + the number; 0: what backward() began with, which is no event's value */
    uint32_t
        functions; /* text: autograd's between the two, "DivBackward0 SqrtBackward0": the
                           last one first */
    uint32_t reserved;
};

enum log_training_step_flag {
    LOG_TRAINING_STEP_AGAIN = 1, /* it began before: a chunk's first event is of it */
};

/* Training step 0 begins with the recording, without a record. */
struct log_training_step {
    struct log_record record; /* flags: enum log_training_step_flag */
    uint64_t time;
    uint64_t
        number; /* from 1; ascending, but steps that were not recorded are left out */
};

enum log_data_flag {
    LOG_DATA_ONCE =
        1, /* of an expanded array: the values with lengths of 1 along dimensions of
                          stride 0, which are in its form */
};

struct log_data {
    struct log_record record; /* flags: enum log_data_flag */
    uint32_t reserved;
    uint32_t reserved_2;
    uint64_t offset; /* of this piece in the values' bytes, logical order */
    /* char bytes[] */
};

enum log_note_tag {
    LOG_NOTE_REMARK = 1,
    LOG_NOTE_WARNING = 2,
    LOG_NOTE_GUESS = 3, /* an argument of the call that follows was made up: its text is
                           `function\tparameter\thow` */
    LOG_NOTE_SAVED =
        4, /* what the tensor of the event before was saved as: its text is the
                           line of saved_add_json (runtime/saved/saved.h) */
};

struct log_note {
    struct log_record record; /* tag: enum log_note_tag */
    uint64_t time;
    uint32_t site; /* of the trace, or UINT32_MAX */
    uint32_t reserved;
    /* char text[] */
};

#endif
