/* The backwards of a trace, in memory that grows with their number and not with that of gradients. */
#ifndef MONITORCH_VIEW_GRADIENT_GRADIENT_H
#define MONITORCH_VIEW_GRADIENT_GRADIENT_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

#define BACKWARD_NONE UINT32_MAX

/* A gradient that another one was made from. */
struct gradient_origin {
    bool is_start;  /* what backward() began with, and no event's value */
    uint64_t event; /* else: of this event */
    struct slice
        functions; /* autograd's between the two, the last one first; in the arena */
};

struct backward {
    uint32_t step;     /* its number in the trace */
    struct slice file; /* where it was called; in the arena; "": not known */
    uint32_t line;
    uint16_t thread;
    uint64_t next_event; /* the number of the first event after its beginning */
    uint64_t begin, end; /* its first and its last record, counted over all backwards */
    uint64_t gradient_count;
    uint64_t bad_count; /* gradients that hold NaN or an infinity */
    uint64_t bad_event; /* where bad_count > 0: the first such is this event's … */
    uint64_t bad_next;  /* … and the first event after it has this number */
    struct gradient_origin *origins; /* of that; in the arena; NULL: not known */
    uint32_t origin_count;
};

struct backwards {
    struct arena arena;     /* owned */
    struct backward *items; /* owned: in the order of the trace */
    size_t capacity;
    uint32_t count;
    uint64_t record_count;
    uint64_t gradient_count; /* of all */
    uint64_t bad_count;
};

void backwards_init(struct backwards *backwards);
void backwards_release(struct backwards *backwards);

/* Adds the item to what is known; fails where memory runs out. To be called with each item of the
 * stream, in its order; `next_event` is the number that the next event has. */
bool backwards_add(struct backwards *backwards,
                   const struct log_reader *reader,
                   const struct log_item *item,
                   uint64_t next_event);

/* The first backward from event `start` on that made a gradient that is not finite, and that nothing
 * caught: no later backward that the same line called made only finite ones. BACKWARD_NONE: there is
 * no such. What a GradScaler skips is caught. */
uint32_t backwards_find_bad(const struct backwards *backwards, uint64_t start);

#endif
