/* Asking traces in SQL: the connection, and running statements. */
#include "runtime/view/sql_session.h"

#include "runtime/base/memory.h"
#include "runtime/view/sql_functions.h"
#include "runtime/view/sql_layout.h"
#include "runtime/view/sql_memory.h"
#include "runtime/view/sql_rows_text.h"
#include "runtime/view/sql_rules.h"
#include "runtime/view/sql_tables.h"

#include <stdio.h>
#include <string.h>

/* From how many bytes on what was made is written. */
#define WRITE_SIZE (128 * 1024)
/* No query is as long. */
#define SQL_TEXT_MAX (100 * 1000 * 1000)

struct sql_session {
    struct sql_traces traces; /* owned */
    sqlite3 *database;        /* owned */
    struct sql_rules rules;
};

/* ---- lifetime ---- */

static void set_error(struct sql_session *session, int code, struct error *error)
{
    if (code == SQLITE_NOMEM || session->database == NULL) {
        error_set_memory(error);
    } else {
        error_set(error, ERROR_SYSTEM, "SQLite: %s", sqlite3_errmsg(session->database));
    }
}

static int open_database(struct sql_session *session)
{
    int code = sqlite3_open_v2(
        ":memory:", &session->database,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

    code = code == SQLITE_OK
               ? sql_tables_register(session->database, &session->traces, "")
               : code;
    code = code == SQLITE_OK ? sql_functions_register(session->database) : code;
    return code == SQLITE_OK ? sql_rules_set(session->database, &session->rules) : code;
}

struct sql_session *sql_session_new(const char *const *paths,
                                    size_t count,
                                    source_strip strip,
                                    struct error *error)
{
    struct sql_session *session = memory_allocate_zeroed(1, sizeof *session);
    int code;

    if (session == NULL) {
        error_set_memory(error);
        return NULL;
    }
    if (!sql_traces_init(&session->traces, paths, count, strip, error)) {
        memory_free(session);
        return NULL;
    }
    sql_memory_use();
    code = open_database(session);
    if (code != SQLITE_OK) {
        set_error(session, code, error);
        sql_session_free(session);
        return NULL;
    }
    return session;
}

void sql_session_free(struct sql_session *session)
{
    if (session != NULL) {
        sqlite3_close(session->database);
        sql_traces_release(&session->traces);
        memory_free(session);
    }
}

void sql_session_interrupt(struct sql_session *session)
{
    atomic_store(&session->traces.is_interrupted, true);
    sqlite3_interrupt(session->database);
}

/* ---- what went wrong ---- */

static void find_unknown(const char *message, struct sql_problem *problem)
{
    static const char *const beginnings[] = {"no such column: ", "no such table: "};

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t size = strlen(beginnings[i]);

        if (strncmp(message, beginnings[i], size) == 0) {
            const char *point = strrchr(message, '.');
            const char *name = point == NULL ? message + size : point + 1;

            snprintf(problem->unknown, sizeof problem->unknown, "%s", name);
        }
    }
}

static bool is_word_byte(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '_' || (unsigned char)byte >= 0x80;
}

/* Where the name stands as a word of its own; text.size where it does not. */
static size_t find_word(struct slice text, struct slice name, size_t start)
{
    size_t found = slice_find(text, name, start);

    while (found < text.size) {
        size_t end = found + name.size;

        if ((found == 0 || !is_word_byte(text.bytes[found - 1])) &&
            (end == text.size || !is_word_byte(text.bytes[end]))) {
            return found;
        }
        found = slice_find(text, name, found + 1);
    }
    return text.size;
}

/* Where SQLite does not tell the place, the name that it does not know is looked for. */
static void find_place(struct sql_session *session,
                       struct slice text,
                       size_t start,
                       struct sql_problem *problem)
{
    int offset = -1;
    size_t found;

#if SQLITE_VERSION_NUMBER >= 3038000
    offset = sqlite3_error_offset(session->database);
#else
    (void)session;
#endif
    if (offset >= 0 && start + (size_t)offset <= text.size) {
        problem->has_place = true;
        problem->offset = start + (size_t)offset;
        return;
    }
    if (problem->unknown[0] == '\0') {
        return;
    }
    found = find_word(text, slice_of(problem->unknown), start);
    if (found < text.size) {
        problem->has_place = true;
        problem->offset = found;
    }
}

