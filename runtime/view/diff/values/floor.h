/* Noise floor: the distance that equal runs have at each event of a trace. It is measured with a
 * trace of the same program that was recorded with noise (`run.noise.mtrace` of `run.mtrace`). */
#ifndef MONITORCH_VIEW_DIFF_VALUES_FLOOR_H
#define MONITORCH_VIEW_DIFF_VALUES_FLOOR_H

#include "runtime/array/dtype.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values are equal if their distance is at most this multiple of the floor. One run with noise
 * shows how large an error is, not how large it may become: other orders of a sum, other kernels
 * and batches reach three times the floor (tests/verdicts/test_noise.py has the cases). */
#define DIFF_FLOOR_MULTIPLE 10

enum diff_floor_state {
    DIFF_FLOOR_NONE, /* no trace with noise */
    DIFF_FLOOR_MEASURED,
    DIFF_FLOOR_OTHER,    /* the trace with noise is of another recording */
    DIFF_FLOOR_PLAIN,    /* the trace was recorded without noise */
    DIFF_FLOOR_UNSTABLE, /* the runs differ: nothing is known after the place */
};

struct diff_floor {
    enum diff_floor_state state;
    float *apart; /* owned: by the number of A's event; 0: not known */
    size_t count;
    uint64_t value_count; /* of A's floating values */
    uint64_t known_count; /* of these: values with a floor */
    char place[256];      /* UNSTABLE: `model.py:12: h`; "" */
    struct slice noise;   /* "ulp", "bfloat16"; borrowed from `text` */
    char text[32];
};

/* Measures A against the trace with noise. `is_given`: accept a trace of any recording. Returns
 * false if a trace cannot be read or memory runs out; `error` says why. */
bool diff_floor_measure(struct diff_floor *floor,
                        const char *path,
                        const char *noise_path,
                        bool is_given,
                        struct error *error);
void diff_floor_release(struct diff_floor *floor);

/* Returns the distance that equal runs have at A's event; 0: not known. `floor` may be NULL. If
 * B's dtype is coarser, returns at least an ulp of it. */
double diff_floor_of(const struct diff_floor *floor,
                     const struct log_event_view *a,
                     const struct log_event_view *b);

#endif
