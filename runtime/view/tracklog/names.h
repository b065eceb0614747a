/* What the names of a call were when they were told last, as far as that decides what is said of
 * their next value. */
#ifndef MONITORCH_VIEW_TRACKLOG_NAMES_H
#define MONITORCH_VIEW_TRACKLOG_NAMES_H

#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACK_DTYPE_SIZE 24

struct track_name {
    int64_t length;
    uint64_t text; /* a hash; of strings */
    enum value_kind kind;
    bool is_numpy;
    uint8_t dtype_size;
    char dtype[TRACK_DTYPE_SIZE]; /* its text, cut; of tensors */
};

struct track_names {
    struct track_name *items; /* owned; may be NULL */
    size_t capacity;
    size_t count;
    struct number_map places; /* in `items`, by the names' hashes */
};

void track_names_release(struct track_names *names);

/* What stands in `before` then; false where nothing is known of the name. The event's value
 * is remembered: of a few thousand names, what is beyond is not. */
bool track_names_add(struct track_names *names,
                     const struct log_event_view *event,
                     struct track_name *before);

#endif
