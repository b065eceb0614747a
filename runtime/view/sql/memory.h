/* SQLite's memory, from where all memory comes. */
#ifndef MONITORCH_VIEW_SQL_MEMORY_H
#define MONITORCH_VIEW_SQL_MEMORY_H

/* Call before anything else of SQLite. */
void sql_memory_use(void);

#endif
