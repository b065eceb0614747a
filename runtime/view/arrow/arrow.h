/* Arrow streams of the tables of traces, in record batches. A stream owns everything that it
 * needs: it opens the traces itself, one after the other, and may outlive its creator.
 *
 * A batch of events needs memory only for itself; the table of calls needs some for each call of
 * a trace, and edges for each event. A trace is opened when a batch needs it, so a missing file
 * is an error only then. */
#ifndef MONITORCH_VIEW_ARROW_ARROW_H
#define MONITORCH_VIEW_ARROW_ARROW_H

#include "runtime/base/error.h"
#include "runtime/view/arrow/interface.h"
#include "runtime/view/sql/tables/row_tables.h"
#include "runtime/view/walk/event_columns.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>

/* Limit of the rows of a batch. A batch with long texts has fewer. */
#define ARROW_BATCH_ROWS 65536

struct arrow_condition {
    const char *option; /* option of `monitorch show` */
    const char *text;
};

/* The contents of a stream. arrow_stream_make copies them. */
struct arrow_request {
    const char *const *paths;
    size_t path_count;
    const struct sql_rows *rows; /* NULL: the table of events */
    /* For events only: */
    const enum event_column *columns;
    size_t column_count;
    const struct arrow_condition *conditions;
    size_t condition_count;
    /* For the table of sites. */
    source_strip strip;
    /* Called once for each damaged trace, at its end, from the thread that reads the stream. May
     * be NULL. */
    void (*report)(const char *path, const char *damage);
};

/* Returns false if a condition is invalid (ERROR_USAGE) or memory runs out; the stream is empty
 * then. */
bool arrow_stream_make(struct ArrowArrayStream *stream,
                       const struct arrow_request *request,
                       struct error *error);

#endif
