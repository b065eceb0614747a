/* Functions that queries may use beside SQLite's own. */
#ifndef MONITORCH_VIEW_SQL_FUNCTIONS_H
#define MONITORCH_VIEW_SQL_FUNCTIONS_H

#include <sqlite3.h>

/* `regexp` (x regexp y: POSIX extended), and sqrt, log and the like where SQLite was built
 * without them. Gives SQLite's code. */
int sql_functions_register(sqlite3 *database);

#endif
