/* Rows of comma-separated values in the format of RFC 4180. */
#ifndef MONITORCH_VIEW_LIST_CSV_TEXT_H
#define MONITORCH_VIEW_LIST_CSV_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/view/walk/event_columns.h"

/* Appends a field. Numbers are exact; a missing value is an empty field without quotes. A text
 * is quoted if it contains a comma, a quote or a line end, if a blank is at one of its ends, or
 * if it is empty. A text that starts like a formula (=, +, -, @, tab, carriage return) gets a '
 * before it, since spreadsheets would run it. Control characters except tabs and line ends
 * become `?`. */
void csv_value_add(struct buffer *text, const struct column_value *value);

/* The end of a row. */
#define CSV_ROW_END SLICE("\r\n")

#endif
