/* Tensors whose memory was allocated during the recording and is not written yet: from
 * torch.empty and similar functions (fresh_calls.def), torch.Tensor(2, 3), numpy.empty. Also
 * functions of torch that write to gradients, for python/gradient/gradient.h.
 *
 * These functions are implemented in C. During a recording the function objects point to
 * functions of this file, which call the original and store the result's memory. Nothing that
 * Python shows of the function objects changes. The source text is not enough to find such
 * tensors: torch.Tensor(n) is uninitialised if n is an int and filled if it is a list, and most
 * parameters are made inside torch.nn. */
#ifndef MONITORCH_PYTHON_RECORD_FRESH_H
#define MONITORCH_PYTHON_RECORD_FRESH_H

#include "runtime/array/uninitialised.h"
#include "runtime/python/record/session.h"

/* Called when the session's recording starts and ends. Only one session of a process is served
 * at a time. */
void fresh_begin(struct session *session);
void fresh_end(struct session *session);

/* Replaces functions of torch and NumPy if they were imported since the last call. */
void fresh_attach(struct session *session);

/* Whether the memory of a described tensor is uninitialised, in whole or in part. `piece` gets
 * the entry of the memory. */
enum uninitialised_state fresh_find(struct session *session,
                                    const struct tensor *tensor,
                                    const struct uninitialised_piece **piece);

/* ---- private to fresh.c ---- */

enum fresh_effect {
    FRESH_GIVE,
    FRESH_SIZED,
    FRESH_GROW,
    FRESH_MOVE,
    FRESH_WRITE,
    FRESH_WRITE_FIRST,
    FRESH_WRITE_LAST,
};

/* The effect of a call on a tensor's memory, prepared before the call and stored after it. */
struct fresh_note {
    enum fresh_effect effect;
    bool is_wanted;
    PyObject *storage;  /* GROW: owned: the tensor's storage before the call */
    int64_t size;       /* GROW: of its memory before the call */
    bool is_counted;    /* WRITE: see parameters_end_write */
    struct visit visit; /* WRITE: the program's line that runs the function */
};

#endif
