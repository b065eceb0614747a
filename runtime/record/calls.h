/* The calls that are going on: which frames of the program they belong to, who called whom, and
 * what was last seen of each name in them.
 *
 * A frame is known by its address, so an address that is used again must not be taken for the
 * old call. An enter site begins a new call always; and whenever an event comes from a frame
 * below, all plain calls above it in the same thread have ended, by a return or by an exception.
 * Generators and coroutines may be left and entered again: they stay until their frame's
 * address begins another call, or until there are too many. */
#ifndef MONITORCH_RECORD_CALLS_H
#define MONITORCH_RECORD_CALLS_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/record/history.h"
#include "runtime/record/site_module.h"
#include "runtime/site/site.h"
#include "runtime/trace/format.h"
#include "runtime/trace/reader.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of a recorded module: what each of its calls needs. */
struct call_function {
    uint32_t table; /* the module's number */
    uint32_t index; /* among the table's functions */
    uint32_t site_count;
    uint32_t name_count;   /* different written names */
    uint32_t repeat_count; /* sites that stand in a while header */
    uint32_t enter;        /* its enter site in the table, or SITE_NONE */
    uint32_t
        first_loop; /* one of its loops' sites; the others follow it; or SITE_NONE */
    /* Filled in at the first call, from the code object. */
    bool is_known;
    bool is_generator;    /* or a coroutine */
    bool is_observed;     /* its calls are known by the frame that calls it */
    bool holds_tensor;    /* one of its sites has held one, or a call that it made */
    uint64_t entry_count; /* how often it was called, as far as sites show that */
    uint32_t
        known_count;     /* calls of it that are known: they may have ended unnoticed */
    struct call *unused; /* owned: ended calls, to be used again; may be NULL */
};

struct call_thread {
    uint64_t key;     /* what the caller knows the thread by */
    uint64_t native;  /* the system's id; 0: not told yet */
    uint16_t number;  /* in the trace; THREAD_NUMBER_MAX for all from there on */
    struct call *top; /* the newest call that goes on; may be NULL */
    bool is_recorded; /* the trace holds its record */
};
#define THREAD_NUMBER_MAX 65535

struct call {
    const void *frame;
    const void *code;
    struct call_function *function; /* borrowed */
    struct call_thread *thread;     /* borrowed; where it was last seen */
    struct call *below;             /* in the thread's stack; may be NULL */
    struct call *next;              /* in the table's bucket, or among the unused */
    uint32_t number;                /* in the trace, from 1; 0: it has ended */
    uint32_t parent;
    uint32_t line; /* of the parent, where it was made */
    uint32_t path; /* text numbers */
    uint32_t class_name;
    uint32_t wish; /* 0: it is not tracked */
    uint32_t callers;
    uint32_t error;   /* by which it was left, as far as that is known */
    const void *self; /* whatever the caller knows the nearest module by; may be NULL */
    const void *tracked; /* the same of who tracks it; NULL: it is not tracked */
    uint8_t flags;       /* enum log_call_flag */
    bool has_returned;   /* a return site was visited */
    bool is_in_stack;
    bool is_left_out; /* it has no events and no number of its own */
    bool is_tapped;   /* somebody reads along: it is tracked, or its caller is tapped */
    uint64_t written_in_chunk; /* of the stream, where its record is */
    uint32_t *visits;          /* owned; one for each site of the function */
    struct name_state *names;  /* owned; one for each written name */
    uint8_t *repeats;          /* owned; one for each site in a while header: what
                         recorder.c knows of it */
    struct leaf_states leaves;
    struct known_container *recorded; /* owned: a list; may be NULL */
};

struct call_table;

/* Called for each call that turns out to have ended, innermost first, before it is forgotten. */
typedef void (*call_end_function)(void *context, struct call *call);

struct call_table *call_table_new(call_end_function on_end, void *context);
/* Without calling on_end; the functions' unused calls are not freed. May be NULL. */
void call_table_free(struct call_table *table);

/* The thread that goes by `key`; made where it is new. NULL: out of memory. */
struct call_thread *call_table_thread(struct call_table *table, uint64_t key);
/* The one with that number; NULL: there is none. */
const struct call_thread *call_table_thread_at(const struct call_table *table,
                                               uint16_t number);
