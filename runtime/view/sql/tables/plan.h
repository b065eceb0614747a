/* How a scan of `events` is planned: which constraints are tried by it, and what it costs. */
#ifndef MONITORCH_VIEW_SQL_TABLES_PLAN_H
#define MONITORCH_VIEW_SQL_TABLES_PLAN_H

#include "runtime/view/sql/tables/tables.h"

/* So many constraints are handed over; others SQLite tries itself. */
#define SQL_PLAN_TEST_MAX 15

/* What idxNum tells. */
enum sql_plan {
    SQL_PLAN_MODULE = 1,  /* the column `module` is used */
    SQL_PLAN_ONE_ROW = 2, /* seq is given */
};

/* xBestIndex. */
int sql_plan_events(sqlite3_vtab *base, sqlite3_index_info *info);

/* The constraint at `index` of those that idxStr tells. */
void sql_plan_read(const char *text, int index, int *column, unsigned char *operator_);

#endif
