/* The format of the trace file, byte by byte. All numbers are little-endian.
 *
 *   file    = header (LOG_HEADER_SIZE bytes), chunk*
 *   chunk   = chunk header, record*, zeros up to its size
 *   record  = record head, body, zeros up to a multiple of 8
 *
 * A chunk holds either definitions or a part of the stream. Definitions are data that other records
 * refer to by number; they are never dropped. The stream holds events, calls and notes; in ring
 * mode its oldest chunk is reused. A record is written into zeros, body first, and its head last in
 * a single store. A reader therefore finds either a whole record or a size of 0, whatever happens
 * to the writer. A definition is in the file before the first record that refers to it.
 * docs/internals/trace.md describes the format for authors of readers. */
#ifndef MONITORCH_TRACE_FORMAT_H
#define MONITORCH_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define LOG_MAGIC       "mtrace\r\n"
#define LOG_VERSION     1
#define LOG_HEADER_SIZE 4096
#define LOG_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
/* The first chunk starts right after the header, each other one at the end of the chunk before
 * it. All end at multiples of this unit, but the file's last one may be cut after its records. */
#define LOG_CHUNK_UNIT (64 * 1024)
/* The largest chunk of the stream, and of definitions. */
#define LOG_CHUNK_MAX       (1024 * 1024)
#define LOG_DEFINITIONS_MAX (512 * 1024 * 1024)
/* The number of a chunk that a ring is about to reuse. The chunk is empty. */
#define LOG_CHUNK_EMPTY UINT64_MAX
/* The longest record of the stream. */
#define LOG_RECORD_MAX (32 * 1024)

/* Links traces of the same run: those with the same origin, and the recording that it names. */
struct log_origin {
    /* start_time of the recording whose process started this one, or 0. */
    uint64_t root_start;
    uint64_t job;          /* a number of the process that started all ranks, or 0 */
    uint32_t root_process; /* the id of that recording's process, or 0 */
    uint32_t unused;
};

struct log_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size;
    uint64_t start_time; /* nanoseconds since 1970, UTC */
    /* Ring mode: the number of events to keep, or UINT64_MAX with last_steps; 0: all. */
    uint64_t last;
    uint32_t sample;    /* the limit given to sample_grid_init */
    uint32_t process;   /* the id of the recorded process */
    uint32_t parent;    /* the recorded process that it was forked from, or 0 */
    uint32_t is_closed; /* 1: the writer finished; 0: it still writes, or was killed */
    /* At closing: events written, including dropped ones of a ring. */
    uint64_t event_count;
    uint64_t lost_count; /* at closing: events lost to the size limit or a full disk */
    /* The monotonic clock at the start, in ns; times are relative to it. */
    uint64_t start_clock;
    uint64_t checksum; /* XXH3-64 of the fields above, up to and including `parent` */
    struct log_origin origin;
    /* Ring mode: the number of whole training steps to keep; or 0. */
    uint32_t last_steps;
    uint32_t unused;
};

enum log_chunk_kind {
    LOG_CHUNK_DEFINITIONS = 1,
    LOG_CHUNK_STREAM = 2,
};

struct log_chunk {
    uint32_t magic;
    uint32_t kind;
    uint64_t size;        /* including this header; not reduced where the file is cut */
    uint64_t number;      /* stream: from 0, ascending even if a ring reuses chunks */
    uint64_t first_event; /* stream: the number of the first event in it */
    uint64_t used_size;   /* once full: the end of its records; 0 before */
    /* Once full: XXH3-64 of the bytes from the header's end to used_size. */
    uint64_t checksum;
};

