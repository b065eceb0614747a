/* The table `events`, read while it is asked: nothing of it is kept. */
#ifndef MONITORCH_VIEW_SQL_TABLES_EVENTS_H
#define MONITORCH_VIEW_SQL_TABLES_EVENTS_H

#include "runtime/view/sql/tables/tables.h"

int sql_events_register(sqlite3 *database, const char *name, struct sql_traces *traces);

#endif
