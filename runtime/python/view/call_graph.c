/* The graph of a call tree as a file's bytes. */
#include "runtime/base/memory.h"
#include "runtime/python/view/calls.h"
#include "runtime/python/view/error.h"
#include "runtime/python/view/style.h"
#include "runtime/view/calls/graph.h"

const char view_call_graph_doc[] =
    "call_graph(nodes, format, *, show_repetition=True, prune_leaves=True,\n"
    "           squash_name=False, shapes=True, attributes=(), dpi=150.0, width=0.0,\n"
    "           height=0.0, theme='light', title='') -> bytes\n\n"
    "'png', 'svg', 'pdf' or 'dot'. `attributes` are (kind, name, value) of DOT's text, "
    "kind\n"
    "being graph, node or edge; width and height are inches, 0 where they are free.";

/* What call_graph() was called with. */
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
    PyObject *kept;                    /* owned; what they are borrowed from */
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
