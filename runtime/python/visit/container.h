/* Containers as events: see container.c. */
#ifndef MONITORCH_PYTHON_VISIT_CONTAINER_H
#define MONITORCH_PYTHON_VISIT_CONTAINER_H

#include "runtime/python/visit/values.h"
#include "runtime/python/visit/walk.h"

/* Records the container as the value of the visit's `write`-th name, and its new or changed leaves. */
void container_tell(struct session *session,
                    const struct visit *visit,
                    uint32_t write,
                    PyObject *object);

/* The same, with all leaves that a walk has found. */
void container_tell_leaves(struct session *session,
                           const struct visit *visit,
                           uint32_t write,
                           PyObject *object,
                           const struct walk *walk);

#endif
