/* Call trees and their graphs, for monitorch.spy.graph. */
#include "runtime/python/view/calls.h"

#include "runtime/base/memory.h"
#include "runtime/python/view/error.h"
#include "runtime/view/calls/graph.h"
#include "runtime/view/calls/trace.h"

/* ---- paths ---- */

const char view_call_paths_doc[] = "call_paths(path) -> list\n\n"
                                   "The modules called, as (path, shape), of a file: a "
                                   "trace (.mtrace), or paths line by\n"
                                   "line. `path` is bytes.";

static PyObject *paths_new(const struct call_trace *trace)
{
    PyObject *paths = PyList_New((Py_ssize_t)trace->count);

    for (size_t i = 0; i < trace->count && paths != NULL; i++) {
        PyObject *path = call_text_new(trace->paths[i].path);
        PyObject *shape = call_text_new(trace->paths[i].shape);
        PyObject *both =
            path == NULL || shape == NULL ? NULL : PyTuple_Pack(2, path, shape);

        Py_XDECREF(path);
        Py_XDECREF(shape);
        if (both == NULL || PyList_SetItem(paths, (Py_ssize_t)i, both) < 0) {
            Py_CLEAR(paths);
        }
    }
    return paths;
}

PyObject *view_call_paths(PyObject *module, PyObject *path)
{
    struct call_trace trace;
    struct error error = ERROR_INIT;
    PyObject *paths = NULL;
    const char *name = PyBytes_AsString(path);
    PyThreadState *thread;
    bool is_read;

    (void)module;
    if (name == NULL) {
        return NULL;
    }
    call_trace_init(&trace);
    thread = PyEval_SaveThread();
    is_read = call_trace_read(&trace, name, &error);
    PyEval_RestoreThread(thread);
    if (is_read) {
        paths = paths_new(&trace);
    } else {
        view_raise(&error);
    }
    call_trace_release(&trace);
    return paths;
}

/* ---- trees ---- */

const char view_call_tree_doc[] =
    "call_tree(paths) -> list\n\n"
    "The tree of a list of (path, shape): a list of nodes.";

/* `kept` holds what the paths are borrowed from. */
static int
paths_read(PyObject *given, PyObject *kept, struct call_path *paths, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *both = PyList_GetItem(given, i);

        if (!PyTuple_Check(both) || PyTuple_Size(both) != 2) {
            PyErr_SetString(PyExc_TypeError, "expected (path, shape)");
            return -1;
        }
        if (call_text_keep(PyTuple_GetItem(both, 0), kept, &paths[i].path) < 0 ||
            call_text_keep(PyTuple_GetItem(both, 1), kept, &paths[i].shape) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *tree_of_paths(const struct call_path *paths, Py_ssize_t count)
{
    struct call_tree tree;
    struct error error = ERROR_INIT;
    PyObject *nodes = NULL;

    call_tree_init(&tree);
    if (call_tree_build(&tree, paths, (size_t)count, &error)) {
        nodes = call_nodes_new(&tree);
    } else {
        view_raise(&error);
    }
    call_tree_release(&tree);
    return nodes;
}

PyObject *view_call_tree(PyObject *module, PyObject *given)
{
    Py_ssize_t count = PyList_Check(given) ? PyList_Size(given) : -1;
    struct call_path *paths;
    PyObject *kept;
    PyObject *nodes = NULL;

    (void)module;
    if (count < 0) {
        PyErr_SetString(PyExc_TypeError, "expected a list of (path, shape)");
        return NULL;
    }
    paths = memory_allocate((size_t)count, sizeof *paths);
    kept = PyList_New(0);
    if (paths == NULL) {
        PyErr_NoMemory();
    } else if (kept != NULL && paths_read(given, kept, paths, count) == 0) {
        nodes = tree_of_paths(paths, count);
    }
    memory_free(paths);
    Py_XDECREF(kept);
    return nodes;
}

typedef bool (*change_function)(struct call_tree *tree,
                                const struct call_tree *from,
                                struct error *error);

static PyObject *changed(PyObject *nodes, change_function change)
{
    struct call_tree from;
    struct call_tree tree;
    struct error error = ERROR_INIT;
    PyObject *made = NULL;

    call_tree_init(&from);
    call_tree_init(&tree);
    if (call_nodes_read(nodes, &from) == 0) {
        if (change(&tree, &from, &error)) {
            made = call_nodes_new(&tree);
        } else {
            view_raise(&error);
        }
    }
    call_tree_release(&tree);
    call_tree_release(&from);
    return made;
}

const char view_call_prune_doc[] = "call_prune(nodes) -> list\n\nThe tree without its "
                                   "leaves, but for those at the top.";

PyObject *view_call_prune(PyObject *module, PyObject *nodes)
{
    (void)module;
    return changed(nodes, call_tree_prune);
}

const char view_call_squash_doc[] =
    "call_squash(nodes) -> list\n\n"
    "The tree with nodes of digits alone put into those above them.";

PyObject *view_call_squash(PyObject *module, PyObject *nodes)
{
    (void)module;
    return changed(nodes, call_tree_squash);
}

const char view_call_json_doc[] = "call_json(nodes) -> bytes\n\nThe tree as JSON.";

PyObject *view_call_json(PyObject *module, PyObject *nodes)
{
    struct call_tree tree;
    struct buffer text = BUFFER_INIT;
    PyObject *made = NULL;

    (void)module;
    call_tree_init(&tree);
    if (call_nodes_read(nodes, &tree) == 0) {
        made = call_tree_add_json(&tree, &text)
                   ? PyBytes_FromStringAndSize(text.bytes, (Py_ssize_t)text.size)
                   : PyErr_NoMemory();
    }
    buffer_release(&text);
    call_tree_release(&tree);
    return made;
}
