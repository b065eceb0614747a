/* One of two traces as it is aligned: its items, what each is called in terms of both, and those
 * that were looked ahead at. */
#ifndef MONITORCH_VIEW_DIFF_ALIGN_SIDE_H
#define MONITORCH_VIEW_DIFF_ALIGN_SIDE_H

#include "runtime/trace/reader.h"
#include "runtime/view/diff/sites/sites.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists of the items that wait. */
#define DIFF_WAITING_BUCKETS 256

#define DIFF_THREAD_NONE UINT32_MAX

enum diff_decision {
    DIFF_UNDECIDED,
    DIFF_PAIRED,
    DIFF_ALONE,
    DIFF_MOVED, /* its counterpart is found at another place among its neighbours */
};

/* Which turn of a loop a call is in. */
struct diff_turn {
    uint64_t outer; /* the turn of the loop around it at the last turn */
    uint64_t hash;  /* this turn, in terms of both programs; 0: it was not reached */
    uint32_t base;  /* the site's visits before the loop was begun this time */
    uint32_t noted; /* 1 + the visit that diff_align_note_turn noted last; 0: none */
};

/* What is kept with an open call. */
struct diff_call {
    uint64_t place;  /* where in its caller it was made */
    uint64_t local;  /* what it is there */
    uint64_t around; /* the caller and the place */
    uint64_t
        chain; /* what its items are in; of a pair of calls, the same for both only */
    bool has_counterpart; /* the other program has the function */
    bool has_place;       /* and the line that made the call */
    bool is_paired;       /* with a call of the other trace */
    uint32_t turn_count;
    uint32_t gap; /* of the side, when its turns were known */
    bool is_cut;  /* something of it is not in the trace */
    struct diff_turn turns[];
};

/* An item that was met. */
struct diff_entry {
    struct log_place place;
    struct open_call *call; /* borrowed from the side; of the item */
    uint64_t local;         /* what the item is in its call */
    uint32_t visit;
    uint32_t moved; /* MOVED: the number of the pair */
    uint32_t
        loop; /* of a loop's turn: which loop it is, as far as that is known; else 0 */
    uint8_t kind;         /* enum log_kind */
    uint8_t decision;     /* enum diff_decision */
    bool has_counterpart; /* the other program has it */
    bool is_held;         /* the call stays while the entry does */
    bool is_before;       /* a ring has dropped what its counterpart would be */
};

/* An event as far as parts of one value have it in common. */
struct diff_value {
    uint32_t call;
    uint32_t site;
    uint32_t visit;
};

/* An item that waits for its counterpart, which stands further on in the other trace. */
struct diff_waiting {
    struct diff_waiting *next;
    struct log_item item;   /* what was in the reader's memory is in this block */
    struct open_call *call; /* borrowed from the side: stays while this waits */
    uint32_t moved;
};

enum diff_thread_state {
    DIFF_THREAD_UNSEEN,
    DIFF_THREAD_SEEN,
    DIFF_THREAD_DONE,
};

struct diff_thread {
    enum diff_thread_state state;
    struct log_place first; /* its first item */
    uint64_t last;          /* the offset of its last one */
};

struct diff_side {
    unsigned number;           /* 0: A, 1: B */
    struct log_reader *reader; /* borrowed */
    struct diff_sites *sites;  /* borrowed */
    struct open_calls calls;   /* owned */
    /* Owned: of the thread before, until another one's second step: see align.h. */
    struct open_calls earlier_calls;
    struct open_call *kept; /* borrowed, held: of the step before; may be NULL */
    bool has_given;         /* an item of this thread was given */
    struct log_item item;   /* the one read last: the head, or a piece of data */
    struct diff_entry head;
    bool has_head;
    bool has_failed;             /* memory ran out */
    uint32_t thread;             /* the one that is gone through; or NONE */
    struct diff_thread *threads; /* owned: by number */
    uint32_t thread_count;
    size_t thread_capacity;
    uint64_t start; /* events before this one are in one trace alone: a ring's first */
    bool is_before; /* the item read last is before `start` */
    bool is_later;  /* not the first time: what the threads' places are is known */
    bool is_over;   /* the last item of the thread was read */
    bool has_updates; /* gradients or steps were read, and left out */
    /* Owned, lists; by the numbers of the pairs. */
    struct diff_waiting *waiting[DIFF_WAITING_BUCKETS];
    uint64_t data_event;      /* the event whose values are wanted; UINT64_MAX: none */
    uint64_t next_event;      /* the number that comes next where none is lost */
    uint32_t gap;             /* how often some were lost */
    uint32_t passed_over;     /* a call that is alone with all in it; 0: none */
    struct diff_value last;   /* the event that was paired last */
    struct diff_entry *queue; /* owned: looked ahead at, in order */
    size_t queue_first;
    size_t queue_count; /* those from the first on */
    size_t queue_capacity;
    struct log_place scanned; /* behind the last one in the queue */
    bool is_scanned;          /* the trace ends there */
};

enum diff_read {
    DIFF_READ_HEAD,
    DIFF_READ_DATA, /* `item` is a piece of the values of `data_event` */
    DIFF_READ_END,
};

/* false: out of memory. */
bool diff_side_init(struct diff_side *side,
                    unsigned number,
                    struct log_reader *reader,
                    struct diff_sites *sites);
void diff_side_release(struct diff_side *side);

/* Goes back to the beginning, for the items of `thread`. */
void diff_side_start(struct diff_side *side, uint32_t thread);

/* Reads until there is a head, or a piece of data before it. */
enum diff_read diff_side_read(struct diff_side *side);
/* The head is done with; its call is gone where it ended. */
void diff_side_consume(struct diff_side *side);
/* The same for a head that was given; its call stays for a step more, as align.h says. */
void diff_side_finish(struct diff_side *side);

/* Puts the head back, and reads until the queue holds `wanted` entries or all. */
bool diff_side_read_ahead(struct diff_side *side, size_t wanted);

static inline struct diff_call *diff_call_of(const struct open_call *call)
{
    return call->extra;
}

/* What the entry is in: to be compared between the sides along with `local`. */
static inline uint64_t diff_entry_around(const struct diff_entry *entry)
{
    const struct diff_call *call = diff_call_of(entry->call);

    return entry->kind == LOG_CALL ? call->around : call->chain;
}

/* ---- the parts, for each other ---- */

/* What an END is in its call. */
#define DIFF_LOCAL_END 0x71u

/* One that held the call does so no more: it may be gone. */
void diff_side_let_go(struct diff_side *side, struct open_call *call);
void diff_side_drop_waiting(struct diff_side *side);

/* Finds `around`, and with it the chain of a call that has no pair, again. */
void diff_call_settle(struct open_call *call);

#endif
