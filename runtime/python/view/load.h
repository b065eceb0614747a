/* One load() of some traces: shared by the files that do it. */
#ifndef MONITORCH_PYTHON_VIEW_LOAD_H
#define MONITORCH_PYTHON_VIEW_LOAD_H

/* ---- columns, filled row by row without Python ---- */

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/event_columns.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/text_codes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum loaded_form {
    LOADED_INTEGERS, /* int64_t; -1: none */
    LOADED_REALS,    /* double; NaN: none */
    LOADED_CODES,    /* int32_t: the number of a text; -1: none */
    LOADED_HASHES,   /* uint64_t; 0: none */
};

struct loaded_column {
    enum event_column column;
    enum loaded_form form;
    void *items;    /* borrowed: room for all rows */
    int32_t *codes; /* borrowed: texts among numbers, -1: none; may be NULL */
    struct text_codes texts;
};

/* ---- one load() of some traces ---- */

#include "runtime/python/view/load.h"
#include "runtime/python/view/view.h"
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

/* Which columns those are; `*columns` is the caller's to free, also after a failure. */
int load_find_columns(PyObject *names,
                      bool has_trace,
                      enum event_column **columns,
                      size_t *count);

#endif
