/* What torch calls before and after a module's forward: its arguments and its result as the
 * values of the `enter` and the `return` site of a place. */
#include "runtime/python/watch/observe_module.h"

#include "runtime/python/module_add.h"
#include "runtime/python/visit/hook.h"
#include "runtime/python/watch/observe.h"

/* The place's sites. */
enum { SITE_BEFORE, SITE_AFTER };

/* Parameters that are told; more than this no forward has. */
#define PARAMETER_MAX 64

struct observer {
    PyObject_HEAD PyObject *place; /* owned */
    PyObject *path;                /* owned: a str */
    PyObject *names;               /* owned: a tuple of the parameters' */
    PyObject *defaults;    /* owned: a tuple: the names' values where none are given */
    Py_ssize_t positional; /* how many of the names may be given by position */
    Py_ssize_t rest;       /* the number of `*args` among the names, or -1 */
    Py_ssize_t keywords;   /* of `**kwargs` */
};

static void observer_dealloc(PyObject *self)
{
    struct observer *observer = (struct observer *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    Py_XDECREF(observer->place);
    Py_XDECREF(observer->path);
    Py_XDECREF(observer->names);
    Py_XDECREF(observer->defaults);
    release(self);
    Py_DECREF(type);
}

static PyObject *observer_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"place",      "path", "names",    "defaults",
                            "positional", "rest", "keywords", NULL};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *place, *path, *names, *defaults;
    Py_ssize_t positional, rest, rest_by_name;
    struct observer *observer;

    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OUO!O!nnn:Observer", words, &place, &path, &PyTuple_Type,
            &names, &PyTuple_Type, &defaults, &positional, &rest, &rest_by_name)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(names);
    if (!hook_check(place) || PyTuple_Size(defaults) != count || positional < 0 ||
        positional > count || rest >= count || rest_by_name >= count) {
        PyErr_SetString(PyExc_ValueError,
                        "Observer() expects a place and its parameters");
        return NULL;
    }
    observer = (struct observer *)allocate(type, 0);
    if (observer == NULL) {
        return NULL;
    }
    observer->place = Py_NewRef(place);
    observer->path = Py_NewRef(path);
    observer->names = Py_NewRef(names);
    observer->defaults = Py_NewRef(defaults);
    observer->positional = positional;
    observer->rest = rest;
    observer->keywords = rest_by_name;
    return (PyObject *)observer;
}

/* ---- arguments ---- */

/* The values of the parameters, by their numbers; all references are owned. NULL: no value. */
struct values {
    PyObject *items[PARAMETER_MAX];
    Py_ssize_t count;
};

static void put(struct values *values, Py_ssize_t number, PyObject *owned)
{
    if (number < 0 || number >= values->count) {
        Py_XDECREF(owned);
        return;
    }
    Py_XDECREF(values->items[number]);
    values->items[number] = owned;
}

static void release_values(struct values *values)
{
    for (Py_ssize_t i = 0; i < values->count; i++) {
        Py_XDECREF(values->items[i]);
    }
}

static void put_defaults(const struct observer *observer, struct values *values)
{
    Py_ssize_t count = PyTuple_Size(observer->names);

    values->count = count < PARAMETER_MAX ? count : PARAMETER_MAX;
    for (Py_ssize_t i = 0; i < values->count; i++) {
        PyObject *value = PyTuple_GetItem(observer->defaults, i);
        values->items[i] = value == Py_Ellipsis ? NULL : Py_NewRef(value);
    }
}

static void
put_positional(const struct observer *observer, PyObject *args, struct values *values)
{
    Py_ssize_t count = PyTuple_Size(args);

    for (Py_ssize_t i = 0; i < count && i < observer->positional; i++) {
        put(values, i, Py_NewRef(PyTuple_GetItem(args, i)));
    }
    if (count > observer->positional && observer->rest >= 0) {
        put(values, observer->rest,
            PyTuple_GetSlice(args, observer->positional, count));
    }
}

/* The number of the parameter of that name, or -1. */
static Py_ssize_t find_name(const struct observer *observer, PyObject *name)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(observer->names); i++) {
        if (i != observer->rest && i != observer->keywords &&
            PyUnicode_Compare(PyTuple_GetItem(observer->names, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

static void
put_keywords(const struct observer *observer, PyObject *kwargs, struct values *values)
{
    Py_ssize_t position = 0;
    PyObject *name, *value;
    PyObject *others = NULL;

    while (PyDict_Next(kwargs, &position, &name, &value)) {
        Py_ssize_t number = PyUnicode_Check(name) ? find_name(observer, name) : -1;
        if (number >= 0) {
            put(values, number, Py_NewRef(value));
            continue;
        }
        others = others == NULL ? PyDict_New() : others;
        if (others != NULL) {
            PyDict_SetItem(others, name, value);
        }
    }
    if (others != NULL) {
        put(values, observer->keywords, others);
    }
}

/* ---- hooks ---- */

static bool pass_on(struct observer *observer,
                    uint32_t site,
                    PyObject *module,
                    PyObject *const *values,
                    Py_ssize_t count)
{
    struct observation observation = {
        .place = observer->place, .site = site, .module = module};
    Py_ssize_t size;
    const char *path = PyUnicode_AsUTF8AndSize(observer->path, &size);

    if (path == NULL) {
        PyErr_Clear();
        return true;
    }
    observation.path = (struct slice){path, (size_t)size};
    return observe_pass_on(&observation, values, count);
}

PyDoc_STRVAR(enter_doc,
             "enter(module, args, kwargs): a forward pre-hook, with_kwargs.");

static PyObject *
observer_enter(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct observer *observer = (struct observer *)self;
    struct values values = {.count = 0};
    bool is_done;

    if (!hook_is_recording(observer->place) || count < 2 ||
        !PyTuple_Check(arguments[1])) {
        Py_RETURN_NONE;
    }
    put_defaults(observer, &values);
    put_positional(observer, arguments[1], &values);
    if (count > 2 && PyDict_Check(arguments[2])) {
        put_keywords(observer, arguments[2], &values);
    }
    PyErr_Clear();
    is_done = pass_on(observer, SITE_BEFORE, arguments[0], values.items, values.count);
    release_values(&values);
    if (!is_done) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(leave_doc, "leave(module, args, …, output): a forward hook.");

static PyObject *
observer_leave(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct observer *observer = (struct observer *)self;

    if (!hook_is_recording(observer->place) || count < 3) {
        Py_RETURN_NONE;
    }
    if (!pass_on(observer, SITE_AFTER, arguments[0], &arguments[count - 1], 1)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *observe_reduce(PyObject *self, PyObject *unused)
{
    PyObject *home = PyImport_ImportModule("monitorch._record.observe");
    PyObject *silent = home == NULL ? NULL : PyObject_GetAttrString(home, "Silent");

    (void)self;
    (void)unused;
    Py_XDECREF(home);
    return silent == NULL ? NULL : Py_BuildValue("(N())", silent);
}

int observer_add_type(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"enter", (PyCFunction)(void (*)(void))observer_enter, METH_FASTCALL,
         enter_doc},
        {"leave", (PyCFunction)(void (*)(void))observer_leave, METH_FASTCALL,
         leave_doc},
        {"__reduce__", observe_reduce, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, observer_new},
        {Py_tp_dealloc, observer_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_doc, "Records the calls of one module in the active recording."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.Observer",
        .basicsize = sizeof(struct observer),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return module_add_type(module, &spec);
}
