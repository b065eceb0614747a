/* Asking traces in SQL: queries over the tables events, sites, calls and edges, which are read
 * from the traces while they are asked (docs/reference/sql.md).
 *
 * Nothing but temporary tables can be written. */
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

/* The paths are borrowed. NULL where a trace cannot be opened, or memory ran out. */
struct sql_session *sql_session_new(const char *const *paths,
                                    size_t count,
                                    source_strip strip,
                                    struct error *error);
void sql_session_free(struct sql_session *session); /* may be NULL */

/* What is wrong with a query, beside the message. */
struct sql_problem {
    bool has_place;
    size_t offset;       /* in bytes, in the whole text of the queries */
    bool is_interrupted; /* by sql_session_interrupt */
    /* What was named and is not there: a column or table; "" else. */
    char unknown[64];
};

struct sql_result {
    uint64_t row_count;
    bool has_more; /* print.max_rows were printed, and there were more */
    bool has_rows; /* one of the statements was a query */
};

/* Runs the statements of the text, one after the other, and prints what they give. Fails with
 * ERROR_USAGE where SQLite does not accept or cannot do it; `problem` is filled in then. */
bool sql_session_run(struct sql_session *session,
                     struct slice text,
                     const struct sql_print *print,
                     struct sql_result *result,
                     struct sql_problem *problem,
                     struct error *error);

/* Ends the query that runs. May be called from another thread. */
void sql_session_interrupt(struct sql_session *session);

/* The next damage of a trace that was not told yet, of what was read so far; NULL where there is
 * none. */
const char *sql_session_next_damage(struct sql_session *session, size_t trace);
/* What the trace's header tells; see log_reader_header. */
const struct log_header *sql_session_header(const struct sql_session *session,
                                            size_t trace);

/* Whether the text ends a statement: a semicolon that is not within a text or comment. */
bool sql_is_complete(const char *text);
/* Whether there is anything in it but blanks and comments. */
bool sql_is_blank(const char *text);

/* The tables and their columns, for people; of one table where `name` is not NULL (false where
 * there is none of that name). */
bool sql_schema_add(struct buffer *text, const char *name, bool has_color);
/* The names of tables and of their columns, one after the other; NULL at the end. */
const char *sql_schema_name(size_t index);

/* SQLite's memory, from where all memory comes. */

/* Call before anything else of SQLite. */
void sql_memory_use(void);

#endif
