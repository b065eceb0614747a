/* What a query may do: read the traces, and make temporary tables. */
#ifndef MONITORCH_VIEW_SQL_RULES_H
#define MONITORCH_VIEW_SQL_RULES_H

#include <sqlite3.h>

struct sql_rules {
    char refused[200]; /* what was refused last, and why; "" */
};

/* The rules are borrowed, and outlive the connection. Gives SQLite's code. */
int sql_rules_set(sqlite3 *database, struct sql_rules *rules);

#endif
