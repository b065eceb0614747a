/* Gradients of recorded values, for a recording with `backward`. A value that autograd follows
 * gets a hook on the function that made it; a leaf gets a hook that runs after its `.grad` was
 * accumulated. A hook is one C object. It keeps nothing alive, and is released with autograd's
 * graph or at the end of the recording. */
#ifndef MONITORCH_PYTHON_GRADIENT_GRADIENT_H
#define MONITORCH_PYTHON_GRADIENT_GRADIENT_H

#include "runtime/python/record/session.h"

struct gradients;

/* Add the types and functions of this folder to the module. */
int gradient_exec(PyObject *module);
int parameters_exec(PyObject *module);
void gradients_free(struct gradients *gradients); /* may be NULL */

/* Starts the recording of gradients. Returns false if memory runs out. */
bool gradient_begin(struct session *session);
/* Removes all hooks of the recording. */
void gradient_end(struct session *session);

/* Marks the tensor of the recorder's newest event for a hook, if autograd follows it.
 * gradient_hang registers the hook. */
void gradient_watch(struct session *session,
                    const struct visit *visit,
                    const struct tensor *tensor);
/* Notes a torch.nn.Module that a line assigned or called. Its parameters are recorded with the
 * next value that autograd follows. */
void parameters_add_module(struct session *session, PyObject *module);
/* Notes an object that a line assigned, or whose method it called. If it is an object of torch
 * that sets what an optimizer's step uses, it is inspected at the end of the visit. */
void parameters_note_object(struct session *session,
                            const struct visit *visit,
                            PyObject *object);
/* Whether the tensor is a parameter that was finite when it was recorded, and has not been
 * written to since. */
bool parameters_know_finite(struct session *session, PyObject *object);
/* Registers torch's hooks for optimizer steps, if torch has been imported by now. */
void parameters_attach(struct session *session);

/* A part of a write to gradients by a function of torch, on behalf of the program. */
enum parameters_write {
    PARAMETERS_WRITE_WHOLE,
    PARAMETERS_WRITE_FIRST, /* another function continues the write */
    PARAMETERS_WRITE_LAST,
};
/* Records the gradients before the write. If it returns true, the caller calls
 * parameters_end_write after the write, with the same `visit`. */
bool parameters_begin_write(struct session *session,
                            const char *name,
                            enum parameters_write part,
                            struct visit *visit);
/* Records the gradients after the write. `is_counted`: their version counters show which were
 * written. */
void parameters_end_write(struct session *session,
                          const struct visit *visit,
                          bool is_counted);

/* Registers pending hooks at the end of each visit. Runs Python code, so finalizers may visit
 * sites. */
void gradient_hang(struct session *session);

#endif
