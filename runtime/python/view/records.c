/* The calls, sites and edges of a trace, as JSON. */
#include "runtime/python/view/view.h"

#include "instrument/output/strip.h"
#include "runtime/view/list/json_log.h"
#include "runtime/view/list/site_list.h"
#include "runtime/view/sql/tables/traces.h"
#include "runtime/view/walk/event_rows.h"
#include "runtime/view/walk/open_calls.h"

#include <string.h>

static bool add_calls(struct log_reader *reader, struct buffer *text)
{
    const struct json_log json = {.reader = reader, .trace = SLICE("")};
    struct open_calls calls;
    struct log_item item;
    bool is_done = true;

    open_calls_init(&calls);
    while (is_done && log_reader_next(reader, &item)) {
        struct open_call *call = NULL;
        bool is_new;

        if (item.kind == LOG_CALL) {
            call = open_calls_begin(&calls, &item.call, &is_new);
        } else if (item.kind == LOG_EVENT) {
            call = open_calls_of_event(&calls, &item.event, &is_new);
        } else if (item.kind == LOG_END) {
            call = open_calls_find(&calls, item.end.call);
            if (call != NULL) {
                json_log_add_end(&json, &item, call, text);
                open_calls_end(&calls, call);
            }
            continue;
        } else {
            continue;
        }
        is_done = call != NULL && !text->has_failed;
        if (is_done && !call->is_shown) {
            json_log_add_call(&json, call, text);
        }
    }
    open_calls_release(&calls);
    return is_done && !text->has_failed;
}

static bool add_sites(struct log_reader *reader, struct buffer *text)
{
    struct log_item item;

    while (log_reader_next(reader, &item)) {
        /* Every table stands in the file before what refers to it. */
    }
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);

        for (uint32_t k = 0; k < module->table.site_count; k++) {
            site_list_add(text, module, k, SLICE(""), true);
        }
    }
    return !text->has_failed;
}

/* Edges need a reader of their own, and sources. */
static bool add_edges(const char *path, struct buffer *text, struct error *error)
{
    struct sql_traces traces;
    struct sql_trace *trace;
    bool is_done;

    if (!sql_traces_init(&traces, &path, 1, strip_source, error)) {
        return false;
    }
    trace = traces.traces;
    is_done = sql_trace_need_edges(&traces, trace);
    *error = traces.error;
    for (size_t i = 0; is_done && i < trace->edges.graph.edge_count; i++) {
        struct sql_edge edge = sql_edges_get(&trace->edges, i);

        buffer_add(text, SLICE("{\"record\":\"edge\",\"source\":"));
        buffer_add_number(text, edge.source);
        buffer_add(text, SLICE(",\"target\":"));
        buffer_add_number(text, edge.target);
        buffer_add_format(text, ",\"kind\":\"%s\",\"certain\":%d}\n",
                          sql_edge_kind_text(edge.kind), edge.is_certain);
    }
    sql_traces_release(&traces);
    return is_done && !text->has_failed;
}

static bool
add_records(const char *path, bool has_sites, struct buffer *text, struct error *error)
{
    struct log_reader *reader = log_reader_new(path, error);
    bool is_done;

    if (reader == NULL) {
        return false;
    }
    is_done = has_sites ? add_sites(reader, text) : add_calls(reader, text);
    is_done = is_done && event_rows_has_memory(reader);
    log_reader_free(reader);
    return is_done;
}

const char view_records_doc[] =
    "records(path, table) -> bytes\n\n"
    "The `sites`, `calls` or `edges` of the trace at `path` as lines of JSON: sites "
    "and\n"
    "calls, with their ends, as `monitorch show --json` prints them.";

PyObject *view_records(PyObject *module, PyObject *args)
{
    struct error error = ERROR_INIT;
    struct buffer text = BUFFER_INIT;
    PyObject *records = NULL;
    const char *path;
    const char *table;
    bool is_done;

    (void)module;
    if (!PyArg_ParseTuple(args, "ys:records", &path, &table)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS is_done =
        strcmp(table, "edges") == 0
            ? add_edges(path, &text, &error)
            : add_records(path, strcmp(table, "sites") == 0, &text, &error);
    Py_END_ALLOW_THREADS if (is_done)
    {
        records = PyBytes_FromStringAndSize(text.bytes, (Py_ssize_t)text.size);
    }
    else if (error.kind != ERROR_NONE)
    {
        view_raise(&error);
    }
    else
    {
        PyErr_NoMemory();
    }
    buffer_release(&text);
    return records;
}
