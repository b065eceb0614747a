/* Sites of two programs: pairs of files, functions and sites, made before the events are
 * compared. Modules that appear later are added when they do. */
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

/* Translation of names of A into terms of B. */

struct diff_names {
    const struct diff_rename *renames; /* borrowed */
    size_t count;
    struct buffer text; /* owned: the last name; has_failed: memory ran out */
};

void diff_names_init(struct diff_names *names,
                     const struct diff_rename *renames,
                     size_t count);
void diff_names_release(struct diff_names *names);

/* Returns a hash that is equal for equal names; `side` is the program that has `name`. */
uint64_t diff_names_hash(struct diff_names *names, unsigned side, struct slice name);

/* Mixes two numbers into one, so that each bit depends on all bits of both. */
static inline uint64_t diff_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;

    x = (x ^ (b >> 32) ^ (x >> 29)) * 0x94d049bb133111ebu;
    return x ^ (x >> 32);
}

#define DIFF_NONE UINT32_MAX

/* Data of a site. Modules have their numbers of the trace; functions and sites have those of
 * their module's table. */
struct diff_site {
    uint64_t key;     /* equal for partners */
    uint32_t partner; /* in the partner of its function's module; DIFF_NONE */
    uint32_t loop; /* innermost loop around it in both: site of the module; DIFF_NONE */
    uint32_t around;     /* innermost loop around it */
    uint32_t slot;       /* LOOP: number among its function's loops */
    uint32_t first_name; /* index in name_keys: its written names, then read ones */
};

struct diff_function {
    uint64_t key;            /* equal for partners */
    uint32_t partner_module; /* DIFF_NONE: there is none */
    uint32_t partner;
    uint32_t site_count;
    uint32_t first_site; /* its sites start here, */
    uint32_t end_site;   /* and end before this one */
    uint32_t loop_count;
};

struct diff_module {
    const struct log_module *module; /* borrowed from the reader */
    uint32_t partner;                /* DIFF_NONE */
    struct diff_function *functions; /* owned */
    struct diff_site *sites;         /* owned */
    uint64_t *name_keys;             /* owned: keys of all names of all sites */
    uint32_t *lines;      /* owned: by line: the line of A that it is; 0: none */
    uint32_t *texts;      /* owned: by line: the other's line with that text; 0: none */
    uint32_t *line_loops; /* owned: by line: innermost loop around it; DIFF_NONE */
    uint32_t line_count;  /* 1 + the largest line number */
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

/* Adds the modules that the traces have gained. Returns false if memory ran out. */
bool diff_sites_update(struct diff_sites *sites);

void diff_sites_likeness(const struct diff_sites *sites,
                         struct diff_likeness *likeness);

/* Returns the module of a site of the trace. NULL: there is none. */
const struct diff_module *
diff_sites_module(const struct diff_sites *sites, unsigned side, uint32_t site);

/* Returns the other trace's counterpart of a site of the trace. DIFF_NONE: there is none. */
uint32_t diff_sites_partner(const struct diff_sites *sites,
                            unsigned side,
                            uint32_t module,
                            uint32_t site);
/* Whether one of the recordings left out visits of a site of a module. */
bool diff_sites_leave_out(const struct diff_sites *sites,
                          unsigned side,
                          uint32_t module,
                          uint32_t site);

/* Whether methods of class `a` of A are paired with methods of class `b` of B. */
bool diff_sites_is_class(const struct diff_sites *sites,
                         struct slice a,
                         struct slice b);

/* ---- shared by the files of this folder ---- */

/* Pairs the sites of a pair of functions. Returns false if memory ran out. */
bool diff_function_pair(struct diff_sites *sites,
                        const uint32_t modules[2],
                        const uint32_t functions[2]);

/* Computes how much of two functions with sites is equal, in percent. If they have the same
 * name, the names of variables may differ. Returns false if memory ran out. */
bool diff_function_likeness(struct diff_sites *sites,
                            const uint32_t modules[2],
                            const uint32_t functions[2],
                            bool has_same_name,
                            uint32_t *percent);

#endif
