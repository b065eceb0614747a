/* SQL sessions over traces: queries of the tables events, sites, calls, edges, steps and
 * parameters, which are read from the traces while the query runs (docs/reference/sql.md).
 *
 * Only temporary tables can be written. */
#ifndef MONITORCH_VIEW_SQL_SESSION_H
#define MONITORCH_VIEW_SQL_SESSION_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/sql/print.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_session;

/* Opens the traces. The paths are borrowed. Returns NULL if a trace cannot be opened or memory
 * runs out. */
struct sql_session *sql_session_new(const char *const *paths,
                                    size_t count,
                                    source_strip strip,
                                    struct error *error);
void sql_session_free(struct sql_session *session); /* may be NULL */

/* Details of a query's error, in addition to the message. */
struct sql_problem {
    bool has_place;
    size_t offset;       /* in bytes, in the whole text of the queries */
    bool is_interrupted; /* by sql_session_interrupt */
    /* The unknown column or table that the query names, or "". */
    char unknown[64];
};

struct sql_result {
    uint64_t row_count;
    bool has_more; /* print.max_rows were printed, and more exist */
    bool has_rows; /* one of the statements was a query */
};

/* Runs the statements of the text in order, and prints their rows. Fails with ERROR_USAGE if
 * SQLite rejects a statement or it fails; `problem` is set then. */
bool sql_session_run(struct sql_session *session,
                     struct slice text,
                     const struct sql_print *print,
                     struct sql_result *result,
                     struct sql_problem *problem,
                     struct error *error);

/* Ends the running query. May be called from another thread. */
void sql_session_interrupt(struct sql_session *session);

/* The next damage in the parts of the trace that were read, which was not returned before. NULL
 * if there is none. */
const char *sql_session_next_damage(struct sql_session *session, size_t trace);
/* The trace's header; see log_reader_header. */
const struct log_header *sql_session_header(const struct sql_session *session,
                                            size_t trace);

/* Whether the text ends with a complete statement: a semicolon outside of strings and comments. */
bool sql_is_complete(const char *text);
/* Whether the text has only blanks and comments. */
bool sql_is_blank(const char *text);

/* Appends the tables and their columns, for people, or one table if `name` is not NULL. Returns
 * false if there is no table of that name. */
bool sql_schema_add(struct buffer *text, const char *name, bool has_color);
/* The names of all tables and columns, by index. NULL after the last one. */
const char *sql_schema_name(size_t index);

/* Makes SQLite use the program's allocator. Must be the first call of SQLite. */
void sql_memory_use(void);

#endif
