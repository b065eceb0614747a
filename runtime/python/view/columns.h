/* Columns of events in memory, filled row by row without Python. */
#ifndef MONITORCH_PYTHON_VIEW_COLUMNS_H
#define MONITORCH_PYTHON_VIEW_COLUMNS_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/number_map.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/event_columns.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Distinct texts, by number. */
struct text_codes {
    struct slice *texts; /* owned; the bytes are in the arena */
    size_t count;
    size_t capacity;
    struct number_map numbers; /* by the texts' hashes */
    uint32_t last;             /* the text that was asked for last */
    struct arena arena;
};

enum column_form {
    COLUMN_FORM_INTEGERS, /* int64_t; -1: none */
    COLUMN_FORM_REALS,    /* double; NaN: none */
    COLUMN_FORM_CODES,    /* int32_t: the number of a text; -1: none */
    COLUMN_FORM_HASHES,   /* uint64_t; 0: none */
};

struct loaded_column {
    enum event_column column;
    enum column_form form;
    void *items;    /* borrowed: room for as many rows as will come */
    int32_t *codes; /* borrowed: texts among numbers, -1: none; may be NULL */
    struct text_codes texts;
};

/* In bytes, of a row. */
size_t column_form_size(enum column_form form);

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
