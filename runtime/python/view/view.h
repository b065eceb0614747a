/* The module `monitorch._view`: its functions, and helpers that its files share.
 *
 * Each function has its text for help() next to it. NULL: a Python exception is set. */
#ifndef MONITORCH_PYTHON_VIEW_VIEW_H
#define MONITORCH_PYTHON_VIEW_VIEW_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/error.h"
#include "runtime/view/picture/render.h"

#include <stdbool.h>

/* module.c: raises MemoryError; ValueError for invalid arguments; else OSError. */
void view_raise(const struct error *error);

/* load.c, module.c: events of traces as columns, and their calls and sites, for monitorch.load() */
extern const char view_find_traces_doc[];
PyObject *view_find_traces(PyObject *module, PyObject *args);
extern const char view_open_doc[];
PyObject *view_open(PyObject *module, PyObject *args);
extern const char view_load_doc[];
PyObject *view_load(PyObject *module, PyObject *args);
extern const char view_records_doc[];

/* module.c: the HTML page of a trace, for monitorch.page() */
extern const char view_page_doc[];

/* load.c: tables of traces as Arrow streams, in the capsules of Arrow's PyCapsule interface */
extern const char view_arrow_doc[];
PyObject *view_arrow(PyObject *module, PyObject *args);

/* saved.c: saved tensors, for monitorch.spy.spy_load() */
extern const char view_saved_open_doc[];
PyObject *view_saved_open(PyObject *module, PyObject *path);
extern const char view_saved_read_doc[];
PyObject *view_saved_read(PyObject *module, PyObject *args);

/* graft.c: the tensors of a reference trace, and the sites that it shares with a run, for
 * monitorch.record(graft=…) */
extern const char view_graft_open_doc[];
PyObject *view_graft_open(PyObject *module, PyObject *path);
extern const char view_graft_next_doc[];
PyObject *view_graft_next(PyObject *module, PyObject *args);
extern const char view_graft_read_doc[];
PyObject *view_graft_read(PyObject *module, PyObject *args);
extern const char view_graft_sites_doc[];
PyObject *view_graft_sites(PyObject *module, PyObject *args);

/* module.c, chart.c: the metrics of a step as lines of text, and as a chart, for monitorch.monitor */
extern const char view_metrics_csv_doc[];
extern const char view_metrics_json_doc[];
extern const char view_chart_doc[];
PyObject *view_chart(PyObject *module, PyObject *args, PyObject *keywords);

/* calls.c: call trees and their graphs, for monitorch.spy.graph. A tree is a list of tuples, one
 * for each node, parents before their children:
 *
 * (name, parent, count, calls, first_seen, indices, shape)
 *
 * `parent` is an index in the list, -1 for the root, which is the first. */
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

/* calls.c: reads a str as UTF-8 bytes, in which lone surrogates are encoded too. The bytes are
 * borrowed from *kept. -1: an exception is set. */
int call_text_read(PyObject *text, PyObject **kept, struct slice *read);
/* call_text_read, with the bytes kept in a list. */
int call_text_keep(PyObject *text, PyObject *list, struct slice *read);

/* module.c: checks arguments for a picture's style. Returns 0, or -1 with a ValueError set.
 * `has_dot`: the format may be DOT text too. */
int view_read_format(const char *text, bool has_dot, enum render_format *format);
int view_check_dpi(double dpi);
int view_read_theme(const char *text, enum picture_theme *theme);

#endif
