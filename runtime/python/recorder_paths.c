#include "runtime/python/recorder_paths.h"

/* Modules nest a few levels; a module that holds itself must not hold us. */
#define DEPTH_MAX 64

/* session->module_paths: address -> (weak reference, path as bytes). An address that another
 * object has taken since is told by the reference. */

static PyObject *key_of(PyObject *object)
{
    return PyLong_FromVoidPtr(object);
}

/* The path under which the module is known; borrowed bytes, or NULL. */
static PyObject *find_known(struct session *session, PyObject *object)
{
    PyObject *key = key_of(object);
    PyObject *entry = key == NULL ? NULL : PyDict_GetItem(session->module_paths, key);

    Py_XDECREF(key);
    if (entry == NULL ||
        PyWeakref_GetObject(PyTuple_GetItem(entry, 0)) != object) {
        return NULL;
    }
    return PyTuple_GetItem(entry, 1);
}

static int remember(struct session *session, PyObject *object, struct slice path)
{
    PyObject *key = key_of(object);
    PyObject *reference = PyWeakref_NewRef(object, NULL);
    PyObject *text = PyBytes_FromStringAndSize(path.bytes, (Py_ssize_t)path.size);
    PyObject *entry = NULL;
    int status = -1;

    if (key != NULL && reference != NULL && text != NULL) {
        entry = PyTuple_Pack(2, reference, text);
    }
    if (entry != NULL) {
        status = PyDict_SetItem(session->module_paths, key, entry);
    }
    Py_XDECREF(key);
    Py_XDECREF(reference);
    Py_XDECREF(text);
    Py_XDECREF(entry);
    return status;
}

/* The module's `_modules`; a new reference, or NULL. */
static PyObject *children_of(PyObject *module)
{
    PyObject *dict = PyObject_GenericGetDict(module, NULL);
    PyObject *children = NULL;

    if (dict != NULL && PyDict_Check(dict)) {
        children = PyDict_GetItemString(dict, "_modules");
        children = children != NULL && PyDict_Check(children) ? Py_NewRef(children) : NULL;
    }
    Py_XDECREF(dict);
    PyErr_Clear();
    return children;
}

/* Whether the walk meets the module for the first time; -1 on failure. */
static int is_first_meeting(PyObject *seen, PyObject *module)
{
    PyObject *key = key_of(module);
    int is_known = key == NULL ? -1 : PySet_Contains(seen, key);

    if (is_known == 0 && PySet_Add(seen, key) < 0) {
        is_known = -1;
    }
    Py_XDECREF(key);
    return is_known < 0 ? -1 : !is_known;
}

/* Remembers the module and those below it. `path` is its own; it is left as it was. One that is
 * shared keeps the name under which the walk found it first. */
static int add_below(struct session *session,
                     PyObject *module,
                     struct buffer *path,
                     PyObject *seen,
                     int depth)
{
    PyObject *children = depth < DEPTH_MAX ? children_of(module) : NULL;
    PyObject *name, *child;
    Py_ssize_t position = 0;
    size_t size = path->size;
    int status = is_first_meeting(seen, module);

    if (status == 1) {
        status = remember(session, module, buffer_slice(path));
    } else {
        Py_CLEAR(children);
    }
    while (status == 0 && children != NULL &&
           PyDict_Next(children, &position, &name, &child)) {
        Py_ssize_t name_size;
        const char *text = PyUnicode_CheckExact(name)
                               ? PyUnicode_AsUTF8AndSize(name, &name_size)
                               : NULL;
        if (text == NULL || !type_cache_get(&session->types, Py_TYPE(child))->is_module) {
            PyErr_Clear();
            continue;
        }
        if (path->size > 0) {
            buffer_add_byte(path, '.');
        }
        buffer_add_bytes(path, text, (size_t)name_size);
        Py_INCREF(child);
        status = add_below(session, child, path, seen, depth + 1);
        Py_DECREF(child);
        path->size = size;
    }
    Py_XDECREF(children);
    return status;
}

int path_add_root(struct session *session, PyObject *root, struct slice name)
{
    struct buffer path = BUFFER_INIT;
    PyObject *seen = PySet_New(NULL);
    int status = -1;

    if (seen != NULL) {
        buffer_add(&path, name);
        status = add_below(session, root, &path, seen, 0);
    }
    buffer_release(&path);
    Py_XDECREF(seen);
    return status;
}

void path_find(struct session *session,
               PyObject *self,
               struct buffer *path,
               struct buffer *class_name)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(self));
    PyObject *known;

    if (!info->is_module) {
        return;
    }
    buffer_add(class_name, type_info_name(info));
    known = find_known(session, self);
    if (known == NULL && path_add_root(session, self, SLICE("")) == 0) {
        known = find_known(session, self);
    }
    if (known != NULL) {
        buffer_add_bytes(path, PyBytes_AsString(known), (size_t)PyBytes_Size(known));
    }
    PyErr_Clear();
}
