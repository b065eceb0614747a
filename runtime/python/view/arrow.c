/* Tables of traces as Arrow streams, in capsules. */
#include "runtime/python/view/view.h"

#include "instrument/output/strip.h"
#include "runtime/base/memory.h"
#include "runtime/python/view/load.h"
#include "runtime/view/arrow/arrow.h"

#include <stdio.h>
#include <string.h>

#define STREAM  "arrow_array_stream"
#define SCHEMA  "arrow_schema"
#define WARNING "%s: %s; the stream ended with what could be read"

/* ---- capsules ---- */

static void release_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, STREAM);

    if (stream->release != NULL) {
        stream->release(stream);
    }
    memory_free(stream);
}

static void release_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, SCHEMA);

    if (schema->release != NULL) {
        schema->release(schema);
    }
    memory_free(schema);
}

/* The stream's schema, after which the stream is released. */
static PyObject *schema_new(struct ArrowArrayStream *stream)
{
    struct ArrowSchema *schema = memory_allocate(1, sizeof *schema);
    PyObject *capsule = NULL;

    if (schema == NULL || stream->get_schema(stream, schema) != 0) {
        stream->release(stream);
        memory_free(schema);
        return PyErr_NoMemory();
    }
    stream->release(stream);
    capsule = PyCapsule_New(schema, SCHEMA, release_schema);
    if (capsule == NULL) {
        schema->release(schema);
        memory_free(schema);
    }
    return capsule;
}

static PyObject *stream_new(const struct ArrowArrayStream *made)
{
    struct ArrowArrayStream *stream = memory_allocate(1, sizeof *stream);
    struct ArrowArrayStream unwanted = *made;
    PyObject *capsule = NULL;

    if (stream == NULL) {
        unwanted.release(&unwanted);
        return PyErr_NoMemory();
    }
    *stream = *made;
    capsule = PyCapsule_New(stream, STREAM, release_stream);
    if (capsule == NULL) {
        unwanted.release(&unwanted);
        memory_free(stream);
    }
    return capsule;
}

/* ---- damage ---- */

/* In the main thread, which holds the GIL. */
static int warn(void *context)
{
    char *text = context;
    int result = PyErr_WarnEx(PyExc_RuntimeWarning, text, 1);

    memory_free(text);
    return result;
}

/* From any thread, with the GIL or without it. */
static void report_damage(const char *path, const char *damage)
{
    size_t size = strlen(path) + strlen(damage) + sizeof WARNING;
    char *text = memory_allocate(size, 1);

    if (text == NULL) {
        return;
    }
    snprintf(text, size, WARNING, path, damage);
    if (Py_AddPendingCall(warn, text) < 0) {
        memory_free(text);
    }
}

/* ---- requests ---- */

static const struct sql_rows *find_rows(const char *table)
{
    static const struct sql_rows *const all[] = {&sql_sites_rows, &sql_calls_rows,
                                                 &sql_edges_rows};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i]->table.name, table) == 0) {
            return all[i];
        }
    }
    return NULL;
}

struct request {
    struct arrow_request wanted;
    const char **paths;                 /* owned */
    struct arrow_condition *conditions; /* owned */
    enum event_column *columns;         /* owned */
};

static void request_release(struct request *request)
{
    memory_free(request->paths);
    memory_free(request->conditions);
    memory_free(request->columns);
}

static int read_paths(struct request *request, PyObject *paths)
{
    size_t count = (size_t)PyTuple_Size(paths);

    request->paths = memory_allocate(count, sizeof *request->paths);
    if (request->paths == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *path = PyTuple_GetItem(paths, (Py_ssize_t)i);

        request->paths[i] = path == NULL ? NULL : PyBytes_AsString(path);
        if (request->paths[i] == NULL) {
            return -1;
        }
    }
    request->wanted.paths = request->paths;
    request->wanted.path_count = count;
    return 0;
}

static int read_conditions(struct request *request, PyObject *conditions)
{
    size_t count = (size_t)PyTuple_Size(conditions);

    request->conditions = memory_allocate(count, sizeof *request->conditions);
    if (request->conditions == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *condition = PyTuple_GetItem(conditions, (Py_ssize_t)i);

        if (condition == NULL ||
            !PyArg_ParseTuple(condition, "ss", &request->conditions[i].option,
                              &request->conditions[i].text)) {
            return -1;
        }
    }
    request->wanted.conditions = request->conditions;
    request->wanted.condition_count = count;
    return 0;
}

static int read_columns(struct request *request, PyObject *names)
{
    bool has_trace = request->wanted.path_count > 1;

    return load_find_columns(names, has_trace, &request->columns,
                             &request->wanted.column_count);
}

static PyObject *make(struct request *request, bool is_schema)
{
    struct error error = ERROR_INIT;
    struct ArrowArrayStream stream;

    request->wanted.columns = request->columns;
    request->wanted.strip = strip_source;
    request->wanted.report = report_damage;
    if (!arrow_stream_make(&stream, &request->wanted, &error)) {
        view_raise(&error);
        return NULL;
    }
    return is_schema ? schema_new(&stream) : stream_new(&stream);
}

const char view_arrow_doc[] =
    "arrow(table, paths, columns, conditions, is_schema) -> capsule\n\n"
    "The table `events`, `sites`, `calls` or `edges` of the traces at `paths`, a tuple "
    "of\n"
    "bytes, as an Arrow stream, or its schema. `columns` and `conditions` are of "
    "events,\n"
    "as open() has them.";

PyObject *view_arrow(PyObject *module, PyObject *args)
{
    struct request request = {.paths = NULL};
    PyObject *paths;
    PyObject *columns;
    PyObject *conditions;
    PyObject *capsule = NULL;
    const char *table;
    int is_schema;

    (void)module;
    if (!PyArg_ParseTuple(args, "sO!OO!p:arrow", &table, &PyTuple_Type, &paths,
                          &columns, &PyTuple_Type, &conditions, &is_schema)) {
        return NULL;
    }
    request.wanted.rows = find_rows(table);
    if (request.wanted.rows == NULL && strcmp(table, "events") != 0) {
        PyErr_Format(PyExc_ValueError, "there is no table %.80s", table);
        return NULL;
    }
    if (read_paths(&request, paths) == 0 &&
        read_conditions(&request, conditions) == 0 &&
        read_columns(&request, columns) == 0) {
        capsule = make(&request, is_schema != 0);
    }
    request_release(&request);
    return capsule;
}
