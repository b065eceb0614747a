/* Call trees and their graphs: what monitorch.spy.graph is made of. Between the two a tree is a
 * list of tuples, one for each node, parents before their children:
 *
 *     (name, parent, count, calls, first_seen, indices, shape)
 *
 * `parent` is a place in the list, -1 for the root, which stands first. */
#ifndef MONITORCH_PYTHON_VIEW_CALLS_H
#define MONITORCH_PYTHON_VIEW_CALLS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/view/calls/tree.h"

/* As methods of a module. */
extern const char view_call_paths_doc[];
PyObject *view_call_paths(PyObject *module, PyObject *path);
extern const char view_call_tree_doc[];
PyObject *view_call_tree(PyObject *module, PyObject *paths);
extern const char view_call_prune_doc[];
PyObject *view_call_prune(PyObject *module, PyObject *nodes);
extern const char view_call_squash_doc[];
PyObject *view_call_squash(PyObject *module, PyObject *nodes);
extern const char view_call_json_doc[];
PyObject *view_call_json(PyObject *module, PyObject *nodes);
extern const char view_call_graph_doc[];
PyObject *view_call_graph(PyObject *module, PyObject *args, PyObject *keywords);

/* ---- call_nodes.c ---- */

/* Text as bytes that hold lone surrogates too, borrowed from *kept. -1: an exception is set. */
int call_text_read(PyObject *text, PyObject **kept, struct slice *read);
/* The same, kept by being appended to a list. */
int call_text_keep(PyObject *text, PyObject *list, struct slice *read);
/* A new str. */
PyObject *call_text_new(struct slice text);

/* Both: NULL, or -1, where a Python exception is set. The tree was initialised. */
PyObject *call_nodes_new(const struct call_tree *tree);
int call_nodes_read(PyObject *nodes, struct call_tree *tree);

#endif
