/* Looking into Python's containers and objects without running any code of theirs. */
#ifndef MONITORCH_PYTHON_RECORDER_WALK_H
#define MONITORCH_PYTHON_RECORDER_WALK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/slice.h"
#include "runtime/python/recorder_types.h"

#include <stdbool.h>
#include <stddef.h>

#define WALK_LEAF_MAX  64   /* leaves of one value */
#define WALK_ITEM_MAX  1024 /* items looked at for one value */
#define WALK_DEPTH_MAX 8
#define WALK_PATH_SIZE 8192 /* bytes of all paths */
/* Plain numbers and the like are leaves only in containers that are as small as this. */
#define WALK_SMALL 8

struct walk_leaf {
    PyObject *object; /* owned */
    size_t path, path_size;
};

struct walk {
    struct walk_leaf leaves[WALK_LEAF_MAX];
    size_t leaf_count;
    size_t item_count; /* of the outermost container */
    size_t seen_count;
    bool is_cut; /* a limit was met: there may be more */
    char paths[WALK_PATH_SIZE];
    size_t path_end;  /* of the leaves' paths */
    char prefix[512]; /* the path of what is being looked at */
    size_t prefix_size;
};

bool type_is_container(const struct type_info *info);

void walk_init(struct walk *walk);
void walk_release(struct walk *walk);
/* Finds the leaves of `object`, which is a container: tensors, and the items of small ones. */
void walk_container(struct walk *walk, struct type_cache *types, PyObject *object);
/* `[0]['logits']` */
struct slice walk_path(const struct walk *walk, size_t leaf);

/* What stands at the end of the dotted `name` whose first part is `root`: in instances'
 * dictionaries, slots, and the parameters, buffers and modules of a torch.nn.Module. A new
 * reference, or NULL (without an exception) where it is not there. */
PyObject *walk_dotted(struct type_cache *types, PyObject *root, struct slice name);
/* The same for one name, which is a str. */
PyObject *walk_peek(struct type_cache *types, PyObject *object, PyObject *name);

#endif
