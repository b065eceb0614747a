/* Running calls: the program's frame of each, its caller, and the last seen state of each name
 * in it.
 *
 * A frame is identified by its address, and an address can be used again, so the end of a call
 * must be inferred. An enter site always starts a new call. An event from a frame further down
 * shows that all plain calls above it in the same thread have ended, by a return or by an
 * exception. Generators and coroutines can be suspended and resumed: they are kept until another
 * call starts at their frame's address, or until there are too many. */
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

/* A function of a recorded module: the data that its calls share. */
struct call_function {
    uint32_t table; /* the module's number */
    uint32_t index; /* among the table's functions */
    uint32_t site_count;
    uint32_t name_count;   /* different written names */
    uint32_t repeat_count; /* sites in a while header */
    uint32_t enter;        /* its enter site in the table, or SITE_NONE */
    /* Site of its last loop, the head of a list by next_loop; or SITE_NONE. */
    uint32_t first_loop;
    /* Set at the first call, from the code object. */
    bool is_known;
    bool is_generator; /* or a coroutine */
    bool is_observed;  /* its calls are identified by the frame that calls it */
    bool holds_tensor; /* one of its sites, or a call that it made, has held a tensor */
    uint64_t entry_count; /* number of calls, as far as its sites show */
    uint32_t known_count; /* calls of it in the table; some may have ended unnoticed */
    struct call *unused;  /* owned: a list of ended calls to reuse; may be NULL */
};

struct call_thread {
    uint64_t key;     /* identifies the thread for the caller */
    uint64_t native;  /* the system's id; 0: not known yet */
    uint16_t number;  /* in the trace; all further threads share THREAD_NUMBER_MAX */
    struct call *top; /* the newest running call; may be NULL */
    bool is_recorded; /* the trace holds its record */
};
#define THREAD_NUMBER_MAX 65535

struct call {
    const void *frame;
    const void *code;
    struct call_function *function; /* borrowed */
    struct call_thread *thread;     /* borrowed; the last one that ran it */
    struct call *below;             /* in the thread's stack; may be NULL */
    struct call *next; /* in the table's bucket, or in the list of unused calls */
    uint32_t number;   /* in the trace, from 1; 0: it has ended */
    uint32_t parent;
    uint32_t line; /* the parent's line that made the call */
    uint32_t path; /* text numbers */
    uint32_t class_name;
    uint32_t wish; /* 0: it is not tracked */
    uint32_t callers;
    uint32_t error;   /* text: the type of the exception that left it, if known */
    const void *self; /* identity of the nearest module, for the caller; may be NULL */
    const void *tracked; /* identity of its tracker; NULL: not tracked */
    uint8_t flags;       /* enum log_call_flag */
    bool has_returned;   /* a return site was visited */
    bool is_in_stack;
    bool is_left_out; /* it has no events and no number of its own */
    bool is_tapped;   /* reported to the tap: it is tracked, or its caller is tapped */
    uint64_t written_in_chunk; /* the stream's chunk that holds its record */
    uint32_t *visits;          /* owned; one for each site of the function */
    struct name_state *names;  /* owned; one for each written name */
    uint8_t *repeats; /* owned; for each site in a while header: flags of recorder.c */
    struct leaf_states leaves;
    struct known_container *recorded; /* owned: a list; may be NULL */
};

struct call_table;

/* Runs for each call that is found to have ended, innermost first, before it is freed. */
typedef void (*call_end_function)(void *context, struct call *call);

struct call_table *call_table_new(call_end_function on_end, void *context);
/* Does not run on_end, and does not free the functions' unused calls. `table` may be NULL. */
void call_table_free(struct call_table *table);

/* Returns the thread with that key, which is added if it is new. NULL: out of memory. */
struct call_thread *call_table_thread(struct call_table *table, uint64_t key);
/* The thread with that number in the trace. NULL if there is none. */
const struct call_thread *call_table_thread_at(const struct call_table *table,
                                               uint16_t number);
/* Marks all threads as not recorded, for the start of another file. */
void call_table_forget_recorded_threads(struct call_table *table);

