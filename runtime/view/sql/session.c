/* Asking traces in SQL: the connection, and running statements. */
#include "runtime/view/sql/session.h"

#include "runtime/base/memory.h"
#include "runtime/view/sql/functions.h"
#include "runtime/view/sql/memory.h"
#include "runtime/view/sql/rules.h"
#include "runtime/view/sql/tables/tables.h"

#include <stdio.h>
#include <string.h>

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

/* ---- running ---- */

static int run_statement(sqlite3_stmt *statement,
                         const struct sql_print *print,
                         struct sql_result *result)
{
    int code;

    if (sqlite3_column_count(statement) > 0) {
        result->has_rows = true;
        return sql_print_rows(statement, print, &result->row_count, &result->has_more);
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
