/* The calls of two runs that are open, and the turns of loops in them: the way to a place. */
#ifndef MONITORCH_VIEW_DIFF_JUDGE_SCOPE_H
#define MONITORCH_VIEW_DIFF_JUDGE_SCOPE_H

#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_turn {
    uint32_t site;  /* of B's trace: a loop */
    uint32_t visit; /* its newest turn */
};

/* A call of A with the one of B that it is; of odd calls one side is 0. */
struct diff_frame {
    uint32_t calls[2];
    struct diff_turn *turns; /* owned */
    size_t turn_count, turn_capacity;
    struct diff_frame *next[2]; /* in the same bucket */
};

struct diff_scope {
    struct diff_frame **buckets[2]; /* owned: by the calls' numbers */
    size_t bucket_count, frame_count;
    struct diff_frame *last; /* borrowed: found last */
    bool has_failed;         /* memory ran out */
};

void diff_scope_init(struct diff_scope *scope);
void diff_scope_release(struct diff_scope *scope);

/* The frame of a pair of calls, either of which may be NULL. NULL: memory ran out. */
struct diff_frame *diff_scope_frame(struct diff_scope *scope,
                                    const struct open_call *a,
                                    const struct open_call *b);
/* NULL where there is none. */
struct diff_frame *
diff_scope_find(const struct diff_scope *scope, unsigned side, uint32_t call);
void diff_scope_end(struct diff_scope *scope, unsigned side, uint32_t call);

/* A turn of a loop in B. */
void diff_frame_turn(struct diff_scope *scope,
                     struct diff_frame *frame,
                     uint32_t site,
                     uint32_t visit);
/* The newest turn of a loop, from 1; 0: it is not known. */
uint32_t diff_frame_turn_of(const struct diff_frame *frame, uint32_t site);

#endif
