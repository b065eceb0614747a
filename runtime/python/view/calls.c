/* Call trees and their graphs, for monitorch.spy.graph. */
#include "runtime/python/view/view.h"

#include "runtime/base/memory.h"
#include "runtime/view/calls/builder.h"
#include "runtime/view/calls/graph.h"
#include "runtime/view/calls/trace.h"

/* ---- trees as lists of tuples ---- */

#define FIELD_COUNT 7

/* ---- texts ---- */

int call_text_read(PyObject *text, PyObject **kept, struct slice *read)
{
    char *bytes;
    Py_ssize_t size;

    *kept = NULL;
    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "expected a str, got %R",
                     (PyObject *)Py_TYPE(text));
        return -1;
    }
    *kept = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (*kept == NULL || PyBytes_AsStringAndSize(*kept, &bytes, &size) < 0) {
        return -1;
    }
    *read = (struct slice){bytes, (size_t)size};
    return 0;
}

int call_text_keep(PyObject *text, PyObject *list, struct slice *read)
{
    PyObject *kept;
    int status = call_text_read(text, &kept, read);

    if (status == 0) {
        status = PyList_Append(list, kept);
    }
    Py_XDECREF(kept);
    return status;
}

/* A str in which surrogates are decoded as they are. Bytes that are no UTF-8 become U+FFFD. */
static PyObject *call_text_new(struct slice text)
{
    PyObject *made =
        PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "surrogatepass");

    if (made == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        made = PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "replace");
    }
    return made;
}

/* ---- from a tree ---- */

static PyObject *indices_new(const struct call_node *node)
{
    PyObject *indices = PyTuple_New((Py_ssize_t)node->index_count);

    for (uint32_t i = 0; i < node->index_count && indices != NULL; i++) {
        PyObject *index = PyLong_FromUnsignedLongLong(node->indices[i]);

        if (index == NULL || PyTuple_SetItem(indices, (Py_ssize_t)i, index) < 0) {
            Py_CLEAR(indices);
        }
    }
    return indices;
}

static PyObject *node_new(const struct call_node *node)
{
    PyObject *name = call_text_new(node->name);
    PyObject *shape = call_text_new(node->shape);
    PyObject *indices = indices_new(node);
    PyObject *made = NULL;

    if (name != NULL && shape != NULL && indices != NULL) {
        made = Py_BuildValue(
            "(OLKKKOO)", name,
            node->parent == CALL_NODE_NONE ? -1LL : (long long)node->parent,
            (unsigned long long)node->count, (unsigned long long)node->call_count,
            (unsigned long long)node->first_seen, indices, shape);
    }
    Py_XDECREF(name);
    Py_XDECREF(shape);
    Py_XDECREF(indices);
    return made;
}

static PyObject *call_nodes_new(const struct call_tree *tree)
{
    PyObject *nodes = PyList_New((Py_ssize_t)tree->node_count);

    for (uint32_t i = 0; i < tree->node_count && nodes != NULL; i++) {
        PyObject *node = node_new(&tree->nodes[i]);

        if (node == NULL || PyList_SetItem(nodes, (Py_ssize_t)i, node) < 0) {
            Py_CLEAR(nodes);
        }
    }
    return nodes;
}

/* ---- to a tree ---- */

static int number_read(PyObject *fields, Py_ssize_t place, uint64_t *number)
{
    *number = PyLong_AsUnsignedLongLong(PyTuple_GetItem(fields, place));
    return *number == (uint64_t)-1 && PyErr_Occurred() ? -1 : 0;
}

static int indices_read(PyObject *given, struct call_builder *builder, uint32_t node)
{
    PyObject *indices = PySequence_Tuple(given);
    int status = indices == NULL ? -1 : 0;

    for (Py_ssize_t i = 0; status == 0 && i < PyTuple_Size(indices); i++) {
        uint64_t index;

        status = number_read(indices, i, &index);
        if (status == 0 && !call_builder_add_index(builder, node, index)) {
            PyErr_NoMemory();
            status = -1;
        }
    }
    Py_XDECREF(indices);
    return status;
}