static bool fail(struct sql_session *session,
                 int code,
                 struct slice text,
                 size_t start,
                 struct sql_problem *problem,
                 struct error *error)
{
    const char *message = sqlite3_errmsg(session->database);

    if (code == SQLITE_NOMEM) {
        error_set_memory(error);
    } else if (code == SQLITE_INTERRUPT) {
        problem->is_interrupted = true;
        error_set(error, ERROR_USAGE, "interrupted");
    } else if (session->traces.error.kind != ERROR_NONE) {
        *error = session->traces.error;
        session->traces.error = ERROR_INIT;
    } else if (code == SQLITE_AUTH && session->rules.refused[0] != '\0') {
        error_set(error, ERROR_USAGE, "%s", session->rules.refused);
    } else if (code == SQLITE_IOERR || code == SQLITE_FULL || code == SQLITE_CANTOPEN) {
        error_set(error, ERROR_SYSTEM, "%s (a temporary file of SQLite's)", message);
    } else {
        error_set(error, ERROR_USAGE, "%s", message);
        find_unknown(message, problem);
        find_place(session, text, start, problem);
    }
    return false;
}

/* ---- rows ---- */

struct rows {
    const struct sql_print *print; /* borrowed */
    sqlite3_stmt *statement;       /* borrowed */
    int column_count;
    struct sql_layout layout; /* owned; of a TABLE */
    struct buffer names;      /* owned; what stands before each value of JSON */
    struct buffer text;       /* owned; what is not written yet */
    bool is_stopped;          /* nobody reads it any more */
};

static const char *separator(const struct sql_print *print)
{
    return print->format == SQL_TABS ? "\t" : ",";
}

static void add_line_end(struct rows *rows)
{
    switch (rows->print->format) {
    case SQL_CSV:
        buffer_add(&rows->text, SLICE("\r\n"));
        break;
    case SQL_JSON:
        buffer_add(&rows->text, SLICE("}\n"));
        break;
    default:
        buffer_add_byte(&rows->text, '\n');
    }
}

static void add_header(struct rows *rows)
{
    for (int i = 0; i < rows->column_count; i++) {
        const char *name = sqlite3_column_name(rows->statement, i);

        if (name == NULL) {
            rows->text.has_failed = true;
            return;
        }
        if (rows->print->format == SQL_JSON) {
            buffer_add(&rows->names, i == 0 ? SLICE("{") : SLICE(","));
            sql_text_add(&rows->names, rows->print, slice_of(name));
            buffer_add(&rows->names, SLICE(":"));
            buffer_add_byte(&rows->names, '\0');
        } else if (rows->print->has_header) {
            buffer_add(&rows->text, slice_of(i == 0 ? "" : separator(rows->print)));
            sql_text_add(&rows->text, rows->print, slice_of(name));
        }
    }
    if (rows->print->format != SQL_JSON && rows->print->has_header) {
        add_line_end(rows);
    }
}

static void add_row(struct rows *rows)
{
    const char *name = rows->names.bytes;

    for (int i = 0; i < rows->column_count; i++) {
        if (rows->print->format == SQL_JSON) {
            buffer_add(&rows->text, slice_of(name));
            name += strlen(name) + 1;
        } else {
            buffer_add(&rows->text, slice_of(i == 0 ? "" : separator(rows->print)));
        }
        sql_value_add(&rows->text, rows->print, rows->statement, i);
    }
    add_line_end(rows);
}

static void rows_write(struct rows *rows, size_t limit)
{
    if (rows->text.size >= limit && !rows->is_stopped) {
        rows->is_stopped =
            !rows->print->write(rows->print->context, buffer_slice(&rows->text));
        rows->text.size = 0;
    }
}

static bool rows_begin(struct rows *rows)
{
    if (rows->print->format == SQL_TABLE) {
        return sql_layout_init(&rows->layout, rows->print, rows->statement);
    }
    add_header(rows);
    return !rows->text.has_failed && !rows->names.has_failed;
}

