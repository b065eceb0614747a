#include "runtime/array/pieces.h"

#include "runtime/array/walk.h"
#include "runtime/base/memory.h"

/* Small enough that a piece stays in the processor's cache between its checksum and its writing. */
#define PIECE_SIZE ((size_t)256 * 1024)

bool array_pieces_init(struct array_pieces *pieces, const struct array *array)
{
    size_t size = dtype_size(array->dtype);

    *pieces = (struct array_pieces){
        .array = array,
        .count = array_count(array),
        .limit = PIECE_SIZE / size,
    };
    if (pieces->count == 0 ||
        (array_is_contiguous(array) && array_is_resolved(array))) {
        return true;
    }
    pieces->limit = pieces->count < pieces->limit ? pieces->count : pieces->limit;
    pieces->copy = memory_allocate(pieces->limit, size);
    return pieces->copy != NULL;
}

void array_pieces_release(struct array_pieces *pieces)
{
    memory_free(pieces->copy);
}

bool array_pieces_are_done(const struct array_pieces *pieces)
{
    return pieces->next >= pieces->count;
}

bool array_pieces_next(struct array_pieces *pieces, struct slice *bytes)
{
    size_t size = dtype_size(pieces->array->dtype);
    uint64_t left = pieces->count - pieces->next;
    uint64_t count = left < pieces->limit ? left : pieces->limit;

    if (count == 0) {
        return false;
    }
    if (pieces->copy == NULL) {
        bytes->bytes = (const char *)pieces->array->data + pieces->next * size;
    } else {
        array_read(pieces->array, pieces->next, count, pieces->copy);
        bytes->bytes = pieces->copy;
    }
    bytes->size = count * size;
    pieces->next += count;
    return true;
}