/* Finds the node's index in the tree. Nodes of the same name and parent become one. */
static int place_read(PyObject *fields,
                      struct call_builder *builder,
                      const uint32_t *map,
                      Py_ssize_t number,
                      uint32_t *place)
{
    Py_ssize_t parent = PyLong_AsSsize_t(PyTuple_GetItem(fields, 1));
    PyObject *kept;
    struct slice name;

    if (parent == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (number == 0 ? parent != -1 : parent < 0 || parent >= number) {
        PyErr_SetString(PyExc_ValueError, "a node precedes its parent");
        return -1;
    }
    if (call_text_read(PyTuple_GetItem(fields, 0), &kept, &name) < 0) {
        Py_XDECREF(kept);
        return -1;
    }
    *place =
        number == 0
            ? (call_builder_init(builder, builder->tree, name) ? 0 : CALL_NODE_NONE)
            : call_builder_child(builder, map[parent], name);
    Py_DECREF(kept);
    if (*place == CALL_NODE_NONE) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static int contents_read(PyObject *fields, struct call_builder *builder, uint32_t place)
{
    struct call_node node = {.index_count = 0};
    PyObject *kept;
    int status;

    if (number_read(fields, 2, &node.count) < 0 ||
        number_read(fields, 3, &node.call_count) < 0 ||
        number_read(fields, 4, &node.first_seen) < 0 ||
        indices_read(PyTuple_GetItem(fields, 5), builder, place) < 0) {
        return -1;
    }
    status = call_text_read(PyTuple_GetItem(fields, 6), &kept, &node.shape);
    if (status == 0 && !call_builder_absorb(builder, place, &node)) {
        PyErr_NoMemory();
        status = -1;
    }
    Py_XDECREF(kept);
    return status;
}

static int node_read(PyObject *fields,
                     struct call_builder *builder,
                     uint32_t *map,
                     Py_ssize_t number)
{
    if (!PyTuple_Check(fields) || PyTuple_Size(fields) != FIELD_COUNT) {
        PyErr_SetString(PyExc_TypeError, "a node is a tuple of 7");
        return -1;
    }
    if (place_read(fields, builder, map, number, &map[number]) < 0) {
        return -1;
    }
    return contents_read(fields, builder, map[number]);
}

static int call_nodes_read(PyObject *nodes, struct call_tree *tree)
{
    struct call_builder builder = {.tree = tree};
    Py_ssize_t count = PyList_Check(nodes) ? PyList_Size(nodes) : 0;
    uint32_t *map;
    int status = 0;

    if (count == 0 || count >= CALL_NODE_NONE) {
        PyErr_SetString(PyExc_ValueError, "a tree is a list of nodes, one at least");
        return -1;
    }
    map = memory_allocate((size_t)count, sizeof *map);
    if (map == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        status = node_read(PyList_GetItem(nodes, i), &builder, map, i);
    }
    if (status == 0 && !call_builder_finish(&builder)) {
        PyErr_NoMemory();
        status = -1;
    }
    call_builder_release(&builder);
    memory_free(map);
    return status;
}

/* ---- the graph of a tree ---- */

const char view_call_graph_doc[] =
    "call_graph(nodes, format, *, show_repetition=True, prune_leaves=True,\n"
    "           squash_name=False, shapes=True, attributes=(), dpi=150.0, width=0.0,\n"
    "           height=0.0, theme='light', title='') -> bytes\n\n"
    "'png', 'svg', 'pdf' or 'dot'. `attributes` are (kind, name, value) of DOT's text, "
    "kind\n"
    "being graph, node or edge; width and height are inches, 0 where they are free.";

/* The arguments of call_graph(). */
struct graph_arguments {
    PyObject *nodes;
    const char *format;
    int has_repetition, prunes_leaves, merges_names, has_shapes;
    PyObject *given_attributes;
    const char *theme;
    const char *title;
    Py_ssize_t title_size;
    struct call_render_options render;
    struct call_attribute *attributes; /* owned */
    PyObject *kept; /* owned: the strings that the attributes borrow from */
};

/* ---- arguments; -1: a Python exception is set ---- */

static int
attribute_read(PyObject *fields, PyObject *kept, struct call_attribute *attribute)
{
    if (!PyTuple_Check(fields) || PyTuple_Size(fields) != 3) {
        PyErr_SetString(PyExc_TypeError, "an attribute is (kind, name, value)");
        return -1;
    }
    if (call_text_keep(PyTuple_GetItem(fields, 0), kept, &attribute->kind) < 0 ||
        call_text_keep(PyTuple_GetItem(fields, 1), kept, &attribute->name) < 0 ||
        call_text_keep(PyTuple_GetItem(fields, 2), kept, &attribute->value) < 0) {
        return -1;
    }
    if (!slice_equal(attribute->kind, SLICE("graph")) &&
        !slice_equal(attribute->kind, SLICE("node")) &&
        !slice_equal(attribute->kind, SLICE("edge"))) {
        PyErr_SetString(PyExc_ValueError, "expected graph, node or edge");
        return -1;
    }
    return 0;
}

static int attributes_read(struct graph_arguments *arguments)
{
    PyObject *given = arguments->given_attributes == NULL
                          ? PyTuple_New(0)
                          : PySequence_Tuple(arguments->given_attributes);
    Py_ssize_t count = given == NULL ? 0 : PyTuple_Size(given);
    int status = given == NULL ? -1 : 0;

    arguments->kept = PyList_New(0);
    arguments->attributes =
        memory_allocate((size_t)count, sizeof *arguments->attributes);
    if (arguments->kept == NULL) {
        status = -1;
    } else if (arguments->attributes == NULL) {
        PyErr_NoMemory();
        status = -1;
    }
    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        status = attribute_read(PyTuple_GetItem(given, i), arguments->kept,
                                &arguments->attributes[i]);
    }
    Py_XDECREF(given);
    arguments->render.attributes = arguments->attributes;
    arguments->render.attribute_count = (size_t)count;
    return status;
}

static bool is_size(double inches)
{
    return inches >= 0 && inches <= CALL_PAGE_MOST;
}

static int check(struct graph_arguments *arguments)
{
    struct call_render_options *render = &arguments->render;
    struct call_picture_options *picture = &render->picture;

    if (view_read_format(arguments->format, true, &render->format) < 0 ||
        view_check_dpi(render->dpi) < 0 ||
        view_read_theme(arguments->theme, &picture->theme) < 0) {
        return -1;
    }
    if (!is_size(picture->page.width) || !is_size(picture->page.height)) {
        PyErr_SetString(PyExc_ValueError,
                        "width and height: expected 0 to 1000 inches");
        return -1;
    }
    picture->title = (struct slice){arguments->title, (size_t)arguments->title_size};
    return attributes_read(arguments);
}

/* ---- drawing ---- */

static bool draw(const struct call_tree *tree,
                 const struct graph_arguments *arguments,
                 struct buffer *bytes,
                 struct error *error)
{
    const struct call_graph_options options = {
        .has_repetition = arguments->has_repetition != 0,
        .has_leaves = arguments->prunes_leaves == 0,
        .merges_names = arguments->merges_names != 0,
        .has_shapes = arguments->has_shapes != 0,
    };
    struct call_graph graph;
    bool is_done;

    call_graph_init(&graph);
    is_done = call_graph_build(&graph, tree, &options, error) &&
              call_graph_render(&graph, &arguments->render, bytes, error);
    call_graph_release(&graph);
    return is_done;
}

static PyObject *graph_new(const struct graph_arguments *arguments)
{
    struct call_tree tree;
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    PyObject *made = NULL;
    bool is_done;

    call_tree_init(&tree);
    if (call_nodes_read(arguments->nodes, &tree) == 0) {
        PyThreadState *thread = PyEval_SaveThread();

        is_done = draw(&tree, arguments, &bytes, &error);
        PyEval_RestoreThread(thread);
        if (is_done) {
            made = PyBytes_FromStringAndSize(bytes.bytes, (Py_ssize_t)bytes.size);
        } else {
            view_raise(&error);
        }
    }
    buffer_release(&bytes);
    call_tree_release(&tree);
    return made;
}

PyObject *view_call_graph(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"nodes",       "format", "show_repetition", "prune_leaves",
                            "squash_name", "shapes", "attributes",      "dpi",
                            "width",       "height", "theme",           "title",
                            NULL};
    struct graph_arguments arguments = {
        .has_repetition = 1,
        .prunes_leaves = 1,
        .has_shapes = 1,
        .theme = "light",
        .title = "",
        .render.dpi = 150,
    };
    struct call_page *page = &arguments.render.picture.page;
    PyObject *made = NULL;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "Os|$ppppOdddss#:call_graph", names, &arguments.nodes,
            &arguments.format, &arguments.has_repetition, &arguments.prunes_leaves,
            &arguments.merges_names, &arguments.has_shapes, &arguments.given_attributes,
            &arguments.render.dpi, &page->width, &page->height, &arguments.theme,
            &arguments.title, &arguments.title_size)) {
        return NULL;
    }
    if (check(&arguments) == 0) {
        made = graph_new(&arguments);
    }
    memory_free(arguments.attributes);
    Py_XDECREF(arguments.kept);
    return made;
}

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

/* Reads the paths. The strings that they borrow from are added to `kept`. */
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
