/* Sets of paths of variables, such as `encoder.*.forward.x`, matched segment by segment.
 *
 * Dots separate the segments of a path. In a segment `*` matches any run of characters, so a
 * segment `*` matches any one segment; `\` makes the next character literal, a dot too. All
 * paths are matched at once: a *state* is the set of what remains of each path after the
 * segments so far. */
#ifndef MONITORCH_RECORD_PATH_SET_H
#define MONITORCH_RECORD_PATH_SET_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_STATE_DEAD  0 /* no path can match any more */
#define PATH_STATE_START 1

struct path_segment {
    uint32_t path;  /* index of its path */
    uint32_t depth; /* index in its path */
    /* The end marker after a path's last segment; other fields are unset. */
    bool is_end;
    bool has_star;
    struct slice text; /* as it was written */
    struct slice name; /* unescaped; used if it has no star */
};

struct path_set {
    struct arena arena;
    /* In the arena; for each path its segments and its end. */
    struct path_segment *segments;
    uint32_t segment_count;
    uint32_t path_count;
    size_t word_count; /* of a state: one bit for each segment */
    uint64_t *states;  /* owned */
    uint64_t *hashes;  /* owned; one for each state */
    size_t state_count, state_room, hash_room;
};

/* Returns false if a path has no segment or an empty one, or ends in a single `\` (ERROR_USAGE),
 * or if memory runs out. The set needs no release then. */
bool path_set_init(struct path_set *set,
                   const struct slice *paths,
                   uint32_t path_count,
                   struct error *error);
void path_set_release(struct path_set *set);

/* Finds the state after one more segment. Returns false if memory runs out. */
bool path_set_step(struct path_set *set,
                   uint32_t state,
                   struct slice segment,
                   uint32_t *next,
                   struct error *error);

/* Whether one of the paths is complete. `is_named`, which may be NULL, is set if one of them has
 * no star in its last segment. */
bool path_set_is_end(const struct path_set *set, uint32_t state, bool *is_named);

/* Iterates over the segments that can follow in the state, ends included. `*at` is 0 at first
 * and is advanced. Returns NULL after the last one. */
const struct path_segment *
path_set_next(const struct path_set *set, uint32_t state, uint32_t *at);

/* Appends a segment that matches `name` literally: dots, stars and `\` are escaped with `\`. */
void path_add_segment(struct buffer *path, struct slice name);

#endif
