/* The programs of two traces side by side, before anything ran: which file, function and site
 * of the one is which of the other. Modules that come late are taken in as they come. */
#ifndef MONITORCH_VIEW_DIFF_SITES_SITES_H
#define MONITORCH_VIEW_DIFF_SITES_SITES_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names of the one program as the other one writes them. */

struct diff_names {
    const struct diff_rename *renames; /* borrowed */
    size_t count;
    struct buffer text; /* owned: the name made last; has_failed: memory ran out */
};

void diff_names_init(struct diff_names *names,
                     const struct diff_rename *renames,
                     size_t count);
void diff_names_release(struct diff_names *names);

/* The same number for what is the same name; `side` is the program that `name` is of. */
uint64_t diff_names_hash(struct diff_names *names, unsigned side, struct slice name);

/* Two numbers as one, so that each bit depends on all of both. */
static inline uint64_t diff_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;

    x = (x ^ (b >> 32) ^ (x >> 29)) * 0x94d049bb133111ebu;
    return x ^ (x >> 32);
}

#define DIFF_NONE UINT32_MAX

/* Numbers of modules, functions and sites are those of the trace, of its module's table. */
struct diff_site {
    uint64_t key;     /* the same for sites that are the same */
    uint32_t partner; /* in the partner of its function's module; DIFF_NONE */
    uint32_t loop; /* the innermost loop around it that both programs have around it; a
                         site of the module; DIFF_NONE */
    uint32_t around;     /* the innermost loop around it */
    uint32_t slot;       /* LOOP: which loop of its function */
    uint32_t first_name; /* of its written names, then those read: see name_keys */
};

struct diff_function {
    uint64_t key;            /* the same for functions that are the same */
    uint32_t partner_module; /* DIFF_NONE: there is none */
    uint32_t partner;
    uint32_t site_count;
    uint32_t first_site; /* all of them are from this one on, */
    uint32_t end_site;   /* and before this one */
    uint32_t loop_count;
};

struct diff_module {
    const struct log_module *module; /* borrowed from the reader */
    uint32_t partner;                /* DIFF_NONE */
    struct diff_function *functions; /* owned */
    struct diff_site *sites;         /* owned */
    uint64_t *name_keys;             /* owned: of all names of all sites */
    uint32_t *lines;      /* owned: the line of A that this line is; 0: none */
    uint32_t *texts;      /* owned: the other's line with that text; 0: none */
    uint32_t *line_loops; /* owned: the innermost loop around it; DIFF_NONE */
    uint32_t line_count;  /* lines are from 1 up to below this */
};

struct diff_program {
    struct log_reader *reader;    /* borrowed */
    struct source_lines *sources; /* borrowed */
    struct diff_module *modules;  /* owned */
    uint32_t count;
    size_t capacity;
};

struct diff_sites {
    struct diff_program programs[2];
    struct diff_names names;
};

void diff_sites_init(struct diff_sites *sites,
                     const struct diff_align_options *options);
void diff_sites_release(struct diff_sites *sites);

/* Takes in the modules that the traces have by now. false: out of memory. */
bool diff_sites_update(struct diff_sites *sites);

void diff_sites_likeness(const struct diff_sites *sites,
                         struct diff_likeness *likeness);

/* The module of a site of the trace; NULL where there is none. */
const struct diff_module *
diff_sites_module(const struct diff_sites *sites, unsigned side, uint32_t site);

/* The site of the other trace that a site of the trace is; DIFF_NONE: there is none. */
uint32_t diff_sites_partner(const struct diff_sites *sites,
                            unsigned side,
                            uint32_t module,
                            uint32_t site);
/* Whether either recording left out visits of a site of a module. */
bool diff_sites_leave_out(const struct diff_sites *sites,
                          unsigned side,
                          uint32_t module,
                          uint32_t site);

/* Whether methods of class `a` of A are those of class `b` of B. */
bool diff_sites_is_class(const struct diff_sites *sites,
                         struct slice a,
                         struct slice b);

/* ---- the parts, for each other ---- */

/* Pairs the sites of a pair of functions. false: out of memory. */
bool diff_function_pair(struct diff_sites *sites,
                        const uint32_t modules[2],
                        const uint32_t functions[2]);

/* How much of two functions that have sites is equal, in percent; where they have the same name,
 * their variables need not. false: out of memory. */
bool diff_function_likeness(struct diff_sites *sites,
                            const uint32_t modules[2],
                            const uint32_t functions[2],
                            bool has_same_name,
                            uint32_t *percent);

#endif
