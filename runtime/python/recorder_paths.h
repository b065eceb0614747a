/* Where a torch.nn.Module stands below the module that was called first:
 * `encoder.layers.0.attn`. */
#ifndef MONITORCH_PYTHON_RECORDER_PATHS_H
#define MONITORCH_PYTHON_RECORDER_PATHS_H

#include "runtime/base/buffer.h"
#include "runtime/python/recorder_session.h"

/* Adds the path and the class of `self`, which may be anything: nothing is added where it is no
 * torch.nn.Module; the path of a root is empty. A module that stands below no known root becomes
 * one itself. */
void path_find(struct session *session,
               PyObject *self,
               struct buffer *path,
               struct buffer *class_name);

/* Makes `root` one, known by `name`, and everything below it known. */
int path_add_root(struct session *session, PyObject *root, struct slice name);

#endif
