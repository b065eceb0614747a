/* The stop at a NaN or an infinity: stores the first such value, and raises an exception in the
 * program. */
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
    unsigned
        wanted; /* enum stop_wanted, combined; 0: the recording does not stop at values */
    bool is_reached; /* a value was found, and the exception is not raised yet */
    uint64_t thread; /* the key of the thread that made the value */
    uint32_t line;
    bool
        is_infinite; /* the value has no NaN; if the line names the infinity, it is intended */
    bool is_negative;  /* all its infinities are -Inf */
    bool is_number;    /* the value is a number, not an array */
    bool is_parameter; /* recorded at a function's entry: `name` is a parameter */
    bool has_meant;    /* a line wrote -Inf by name: later -Inf may result from it */
    bool has_meant_number; /* a line wrote an infinite number by name */
    struct buffer name;    /* owned */
    struct buffer file;    /* owned */
    struct buffer what;    /* owned: "scores holds 3 NaN of 16: float32 [4, 4]" */
};

/* A gradient that is not finite. */
struct stop_gradient {
    const struct recorded_module
        *module; /* of the value to which the gradient belongs */
    uint32_t site;
    const struct gradient_owner *owner;
    const struct recorded_module *
        maker; /* the line whose backward made the first gradient that is not finite; NULL: not known */
    uint32_t maker_site;
    bool is_first; /* this gradient is that first one */
    struct log_nonfinite counts;
    uint64_t element_count;
    struct slice dtype;
};

void stop_begin(struct stop *stop, unsigned wanted);
void stop_release(struct stop *stop);

/* Whether values are checked: the recording stops at some, and none was found so far. */
static inline bool stop_is_wanted(const struct stop *stop)
{
    return stop->wanted != 0 && !stop->is_reached;
}

/* Whether the recording stops at this array, or at this number (`imaginary` is 0 for real ones).
 * If so, the value is stored as that of `thread`. */
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

/* Whether the recording stops at this gradient. If so, it is stored as that of `thread`. */
bool stop_check_gradient(struct stop *stop,
                         uint64_t thread,
                         const struct stop_gradient *gradient);

/* Ends the recording and raises monitorch.NonFinite. The caller holds the GIL, and no hook of
 * this thread is running. Returns false if nothing is raised. An infinity that the line or a
 * default names is intended: the recording continues, and later -Inf that may result from it is
 * ignored. */
bool stop_raise(struct stop *stop);

#endif
