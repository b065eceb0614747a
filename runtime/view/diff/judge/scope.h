/* Which names of two runs hold something that differs, at the place where they are read: what
 * tells a difference's cause from what follows of it. Names are held while they differ alone,
 * so memory grows with the programs, not with the traces. */
#ifndef MONITORCH_VIEW_DIFF_JUDGE_SCOPE_H
#define MONITORCH_VIEW_DIFF_JUDGE_SCOPE_H

#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a name differs; the gravest is the first. */
enum diff_taint_kind {
    DIFF_TAINT_VALUES, /* its value does */
    DIFF_TAINT_FLOW,   /* one run alone wrote it, having gone another way */
    DIFF_TAINT_CODE,   /* a line wrote it that the other program does not have */
    DIFF_TAINT_LAYOUT, /* its strides do, its values are equal */
    DIFF_TAINT_CLOCK,  /* it comes from a clock */
};

/* A name that differs, and whence. */
struct diff_taint {
    struct slice name; /* borrowed from the site tables */
    enum diff_taint_kind kind;
    unsigned side;    /* FLOW, CODE: who wrote it */
    uint32_t suspect; /* LAYOUT: where it began, see view/diff/work.h */
    uint32_t module;  /* of that side: where */
    uint32_t line;
    /* CODE: what it wrote, see diff_scope_digest; and what the other side did, or 0. */
    uint64_t digest, other_digest;
};

struct diff_taints {
    struct diff_taint *items; /* owned */
    size_t count, capacity;
};

struct diff_turn {
    uint32_t site;  /* of B's trace: a loop */
    uint32_t visit; /* its newest turn */
};

/* A call of A with the one of B that it is; of odd calls one side is 0. */
struct diff_frame {
    uint32_t calls[2];
    struct diff_taints names; /* owned: local names that differ */
    struct diff_turn *turns;  /* owned */
    size_t turn_count, turn_capacity;
    /* A call that a statement in it made has returned something that differs. */
    bool has_result;
    uint32_t result_line;               /* of that statement, or of its part */
    uint32_t result_site, result_visit; /* who took it; DIFF_SITE_NONE: nobody yet */
    struct diff_taint code[2];  /* the newest line of A alone, of B alone; line 0 */
    struct diff_frame *next[2]; /* in the same bucket */
};

/* The attributes of an object, or a module's globals. */
struct diff_owner {
    struct slice class_name, path; /* owned: they stand behind it */
    struct diff_taints names;      /* owned */
    struct diff_owner *next;
};

#define DIFF_OWNER_BUCKETS 256
#define DIFF_ORIGINS       4096

struct diff_scope {
    struct diff_frame **buckets[2]; /* owned: by the calls' numbers */
    size_t bucket_count, frame_count;
    struct diff_frame *last;                       /* borrowed: found last */
    struct diff_owner *owners[DIFF_OWNER_BUCKETS]; /* owned */
    size_t taint_count;                            /* of all: 0 in equal runs */
    uint64_t origins[DIFF_ORIGINS]; /* 1 + events of B that differed, by their number */
    bool has_hidden; /* something that differs went where no line tells: backward() */
    bool has_failed; /* memory ran out */
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

/* The same number for values that are the same; 0: it is not known. */
uint64_t diff_scope_digest(const struct log_event_view *event);

/* The event's name differs from now on, or no longer. `call` is the event's. Where lines of both
 * programs wrote the same, by CODE, the name does not differ. */
void diff_scope_taint(struct diff_scope *scope,
                      struct diff_frame *frame,
                      const struct open_call *call,
                      const struct log_event_view *event,
                      const struct diff_taint *taint);
void diff_scope_clear(struct diff_scope *scope,
                      struct diff_frame *frame,
                      const struct open_call *call,
                      const struct log_event_view *event);

/* The gravest of what the site reads, or of what `name` alone stands for; NULL: none differs. */
const struct diff_taint *diff_scope_reads(struct diff_scope *scope,
                                          struct diff_frame *frame,
                                          const struct open_call *call,
                                          unsigned side,
                                          const struct log_module *module,
                                          const struct site *site);
const struct diff_taint *diff_scope_name(struct diff_scope *scope,
                                         struct diff_frame *frame,
                                         const struct open_call *call,
                                         unsigned side,
                                         const struct log_event_view *event);

/* Whether a line that the other program has alone wrote the same to the event's name. */
bool diff_scope_is_written(struct diff_scope *scope,
                           struct diff_frame *frame,
                           const struct open_call *call,
                           unsigned side,
                           const struct log_event_view *event);

/* An event of B differs; whether the object that an event holds was in such a one. */
void diff_scope_note_event(struct diff_scope *scope, uint64_t event);

/* A turn of a loop in B. */
void diff_frame_turn(struct diff_scope *scope,
                     struct diff_frame *frame,
                     uint32_t site,
                     uint32_t visit);
/* The newest turn of a loop, from 1; 0: it is not known. */
uint32_t diff_frame_turn_of(const struct diff_frame *frame, uint32_t site);

#endif
