/* Reading of values at a given place in a file. */
#ifndef MONITORCH_SAVED_VALUES_READ_H
#define MONITORCH_SAVED_VALUES_READ_H

#include "runtime/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns false if the file has fewer bytes by now, or cannot be read; `error` says why. */
bool values_read(
    const char *path, uint64_t offset, uint64_t size, void *bytes, struct error *error);

#endif
