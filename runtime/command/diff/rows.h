/* Rows of a report: all differences of one line and name are one row. Rows are grouped in lists.
 *
 *     row = report_rows_find(&rows, &key, name);
 *     if (row == NULL) { row = report_rows_add(&rows, &key, name); … append its texts … }
 *     report_rows_print(&rows, list, "own differences", "line", limit, &text);
 */
#ifndef MONITORCH_COMMAND_DIFF_ROWS_H
#define MONITORCH_COMMAND_DIFF_ROWS_H

#include "runtime/base/buffer.h"
#include "runtime/base/number_map.h"

#include <stddef.h>
#include <stdint.h>

struct report_row_key {
    uint32_t list; /* a number of the caller's */
    uint32_t kind; /* part of the key: a list may have rows of several kinds */
    uint32_t module, line;
};

/* A row. The sizes are of its texts in `texts`, one after the other. The caller that adds a row
 * appends them. */
struct report_row {
    uint64_t hash;
    struct report_row_key key;
    size_t start;
    size_t place_size; /* `model.py:31`; 0: not known */
    size_t name_size;
    size_t words_size;
    uint64_t count;
    double max_abs; /* the largest known distance; -1: none */
};

struct report_rows {
    struct report_row *rows; /* owned; in the order in which they were added */
    size_t count, capacity;
    struct number_map numbers; /* index of a row by the hash of its key */
    struct buffer texts;       /* owned */
};

void report_rows_release(struct report_rows *rows);

/* Returns NULL if there is no such row. */
struct report_row *report_rows_find(struct report_rows *rows,
                                    const struct report_row_key *key,
                                    struct slice name);
/* Adds a row without texts and with counts of 0. NULL: out of memory. */
struct report_row *report_rows_add(struct report_rows *rows,
                                   const struct report_row_key *key,
                                   struct slice name);

size_t report_rows_count(const struct report_rows *rows, uint32_t list);

/* Appends the first `limit` rows of the list under the heading, or nothing if there are none. */
void report_rows_print(const struct report_rows *rows,
                       uint32_t list,
                       const char *heading,
                       const char *noun,
                       size_t limit,
                       struct buffer *text);

#endif