static bool rows_add(struct rows *rows)
{
    if (rows->print->format != SQL_TABLE) {
        add_row(rows);
    } else if (!sql_layout_add_row(&rows->layout, rows->statement, &rows->text)) {
        return false;
    }
    rows_write(rows, rows->print->is_terminal ? 1 : WRITE_SIZE);
    return !rows->text.has_failed;
}

static bool rows_end(struct rows *rows)
{
    if (rows->print->format == SQL_TABLE) {
        sql_layout_end(&rows->layout, &rows->text);
    }
    rows_write(rows, 1);
    return !rows->text.has_failed;
}

static void rows_release(struct rows *rows)
{
    if (rows->print->format == SQL_TABLE) {
        sql_layout_release(&rows->layout);
    }
    buffer_release(&rows->names);
    buffer_release(&rows->text);
}

/* Gives SQLite's code: SQLITE_DONE where all went well. */
static int print_rows(sqlite3_stmt *statement,
                      const struct sql_print *print,
                      struct sql_result *result)
{
    struct rows rows = {.print = print,
                        .statement = statement,
                        .column_count = sqlite3_column_count(statement)};
    bool has_memory = rows_begin(&rows);
    uint64_t count = 0;
    int code = SQLITE_DONE;

    while (has_memory && !rows.is_stopped) {
        code = sqlite3_step(statement);
        if (code != SQLITE_ROW) {
            break;
        }
        if (count == print->max_rows) {
            result->has_more = true;
            code = SQLITE_DONE;
            break;
        }
        has_memory = rows_add(&rows);
        count++;
    }
    /* The rows before an error are printed all the same; a heading alone is not. */
    if (has_memory && (code == SQLITE_ROW || code == SQLITE_DONE || count > 0)) {
        has_memory = rows_end(&rows);
    }
    rows_release(&rows);
    result->has_rows = true;
    result->row_count += count;
    return !has_memory ? SQLITE_NOMEM : rows.is_stopped ? SQLITE_DONE : code;
}

static int run_statement(sqlite3_stmt *statement,
                         const struct sql_print *print,
                         struct sql_result *result)
{
    int code;

    if (sqlite3_column_count(statement) > 0) {
        return print_rows(statement, print, result);
    }
    do {
        code = sqlite3_step(statement);
    } while (code == SQLITE_ROW);
    return code;
}

bool sql_session_run(struct sql_session *session,
                     struct slice text,
                     const struct sql_print *print,
                     struct sql_result *result,
                     struct sql_problem *problem,
                     struct error *error)
{
    size_t at = 0;

    *result = (struct sql_result){.row_count = 0};
    *problem = (struct sql_problem){.has_place = false};
    atomic_store(&session->traces.is_interrupted, false);
    if (text.size > SQL_TEXT_MAX) {
        error_set(error, ERROR_USAGE, "a query of more than %d bytes", SQL_TEXT_MAX);
        return false;
    }
    while (at < text.size) {
        sqlite3_stmt *statement = NULL;
        const char *rest = NULL;
        int code;

        session->rules.refused[0] = '\0';
        session->traces.error = ERROR_INIT;
        code = sqlite3_prepare_v2(session->database, text.bytes + at,
                                  (int)(text.size - at), &statement, &rest);
        if (code == SQLITE_OK && statement != NULL) {
            code = run_statement(statement, print, result);
            code = code == SQLITE_DONE ? SQLITE_OK : code;
        }
        if (code != SQLITE_OK) {
            bool is_done = fail(session, code & 0xFF, text, at, problem, error);

            sqlite3_finalize(statement);
            return is_done;
        }
        sqlite3_finalize(statement);
        if (rest == NULL || rest == text.bytes + at) {
            break; /* nothing but what ends the text */
        }
        at = (size_t)(rest - text.bytes);
    }
    return true;
}

/* ---- what is told of the traces ---- */

const char *sql_session_next_damage(struct sql_session *session, size_t trace)
{
    return sql_trace_next_damage(&session->traces.traces[trace]);
}

const struct log_header *sql_session_header(const struct sql_session *session,
                                            size_t trace)
{
    return log_reader_header(session->traces.traces[trace].readers->reader);
}
