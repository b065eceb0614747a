/* What was last seen of each name, object and storage, and from it: what happened since. Nothing
 * is compared element by element: identity, version and hash decide. */
#ifndef MONITORCH_RECORD_HISTORY_H
#define MONITORCH_RECORD_HISTORY_H

#include "runtime/base/number_map.h"
#include "runtime/trace/format.h"
#include "runtime/trace/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What tells two forms apart, in short. */
struct form_mark {
    uint32_t shape; /* hashes */
    uint32_t strides;
    uint32_t device; /* texts */
    uint32_t layout;
    uint8_t dtype;
    uint8_t flags; /* enum log_form_flag */
};

/* No object has this address: a name was looked up, and held nothing to tell. */
#define NAME_PASSED 1

/* What of a value takes part in the comparison. Zeroed: nothing was seen yet. */
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

/* States of the leaves of containers, by name and place inside. */
struct leaf_states {
    struct name_state *items; /* owned; may be NULL */
    size_t capacity;
    size_t count;
    struct number_map places; /* in `items`, by name and path */
};

void leaf_states_release(struct leaf_states *states);

/* What was written of a container's leaves when its name was recorded last in the call: so that a
 * later visit writes only what has changed. */
#define KNOWN_LEAF_MAX 64
struct known_leaf {
    uint64_t place;   /* in the container: a hash */
    uint64_t object;  /* address, or a number's value */
    uint32_t version; /* of a tensor */
    bool is_tensor;
    bool has_version; /* else nothing tells whether it was written to */
};
struct known_container {
    struct known_container *next; /* owned: of the same call */
    uint64_t object;              /* address */
    uint64_t last;                /* address of the last item; of a dict, of its key */
    uint64_t item_count;
    uint64_t event; /* the number that the next event had when all was written */
    uint64_t
        next_item; /* of one that never held a leaf: the next to be visited again */
    uint32_t name;
    uint32_t leaf_count;
    struct known_leaf leaves[KNOWN_LEAF_MAX]; /* the first ones */
};
void known_containers_release(struct known_container **first);

/* Who wrote to which storage last, and which event held an object last: for the newest
 * thousands. What falls out is not known any more, never wrong. */
struct history;

struct history *history_new(void); /* NULL: out of memory */
void history_free(struct history *history);
void history_clear(struct history *history);

/* A tensor as an event sees it. */
struct sighting {
    struct name_state state; /* what is seen now */
    uint64_t storage;        /* address where its storage begins; 0: not known */
    uint32_t site;           /* of the trace */
    bool is_write; /* the site writes in place by what it is (a mutate site) */
};

struct verdict {
    enum change change;
    uint32_t alias_site; /* UINT32_MAX where change is not ALIASED */
    uint64_t origin; /* 1 + the number of the last event that held the object; or 0 */
    bool differs_in_values;
};

/* What happened to a name that was last seen as `before` (object 0: never). Remembers the
 * sighting. */
struct verdict history_judge(struct history *history,
                             const struct name_state *before,
                             const struct sighting *sighting);

#endif
