/* Paths of items as traces spell them, `[0]['logits'].hidden`, with `[*]` for any item. */
#ifndef MONITORCH_VIEW_GRAPH_PATHS_H
#define MONITORCH_VIEW_GRAPH_PATHS_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A path under construction. One that is too long becomes the empty path, which means the whole. */
#define GRAPH_PATH_SIZE 240
struct graph_path {
    char bytes[GRAPH_PATH_SIZE];
    uint32_t size;
};

static inline struct slice graph_path_slice(const struct graph_path *path)
{
    return (struct slice){path->bytes, path->size};
}

void graph_path_set(struct graph_path *path, struct slice first, struct slice then);
void graph_path_set_item(struct graph_path *path, uint32_t number, struct slice then);
/* `[-2]` */
void graph_path_set_last(struct graph_path *path, uint32_t number, struct slice then);
void graph_path_set_key(struct graph_path *path, struct slice key, struct slice then);

/* The length of the path's first step. */
size_t graph_path_step(struct slice path);
/* The path after its first step; empty if there is no second one. */
struct slice graph_path_behind(struct slice path);
/* Whether the first step is an index of a list; sets `number`. */
bool graph_path_number(struct slice path, uint32_t *number);
/* Whether the first step is that key or attribute. The two are equal here, because some
 * containers offer both. */
bool graph_path_has_key(struct slice path, struct slice key);

/* Whether a value at `path` is the wanted one, a part of it, or a container of it. Sets `*rest`
 * to the end of `path` after `wanted`. */
bool graph_path_fits(struct slice path, struct slice wanted, struct slice *rest);

#endif
