/* Values read from where they stand in a file. */
#ifndef MONITORCH_TRACE_VALUES_READ_H
#define MONITORCH_TRACE_VALUES_READ_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* `values` holds just these bytes then. Nothing is allocated for bytes that are not there. */
bool values_read(const char *path,
                 uint64_t offset,
                 uint64_t size,
                 struct buffer *values,
                 struct error *error);

#endif
