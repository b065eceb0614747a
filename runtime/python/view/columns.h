/* Columns of events in memory, filled row by row without Python. */
#ifndef MONITORCH_PYTHON_VIEW_COLUMNS_H
#define MONITORCH_PYTHON_VIEW_COLUMNS_H

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
    void *items;    /* borrowed: room for as many rows as will come */
    int32_t *codes; /* borrowed: texts among numbers, -1: none; may be NULL */
    struct text_codes texts;
};

/* In bytes, of a row. */
size_t loaded_form_size(enum loaded_form form);

void loaded_column_init(struct loaded_column *loaded, enum event_column column);
void loaded_column_release(struct loaded_column *loaded);

/* false where memory ran out. `scratch` is for texts that have to be made. */
bool loaded_column_set(struct loaded_column *loaded,
                       size_t row,
                       const struct log_event_view *event,
                       const struct open_call *call,
                       struct slice trace,
                       struct buffer *scratch);

#endif
