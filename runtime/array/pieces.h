/* An array's values, packed, piece by piece: what is written to files of tensors. Private to
 * those that write them. */
#ifndef MONITORCH_ARRAY_PIECES_H
#define MONITORCH_ARRAY_PIECES_H

#include "runtime/array/array.h"
#include "runtime/base/slice.h"

/* Copies are made only of what does not lie in memory as it is to be written, and of one piece
 * at a time. */
struct array_pieces {
    const struct array *array; /* borrowed */
    uint64_t count, next;      /* in elements */
    void *copy;                /* owned; NULL where nothing is to be copied */
    uint64_t limit;            /* elements of a piece */
};

/* False where memory ran out; nothing is to be released then. */
bool array_pieces_init(struct array_pieces *pieces, const struct array *array);
void array_pieces_release(struct array_pieces *pieces);
/* The next bytes, valid until the next call; false behind the last. */
bool array_pieces_next(struct array_pieces *pieces, struct slice *bytes);
/* Whether there are no others. */
bool array_pieces_are_done(const struct array_pieces *pieces);

#endif
