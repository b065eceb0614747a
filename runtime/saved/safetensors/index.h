/* What is in a file of the format safetensors, as its header tells it. */
#ifndef MONITORCH_SAVED_SAFETENSORS_INDEX_H
#define MONITORCH_SAVED_SAFETENSORS_INDEX_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tensor, as it stands in the header. */
struct safetensors_stored {
    struct saved_tensor tensor;
    struct slice name;
    struct slice line; /* its metadata; "" */
    uint64_t offset;   /* behind the header */
    uint64_t size;
    size_t place; /* among those of the header */
};

struct safetensors_index {
    const char *path;                  /* borrowed: what messages call the file */
    struct arena *arena;               /* borrowed: holds what the tensors point to */
    uint64_t values_size;              /* how much stands behind the header */
    struct safetensors_stored *stored; /* owned */
    size_t count;
    size_t capacity;
};

/* Reads the text, which is not trusted and has to stay; the tensors are then in the order in
 * which they were saved. Releasing is due in any case. */
bool safetensors_index_read(struct safetensors_index *index,
                            struct slice text,
                            struct error *error);
void safetensors_index_release(struct safetensors_index *index);

#endif
