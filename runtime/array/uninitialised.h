/* Memory that was allocated and not written yet, as torch.empty gives it. What it holds is no
 * value: nothing is measured of it. That it was written since is known by its content, which is
 * compared with what the memory held at first, in up to a few hundred elements.
 *
 * An element that has kept its bits counts as unwritten. That is wrong where it was written with
 * the same bits, so zeros, which fresh pages hold, and elements of one byte are no evidence. */
#ifndef MONITORCH_ARRAY_UNINITIALISED_H
#define MONITORCH_ARRAY_UNINITIALISED_H

#include "runtime/array/array.h"
#include "runtime/array/sample.h"

#include <stdbool.h>
#include <stdint.h>

/* What `note` of struct recorded_array says of such arrays. */
#define UNINITIALISED_NOTE      "uninitialised"
#define UNINITIALISED_PART_NOTE "perhaps uninitialised in part"

/* Whether that is what the note of a recorded array's form says. */
bool uninitialised_is_noted(struct slice note);

enum uninitialised_state {
    UNINITIALISED_NONE,  /* written, or never known as uninitialised */
    UNINITIALISED_WHOLE, /* nothing has written to it */
    UNINITIALISED_PART,  /* written, and in part it holds what it held at first */
};

/* The pieces of memory that are known; the newest UNINITIALISED_MAX. */
struct uninitialised;
struct uninitialised_piece;

#define UNINITIALISED_MAX 4096

/* `is_alive` says whether the memory of a piece with that owner is still the one that was added,
 * which began at `begin`; `let_go` is called when the piece is forgotten. */
struct uninitialised_owners {
    bool (*is_alive)(void *owner, uint64_t begin);
    void (*let_go)(void *owner);
};

struct uninitialised *uninitialised_new(struct uninitialised_owners owners);
void uninitialised_free(struct uninitialised *all); /* may be NULL */
bool uninitialised_is_empty(const struct uninitialised *all);

/* The array's memory is uninitialised; its data is not NULL. `version` counts the writes to it so
 * far. `limit`: of the samples that will be recorded, see sample_grid_init. The owner goes over in
 * any case; false: out of memory, and the piece is not known. */
bool uninitialised_add(struct uninitialised *all,
                       const struct array *array,
                       uint32_t version,
                       uint32_t limit,
                       void *owner);

/* What is known of an array that can be read now. `has_version`: its version counts writes. Sets
 * `piece` where the state is UNINITIALISED_PART; it stays until the next call. */
enum uninitialised_state uninitialised_find(struct uninitialised *all,
                                            const struct array *array,
                                            bool has_version,
                                            uint32_t version,
                                            const struct uninitialised_piece **piece);

/* Whether an element that was written is NaN or infinite, as far as elements are compared. */
bool uninitialised_wrote_nonfinite(const struct uninitialised_piece *piece,
                                   const struct array *array);

/* Sets those elements of a sample that are not known as written to zero. */
void uninitialised_hide(const struct uninitialised_piece *piece,
                        const struct array *array,
                        const struct sample_grid *grid,
                        void *sample);

#endif
