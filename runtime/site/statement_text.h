/* A statement in the text of its source: how far it reaches, and where it uses a name.
 *
 *     while (line < end) { depth += statement_depth(text of line); if (depth <= 0) break; line++; }
 *
 * Strings and comments count as code, so a bracket in one of them can make a statement longer. */
#ifndef MONITORCH_SITE_STATEMENT_TEXT_H
#define MONITORCH_SITE_STATEMENT_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

/* A statement is read for so many lines. */
#define STATEMENT_LINES_MAX 30

/* The brackets that the line opens less those that it closes. */
int statement_depth(struct slice line);

/* Appends the statement at the start of `lines`, up to the line that closes its brackets, with a
 * blank behind each line. */
void statement_add(struct buffer *text, struct slice lines);

/* The first place from `start` on where the name is used and not assigned; text.size: there is
 * none. */
size_t statement_find_use(struct slice text, struct slice name, size_t start);

#endif
