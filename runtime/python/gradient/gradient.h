/* Gradients of recorded values, of a recording with `backward`. A value that autograd follows gets a
 * hook on the function that made it, a leaf one that runs when its `.grad` was accumulated. Each is one
 * C object: it keeps nothing alive, and is gone with the graph, or when the recording ends. */
#ifndef MONITORCH_PYTHON_GRADIENT_GRADIENT_H
#define MONITORCH_PYTHON_GRADIENT_GRADIENT_H

#include "runtime/python/record/session.h"

struct gradients;

/* The module's part. */
int gradient_exec(PyObject *module);
int parameters_exec(PyObject *module);
void gradients_free(struct gradients *gradients); /* may be NULL */

/* A recording that wants gradients has begun; false: out of memory. */
bool gradient_begin(struct session *session);
/* It ends: all its hooks are removed. */
void gradient_end(struct session *session);

/* The tensor of the event that the recorder wrote last gets a hook when gradient_hang is called, if
 * autograd follows it. */
void gradient_watch(struct session *session,
                    const struct visit *visit,
                    const struct tensor *tensor);
/* A line has assigned or called the torch.nn.Module: its parameters are recorded when a value is that
 * autograd follows. */
void parameters_add_module(struct session *session, PyObject *module);
/* A line has assigned the object, or has called a method of it: one of torch's that sets what a step of an
 * optimizer uses is inspected at the end of the visit. */
void parameters_note_object(struct session *session,
                            const struct visit *visit,
                            PyObject *object);
/* Whether the tensor is a parameter that was finite when it was recorded, and was not written since. */
bool parameters_know_finite(struct session *session, PyObject *object);
/* torch may have been imported since: steps of optimizers are recorded from now on. */
void parameters_attach(struct session *session);

/* A function of torch is about to write to gradients, for the program. */
enum parameters_write {
    PARAMETERS_WRITE_WHOLE,
    PARAMETERS_WRITE_FIRST, /* another one continues it */
    PARAMETERS_WRITE_LAST,
};
/* Records them as they are; true: parameters_end_write is to follow, with what `visit` has now. */
bool parameters_begin_write(struct session *session,
                            const char *name,
                            enum parameters_write part,
                            struct visit *visit);
/* `is_counted`: the gradients' version counters show what was written. */
void parameters_end_write(struct session *session,
                          const struct visit *visit,
                          bool is_counted);

/* To be called at the end of each visit: runs Python's code, so finalizers may visit sites. */
void gradient_hang(struct session *session);

#endif
