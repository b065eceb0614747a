/* Grafts: a reference trace in a capsule, its tensors one by one, and matched sites. */
#include "runtime/python/view/view.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/graft.h"

#define CAPSULE_NAME "monitorch._view.graft"

static void capsule_free(PyObject *object)
{
    graft_reference_close(PyCapsule_GetPointer(object, CAPSULE_NAME));
}

const char view_graft_open_doc[] =
    "graft_open(path) -> (capsule, identity)\n\n"
    "Opens a reference trace. ValueError: it holds no whole values.";

PyObject *view_graft_open(PyObject *module, PyObject *path)
{
    struct error error = ERROR_INIT;
    struct graft_reference *reference;
    struct slice identity;
    PyObject *bytes, *capsule;

    (void)module;
    if (!PyUnicode_FSConverter(path, &bytes)) {
        return NULL;
    }
    reference = graft_reference_open(PyBytes_AsString(bytes), &error);
    Py_DECREF(bytes);
    if (reference == NULL) {
        view_raise(&error);
        return NULL;
    }
    capsule = PyCapsule_New(reference, CAPSULE_NAME, capsule_free);
    if (capsule == NULL) {
        graft_reference_close(reference);
        return NULL;
    }
    identity = graft_reference_identity(reference);
    return Py_BuildValue("Ns#", capsule, identity.bytes, (Py_ssize_t)identity.size);
}

const char view_graft_next_doc[] =
    "graft_next(capsule, site, write, path) -> (event, hash) | None\n\n"
    "The next tensor that the reference's site wrote: its event, and the hash of its\n"
    "values or None.";

PyObject *view_graft_next(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    struct graft_reference *reference;
    struct graft_value value;
    unsigned site, write;
    const char *path;
    Py_ssize_t size;

    (void)module;
    if (!PyArg_ParseTuple(args, "OIIs#:graft_next", &capsule, &site, &write, &path,
                          &size)) {
        return NULL;
    }
    reference = PyCapsule_GetPointer(capsule, CAPSULE_NAME);
    if (reference == NULL) {
        return NULL;
    }
    if (!graft_reference_next(reference, site, write,
                              (struct slice){path, (size_t)size}, &value)) {
        Py_RETURN_NONE;
    }
    if (!value.has_hash) {
        return Py_BuildValue("KO", (unsigned long long)value.event, Py_None);
    }
    return Py_BuildValue("KK", (unsigned long long)value.event,
                         (unsigned long long)value.hash);
}

const char view_graft_read_doc[] =
    "graft_read(capsule, event) -> (dtype, shape, bytearray) | None\n\n"
    "The elements of that event's tensor, in row-major order; None: they were not\n"
    "recorded.";

PyObject *view_graft_read(PyObject *module, PyObject *args)
{
    PyObject *capsule, *shape;
    struct graft_reference *reference;
    struct graft_elements elements;
    unsigned long long event;

    (void)module;
    if (!PyArg_ParseTuple(args, "OK:graft_read", &capsule, &event)) {
        return NULL;
    }
    reference = PyCapsule_GetPointer(capsule, CAPSULE_NAME);
    if (reference == NULL) {
        return NULL;
    }
    if (!graft_reference_read(reference, event, &elements)) {
        Py_RETURN_NONE;
    }
    shape = PyTuple_New((Py_ssize_t)elements.shape->dimension_count);
    for (uint32_t i = 0; shape != NULL && i < elements.shape->dimension_count; i++) {
        PyObject *number = PyLong_FromLongLong(elements.shape->shape[i]);

        if (number == NULL || PyTuple_SetItem(shape, (Py_ssize_t)i, number) < 0) {
            Py_CLEAR(shape);
        }
    }
    return shape == NULL
               ? NULL
               : Py_BuildValue(
                     "sNN", dtype_text(elements.shape->dtype), shape,
                     PyByteArray_FromStringAndSize(elements.bytes.bytes,
                                                   (Py_ssize_t)elements.bytes.size));
}

static void add_site(void *context, const struct graft_site *site)
{
    PyObject *list = context;
    PyObject *item;

    if (PyErr_Occurred()) {
        return;
    }
    item = Py_BuildValue(
        "IIIN", (unsigned)site->site_b, (unsigned)site->site_a, (unsigned)site->line,
        PyUnicode_DecodeUTF8(site->file.bytes, (Py_ssize_t)site->file.size, "replace"));
    if (item != NULL) {
        (void)PyList_Append(list, item);
        Py_DECREF(item);
    }
}

/* Reads renames from (old, new) pairs of bytes, from which they borrow. NULL with an exception
 * set. */
static struct diff_rename *read_renames(PyObject *pairs)
{
    size_t count = (size_t)PyTuple_Size(pairs);
    struct diff_rename *renames = memory_allocate(count + 1, sizeof *renames);

    if (renames == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const char *old_name, *new_name;

        if (!PyArg_ParseTuple(PyTuple_GetItem(pairs, (Py_ssize_t)i), "yy", &old_name,
                              &new_name)) {
            memory_free(renames);
            return NULL;
        }
        renames[i] = (struct diff_rename){slice_of(old_name), slice_of(new_name)};
    }
    return renames;
}

const char view_graft_sites_doc[] = "graft_sites(path_a, path_b, renames) -> (count, "
                                    "[(site_b, site_a, line, file)])\n\n"
                                    "The sites of B, which may still be recorded, that "
                                    "A has too; and the number of B's\n"
                                    "sites.";

PyObject *view_graft_sites(PyObject *module, PyObject *args)
{
    PyObject *paths[2] = {NULL, NULL}, *pairs, *list = PyList_New(0);
    struct diff_rename *renames = NULL;
    struct error error = ERROR_INIT;
    uint32_t count = 0;
    bool is_done = false;

    (void)module;
    if (list != NULL &&
        PyArg_ParseTuple(args, "O&O&O!:graft_sites", PyUnicode_FSConverter, &paths[0],
                         PyUnicode_FSConverter, &paths[1], &PyTuple_Type, &pairs)) {
        renames = read_renames(pairs);
    }
    if (renames != NULL) {
        is_done = graft_match_sites(
            PyBytes_AsString(paths[0]), PyBytes_AsString(paths[1]), renames,
            (size_t)PyTuple_Size(pairs), add_site, list, &count, &error);
        if (!is_done) {
            view_raise(&error);
        }
    }
    memory_free(renames);
    Py_XDECREF(paths[0]);
    Py_XDECREF(paths[1]);
    if (!is_done || PyErr_Occurred()) {
        Py_XDECREF(list);
        return NULL;
    }
    return Py_BuildValue("IN", (unsigned)count, list);
}
