/* Where a torch.nn.Module stands below the module that was called first:
 * `encoder.layers.0.attn`. */
#ifndef MONITORCH_PYTHON_VISIT_PATHS_H
#define MONITORCH_PYTHON_VISIT_PATHS_H

#include "runtime/base/buffer.h"
#include "runtime/python/record/session.h"

/* Adds the path and the class of `self`, which may be anything: nothing is added, and false
 * returned, where it is no torch.nn.Module. `caller` is the address of the module that called
 * it, or NULL: what stands below the caller's root has its path from there, also where it came
 * later. Others become roots themselves, with an empty path, but not while they are made. */
bool path_find(struct session *session,
               PyObject *self,
               const void *caller,
               bool is_being_made,
               struct buffer *path,
               struct buffer *class_name);

/* The module at that address, where it is known and alive: a new reference, or NULL. */
PyObject *path_find_alive(struct session *session, const void *address);

#endif
