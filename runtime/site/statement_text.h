/* Statements in the text of their source: their end, and the places that use a name.
 *
 *     while (line < end) { depth += statement_depth(text of line); if (depth <= 0) break; line++; }
 *
 * Strings and comments count as code, so a bracket in one of them can make a statement longer. */
#ifndef MONITORCH_SITE_STATEMENT_TEXT_H
#define MONITORCH_SITE_STATEMENT_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

/* The largest number of lines that are read as one statement. */
#define STATEMENT_LINES_MAX 30

/* The number of brackets that the line opens, minus those that it closes. */
int statement_depth(struct slice line);

/* Appends the statement at the start of `lines`, up to the line that closes its brackets, with a
 * blank after each line. */
void statement_add(struct buffer *text, struct slice lines);

/* The offset of the first place from `start` on that uses the name and does not assign it.
 * text.size if there is none. */
size_t statement_find_use(struct slice text, struct slice name, size_t start);

#endif
