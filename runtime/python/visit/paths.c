/* The paths of torch.nn.Modules, remembered by weak references. */
#include "runtime/python/visit/paths.h"

/* Modules nest a few levels; a module that holds itself must not hold us. */
#define DEPTH_MAX 64
/* Dead modules that do not matter. */
#define PATH_SLACK 4096

/* session->module_paths: address -> (weak reference, path as bytes, the root's weak reference,
 * the address of a root below which it was looked for in vain, or None). An address that another
 * object has taken since is told by the reference. */
enum { ENTRY_SELF, ENTRY_PATH, ENTRY_ROOT, ENTRY_TRIED };

/* The entry of the object at that address; borrowed, or NULL. */
static PyObject *find_entry(struct session *session, const void *address)
{
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    PyObject *entry = key == NULL ? NULL : PyDict_GetItem(session->module_paths, key);

    Py_XDECREF(key);
    if (entry == NULL || PyWeakref_GetObject(PyTuple_GetItem(entry, ENTRY_SELF)) !=
                             (PyObject *)address) {
        return NULL;
    }
    return entry;
}

/* The root that the entry's path begins at; borrowed, or NULL where it is gone. */
static PyObject *root_of(PyObject *entry)
{
    PyObject *root = PyWeakref_GetObject(PyTuple_GetItem(entry, ENTRY_ROOT));

    return root == Py_None ? NULL : root;
}

/* Forgets modules that are gone, now and then: when there are twice as many as were left the
 * last time. */
static void sweep(struct session *session)
{
    Py_ssize_t position = 0;
    PyObject *key, *entry;
    PyObject *gone = PyList_New(0);

    while (gone != NULL &&
           PyDict_Next(session->module_paths, &position, &key, &entry)) {
        if (PyWeakref_GetObject(PyTuple_GetItem(entry, ENTRY_SELF)) == Py_None &&
            PyList_Append(gone, key) < 0) {
            Py_CLEAR(gone);
        }
    }
    for (Py_ssize_t i = 0; gone != NULL && i < PyList_Size(gone); i++) {
        PyDict_DelItem(session->module_paths, PyList_GetItem(gone, i));
    }
    Py_XDECREF(gone);
    PyErr_Clear();
    session->path_limit = 2 * PyDict_Size(session->module_paths) + PATH_SLACK;
}

/* `tried` may be NULL. */
static int remember(struct session *session,
                    PyObject *object,
                    struct slice path,
                    PyObject *root,
                    PyObject *tried)
{
    PyObject *key = PyLong_FromVoidPtr(object);
    PyObject *self_reference = PyWeakref_NewRef(object, NULL);
    PyObject *root_reference = PyWeakref_NewRef(root, NULL);
    PyObject *text = PyBytes_FromStringAndSize(path.bytes, (Py_ssize_t)path.size);
    PyObject *tried_key =
        tried == NULL ? Py_NewRef(Py_None) : PyLong_FromVoidPtr(tried);
    PyObject *entry = NULL;
    int status = -1;

    if (PyDict_Size(session->module_paths) > session->path_limit) {
        sweep(session);
    }
    if (key != NULL && self_reference != NULL && root_reference != NULL &&
        text != NULL && tried_key != NULL) {
        entry = PyTuple_Pack(4, self_reference, text, root_reference, tried_key);
    }
    if (entry != NULL) {
        status = PyDict_SetItem(session->module_paths, key, entry);
    }
    Py_XDECREF(key);
    Py_XDECREF(self_reference);
    Py_XDECREF(root_reference);
    Py_XDECREF(text);
    Py_XDECREF(tried_key);
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
        children =
            children != NULL && PyDict_Check(children) ? Py_NewRef(children) : NULL;
    }
    Py_XDECREF(dict);
    PyErr_Clear();
    return children;
}

