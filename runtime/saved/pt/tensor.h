/* The tensor that a pickle of torch.save describes. */
#ifndef MONITORCH_SAVED_PT_TENSOR_H
#define MONITORCH_SAVED_PT_TENSOR_H

#include "runtime/array/array.h"
#include "runtime/base/arena.h"
#include "runtime/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct pt_tensor {
    struct array array;    /* data: NULL; its shape and strides are in the arena */
    struct slice storage;  /* its name in the archive: "0" */
    uint64_t storage_size; /* in bytes */
    uint64_t offset;       /* of the first element in the storage, in bytes */
    uint64_t size;         /* from there to the last element's end */
};

/* All numbers are checked against each other. Errors have no path in front. */
bool pt_tensor_read(struct pt_tensor *tensor,
                    struct slice pickle,
                    struct arena *arena,
                    struct error *error);

#endif
