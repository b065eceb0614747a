/* Paths of items as traces spell them, `[0]['logits'].hidden`, with `[*]` for any item. */
#ifndef MONITORCH_VIEW_GRAPH_PATHS_H
#define MONITORCH_VIEW_GRAPH_PATHS_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A path that is being put together; one that is too long is the empty one: the whole. */
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

/* Where the first step of the path ends. */
size_t graph_path_step(struct slice path);
/* The path behind its first step; empty where there is none. */
struct slice graph_path_behind(struct slice path);
/* Whether the first step is a place in a list; gives it. */
bool graph_path_number(struct slice path, uint32_t *number);
/* Whether the first step is that key, or that attribute: containers that are objects have both. */
bool graph_path_has_key(struct slice path, struct slice key);

/* Whether a value at `path` is what is wanted, or a part of it, or holds it. `*rest`: what of its path
 * stands behind the wanted one. */
bool graph_path_fits(struct slice path, struct slice wanted, struct slice *rest);

#endif
