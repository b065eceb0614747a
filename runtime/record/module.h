/* A module that takes part in a recording: its site table, and what each visit needs of it at
 * hand. */
#ifndef MONITORCH_RECORD_MODULE_H
#define MONITORCH_RECORD_MODULE_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/record/calls.h"
#include "runtime/site/site.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* What the module is told with in the trace. */
struct module_text {
    struct slice table;
    struct slice name;   /* __name__ */
    struct slice file;   /* that runs */
    struct slice source; /* of that file; size 0: not known */
    enum log_source_tag source_tag;
};

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

/* A site that stands in the header of a while loop. */
struct repeating_site {
    uint32_t site;
    uint32_t loop; /* the site of that loop's turns, or SITE_NONE */
};

struct recorded_module {
    struct arena arena;
    struct module_text text; /* a copy in the arena */
    struct site_table table;
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

/* `has_reads`: read names are numbered too. NULL where the table cannot be read or memory ran
 * out. */
struct recorded_module *recorded_module_new(const struct module_text *text,
                                            bool has_reads,
                                            struct error *error);
void recorded_module_free(struct recorded_module *module); /* may be NULL */

/* Which of its function's names the site's `read`-th read is, or SITE_NONE. */
static inline uint32_t
recorded_module_read(const struct recorded_module *module, uint32_t site, uint32_t read)
{
    return module->names[module->sites[site].names +
                         module->table.sites[site].write_count + read];
}

#endif
