/* Visiting the files below a folder, in an order that does not depend on the disk. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_FOLDER_H
#define MONITORCH_INSTRUMENT_COMMAND_FOLDER_H

#include "runtime/base/error.h"

#include <stdbool.h>

struct folder_visitor {
    /* Whether to look into this folder. */
    bool (*enters)(void *context, const char *path);
    void (*takes_file)(void *context, const char *path);
    void (*fails)(void *context, const char *path, const struct error *error);
    void *context; /* borrowed */
};

/* Each name in order of its bytes; what begins with a dot, `__pycache__` and symbolic links to
 * folders are passed over. Paths begin with `path`, but not with "./". False where memory ran
 * out; a folder that cannot be read is told to `fails`. */
bool folder_walk(const char *path, const struct folder_visitor *visitor);

#endif
