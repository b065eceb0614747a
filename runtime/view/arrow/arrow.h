/* Tables of traces as Arrow streams of record batches. A stream owns all that it needs: it opens the traces
 * itself, one after the other, and lives on when whoever made it is gone.
 *
 * Batches of events need memory for themselves alone; calls need some for each call of one trace, and edges
 * for each event of one. A trace is read when a batch asks for it; so it fails then if it is not there. */
#ifndef MONITORCH_VIEW_ARROW_ARROW_H
#define MONITORCH_VIEW_ARROW_ARROW_H

#include "runtime/base/error.h"
#include "runtime/view/arrow/interface.h"
#include "runtime/view/sql/tables/row_tables.h"
#include "runtime/view/walk/event_columns.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>

/* The most rows of a batch; fewer where its texts are long. */
#define ARROW_BATCH_ROWS 65536

struct arrow_condition {
    const char *option; /* of `monitorch show` */
    const char *text;
};

/* What a stream is made of: copied. */
struct arrow_request {
    const char *const *paths;
    size_t path_count;
    const struct sql_rows *rows; /* NULL: events */
    /* Of events alone: */
    const enum event_column *columns;
    size_t column_count;
    const struct arrow_condition *conditions;
    size_t condition_count;
    /* For sites. */
    source_strip strip;
    /* Called with the damage of a trace, once for each that has some, at its end; from whatever thread
     * reads the stream. May be NULL. */
    void (*report)(const char *path, const char *damage);
};

/* false: a condition makes no sense (ERROR_USAGE), or memory ran out; the stream is empty. */
bool arrow_stream_make(struct ArrowArrayStream *stream,
                       const struct arrow_request *request,
                       struct error *error);

#endif