/* Another file is begun: it holds no thread's record. */
void call_table_forget_recorded_threads(struct call_table *table);

/* The call that goes on in `frame`, running `code`; NULL where none is known. A call known by
 * that frame with other code has ended. */
struct call *
call_table_find(struct call_table *table, const void *frame, const void *code);
/* Begins a call; one known by that frame has ended. Everything but its identity is zero. One that is
 * left out takes no number. NULL: out of memory. */
struct call *call_table_begin(struct call_table *table,
                              struct call_thread *thread,
                              struct call_function *function,
                              const void *frame,
                              const void *code,
                              bool is_left_out);
/* `call` is running in `thread`: what was above it there has ended or is suspended. NULL: no
 * known call is running there any more. */
void call_table_run(struct call_table *table,
                    struct call_thread *thread,
                    struct call *call);
/* The call goes on in another frame, that no call is known by. */
void call_table_move(struct call_table *table,
                     struct call *call,
                     const void *frame,
                     const void *code);
/* The call has ended, and so has what was above it in its thread. */
void call_table_end(struct call_table *table, struct call *call);
/* Whether any call is known. */
bool call_table_is_empty(const struct call_table *table);

/* Calls `visit` for each known call. */
void call_table_each(struct call_table *table,
                     void (*visit)(void *context, struct call *call),
                     void *context);

/* A module that takes part in a recording: its site table, and what each visit needs of it at
 * hand. */

struct recorded_site {
    uint32_t local;  /* which of its function's sites it is */
    uint32_t names;  /* where in `names` its writes begin */
    uint32_t repeat; /* which of its function's repeating sites it is, or SITE_NONE */
    uint64_t visit_count; /* in all calls */
    uint32_t loop;        /* the innermost loop's site around it, or SITE_NONE */
    uint32_t last_line;   /* LOOP: of its body, as far as sites show that */
    uint32_t next_loop;   /* LOOP: another one of the function, or SITE_NONE */
    bool holds_tensor;    /* it has held one; LOOP: or a site or a call inside has */
    bool is_left_out;     /* most visits are not recorded: see left_out.h. Then also: */
    bool is_enter, has_peeks; /* by its kind, and whether a value has to be looked up */
    bool is_simple;           /* neither of these */
    struct call_function *function;        /* borrowed */
    uint64_t skipped_entry, skipped_count; /* see left_out_pop_skipped */
    uint64_t left_out_from,
        left_out_until; /* numbers of events, as in struct log_left_out */
    uint64_t left_out_count;
    /* Types of values that are neither numbers nor texts, and were found to hold no tensor: only
     * compared. */
    const void *plain_type, *plain_item_type;
};

/* A site in the header of a while loop. */
struct repeating_site {
    uint32_t site;
    uint32_t loop; /* the site of that loop's turns, or SITE_NONE */
};

struct recorded_module {
    struct arena arena;
    struct site_module *source; /* used */
    struct site_table table;    /* borrowed from it */
    struct log_module
        recorded;    /* the same as a reader of the trace has it; in the arena */
    uint32_t number; /* in the trace */
    uint32_t first_site;
    uint32_t left_out_count;     /* sites that are left out now */
    struct recorded_site *sites; /* one for each of the table's */
    /* For each site's writes, then its reads: which of its function's names; SITE_NONE for a
     * read that is never looked up. */
    uint32_t *names;
    struct call_function *functions;  /* one for each of the table's */
    struct repeating_site *repeating; /* by function, in the order of the sites */
    uint32_t *first_repeating;        /* for each function: where in `repeating` */
};

/* `has_reads`: read names are numbered too. `source` is used once more. NULL: no memory. */
struct recorded_module *recorded_module_new(struct site_module *source, bool has_reads);
void recorded_module_free(struct recorded_module *module); /* may be NULL */

/* Which of its function's names the site's `read`-th read is, or SITE_NONE. */
static inline uint32_t
recorded_module_read(const struct recorded_module *module, uint32_t site, uint32_t read)
{
    assert(site < module->table.site_count);
    return module->names[module->sites[site].names +
                         module->table.sites[site].write_count + read];
}

#endif
