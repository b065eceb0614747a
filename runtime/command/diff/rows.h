/* Rows of a report: differences of one line and name are one row, and rows are in lists.
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
    uint32_t list; /* as the caller numbers them */
    uint32_t kind; /* rows of other kinds are others, in one list too */
    uint32_t module, line;
};

/* The sizes are of what is in `texts`, one behind the other: who adds a row appends these. */
struct report_row {
    uint64_t hash;
    struct report_row_key key;
    size_t start;
    size_t place_size; /* `model.py:31`; 0: not known */
    size_t name_size;
    size_t words_size;
    uint64_t count;
    double max_abs; /* the largest that is known; -1: none */
};

struct report_rows {
    struct report_row *rows; /* owned; in the order of their firsts */
    size_t count, capacity;
    struct number_map numbers; /* by their hashes */
    struct buffer texts;       /* owned */
};

void report_rows_release(struct report_rows *rows);

/* NULL: there is none. */
struct report_row *report_rows_find(struct report_rows *rows,
                                    const struct report_row_key *key,
                                    struct slice name);
/* A row without texts, that counts nothing; NULL: out of memory. */
struct report_row *report_rows_add(struct report_rows *rows,
                                   const struct report_row_key *key,
                                   struct slice name);

size_t report_rows_count(const struct report_rows *rows, uint32_t list);

/* Appends the first `limit` rows of the list under the heading; nothing where there are none. */
void report_rows_print(const struct report_rows *rows,
                       uint32_t list,
                       const char *heading,
                       const char *noun,
                       size_t limit,
                       struct buffer *text);

#endif
