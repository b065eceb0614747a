/* Rows of comma-separated values as RFC 4180 has them. */
#ifndef MONITORCH_VIEW_LIST_CSV_TEXT_H
#define MONITORCH_VIEW_LIST_CSV_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/view/walk/event_columns.h"

/* Numbers are exact; a value that is not there is an empty field without quotes. A text stands
 * in quotes where it holds a comma, a quote, a line end or a blank at an end, or is empty. One
 * that begins like a formula (=, +, -, @, tab, carriage return) gets a ' in front: spreadsheets
 * would run it. Control characters but tabs and line ends become `?`. */
void csv_value_add(struct buffer *text, const struct column_value *value);

/* The end of a row. */
#define CSV_ROW_END SLICE("\r\n")

#endif
