/* Paths of variables, `encoder.*.forward.x`, matched segment by segment.
 *
 * Dots part the segments of a path. In a segment `*` stands for any run of characters, so that a
 * segment of `*` alone is any one; `\` makes the character behind it mean itself, a dot too. All
 * paths are matched at once: a *state* is what is left of each after the segments so far. */
#ifndef MONITORCH_RECORD_PATH_SET_H
#define MONITORCH_RECORD_PATH_SET_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_STATE_DEAD  0 /* nothing matches any more */
#define PATH_STATE_START 1

struct path_segment {
    uint32_t path;  /* which of the paths */
    uint32_t depth; /* among its segments, from 0 */
    bool is_end;    /* stands behind the path's last segment; the rest is unset */
    bool has_star;
    struct slice text; /* as it was written */
    struct slice name; /* what it means, where it has no star */
};

struct path_set {
    struct arena arena;
    struct path_segment
        *segments; /* of the arena; each path's, and its end, in a row */
    uint32_t segment_count;
    uint32_t path_count;
    size_t word_count; /* of a state: a bit a segment */
    uint64_t *states;  /* owned */
    uint64_t *hashes;  /* owned; of the states */
    size_t state_count, state_room, hash_room;
};

/* ERROR_USAGE where a path has no segments or an empty one, or ends in a `\`. After false nothing
 * is to be released. */
bool path_set_init(struct path_set *set,
                   const struct slice *paths,
                   uint32_t path_count,
                   struct error *error);
void path_set_release(struct path_set *set);

/* The state after one more segment. Fails where memory runs out. */
bool path_set_step(struct path_set *set,
                   uint32_t state,
                   struct slice segment,
                   uint32_t *next,
                   struct error *error);

/* Whether one of the paths is complete; `is_named`, which may be NULL: one whose last segment has
 * no star. */
bool path_set_is_end(const struct path_set *set, uint32_t state, bool *is_named);

/* What may come next: the first segment at or behind `*at` that the state waits for, or NULL.
 * `*at` begins as 0 and is moved on. Ends are told too. */
const struct path_segment *
path_set_next(const struct path_set *set, uint32_t state, uint32_t *at);

/* Appends a segment to a path, so that it reads the same: dots, stars and `\` get a `\`. */
void path_add_segment(struct buffer *path, struct slice name);

#endif
