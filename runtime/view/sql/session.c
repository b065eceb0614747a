/* SQL sessions over traces: the connection, its rules and functions, the schema, and the running
 * of statements. */
#include "runtime/view/sql/session.h"

#include "runtime/base/memory.h"
#include "runtime/view/sql/tables/tables.h"
#include "runtime/view/words/paint.h"

#include <assert.h>
#include <math.h>
#include <regex.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* SQLite's allocator, which uses the program's own one, so that tests can make its allocations
 * fail. */

/* The size of a block is stored before it, since SQLite asks for it. The head keeps the block
 * aligned. */
#define HEAD_SIZE 16

static void *block_of(void *bytes)
{
    return bytes == NULL ? NULL : (char *)bytes - HEAD_SIZE;
}

static void *bytes_of(void *block, int size)
{
    if (block == NULL) {
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    return (char *)block + HEAD_SIZE;
}

static void *sql_allocate(int size)
{
    return bytes_of(memory_allocate((size_t)size + HEAD_SIZE, 1), size);
}

static void *sql_resize(void *bytes, int size)
{
    return bytes_of(memory_resize(block_of(bytes), (size_t)size + HEAD_SIZE, 1), size);
}

static void sql_free(void *bytes)
{
    memory_free(block_of(bytes));
}

static int sql_size(void *bytes)
{
    int size = 0;

    if (bytes != NULL) {
        memcpy(&size, block_of(bytes), sizeof size);
    }
    return size;
}

static int sql_round_up(int size)
{
    return (size + 7) & ~7;
}

static int sql_start(void *context)
{
    (void)context;
    return SQLITE_OK;
}

static void sql_stop(void *context)
{
    (void)context;
}

void sql_memory_use(void)
{
    static const struct sqlite3_mem_methods methods = {
        .xMalloc = sql_allocate,
        .xFree = sql_free,
        .xRealloc = sql_resize,
        .xSize = sql_size,
        .xRoundup = sql_round_up,
        .xInit = sql_start,
        .xShutdown = sql_stop,
    };

    /* The calls fail if SQLite was used before; SQLite keeps its own allocator then. */
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

struct sql_rules {
    char refused[200]; /* the last refusal and its reason; "" */
};

/* Functions for queries, in addition to SQLite's own. */

#define PURE (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

static void regex_free(void *pattern)
{
    regfree(pattern);
    memory_free(pattern);
}

static regex_t *regex_new(sqlite3_context *context, const char *text)
{
    regex_t *pattern = memory_allocate(1, sizeof *pattern);
    char message[200] = "regexp: ";
    int code;

    if (pattern == NULL) {
        sqlite3_result_error_nomem(context);
        return NULL;
    }
    code = regcomp(pattern, text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        regerror(code, pattern, message + 8, sizeof message - 8);
        sqlite3_result_error(context, message, -1);
        memory_free(pattern);
        return NULL;
    }
    return pattern;
}

/* The SQL function regexp(pattern, text), for `text regexp pattern`. A pattern is compiled once
 * for each query. */
static void regexp(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    const char *pattern_text = (const char *)sqlite3_value_text(arguments[0]);
    const char *text = (const char *)sqlite3_value_text(arguments[1]);
    regex_t *pattern = sqlite3_get_auxdata(context, 0);
    int is_match;

    (void)count;
    if (pattern_text == NULL || text == NULL) {
        return;
    }
    if (pattern != NULL) {
        sqlite3_result_int(context, regexec(pattern, text, 0, NULL, 0) == 0);
        return;
    }
    pattern = regex_new(context, pattern_text);
    if (pattern != NULL) {
        is_match = regexec(pattern, text, 0, NULL, 0) == 0;
        sqlite3_result_int(context, is_match);
        sqlite3_set_auxdata(context, 0, pattern, regex_free);
    }
}

static double log_10(double x)
{
    return log10(x);
}

struct math_function {
    const char *name;
    double (*compute)(double);
};

/* An SQL function of one number. NULL if the argument is no number or the result is NaN, as in
 * SQLite's own functions. */
static void math(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    const struct math_function *function = sqlite3_user_data(context);
    int type = sqlite3_value_numeric_type(arguments[0]);

    (void)count;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        sqlite3_result_double(context,
                              function->compute(sqlite3_value_double(arguments[0])));
    }
}

static void power(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    (void)count;
    if (sqlite3_value_numeric_type(arguments[0]) != SQLITE_NULL &&
        sqlite3_value_numeric_type(arguments[1]) != SQLITE_NULL) {
        sqlite3_result_double(context, pow(sqlite3_value_double(arguments[0]),
                                           sqlite3_value_double(arguments[1])));
    }
}

static int register_math(sqlite3 *database)
{
    /* Not const, since SQLite takes a plain pointer. Only math() reads it. */
    static struct math_function functions[] = {
        {"sqrt", sqrt},    {"exp", exp},   {"ln", log},      {"log", log_10},
        {"log10", log_10}, {"log2", log2}, {"floor", floor}, {"ceil", ceil},
    };
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && i < sizeof functions / sizeof *functions;
         i++) {
        code = sqlite3_create_function(database, functions[i].name, 1, PURE,
                                       &functions[i], math, NULL, NULL);
    }
    code = code == SQLITE_OK ? sqlite3_create_function(database, "pow", 2, PURE, NULL,
                                                       power, NULL, NULL)
                             : code;
    return code;
}