enum log_kind {
    /* Definitions. */
    LOG_TABLE = 1, /* a module's site table */
    LOG_SOURCE,    /* a file's text */
    LOG_FORM,      /* the common properties of arrays: shape, dtype … */
    LOG_TEXT,      /* a text and its number */
    LOG_THREAD,
    LOG_SETTING, /* a setting of the run: name and value, as texts */
    LOG_LEFT_OUT, /* left-out visits of a site; replaces an earlier record of that site */
    /* The stream. */
    LOG_CALL = 32, /* a call started, or was joined */
    LOG_END,       /* a call ended */
    LOG_EVENT,     /* a site was visited: one record for each value */
    LOG_DATA,      /* a part of the whole values of the previous event */
    LOG_NOTE,      /* a text for readers of the trace */
    LOG_TRACKED,   /* the previous call is tracked: a tap reads it */
    LOG_STEP,     /* a backward, or another call that changes gradients or parameters */
    LOG_GRADIENT, /* the gradient of an event's value */
    LOG_BIRTH,    /* the first gradient of a backward that is not finite */
    LOG_TRAINING_STEP, /* a training step starts; later records belong to it */
    LOG_KIND_LAST = LOG_TRAINING_STEP,
};

/* The first 8 bytes of each record. The meaning of `tag`, `mark` and `flags` depends on the
 * kind. */
struct log_record {
    /* Size with this head, without padding to a multiple of 8; 0: nothing is written here yet. */
    uint32_t size;
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
    uint32_t number; /* from 0 */
    /* Site i of the table has number first_site + i in the trace. */
    uint32_t first_site;
    uint32_t site_count;
    uint32_t module; /* text: the module's __name__; 0: none */
    uint32_t file;   /* text: the path of the file that ran; 0: none */
    uint32_t reserved;
    /* char text[]: the table (runtime/site/site.h) */
};

enum log_source_tag {
    LOG_SOURCE_ORIGINAL = 1,     /* its hash is the one in the table */
    LOG_SOURCE_INSTRUMENTED = 2, /* without the instrumentation it is the original */
    LOG_SOURCE_OTHER = 3,        /* the file has changed since it was instrumented */
};

struct log_source {
    struct log_record record; /* tag: enum log_source_tag */
    uint32_t table;           /* the number of the table that it belongs to */
    uint32_t reserved;
    /* char text[] */
};

/* Left-out visits of a site that had never held a tensor. From `event` on, its visits are
 * recorded only if their number is a power of two, or if they hold a value that is never left
 * out. */
struct log_left_out {
    struct log_record record;
    uint32_t site; /* number in the trace */
    uint32_t reserved;
    uint64_t event; /* number of the first event after the first left-out visit */
    /* Number of the first event recorded in full again; UINT64_MAX: none. */
    uint64_t until;
    uint64_t count; /* left-out visits so far; exact once the trace is closed */
};

enum log_device {
    LOG_DEVICE_CPU = 0,
    LOG_DEVICE_OTHER = 1, /* the text `device` names it: "cuda:0", "meta" */
};

enum log_layout {
    LOG_LAYOUT_STRIDED = 0,
    LOG_LAYOUT_OTHER = 1, /* the text `layout` names it: "sparse_coo" */
};

enum log_form_flag {
    LOG_FORM_REQUIRES_GRAD = 1,
    LOG_FORM_PARAMETER = 2,  /* a torch.nn.Parameter */
    LOG_FORM_CONJUGATED = 4, /* memory holds the conjugates */
    LOG_FORM_NEGATED = 8,
    LOG_FORM_NUMPY = 16, /* a NumPy array */
    LOG_FORM_NO_STRIDES = 32,
    /* Strides count bytes, since one is no multiple of an element. */
    LOG_FORM_BYTE_STRIDES = 64,
};

struct log_form {
    struct log_record record; /* tag: enum log_device; mark: enum log_layout */
    uint32_t number;          /* from 1 */
    uint8_t dtype;            /* enum dtype */
    uint8_t dimension_count;
    uint8_t flags; /* enum log_form_flag */
    uint8_t reserved;
    uint32_t type; /* text: the value's type if it is no plain tensor or array; or 0 */
    uint32_t dtype_text; /* text: the dtype if it is DTYPE_OTHER; or 0 */
    uint32_t device;     /* text, or 0: "cpu" */
    uint32_t layout;     /* text, or 0: "strided" */
    uint32_t note;       /* text: why there are no values, "meta", "fake" …; or 0 */
    uint32_t reserved_2;
    /* int64_t shape[dimension_count], strides[dimension_count]; strides count elements, and are
     * absent if flags has LOG_FORM_NO_STRIDES */
};

