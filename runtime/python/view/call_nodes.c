/* Call trees as Python's lists of tuples, and back. */
#include "runtime/python/view/calls.h"

#include "runtime/base/memory.h"
#include "runtime/python/view/error.h"
#include "runtime/view/calls/builder.h"

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

/* Surrogates come back as they were; of a file's bytes, what is no text becomes U+FFFD. */
PyObject *call_text_new(struct slice text)
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

PyObject *call_nodes_new(const struct call_tree *tree)
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

/* Where a node of the list stands in the tree: nodes of one name below one parent are one. */
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

int call_nodes_read(PyObject *nodes, struct call_tree *tree)
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