/* Whether the walk meets the module for the first time; -1 on failure. */
static int is_first_visit(PyObject *seen, PyObject *module)
{
    PyObject *key = PyLong_FromVoidPtr(module);
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
                     PyObject *root,
                     PyObject *seen,
                     int depth)
{
    PyObject *children = depth < DEPTH_MAX ? children_of(module) : NULL;
    PyObject *name, *child;
    Py_ssize_t position = 0;
    size_t size = path->size;
    int status = is_first_visit(seen, module);

    if (status == 1) {
        status = remember(session, module, buffer_slice(path), root, NULL);
    } else {
        Py_CLEAR(children);
    }
    while (status == 0 && children != NULL &&
           PyDict_Next(children, &position, &name, &child)) {
        Py_ssize_t name_size;
        const char *text = PyUnicode_CheckExact(name)
                               ? PyUnicode_AsUTF8AndSize(name, &name_size)
                               : NULL;
        if (text == NULL ||
            !type_cache_get(&session->types, Py_TYPE(child))->is_module) {
            PyErr_Clear();
            continue;
        }
        if (path->size > 0) {
            buffer_add_byte(path, '.');
        }
        buffer_add_bytes(path, text, (size_t)name_size);
        Py_INCREF(child);
        status = add_below(session, child, path, root, seen, depth + 1);
        Py_DECREF(child);
        path->size = size;
    }
    Py_XDECREF(children);
    return status;
}

/* Makes `root` one, and everything below it known. */
static int add_root(struct session *session, PyObject *root)
{
    struct buffer path = BUFFER_INIT;
    PyObject *seen = PySet_New(NULL);
    int status = -1;

    if (seen != NULL) {
        status = add_below(session, root, &path, root, seen, 0);
    }
    buffer_release(&path);
    Py_XDECREF(seen);
    return status;
}

/* Looks for `self` below the root of the module that called it, once for each root. */
static int
find_below_caller(struct session *session, PyObject *self, PyObject *caller_root)
{
    PyObject *entry = find_entry(session, self);
    PyObject *tried = entry == NULL ? NULL : PyTuple_GetItem(entry, ENTRY_TRIED);

    if (entry != NULL && root_of(entry) != self) {
        return 0; /* it has a path already */
    }
    if (tried != NULL && tried != Py_None && PyLong_AsVoidPtr(tried) == caller_root) {
        return 0;
    }
    if (add_root(session, caller_root) < 0) {
        return -1;
    }
    entry = find_entry(session, self);
    if (entry != NULL && root_of(entry) != self) {
        return 0;
    }
    return remember(session, self, SLICE(""), self, caller_root);
}

/* Sees to it that the module is known, if that can be. */
static int make_known(struct session *session, PyObject *self, const void *caller)
{
    PyObject *caller_entry = caller == NULL ? NULL : find_entry(session, caller);
    PyObject *caller_root = caller_entry == NULL ? NULL : root_of(caller_entry);
    int status;

    if (caller_root != NULL && caller_root != self) {
        Py_INCREF(caller_root);
        status = find_below_caller(session, self, caller_root);
        Py_DECREF(caller_root);
        return status;
    }
    return find_entry(session, self) != NULL ? 0 : add_root(session, self);
}

bool path_find(struct session *session,
               PyObject *self,
               const void *caller,
               bool is_being_made,
               struct buffer *path,
               struct buffer *class_name)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(self));
    PyObject *entry;

    if (!info->is_module) {
        return false;
    }
    buffer_add(class_name, type_info_name(info));
    if (!is_being_made && make_known(session, self, caller) < 0) {
        PyErr_Clear();
    }
    entry = find_entry(session, self);
    if (entry != NULL) {
        PyObject *known = PyTuple_GetItem(entry, ENTRY_PATH);
        buffer_add_bytes(path, PyBytes_AsString(known), (size_t)PyBytes_Size(known));
    }
    return true;
}

PyObject *path_find_alive(struct session *session, const void *address)
{
    return find_entry(session, address) != NULL ? Py_NewRef((PyObject *)address) : NULL;
}
