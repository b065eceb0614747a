/* Which of a module's values a watcher wants: by their names and lines. */
#ifndef MONITORCH_PYTHON_WATCH_CHOICE_H
#define MONITORCH_PYTHON_WATCH_CHOICE_H

#include "runtime/base/slice.h"
#include "runtime/site/site.h"

#include <stdbool.h>
#include <stdint.h>

struct watcher_lines {
    struct slice file; /* a path, the end of one, or a glob; size 0: any file */
    uint32_t first, last;
};

/* What is asked for; empty lists ask for everything. */
struct watcher_wish {
    const struct slice *names; /* globs */
    size_t name_count;
    const struct watcher_lines *lines;
    size_t line_count;
};

/* The answer for one module. */
struct watcher_choice {
    uint32_t site_count;
    uint32_t
        *firsts;     /* of each site, where in `is_wanted` its writes begin; one more */
    bool *is_wanted; /* of each write of each site */
    bool *has_any;   /* of each site: whether any of its writes is wanted */
};

/* `file` is the one that runs; the one that it was made of has the same lines. NULL: no memory. */
struct watcher_choice *watcher_choose(const struct watcher_wish *wish,
                                      const struct site_table *table,
                                      struct slice file);
void watcher_choice_free(struct watcher_choice *choice); /* may be NULL */

#endif
