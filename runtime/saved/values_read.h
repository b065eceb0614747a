/* Values read from their place in a file. */
#ifndef MONITORCH_SAVED_VALUES_READ_H
#define MONITORCH_SAVED_VALUES_READ_H

#include "runtime/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Fails where the file no longer has so many bytes. */
bool values_read(
    const char *path, uint64_t offset, uint64_t size, void *bytes, struct error *error);

#endif
