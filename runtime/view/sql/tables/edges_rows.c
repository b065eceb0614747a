/* The table `edges`: pairs of events in which the value of the first was an input of the second. */
#include "runtime/view/sql/tables/row_tables.h"

enum column {
    COLUMN_TRACE,
    COLUMN_SOURCE,
    COLUMN_TARGET,
    COLUMN_KIND,
    COLUMN_CERTAIN,
    COLUMN_COUNT
};

static const struct column_rule columns[COLUMN_COUNT] = {
    {"trace", COLUMN_FORM_TEXT, "the trace's file name"},
    {"source", COLUMN_FORM_INTEGER, "seq of the event whose value it was"},
    {"target", COLUMN_FORM_INTEGER, "seq of the event whose value was made from it"},
    {"kind", COLUMN_FORM_TEXT,
     "value: was read to make it; same: the same under another name; write: the value "
     "before a write in place; alias: was changed by writing to the source; shape: "
     "only "
     "its shape, dtype, device or length was read"},
    {"certain", COLUMN_FORM_INTEGER,
     "0: a call that was not recorded had several arguments, and any of them may be "
     "the "
     "source"},
};

static uint64_t guess(const struct sql_trace *trace)
{
    return trace->edges.is_known ? trace->edges.graph.edge_count
                                 : sql_trace_guess_events(trace);
}

static size_t count(const struct sql_trace *trace)
{
    return trace->edges.graph.edge_count;
}

static void
find_source(const struct sql_trace *trace, uint64_t number, size_t *first, size_t *end)
{
    sql_edges_find_source(&trace->edges, number, first, end);
}

static void
find_target(const struct sql_trace *trace, uint64_t number, size_t *first, size_t *end)
{
    sql_edges_find_target(&trace->edges, number, first, end);
}

static size_t by_source(const struct sql_trace *trace, size_t position)
{
    return trace->edges.by_source[position];
}

static void get(struct sql_trace *trace,
                size_t row,
                int column,
                struct buffer *scratch,
                struct column_value *value)
{
    struct sql_edge edge = sql_edges_get(&trace->edges, row);

    (void)scratch;
    if (column == COLUMN_KIND) {
        sql_value_set_text(value, slice_of(sql_edge_kind_text(edge.kind)));
    } else if (column == COLUMN_CERTAIN) {
        sql_value_set_number(value, edge.is_certain);
    } else {
        sql_value_set_number(value,
                             column == COLUMN_SOURCE ? edge.source : edge.target);
    }
}

const struct sql_rows sql_edges_rows = {
    .table = {"edges", "which value was made from which", columns, COLUMN_COUNT},
    .keys = {{.column = COLUMN_TARGET, .find = find_target},
             {.column = COLUMN_SOURCE, .find = find_source, .row = by_source}},
    .key_count = 2,
    .guess = guess,
    .prepare = sql_trace_need_edges,
    .count = count,
    .get = get,
};
