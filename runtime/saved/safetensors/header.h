/* The header of a safetensors file that is written. Private to write.c. */
#ifndef MONITORCH_SAVED_SAFETENSORS_HEADER_H
#define MONITORCH_SAVED_SAFETENSORS_HEADER_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct safetensors_entry {
    size_t name, name_size; /* in `texts`, as JSON has it */
    uint64_t hash;          /* of the name */
    size_t line, line_size; /* of metadata, as JSON has it */
    size_t shape, shape_size;
    enum dtype dtype;
    uint64_t offset, size; /* where the values stand while the file is written */
    size_t index;          /* in the order in which they were added */
};

struct safetensors_header {
    struct safetensors_entry *entries; /* owned */
    size_t count, capacity;
    struct buffer texts; /* owned */
    size_t size;         /* that the header has at most */
    bool
        is_as_added; /* once it is written: the values stand in the order of the file */
};

/* A run of bytes in the file of the values. */
struct safetensors_run {
    uint64_t offset, size;
};

/* The format's word for it; NULL: it has none. */
const char *safetensors_dtype_text(enum dtype dtype);

void safetensors_header_init(struct safetensors_header *header);
void safetensors_header_release(struct safetensors_header *header);

/* A tensor whose values stand at `offset`. Fails where there is no room or no memory. */
bool safetensors_header_add(struct safetensors_header *header,
                            const struct saved_tensor *tensor,
                            uint64_t offset,
                            struct error *error);

/* Forgets the last one, and nothing before it. */
void safetensors_header_drop_last(struct safetensors_header *header);

/* Puts the entries in the order that the file has, and gives all that stands in front of the
 * values, in `text`, which is empty. Of tensors of one name the last is kept. Nothing may be added
 * any more. */
bool safetensors_header_write(struct safetensors_header *header,
                              struct buffer *text,
                              struct error *error);
/* Makes such a text longer by spaces, up to `size` bytes; false where memory ran out. */
bool safetensors_header_pad(struct buffer *text, size_t size, struct error *error);
/* After that: the runs of values as they follow each other in the file. `next` is 0 at first;
 * false behind the last. */
bool safetensors_header_run(const struct safetensors_header *header,
                            size_t *next,
                            struct safetensors_run *run);

#endif
