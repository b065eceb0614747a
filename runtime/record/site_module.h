/* Modules that have sites: the site table and texts of each, read once and shared by all
 * recordings and other consumers of its visits. Freed with the last use. The caller holds a
 * lock: one thread at a time. */
#ifndef MONITORCH_RECORD_SITE_MODULE_H
#define MONITORCH_RECORD_SITE_MODULE_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/site/site.h"
#include "runtime/trace/format.h"

#include <stddef.h>
#include <stdint.h>

/* The texts of a module's records in a trace. */
struct module_text {
    struct slice table;
    struct slice name;   /* __name__ */
    struct slice file;   /* the file that runs */
    struct slice source; /* of that file; size 0: not known */
    enum log_source_tag source_tag;
};

struct site_module {
    struct site_table table;
    struct module_text text; /* a copy in the arena */
    uint64_t number;         /* see site_module_number; 0: it has none */
    struct arena arena;
    size_t user_count;
};

/* Returns a module with one use, the caller's. NULL if the table cannot be read or memory runs
 * out; `error` says why. */
struct site_module *site_module_new(const struct module_text *text,
                                    struct error *error);
/* Gives the module a number from 1 that is unique in the process. */
void site_module_number(struct site_module *module);
/* Adds a use, and returns the same module. */
struct site_module *site_module_use(struct site_module *module);
void site_module_leave(struct site_module *module); /* may be NULL */

#endif
