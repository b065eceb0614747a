/* The calls and sites of a trace. */
#include "runtime/python/view/error.h"
#include "runtime/python/view/load.h"
#include "runtime/view/list/json_log.h"
#include "runtime/view/list/site_list.h"
#include "runtime/view/walk/open_calls.h"

bool view_has_memory(const struct log_reader *reader)
{
    size_t count = log_reader_damage_count(reader);

    for (size_t i = 0; i < count; i++) {
        if (strstr(log_reader_damage(reader, i), "out of memory") != NULL) {
            return false;
        }
    }
    return true;
}

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

const char view_records_doc[] =
    "records(path, has_sites) -> bytes\n\n"
    "The sites of the trace at `path`, else its calls and their ends, as the lines of\n"
    "`monitorch show --json` that describe them.";

PyObject *view_records(PyObject *module, PyObject *args)
{
    struct error error = ERROR_INIT;
    struct buffer text = BUFFER_INIT;
    struct log_reader *reader;
    PyObject *records = NULL;
    const char *path;
    int has_sites;
    bool is_done = false;

    (void)module;
    if (!PyArg_ParseTuple(args, "yp:records", &path, &has_sites)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS reader = log_reader_new(path, &error);
    if (reader != NULL) {
        is_done = has_sites ? add_sites(reader, &text) : add_calls(reader, &text);
        is_done = is_done && view_has_memory(reader);
        log_reader_free(reader);
    }
    Py_END_ALLOW_THREADS if (reader == NULL)
    {
        view_raise(&error);
    }
    else if (!is_done)
    {
        PyErr_NoMemory();
    }
    else
    {
        records = PyBytes_FromStringAndSize(text.bytes, (Py_ssize_t)text.size);
    }
    buffer_release(&text);
    return records;
}
