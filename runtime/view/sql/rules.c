/* What a query may do: read the traces, and make temporary tables. */
#include "runtime/view/sql/rules.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Pragmas that only tell something. */
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

/* Rows that are written or deleted: in SQLite's own tables that makes or drops one, `whole`. */
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
        /* Asked too when a table such as json_each is first named. It cannot be written. */
        return is_temporary(database) || strcmp(first, "sqlite_master") == 0
                   ? SQLITE_OK
                   : refuse(rules, "update of", first);
    case SQLITE_DELETE:
        return judge_rows(rules, database, first, "delete from",
                          "drop of what is not temporary");
    case SQLITE_REINDEX:
        return SQLITE_OK; /* asked when a temporary index is made */
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

int sql_rules_set(sqlite3 *database, struct sql_rules *rules)
{
    /* Nothing that is no statement may either; and no expression goes too deep. */
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    return sqlite3_set_authorizer(database, judge, rules);
}