/* Registers `regexp` (POSIX extended), and functions such as sqrt and log if SQLite was built
 * without them. Returns SQLite's code. */
static int sql_functions_register(sqlite3 *database)
{
    int code =
        sqlite3_create_function(database, "regexp", 2, PURE, NULL, regexp, NULL, NULL);

    if (code == SQLITE_OK && !sqlite3_compileoption_used("ENABLE_MATH_FUNCTIONS")) {
        code = register_math(database);
    }
    return code;
}

/* The rules for queries: they may read the traces and create temporary tables. */

/* Whether the pragma changes nothing. */
static bool pragma_is_harmless(const char *name)
{
    static const char *const names[] = {
        "collation_list", "compile_options", "database_list", "function_list",
        "index_info",     "index_list",      "index_xinfo",   "module_list",
        "pragma_list",    "table_info",      "table_list",    "table_xinfo",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (sqlite3_stricmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_temporary(const char *database)
{
    return database != NULL && strcmp(database, "temp") == 0;
}

static int refuse(struct sql_rules *rules, const char *what, const char *name)
{
    snprintf(
        rules->refused, sizeof rules->refused,
        "%s%s%.60s is refused: traces are only read (create temp table … is possible)",
        what, name == NULL ? "" : " ", name == NULL ? "" : name);
    return SQLITE_DENY;
}

/* Judges rows that are inserted or deleted. In SQLite's own tables they create or drop a table,
 * which is named `whole`. */
static int judge_rows(struct sql_rules *rules,
                      const char *database,
                      const char *table,
                      const char *rows,
                      const char *whole)
{
    if (is_temporary(database)) {
        return SQLITE_OK;
    }
    return strncmp(table, "sqlite_", 7) == 0 ? refuse(rules, whole, NULL)
                                             : refuse(rules, rows, table);
}

static int judge(void *context,
                 int action,
                 const char *first,
                 const char *second,
                 const char *database,
                 const char *within)
{
    struct sql_rules *rules = context;

    (void)within;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return second != NULL && sqlite3_stricmp(second, "load_extension") == 0
                   ? refuse(rules, "load_extension", NULL)
                   : SQLITE_OK;
    case SQLITE_INSERT:
        return judge_rows(rules, database, first, "insert into",
                          "a table that is not temporary");
    case SQLITE_UPDATE:
        /* SQLite also asks this when a query first names a table such as json_each. SQLite
         * itself protects sqlite_master. */
        return is_temporary(database) || strcmp(first, "sqlite_master") == 0
                   ? SQLITE_OK
                   : refuse(rules, "update of", first);
    case SQLITE_DELETE:
        return judge_rows(rules, database, first, "delete from",
                          "drop of what is not temporary");
    case SQLITE_REINDEX:
        return SQLITE_OK; /* asked when a temporary index is created */
    case SQLITE_PRAGMA:
        return pragma_is_harmless(first) ? SQLITE_OK : refuse(rules, "pragma", first);
    case SQLITE_ATTACH:
        return refuse(rules, "attach", NULL);
    case SQLITE_DETACH:
        return refuse(rules, "detach", NULL);
    default:
        return refuse(rules, "this statement", NULL);
    }
}

/* Sets the rules, which are borrowed and must outlive the connection. Returns SQLite's code. */
static int sql_rules_set(sqlite3 *database, struct sql_rules *rules)
{
    /* Also prevents changes by means other than statements, and attached databases. */
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    return sqlite3_set_authorizer(database, judge, rules);
}

/* Description of the tables, for people. */

#define NAME_WIDTH 14
#define TYPE_WIDTH 9

static void
add_table(struct buffer *text, const struct sql_table *table, bool has_color)
{
    paint_start(text, has_color, PAINT_CALL);
    buffer_add(text, slice_of(table->name));
    paint_end(text, has_color);
    buffer_add(text, SLICE(": "));
    buffer_add(text, slice_of(table->what));
    buffer_add_byte(text, '\n');
    for (int i = 0; i < table->column_count; i++) {
        const struct column_rule *column = &table->columns[i];
        const char *type = sql_column_type(column);

        buffer_add_format(text, "  %-*s", NAME_WIDTH, column->name);
        paint_start(text, has_color, PAINT_FAINT);
        buffer_add_format(text, "%-*s", TYPE_WIDTH, type[0] == '\0' ? "number" : type);
        paint_end(text, has_color);
        buffer_add(text, slice_of(column->what));
        buffer_add_byte(text, '\n');
    }
}

bool sql_schema_add(struct buffer *text, const char *name, bool has_color)
{
    bool is_found = false;

    for (int i = 0; i < SQL_TABLE_COUNT; i++) {
        if (name != NULL && sqlite3_stricmp(name, sql_tables[i]->name) != 0) {
            continue;
        }
        if (is_found) {
            buffer_add_byte(text, '\n');
        }
        add_table(text, sql_tables[i], has_color);
        is_found = true;
    }
    return is_found;
}

const char *sql_schema_name(size_t index)
{
    for (int i = 0; i < SQL_TABLE_COUNT; i++) {
        const struct sql_table *table = sql_tables[i];

        if (index == 0) {
            return table->name;
        }
        index--;
        if (index < (size_t)table->column_count) {
            return table->columns[index].name;
        }
        index -= (size_t)table->column_count;
    }
    return NULL;
}

bool sql_is_complete(const char *text)
{
    return sqlite3_complete(text) != 0;
}

bool sql_is_blank(const char *text)
{
    while (*text != '\0') {
        if (strncmp(text, "--", 2) == 0) {
            text += strcspn(text, "\n");
        } else if (strncmp(text, "/*", 2) == 0) {
            text = strstr(text + 2, "*/");
            if (text == NULL) {
                return true;
            }
            text += 2;
        } else if (strchr(" \t\r\n\f;", *text) != NULL) {
            text++;
        } else {
            return false;
        }
    }
    return true;
}

/* The maximal size of a query, in bytes. */
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

/* ---- errors ---- */

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

/* The place of the name as a whole word, or text.size. */
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

/* Finds the place of an error. If SQLite does not give it, the place is that of the unknown
 * name. */
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
            break; /* only blanks or comments are left */
        }
        at = (size_t)(rest - text.bytes);
    }
    return true;
}

/* ---- facts about the traces ---- */

const char *sql_session_next_damage(struct sql_session *session, size_t trace)
{
    assert(trace < session->traces.count);
    return sql_trace_next_damage(&session->traces.traces[trace]);
}

const struct log_header *sql_session_header(const struct sql_session *session,
                                            size_t trace)
{
    assert(trace < session->traces.count);
    return log_reader_header(session->traces.traces[trace].readers->reader);
}
