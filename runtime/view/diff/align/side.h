/* A side: one of two traces while they are aligned, with its items, their keys in terms of both,
 * and the queue of items ahead. */
#ifndef MONITORCH_VIEW_DIFF_ALIGN_SIDE_H
#define MONITORCH_VIEW_DIFF_ALIGN_SIDE_H

#include "runtime/trace/reader.h"
#include "runtime/view/diff/sites/sites.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of lists of waiting items. */
#define DIFF_WAITING_BUCKETS 256

#define DIFF_THREAD_NONE UINT32_MAX

enum diff_decision {
    DIFF_UNDECIDED,
    DIFF_PAIRED,
    DIFF_ALONE,
    DIFF_MOVED, /* its counterpart is elsewhere among its neighbours */
};

/* The current turn of a loop in a call. */
struct diff_turn {
    uint64_t outer; /* turn of the outer loop at the last turn */
    uint64_t hash;  /* this turn, in terms of both programs; 0: not reached */
    uint32_t base;  /* visits of the site before the loop was started */
    uint32_t noted; /* 1 + the visit of diff_align_note_turn's last call; 0: none */
};

/* Data that is attached to an open call. */
struct diff_call {
    uint64_t place;  /* key of its place in the caller */
    uint64_t local;  /* its key at that place */
    uint64_t around; /* key of the caller and the place */
    uint64_t chain;  /* key of its items' surroundings; only paired calls share it */
    bool has_counterpart; /* the other program has the function */
    bool has_place;       /* the other program has the line that made the call */
    bool is_paired;       /* with a call of the other trace */
    uint32_t turn_count;
    uint32_t gap; /* of the side, when the turns were recorded */
    bool is_cut;  /* a part of it is not in the trace */
    struct diff_turn turns[];
};

/* An item that was read. */
struct diff_entry {
    struct log_place place;
    struct open_call *call; /* borrowed from the side; of the item */
    uint64_t local;         /* key of the item in its call */
    uint32_t visit;
    uint32_t moved;       /* MOVED: the number of the pair */
    uint32_t loop;        /* of a loop's turn: key of the loop, if known; else 0 */
    uint8_t kind;         /* enum log_kind */
    uint8_t decision;     /* enum diff_decision */
    bool has_counterpart; /* the other program has it */
    bool is_held;         /* the entry holds the call */
    bool is_before;       /* a ring dropped the events that its counterpart is among */
};

/* The part of an event's identity that items of one value share. */
struct diff_value {
    uint32_t call;
    uint32_t site;
    uint32_t visit;
};

/* An item that waits for its counterpart, which is further ahead in the other trace. */
struct diff_waiting {
    struct diff_waiting *next;
    struct log_item item;   /* bytes of the reader's memory are copied to this block */
    struct open_call *call; /* borrowed from the side; held */
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
    /* Owned: calls of the thread before, until the second step of the next thread: see align.h. */
    struct open_calls earlier_calls;
    struct open_call *kept; /* borrowed, held: call of the step before; may be NULL */
    bool has_given;         /* an item of this thread was given */
    struct log_item item;   /* the item read last: the head, or a piece of data */
    struct diff_entry head;
    bool has_head;
    bool has_failed;             /* memory ran out */
    uint32_t thread;             /* the current thread; or NONE */
    struct diff_thread *threads; /* owned: by number */
    uint32_t thread_count;
    size_t thread_capacity;
    uint64_t start;   /* events before it are in one trace only: a ring's first */
    bool is_before;   /* the item read last is before `start` */
    bool is_later;    /* the trace was read before: the threads' places are known */
    bool is_over;     /* the last item of the thread was read */
    bool has_updates; /* gradients or steps were read and skipped */
    /* Owned: lists, hashed by the numbers of the pairs. */
    struct diff_waiting *waiting[DIFF_WAITING_BUCKETS];
    uint64_t data_event;      /* the event whose values are wanted; UINT64_MAX: none */
    uint64_t next_event;      /* number of the next event if none is lost */
    uint32_t gap;             /* how often events were lost */
    uint32_t passed_over;     /* number of a call that is skipped as a whole; 0: none */
    struct diff_value last;   /* the event that was paired last */
    struct diff_entry *queue; /* owned: items ahead, in order */
    size_t queue_first;
    size_t queue_count; /* entries from queue_first on */
    size_t queue_capacity;
    struct log_place scanned; /* place after the queue's last entry */
    bool is_scanned;          /* the trace ends there */
};

enum diff_read {
    DIFF_READ_HEAD,
    DIFF_READ_DATA, /* `item` is a piece of the values of `data_event` */
    DIFF_READ_END,
};

/* Returns false if memory ran out. */
bool diff_side_init(struct diff_side *side,
                    unsigned number,
                    struct log_reader *reader,
                    struct diff_sites *sites);
void diff_side_release(struct diff_side *side);

/* Returns to the beginning of the trace, for the items of `thread`. */
void diff_side_start(struct diff_side *side, uint32_t thread);

/* Reads until there is a head, or a piece of data before it. DIFF_READ_END: the thread has no
 * more items. */
enum diff_read diff_side_read(struct diff_side *side);
/* Drops the head. Releases its call if the call ended. */
void diff_side_consume(struct diff_side *side);
/* Drops a head that was part of a step. Its call remains valid for one step more, as align.h
 * says. */
void diff_side_finish(struct diff_side *side);

/* Puts the head back, and reads until the queue holds `wanted` entries or all. */
bool diff_side_read_ahead(struct diff_side *side, size_t wanted);

static inline struct diff_call *diff_call_of(const struct open_call *call)
{
    return call->extra;
}

/* Returns the key of the entry's surroundings: the sides compare it along with `local`. */
static inline uint64_t diff_entry_around(const struct diff_entry *entry)
{
    const struct diff_call *call = diff_call_of(entry->call);

    return entry->kind == LOG_CALL ? call->around : call->chain;
}

/* ---- shared by the files of this folder ---- */

/* Key of an END in its call. */
#define DIFF_LOCAL_END 0x71u

/* Releases a holder's reference to the call, which may be freed. */
void diff_side_let_go(struct diff_side *side, struct open_call *call);
void diff_side_drop_waiting(struct diff_side *side);

/* Finds `around`, and with it the chain of a call that has no pair, again. */
void diff_call_settle(struct open_call *call);

#endif