/* Returns the running call of `frame`, or NULL if none is known. Ends a call that is known by
 * that frame with code other than `code`. */
struct call *
call_table_find(struct call_table *table, const void *frame, const void *code);
/* Starts a call, and ends one that is known by the same frame. All fields but its identity are
 * zero. A call that is left out gets no number. NULL: out of memory. */
struct call *call_table_begin(struct call_table *table,
                              struct call_thread *thread,
                              struct call_function *function,
                              const void *frame,
                              const void *code,
                              bool is_left_out);
/* Makes `call` the top of the thread's stack: ends the calls above it, or removes those that are
 * suspended generators. NULL: no known call is running in the thread any more. */
void call_table_run(struct call_table *table,
                    struct call_thread *thread,
                    struct call *call);
/* Moves a running call to another frame, which must not belong to a known call. */
void call_table_move(struct call_table *table,
                     struct call *call,
                     const void *frame,
                     const void *code);
/* Ends the call, and the calls above it in its thread. */
void call_table_end(struct call_table *table, struct call *call);
bool call_table_is_empty(const struct call_table *table);

void call_table_each(struct call_table *table,
                     void (*visit)(void *context, struct call *call),
                     void *context);

/* A module that takes part in a recording: its site table, and for each site the data that a
 * visit needs. */

struct recorded_site {
    uint32_t local;       /* index among its function's sites */
    uint32_t names;       /* index of its first write in the module's `names` */
    uint32_t repeat;      /* index among its function's repeating sites, or SITE_NONE */
    uint64_t visit_count; /* in all calls */
    uint32_t loop;        /* site of the innermost loop around it, or SITE_NONE */
    uint32_t last_line;   /* LOOP: last line of its body, as far as sites show */
    uint32_t next_loop;   /* LOOP: the next one in the function's list, or SITE_NONE */
    bool holds_tensor;    /* it has held a tensor; LOOP: a site or a call inside has */
    /* Most visits are not recorded: see left_out.h. The next three fields are set then. */
    bool is_left_out;
    bool is_enter, has_peeks; /* an enter site; one of its values has to be looked up */
    bool is_simple;           /* neither of the two */
    struct call_function *function;        /* borrowed */
    uint64_t skipped_entry, skipped_count; /* see left_out_pop_skipped */
    uint64_t left_out_from,
        left_out_until; /* numbers of events, as in struct log_left_out */
    uint64_t left_out_count;
    /* Types of values that are neither numbers nor texts and were found to hold no tensor. Only
     * compared, never read. */
    const void *plain_type, *plain_item_type;
};

/* A site in the header of a while loop. */
struct repeating_site {
    uint32_t site;
    uint32_t loop; /* the loop site of its iterations, or SITE_NONE */
};

struct recorded_module {
    struct arena arena;
    struct site_module *source; /* owned: one use */
    struct site_table table;    /* borrowed from `source` */
    /* The module as a reader of the trace returns it; in the arena. */
    struct log_module recorded;
    uint32_t number; /* in the trace */
    uint32_t first_site;
    uint32_t left_out_count;     /* sites that are left out now */
    struct recorded_site *sites; /* one for each of the table's */
    /* For each site's writes, then its reads: the index among its function's names. SITE_NONE
     * for a read that is never looked up. */
    uint32_t *names;
    struct call_function *functions;  /* one for each of the table's */
    struct repeating_site *repeating; /* by function, in the order of the sites */
    uint32_t *first_repeating; /* for each function: its first index in `repeating` */
};

/* `has_reads`: names that are read are numbered too. Adds a use of `source`. NULL: out of
 * memory. */
struct recorded_module *recorded_module_new(struct site_module *source, bool has_reads);
void recorded_module_free(struct recorded_module *module); /* may be NULL */

/* The index of the site's `read`-th read among its function's names, or SITE_NONE. */
static inline uint32_t
recorded_module_read(const struct recorded_module *module, uint32_t site, uint32_t read)
{
    assert(site < module->table.site_count);
    return module->names[module->sites[site].names +
                         module->table.sites[site].write_count + read];
}

#endif
