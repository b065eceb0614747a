/* Uninitialised memory: allocated and not written yet, as torch.empty returns it. Its content is
 * no value, so it is not measured. A later write is detected by comparing the content with the
 * first content, in up to a few hundred elements.
 *
 * An element whose bits are unchanged counts as unwritten. That is wrong if it was written with
 * the same bits. Therefore zeros, which fresh pages hold, and elements of one byte are no
 * evidence. */
#ifndef MONITORCH_ARRAY_UNINITIALISED_H
#define MONITORCH_ARRAY_UNINITIALISED_H

#include "runtime/array/array.h"
#include "runtime/array/sample.h"

#include <stdbool.h>
#include <stdint.h>

/* The `note` of struct recorded_array for such arrays. */
#define UNINITIALISED_NOTE      "uninitialised"
#define UNINITIALISED_PART_NOTE "perhaps uninitialised in part"

/* Whether the note is one of these two. */
bool uninitialised_is_noted(struct slice note);

enum uninitialised_state {
    UNINITIALISED_NONE,  /* written, or never known as uninitialised */
    UNINITIALISED_WHOLE, /* nothing was written */
    UNINITIALISED_PART,  /* written, but a part still holds its first content */
};

/* The known pieces of memory, at most the newest UNINITIALISED_MAX. */
struct uninitialised;
struct uninitialised_piece;

#define UNINITIALISED_MAX 4096

/* Functions for the owners of pieces. `is_alive` returns whether the owner's memory is still the
 * piece that was added, which started at `begin`. `let_go` runs when the piece is removed. */
struct uninitialised_owners {
    bool (*is_alive)(void *owner, uint64_t begin);
    void (*let_go)(void *owner);
};

struct uninitialised *uninitialised_new(struct uninitialised_owners owners);
void uninitialised_free(struct uninitialised *all); /* may be NULL */
bool uninitialised_is_empty(const struct uninitialised *all);

/* Adds an array whose memory is uninitialised; its data must not be NULL. `version` counts the
 * writes to it so far. `limit` is that of later samples, see sample_grid_init. Takes ownership
 * of the owner in any case. Returns false if memory runs out; the piece is not added then. */
bool uninitialised_add(struct uninitialised *all,
                       const struct array *array,
                       uint32_t version,
                       uint32_t limit,
                       void *owner);

/* Returns the state of a readable array. `has_version`: its version counts writes. Sets `piece`,
 * which is valid until the next call, if the state is UNINITIALISED_PART. */
enum uninitialised_state uninitialised_find(struct uninitialised *all,
                                            const struct array *array,
                                            bool has_version,
                                            uint32_t version,
                                            const struct uninitialised_piece **piece);

/* Whether one of the compared elements was written and is NaN or infinite. */
bool uninitialised_wrote_nonfinite(const struct uninitialised_piece *piece,
                                   const struct array *array);

/* Sets the elements of a sample to zero that are not known to be written. */
void uninitialised_hide(const struct uninitialised_piece *piece,
                        const struct array *array,
                        const struct sample_grid *grid,
                        void *sample);

#endif
