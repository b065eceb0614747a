/* Recordings that stop where a value is NaN or infinite: what was met, and the exception that tells
 * it in the program. The one way in which a hook raises anything. */
#ifndef MONITORCH_PYTHON_RECORD_STOP_H
#define MONITORCH_PYTHON_RECORD_STOP_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/array/statistics/statistics.h"
#include "runtime/base/buffer.h"
#include "runtime/record/recorder.h"
#include "runtime/trace/format.h"

#include <stdbool.h>
#include <stdint.h>

enum stop_wanted {
    STOP_AT_NAN = 1,
    STOP_AT_INF = 2,
};

struct stop {
    unsigned wanted; /* enum stop_wanted, combined; 0: no value ends it */
    bool is_reached; /* and not raised yet */
    uint64_t thread; /* the key of the thread that made it */
    uint32_t line;
    bool is_infinite;  /* it holds no NaN: an infinity that the line names is meant */
    bool is_negative;  /* -Inf alone */
    bool is_number;    /* no array */
    bool is_parameter; /* recorded at a function's entry: `name` is the parameter */
    bool has_meant;    /* a line wrote -Inf by name: -Inf may come of it from then on */
    bool has_meant_number; /* the same of a number that is Inf */
    struct buffer name;    /* owned */
    struct buffer file;    /* owned */
    struct buffer what;    /* owned: "scores holds 3 NaN of 16: float32 [4, 4]" */
};

/* A gradient that is not finite. */
struct stop_gradient {
    const struct recorded_module *module; /* of the value that it belongs to */
    uint32_t site;
    const struct gradient_owner *owner;
    const struct recorded_module *
        maker; /* the line whose backward made the first one that is not finite; NULL: not known */
    uint32_t maker_site;
    bool is_first; /* this is that one */
    struct log_nonfinite counts;
    uint64_t element_count;
    struct slice dtype;
};

void stop_begin(struct stop *stop, unsigned wanted);
void stop_release(struct stop *stop);

/* Whether values are looked at: nothing was met so far. */
static inline bool stop_is_wanted(const struct stop *stop)
{
    return stop->wanted != 0 && !stop->is_reached;
}

/* Whether this array, or this number (`imaginary` is 0 of real ones), is what is looked for; then
 * it is remembered, for `thread`. */
bool stop_check_array(struct stop *stop,
                      uint64_t thread,
                      const struct visit *visit,
                      uint32_t write,
                      struct slice path,
                      const struct recorded_array *array,
                      const struct log_nonfinite *counts);
bool stop_check_number(struct stop *stop,
                       uint64_t thread,
                       const struct visit *visit,
                       uint32_t write,
                       struct slice path,
                       double real,
                       double imaginary);

/* The same of a gradient. */
bool stop_check_gradient(struct stop *stop,
                         uint64_t thread,
                         const struct stop_gradient *gradient);

/* Ends the recording and raises monitorch.NonFinite, with the interpreter's lock held and no hook
 * of this thread at work. False: nothing is raised. An infinity that the line or a default names is
 * meant: recording goes on, and -Inf that may come of it is let pass. */
bool stop_raise(struct stop *stop);

#endif
