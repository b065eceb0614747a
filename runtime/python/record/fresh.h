/* Tensors whose memory was allocated and not written yet, while something is recorded: torch.empty and
 * its like (fresh_calls.def), torch.Tensor(2, 3), numpy.empty; and functions of torch that write to
 * gradients, for python/gradient/gradient.h.
 *
 * These functions are implemented in C. While a recording goes on, the function objects lead to ours,
 * which call the original and note the result's memory; nothing that Python shows of them changes.
 * A source's text could not say it: torch.Tensor(n) is uninitialised of an int and filled of a list,
 * and most parameters are made within torch.nn. */
#ifndef MONITORCH_PYTHON_RECORD_FRESH_H
#define MONITORCH_PYTHON_RECORD_FRESH_H

#include "runtime/array/uninitialised.h"
#include "runtime/python/record/session.h"

/* The session's recording begins or ends. One session of a process is served at a time. */
void fresh_begin(struct session *session);
void fresh_end(struct session *session);

/* torch or NumPy may have been imported since. */
void fresh_attach(struct session *session);

/* What is known of a tensor that was described. */
enum uninitialised_state fresh_find(struct session *session,
                                    const struct tensor *tensor,
                                    const struct uninitialised_piece **piece);

/* ---- between fresh.c and fresh.c ---- */

enum fresh_effect {
    FRESH_GIVE,
    FRESH_SIZED,
    FRESH_GROW,
    FRESH_MOVE,
    FRESH_WRITE,
    FRESH_WRITE_FIRST,
    FRESH_WRITE_LAST,
};

/* What a call does to a tensor's memory, found before it and noted after it. */
struct fresh_note {
    enum fresh_effect effect;
    bool is_wanted;
    PyObject *storage;  /* GROW: owned: of the tensor, before */
    int64_t size;       /* GROW: of its memory */
    bool is_counted;    /* WRITE: see parameters_end_write */
    struct visit visit; /* WRITE: of the program's line that runs the function */
};

#endif