struct log_text {
    struct log_record record;
    uint32_t number; /* from 1; 0 is the empty text */
    uint32_t reserved;
    /* char text[]: UTF-8 */
};

struct log_thread {
    struct log_record record;
    uint32_t number; /* from 0, in the order of first use */
    uint32_t name;   /* text */
    uint64_t native; /* the system's id */
};

/* If a setting has several records, the last one is valid. */
struct log_setting_record {
    struct log_record record;
    uint32_t name;  /* text: "seed" */
    uint32_t value; /* text: "17" */
};

enum log_call_flag {
    LOG_CALL_JOINED = 1,    /* recording started in the middle of the call */
    LOG_CALL_GENERATOR = 2, /* may be suspended and resumed */
    LOG_CALL_AGAIN = 4, /* repeated, because a ring may have dropped the first record */
};

struct log_call {
    struct log_record record; /* flags: enum log_call_flag */
    uint64_t time;
    uint32_t call;   /* from 1 */
    uint32_t parent; /* the call that made it; 0: none that is recorded */
    uint32_t table;
    uint32_t function; /* index into the table's functions */
    uint32_t line;     /* of the call in the parent; 0: not known */
    uint16_t thread;
    uint16_t reserved;
    /* Text: path of `self`, `encoder.layers.0`; 0: no module, or the root. */
    uint32_t path;
    uint32_t class_name; /* text: class of `self`; 0: no module */
};

enum log_end_tag {
    LOG_END_RETURNED = 1, /* by a return statement */
    /* By an exception or at the function's end, without a return site. */
    LOG_END_LEFT = 2,
};

struct log_end {
    struct log_record record; /* tag: enum log_end_tag */
    uint64_t time;            /* when it was noticed */
    uint32_t call;
    uint32_t error; /* LEFT: text: the type of the exception, if it was seen; or 0 */
};

/* Follows its LOG_CALL each time that one is written. */
struct log_tracked {
    struct log_record record;
    uint64_t time; /* the start of the call */
    uint32_t call;
    /* Text: the output that is wanted, see runtime/view/tracklog/tracklog.h. */
    uint32_t wish;
    /* Text: the calling frames, nearest first: "step:57 (model.py:57 <- run.py:80)". */
    uint32_t callers;
    uint32_t reserved;
};

enum log_event_flag {
    LOG_EVENT_STATISTICS = 1, /* struct log_statistics follows the tensor part */
    /* struct log_statistics follows with its hash; without LOG_EVENT_STATISTICS the rest of it
     * is unset. */
    LOG_EVENT_HASH = 2,
    LOG_EVENT_NONFINITE = 4, /* struct log_nonfinite follows; else those counts are 0 */
    /* The sample follows: the elements of the grid that the form's shape and the header's limit
     * give. */
    LOG_EVENT_SAMPLE = 8,
    /* A parameter, its gradient or a setting of an optimizer, named by `path`; `write` is 0. */
    LOG_EVENT_PARAMETER = 32,
    LOG_EVENT_MORE = 16, /* a container that was cut at the limit of its walk */
    /* The value of a name that the site reads; `write` is its index there. */
    LOG_EVENT_READ = 64,
    /* A container: leaves without an event are as they were written last. */
    LOG_EVENT_CONTINUED = 128,
};

/* Differences between the name's last form in this call and this one, besides `change`. */
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
    uint64_t time;            /* since the start, in nanoseconds */
    uint32_t site;            /* number in the trace */
    uint32_t call;
    uint32_t visit; /* how often this call visited the site before */
    uint16_t thread;
    uint8_t write;      /* index of the name among the site's writes */
    uint8_t difference; /* enum log_difference, combined */
    /* Text: the path in the value, "[0]['logits']"; 0: the value itself. */
    uint32_t path;
    uint32_t type; /* TENSOR: the form's number; CONTAINER, OBJECT: text */
};

/* Follows struct log_event. BOOL, INT, TEXT, BYTES and CONTAINER use `integer`; FLOAT uses
 * `real`; COMPLEX uses `real` and `imaginary`. For TEXT and BIG_INT the text follows, up to the
 * record's size. */
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

/* Follows struct log_event if the kind is OBJECT. Absent in traces of older versions. */
struct log_object {
    uint64_t object; /* its address */
};

