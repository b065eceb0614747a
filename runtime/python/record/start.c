/* The function `start` of the module: what is recorded, and how. */
#include "runtime/array/sample.h"
#include "runtime/base/file/mapping.h"
#include "runtime/base/memory.h"
#include "runtime/python/record/session.h"

#include <unistd.h>

/* The names as C texts that live as long as `texts`, a tuple of bytes. */
static const char **read_names(PyObject *texts)
{
    Py_ssize_t count = PyTuple_Size(texts);
    const char **names = memory_allocate((size_t)count + 1, sizeof(*names));

    if (names == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        names[i] = PyBytes_AsString(PyTuple_GetItem(texts, i));
        if (names[i] == NULL) {
            memory_free(names);
            return NULL;
        }
    }
    return names;
}

/* A number of values, or what tables show: (vector, matrix, slices). */
static bool read_sample(PyObject *sample, uint32_t *limit)
{
    unsigned long long vector, matrix, slices;
    unsigned long number;

    if (PyTuple_Check(sample)) {
        if (!PyArg_ParseTuple(sample, "KKK;sample must be a number or three", &vector,
                              &matrix, &slices)) {
            return false;
        }
        *limit = sample_tables(vector, matrix, slices);
        return true;
    }
    number = PyLong_AsUnsignedLong(sample);
    if (PyErr_Occurred()) {
        return false;
    }
    if (number > SAMPLE_MAX) {
        PyErr_Format(PyExc_ValueError, "sample must be at most %d, not %lu", SAMPLE_MAX,
                     number);
        return false;
    }
    *limit = (uint32_t)number | (number >= SAMPLE_WHOLE_MAX ? SAMPLE_WHOLE : 0);
    return true;
}

static bool check_options(const struct recorder_options *options)
{
    if (options->every == 0) {
        PyErr_SetString(PyExc_ValueError, "every must be at least 1, not 0");
        return false;
    }
    return true;
}
/* What the call asks for. */
struct request {
    PyObject *path; /* owned: bytes */
    PyObject
        *sample; /* borrowed from the call, as the next two; may be NULL, as those */
    PyObject *globs;
    PyObject *origin;                /* a tuple */
    struct recorder_options options; /* names: owned */
    int is_one_thread, is_quiet, is_whole;
    unsigned stop;
};

static bool
read_arguments(struct request *request, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {
        "path",  "sample",  "last",         "size_limit",  "stats",  "hash",
        "names", "every",   "max_elements", "one_thread",  "quiet",  "sources",
        "stop",  "imports", "whole",        "all_scalars", "origin", NULL};
    unsigned long long last = 0, size_limit = 0, every = 1, element_limit = 0;
    int has_statistics = 1, has_hash = 1, has_sources = 0, has_imports = 0,
        has_all_scalars = 0;
    struct recorder_options *options = &request->options;

    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "O&|$OKKppO!KKpppIpppO!:start", names,
            PyUnicode_FSConverter, &request->path, &request->sample, &last, &size_limit,
            &has_statistics, &has_hash, &PyTuple_Type, &request->globs, &every,
            &element_limit, &request->is_one_thread, &request->is_quiet, &has_sources,
            &request->stop, &has_imports, &request->is_whole, &has_all_scalars,
            &PyTuple_Type, &request->origin)) {
        return false;
    }
    options->log.last = last;
    options->log.size_limit = size_limit;
    options->log.leaves_space = true;
    options->has_statistics = has_statistics;
    options->has_hash = has_hash;
    options->every = every;
    options->has_sources = has_sources;
    options->has_imports = has_imports;
    options->leaves_out = !has_all_scalars;
    options->element_limit = element_limit;
    return true;
}

/* (start and process of the recording that this one is a child's of, number of the job) */
static bool read_origin(PyObject *tuple, struct log_origin *origin)
{
    unsigned long long start, job;
    unsigned process;

    if (!PyArg_ParseTuple(tuple, "KIK;origin must be three numbers", &start, &process,
                          &job)) {
        return false;
    }
    *origin =
        (struct log_origin){.root_start = start, .root_process = process, .job = job};
    return true;
}

static bool read_options(struct request *request)
{
    struct recorder_options *options = &request->options;

    if (request->origin != NULL &&
        !read_origin(request->origin, &options->log.origin)) {
        return false;
    }
    options->log.sample = SAMPLE_DEFAULT | SAMPLE_WHOLE;
    if ((request->sample != NULL &&
         !read_sample(request->sample, &options->log.sample)) ||
        !check_options(options)) {
        return false;
    }
    if (request->globs == NULL) {
        return true;
    }
    options->names = read_names(request->globs);
    options->name_count = (size_t)PyTuple_Size(request->globs);
    return options->names != NULL;
}

static PyObject *start(struct session *session, struct request *request)
{
    struct recorder_options *options = &request->options;
    PyObject *result;

    if (!session_make_room(session) || !read_options(request)) {
        return NULL;
    }
    options->log.before_seal = session_flush_devices;
    options->log.seal_context = session;
    options->tap = tracking_tap(session->tracking);
    result = session_begin(session, PyBytes_AsString(request->path), options,
                           request->is_one_thread, request->is_whole);
    session->is_quiet = request->is_quiet;
    if (result != NULL) {
        stop_begin(&session->stop, options->has_statistics ? request->stop : 0);
    }
    return result;
}

PyObject *session_start(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    struct request request = {0};
    PyObject *result;

    if (!read_arguments(&request, arguments, keywords)) {
        return NULL;
    }
    result = start(PyModule_GetState(module), &request);
    memory_free((void *)request.options.names);
    Py_DECREF(request.path);
    return result;
}

PyObject *session_remove_trace(PyObject *module, PyObject *arguments)
{
    struct error ignored = ERROR_INIT;
    struct mapping file;
    PyObject *path;
    bool is_removed;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "O&:remove_trace", PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    is_removed = mapping_open_to_read(&file, PyBytes_AsString(path), &ignored);
    if (is_removed) {
        is_removed = mapping_lock(&file) && unlink(PyBytes_AsString(path)) == 0;
        mapping_close(&file);
    }
    Py_DECREF(path);
    return PyBool_FromLong(is_removed);
}
