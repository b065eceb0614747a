/* Walks over Python's containers and objects without running any of their code. */
#ifndef MONITORCH_PYTHON_VISIT_WALK_H
#define MONITORCH_PYTHON_VISIT_WALK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/slice.h"
#include "runtime/python/visit/types.h"

#include <stdbool.h>
#include <stddef.h>

#define WALK_LEAF_MAX  64   /* leaves of one value */
#define WALK_ITEM_MAX  1024 /* items visited for one value */
#define WALK_DEPTH_MAX 8
#define WALK_PATH_SIZE 8192 /* bytes of all paths */
#define WALK_PATH_MAX  512  /* bytes of one path */
/* Plain numbers and the like are leaves only in containers that are as small as this. */
#define WALK_SMALL 8

struct walk_leaf {
    PyObject *object; /* owned */
    uint64_t place;   /* a hash of the path to it: indices, and the addresses of keys */
    size_t path, path_size;
};

/* One step of the path to an item. */
struct walk_step {
    PyObject *name; /* borrowed: a key, or a field's name; NULL: an index */
    Py_ssize_t index;
    bool is_field;
};

/* Before walk_container, the caller may set `first`, `end`, `item_limit` and `has_paths`. */
struct walk {
    struct walk_leaf leaves[WALK_LEAF_MAX];
    size_t leaf_count;
    size_t item_count; /* of the outermost container */
    size_t seen_count;
    Py_ssize_t first; /* the first item of the outermost container that is visited */
    Py_ssize_t end;   /* and the end of the visited items */
    size_t item_limit;
    bool is_cut;    /* a limit was reached: there may be more leaves */
    bool has_paths; /* the leaves' paths are written */
    char paths[WALK_PATH_SIZE];
    size_t path_end; /* the end of the used part of `paths` */
    struct walk_step steps[WALK_DEPTH_MAX + 1];
    size_t step_count;
};

bool type_is_container(const struct type_info *info);

void walk_init(struct walk *walk); /* sets it up for all items, with paths */
void walk_release(struct walk *walk);
/* Finds the leaves of `object`, which is a container: tensors, and the items of small ones. */
void walk_container(struct walk *walk, struct type_cache *types, PyObject *object);
size_t walk_count_items(const struct type_info *info, PyObject *object);
/* An item of a container; for a dict, its key. Borrowed. NULL without an exception if there is
 * none, or if it cannot be found by its index. */
PyObject *walk_item_at(const struct type_info *info, PyObject *object, size_t index);
/* `[0]['logits']` */
struct slice walk_path(const struct walk *walk, size_t leaf);

/* The value at the end of the dotted `name` whose first part has the value `root`. Reads
 * instances' dictionaries, slots, and the parameters, buffers and modules of a torch.nn.Module.
 * A new reference, or NULL without an exception if it is not found. */
PyObject *walk_dotted(struct type_cache *types, PyObject *root, struct slice name);
/* walk_dotted for one name below `object`; `name` is a str. */
PyObject *walk_peek(struct type_cache *types, PyObject *object, PyObject *name);

#endif
