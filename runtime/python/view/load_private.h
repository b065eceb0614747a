/* One load() of some traces: shared by the files that do it. */
#ifndef MONITORCH_PYTHON_VIEW_LOAD_PRIVATE_H
#define MONITORCH_PYTHON_VIEW_LOAD_PRIVATE_H

#include "runtime/python/view/columns.h"
#include "runtime/python/view/load.h"
#include "runtime/view/walk/event_filter.h"

struct load {
    PyObject
        *words[2]; /* owned: the paths and the conditions, which lend their texts */
    struct event_filter filter;    /* owned */
    struct loaded_column *columns; /* owned */
    PyObject **bytes; /* owned: two of each column, the second may be NULL */
    size_t column_count;
    struct log_reader **readers; /* owned */
    const char **paths;          /* borrowed from a tuple of bytes */
    size_t trace_count;
    size_t row_limit;
    size_t row_count;
    bool is_counted;       /* the limit was found by reading, not believed */
    bool is_short;         /* there were more rows */
    PyThreadState *thread; /* while Python runs without us */
    bool is_loaded;
    bool is_interrupted; /* a Python exception is set */
    bool has_failed;     /* memory ran out */
};

/* What load() was called with. These give -1 where a Python exception is set. `conditions` is a
 * tuple of pairs, whose texts the filter borrows. */
int load_read_filter(struct load *load, PyObject *conditions);
/* `names` is a tuple, or None: all columns, `trace` where `has_trace`. */
int load_read_columns(struct load *load, PyObject *names, bool has_trace);
/* Which columns those are; `*columns` is the caller's to free, also after a failure. */
int load_find_columns(PyObject *names,
                      bool has_trace,
                      enum event_column **columns,
                      size_t *count);
/* `paths` is a tuple of bytes. */
int load_open_traces(struct load *load, PyObject *paths);

/* Room for as many rows as there can be. */
int load_make_columns(struct load *load);
/* What load() gives back. NULL: a Python exception is set. */
PyObject *load_result(const struct load *load);

#endif
