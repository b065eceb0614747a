/* A module that has sites, as it was read: its site table and texts, once for all recordings and
 * all other consumers of its visits. Shared: freed with the last of its users. Callers hold a lock:
 * one thread at a time. */
#ifndef MONITORCH_RECORD_SITE_MODULE_H
#define MONITORCH_RECORD_SITE_MODULE_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/site/site.h"
#include "runtime/trace/format.h"

#include <stddef.h>
#include <stdint.h>

/* The module's record in a trace. */
struct module_text {
    struct slice table;
    struct slice name;   /* __name__ */
    struct slice file;   /* that runs */
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

/* Used once, by the caller. NULL where the table cannot be read or memory ran out. */
struct site_module *site_module_new(const struct module_text *text,
                                    struct error *error);
/* Gives the module its number, unlike any other's of the process, from 1. */
void site_module_number(struct site_module *module);
/* The same module, used once more. */
struct site_module *site_module_use(struct site_module *module);
void site_module_leave(struct site_module *module); /* may be NULL */

#endif