/* Follows struct log_event if the kind is TENSOR. Equal addresses mean the same object within
 * one run; addresses of different runs are not comparable. */
struct log_tensor {
    uint64_t object; /* address of the Python object */
    uint64_t data;   /* address of the first element; 0: not known */
    int64_t offset;  /* of the first element in its storage, in elements */
    uint64_t origin; /* 1 + the number of the last event that held it; 0: none */
    uint32_t version;
    /* The site of the write if change is ALIASED, else UINT32_MAX. */
    uint32_t alias_site;
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
    LOG_GRADIENT_ARRIVED = 1,     /* of a value that a function made */
    LOG_GRADIENT_ACCUMULATED = 2, /* of a leaf: the values are those of its `.grad` */
};

/* Time and thread are the gradient's own; site, call, visit, `write` and `path` are those of the
 * value. The tensor part follows as in an event, with `origin` = 1 + the number of the value's
 * event. A gradient has no number of its own. */
struct log_gradient {
    /* record.tag: enum log_gradient_tag; mark and `difference`: 0. */
    struct log_event event;
    uint32_t step; /* the backward's number */
    uint32_t reserved;
};

enum log_step_tag {
    LOG_STEP_BACKWARD = 1,
    LOG_STEP_OPTIMIZER = 2, /* an optimizer's step() */
    LOG_STEP_GRADIENTS = 3, /* a function of torch that writes to gradients */
    /* A scheduler, a GradScaler or the program sets values that steps use. */
    LOG_STEP_SETTINGS = 4,
    LOG_STEP_LAST = LOG_STEP_SETTINGS,
};

/* A step. Written before the first record that refers to it. */
struct log_step {
    struct log_record record; /* tag: enum log_step_tag */
    uint64_t time;
    uint32_t number; /* from 1, ascending */
    uint32_t file; /* text: the file of the calling line in the program; 0: not known */
    uint32_t line;
    uint16_t thread;
    uint16_t reserved;
    uint32_t name; /* text: "SGD.step"; 0: only the tag describes it */
    uint32_t reserved_2;
};

/* The first gradient of a backward that holds a NaN or an infinity, and the gradients that
 * autograd computed it from. */
struct log_birth {
    struct log_record record;
    uint64_t time;
    uint64_t event; /* number of the event whose gradient it is */
    uint32_t step;  /* the backward's number */
    uint32_t count;
    /* struct log_birth_source sources[count] */
};

struct log_birth_source {
    /* 1 + the event's number; 0: the gradient that backward() started with. */
    uint64_t event;
    /* Text: autograd's functions between the two, last one first: "DivBackward0 SqrtBackward0". */
    uint32_t functions;
    uint32_t reserved;
};

enum log_training_step_flag {
    LOG_TRAINING_STEP_AGAIN = 1, /* repeats a step that started in an earlier chunk */
};

/* The start of a training step. Step 0 starts with the recording and has no record. */
struct log_training_step {
    struct log_record record; /* flags: enum log_training_step_flag */
    uint64_t time;
    uint64_t number; /* from 1; ascending, without the steps that were not recorded */
};

enum log_data_flag {
    /* The values of an expanded array, each once: with length 1 along dimensions of stride 0. */
    LOG_DATA_ONCE = 1,
};

struct log_data {
    struct log_record record; /* flags: enum log_data_flag */
    uint32_t reserved;
    uint32_t reserved_2;
    uint64_t offset; /* of this part in the bytes of all values, in logical order */
    /* char bytes[] */
};

enum log_note_tag {
    LOG_NOTE_REMARK = 1,
    LOG_NOTE_WARNING = 2,
    /* An argument of the next call was made up: `function\tparameter\thow`. */
    LOG_NOTE_GUESS = 3,
    /* The form of the previous tensor in its saved file: see saved_add_json
     * (runtime/saved/saved.h). */
    LOG_NOTE_SAVED = 4,
};

struct log_note {
    struct log_record record; /* tag: enum log_note_tag */
    uint64_t time;
    uint32_t site; /* number in the trace, or UINT32_MAX */
    uint32_t reserved;
    /* char text[] */
};

#endif
