/* The history: the last seen state of each name, object and storage, from which the change since
 * then is judged. Identity, version and hash decide; elements are never compared. */
#ifndef MONITORCH_RECORD_HISTORY_H
#define MONITORCH_RECORD_HISTORY_H

#include "runtime/base/number_map.h"
#include "runtime/trace/format.h"
#include "runtime/trace/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A short form of a tensor's form, for comparison. */
struct form_mark {
    uint32_t shape; /* hash, as the next one */
    uint32_t strides;
    uint32_t device; /* text number, as the next one */
    uint32_t layout;
    uint8_t dtype;
    uint8_t flags; /* enum log_form_flag */
};

/* The `object` of a name that was looked up and held a value that is not recorded. No real
 * object has this address. */
#define NAME_PASSED 1

/* The fields of a value that are compared. Zeroed: nothing was seen yet. */
struct name_state {
    uint64_t object; /* address; never 0 once something was seen */
    uint64_t data;
    uint64_t hash;
    uint64_t event;        /* the number of the event that saw it */
    struct form_mark mark; /* of a tensor */
    uint32_t type;         /* a tensor's form, or the text of another value's type */
    uint32_t version;
    uint8_t kind; /* enum value_kind */
    bool has_hash;
};

/* The states of leaves of containers, by name and path in the container. */
struct leaf_states {
    struct name_state *items; /* owned; may be NULL */
    size_t capacity;
    size_t count;
    struct number_map places; /* index in `items`, by name and path */
};

void leaf_states_release(struct leaf_states *states);

/* The leaves of a container as they were when its name was last recorded in the call. A later
 * visit writes only the leaves that have changed. */
#define KNOWN_LEAF_MAX 64
struct known_leaf {
    uint64_t place;   /* hash of the leaf's path in the container */
    uint64_t object;  /* address, or a number's value */
    uint32_t version; /* of a tensor */
    bool is_tensor;
    bool has_version; /* without it, a write to the leaf cannot be detected */
};
struct known_container {
    struct known_container *next; /* owned: of the same call */
    uint64_t object;              /* address */
    uint64_t last;                /* address of the last item, for a dict of its key */
    uint64_t item_count;
    uint64_t event; /* the number of the next event once all leaves were written */
    /* If it never held a leaf: index of the next item to visit again. */
    uint64_t next_item;
    uint32_t name;
    uint32_t leaf_count;
    struct known_leaf leaves[KNOWN_LEAF_MAX]; /* the first leaf_count of them */
};
void known_containers_release(struct known_container **first);

/* The last write to each storage and the last event that held each object, for the newest few
 * thousand of them. An entry that is dropped is unknown from then on; no entry is ever wrong. */
struct history;

struct history *history_new(void); /* NULL: out of memory */
void history_free(struct history *history);
void history_clear(struct history *history);

/* A tensor as seen by an event. */
struct sighting {
    struct name_state state; /* what is seen now */
    uint64_t storage;        /* start address of its storage; 0: not known */
    uint32_t site;           /* number in the trace */
    bool is_write; /* the site is of the kind that writes in place (SITE_MUTATE) */
};

struct verdict {
    enum change change;
    uint32_t alias_site; /* UINT32_MAX unless change is ALIASED */
    /* 1 + the number of the last event that held the object; 0: not known. */
    uint64_t origin;
    bool differs_in_values;
};

/* Judges the change of a name whose last state is `before` (object 0: none), and stores the
 * sighting. */
struct verdict history_judge(struct history *history,
                             const struct name_state *before,
                             const struct sighting *sighting);

#endif
