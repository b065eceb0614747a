/* Columns that grow row by row, in Arrow's layout; arrow.c hands their memory to readers.
 *
 * | form | Arrow |
 * | INTEGER | int64 | FLAG | bool | TIME | duration in ns | REAL | float64 | HASH | uint64 |
 * | TEXT | a dictionary of utf8, by int32 | NUMBERS | list of int64 | TEXTS | list of utf8 |
 * | VALUE | two columns: float64, and `NAME_text`, a dictionary as of TEXT |
 *
 * A missing value is null. Bytes that are not UTF-8 become U+FFFD. */
#ifndef MONITORCH_VIEW_ARROW_COLUMN_H
#define MONITORCH_VIEW_ARROW_COLUMN_H

#include "runtime/base/buffer.h"
#include "runtime/view/walk/event_columns.h"
#include "runtime/view/walk/text_codes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arrow_type {
    ARROW_INTEGER,
    ARROW_FLAG,
    ARROW_TIME,
    ARROW_REAL,
    ARROW_HASH,
    ARROW_TEXT,
    ARROW_NUMBERS,
    ARROW_TEXTS,
};

struct arrow_column {
    const struct column_rule *rule; /* borrowed */
    int number;                     /* index of the column in its table */
    enum arrow_type type;
    bool is_value_text; /* holds the texts of a column of the form VALUE */
    size_t null_count;
    uint8_t *valid;   /* owned; one bit per row */
    void *items;      /* owned; FLAG: one byte per row; lists: the offsets */
    int64_t *numbers; /* owned; elements of lists of numbers */
    size_t number_count, number_capacity;
    int32_t *ends; /* owned; lists of texts: the end of each text */
    size_t text_count, text_capacity;
    struct buffer text;      /* lists of texts: their bytes */
    struct text_codes codes; /* for TEXT */
};

struct arrow_table {
    struct arrow_column *columns; /* owned */
    size_t column_count;
    size_t row_count;
    size_t row_capacity;
};

void arrow_table_init(struct arrow_table *table);
void arrow_table_release(struct arrow_table *table);

/* Adds the column `number` of a table; the form VALUE needs two. Returns false if memory runs
 * out. */
bool arrow_table_add(struct arrow_table *table,
                     const struct column_rule *rule,
                     int number);

/* Makes room for another row. arrow_column_set() then sets each of its columns, and
 * arrow_table_end_row() ends it. Returns false if memory runs out. */
bool arrow_table_begin_row(struct arrow_table *table);
void arrow_table_end_row(struct arrow_table *table);
/* `row` is the table's row_count. If the numbers of a list are NULL, the list is null. Returns
 * false if memory runs out. */
bool arrow_column_set(struct arrow_column *column,
                      size_t row,
                      const struct column_value *value);
bool arrow_column_set_numbers(struct arrow_column *column,
                              size_t row,
                              const int64_t *numbers,
                              uint32_t count);
void arrow_column_set_hash(struct arrow_column *column,
                           size_t row,
                           bool has_hash,
                           uint64_t hash);

/* The size of the texts and lists of the rows, in bytes. */
size_t arrow_table_size(const struct arrow_table *table);
/* Removes all rows. */
void arrow_table_clear(struct arrow_table *table);

#endif
