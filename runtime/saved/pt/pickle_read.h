/* Pickle reader: reads a pickle as data. It describes the objects and never creates them; it
 * imports and calls nothing, whatever the pickle contains. */
#ifndef MONITORCH_SAVED_PT_PICKLE_READ_H
#define MONITORCH_SAVED_PT_PICKLE_READ_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pickle_kind {
    PICKLE_NONE,
    PICKLE_BOOL,       /* integer: 0 or 1 */
    PICKLE_INTEGER,    /* integer */
    PICKLE_TEXT,       /* text */
    PICKLE_GLOBAL,     /* text: "torch._utils _rebuild_tensor_v2" */
    PICKLE_TUPLE,      /* items */
    PICKLE_DICT,       /* pairs */
    PICKLE_CALL,       /* items: the callee, and its arguments */
    PICKLE_PERSISTENT, /* items: the id that the loader resolves */
    PICKLE_LIST,       /* its items are not kept */
    PICKLE_OTHER,      /* a float, bytes, a set …: not kept */
};

struct pickle_pair {
    const struct pickle_value *key, *value;
    const struct pickle_pair *older; /* may be NULL */
};

struct pickle_value {
    enum pickle_kind kind;
    int64_t integer;
    struct slice text;
    const struct pickle_value *const *items;
    size_t item_count;
    const struct pickle_pair *pairs; /* a list, newest first; may be NULL */
};

/* Returns a description of the pickled object, borrowed from `bytes` and the arena. A value may
 * contain itself. Returns NULL if it is no pickle, has unknown content, or memory runs out;
 * `error` says why, without a path. */
const struct pickle_value *
pickle_read(struct slice bytes, struct arena *arena, struct error *error);

/* The value of a text key. NULL if there is none. */
const struct pickle_value *pickle_value_find(const struct pickle_value *dictionary,
                                             struct slice key);

static inline bool pickle_value_is_global(const struct pickle_value *value,
                                          struct slice name)
{
    return value->kind == PICKLE_GLOBAL && slice_equal(value->text, name);
}

#endif
