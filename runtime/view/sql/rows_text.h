/* The values of a statement's rows as text, for programs. */
#ifndef MONITORCH_VIEW_SQL_ROWS_TEXT_H
#define MONITORCH_VIEW_SQL_ROWS_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/view/sql/print.h"

#include <sqlite3.h>

/* One value, as the form has it, without what stands between values. */
void sql_value_add(struct buffer *text,
                   const struct sql_print *print,
                   sqlite3_stmt *statement,
                   int column);

/* A text, such as a column's name, in the same way. */
void sql_text_add(struct buffer *text,
                  const struct sql_print *print,
                  struct slice added);

/* Of a text, borrowed until the next row; of a blob, its bytes as hexadecimal digits. */
struct slice sql_text_of(sqlite3_stmt *statement, int column);
void sql_blob_add(struct buffer *text, sqlite3_stmt *statement, int column);

#endif
