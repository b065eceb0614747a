/* An array's packed values, piece by piece, for files of tensors. Private to the files that
 * write them. */
#ifndef MONITORCH_ARRAY_PIECES_H
#define MONITORCH_ARRAY_PIECES_H

#include "runtime/array/array.h"
#include "runtime/base/slice.h"

/* Values are copied only if they are not in memory in the order of the file, one piece at a
 * time. */
struct array_pieces {
    const struct array *array; /* borrowed */
    uint64_t count, next;      /* in elements */
    void *copy;                /* owned; NULL if no copy is needed */
    uint64_t limit;            /* elements in a piece */
};

/* Returns false if memory runs out; no release is needed then. */
bool array_pieces_init(struct array_pieces *pieces, const struct array *array);
void array_pieces_release(struct array_pieces *pieces);
/* Returns the next bytes, valid until the next call. Returns false after the last ones. */
bool array_pieces_next(struct array_pieces *pieces, struct slice *bytes);
bool array_pieces_are_done(const struct array_pieces *pieces);

#endif
