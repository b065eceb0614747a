/* Observed places and their events; the type Observer, which records the calls of one module. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/python/watch/observe.h"

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/python/module_add.h"
#include "runtime/python/visit/hook.h"
#include "runtime/site/site.h"

static bool observe_pass_on(const struct observation *observation,
                            PyObject *const *values,
                            Py_ssize_t count);

/* ---- the type Observer: the hooks that record the calls of one torch.nn.Module ---- */

/* The two sites of the place. */
enum { SITE_BEFORE, SITE_AFTER };

/* Parameters after the first 64 are not recorded; no forward is known to have more. */
#define PARAMETER_MAX 64

struct observer {
    PyObject_HEAD PyObject *place; /* owned */
    PyObject *path;                /* owned: a str */
    PyObject *names;               /* owned: a tuple: the names of the parameters */
    PyObject *defaults;    /* owned: a tuple: the default of each parameter, or ... */
    Py_ssize_t positional; /* number of parameters that accept positional arguments */
    Py_ssize_t rest;       /* the index of `*args` in `names`, or -1 */
    Py_ssize_t keywords;   /* the index of `**kwargs` in `names`, or -1 */
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

/* The values of the parameters, by index; all references are owned. NULL: no value. */
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

/* The index of the parameter of that name, or -1. */
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

/* 0, or -1 with an exception set. */
static int observer_add_type(PyObject *module)
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

/* Records the values of the site's names if a recording is active. Returns false with an
 * exception set if the recording stops at such a value; the caller raises it. */
static bool observe_pass_on(const struct observation *observation,
                            PyObject *const *values,
                            Py_ssize_t count)
{
    struct frame_owner owner = {
        .object = observation->module, .has_path = true, .path = observation->path};

    return hook_observe(observation->place, observation->site, &owner, values, count);
}

/* ---- places ---- */

/* Borrows the text of a str. Returns false with an exception set. */
static bool read_text(PyObject *object, struct slice *text)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(object, &size);

    if (bytes == NULL) {
        return false;
    }
    *text = (struct slice){bytes, (size_t)size};
    return true;
}

static bool read_kind(const char *text, enum site_kind *kind)
{
    for (int i = 0; i < SITE_KIND_COUNT; i++) {
        if (strcmp(text, site_kind_text((enum site_kind)i)) == 0) {
            *kind = (enum site_kind)i;
            return true;
        }
    }
    PyErr_Format(PyExc_ValueError, "there are no sites of kind '%s'", text);
    return false;
}

static bool read_writes(PyObject *names, struct arena *arena, struct site *site)
{
    site->write_count = (uint32_t)PyTuple_Size(names);
    site->writes =
        arena_allocate(arena, (size_t)site->write_count + 1, sizeof(struct site_write));
    if (site->writes == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (uint32_t i = 0; i < site->write_count; i++) {
        site->writes[i].source = SITE_SOURCE_VALUE;
        if (!read_text(PyTuple_GetItem(names, i), &site->writes[i].name)) {
            return false;
        }
    }
    return true;
}

static bool read_reads(PyObject *names, struct arena *arena, struct site *site)
{
    site->read_count = (uint32_t)PyTuple_Size(names);
    site->reads =
        arena_allocate(arena, (size_t)site->read_count + 1, sizeof(struct site_read));
    if (site->reads == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        site->reads[i] =
            (struct site_read){.scope = SITE_SCOPE_LOCAL, .site = SITE_NONE};
        if (!read_text(PyTuple_GetItem(names, i), &site->reads[i].name)) {
            return false;
        }
    }
    return true;
}

/* Reads a site from (kind, line, names, names that are read). Returns false with an exception
 * set. */
static bool read_site(PyObject *tuple, struct arena *arena, struct site *site)
{
    const char *kind;
    unsigned int line;
    PyObject *names, *reads;

    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "a site is a tuple");
        return false;
    }
    if (!PyArg_ParseTuple(tuple, "sIO!O!;a site is (kind, line, names, reads)", &kind,
                          &line, &PyTuple_Type, &names, &PyTuple_Type, &reads) ||
        !read_kind(kind, &site->kind)) {
        return false;
    }
    site->line = line > 0 ? line : 1;
    site->column = 1;
    site->function = 1;
    return read_writes(names, arena, site) && read_reads(reads, arena, site);
}

/* Numbers a site among the sites of the same kind that write the same names. */
static void number_site(struct site *sites, uint32_t index)
{
    struct site *site = &sites[index];

    for (uint32_t i = 0; i < index; i++) {
        bool is_alike =
            sites[i].kind == site->kind && sites[i].write_count == site->write_count;
        for (uint32_t j = 0; is_alike && j < site->write_count; j++) {
            is_alike = slice_equal(sites[i].writes[j].name, site->writes[j].name);
        }
        site->ordinal += is_alike;
    }
}

static bool read_sites(PyObject *given, struct arena *arena, struct site_table *table)
{
    table->site_count = (uint32_t)PyTuple_Size(given);
    table->sites =
        arena_allocate(arena, (size_t)table->site_count + 1, sizeof(struct site));
    if (table->sites == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        table->sites[i] = (struct site){0};
        if (!read_site(PyTuple_GetItem(given, i), arena, &table->sites[i])) {
            return false;
        }
        number_site(table->sites, i);
    }
    return true;
}

/* Makes the hook of a module whose only function has these sites. */
static PyObject *make_hook(PyObject *module,
                           const struct site_table *table,
                           const char *file,
                           const char *module_name)
{
    struct buffer text = BUFFER_INIT;
    PyObject *arguments = NULL;
    PyObject *hook = NULL;

    site_table_write(table, &text);
    if (text.has_failed) {
        PyErr_NoMemory();
    } else {
        arguments = Py_BuildValue("(s#ssOs)", text.bytes, (Py_ssize_t)text.size,
                                  module_name, file, Py_None, "other");
    }
    if (arguments != NULL) {
        hook = hook_make(module, arguments, NULL);
        Py_DECREF(arguments);
    }
    buffer_release(&text);
    return hook;
}

PyDoc_STRVAR(make_place_doc,
             "make_place(path, file, module_name, function, line, sites,\n"
             "           is_reported=False)\n\n"
             "Describes a function for observe(). It is in `file`, which views\n"
             "call `path`. Each site is (kind, line, names, names that are read).\n"
             "`is_reported`: its values were made elsewhere, so none of them ends a\n"
             "recording and none is changed.");

static PyObject *make_place(PyObject *module, PyObject *args)
{
    const char *path, *file, *module_name, *function;
    unsigned int line;
    PyObject *sites;
    struct arena arena;
    PyObject *place = NULL;
    int is_reported = 0;

    if (!PyArg_ParseTuple(args, "ssssIO!|p:make_place", &path, &file, &module_name,
                          &function, &line, &PyTuple_Type, &sites, &is_reported)) {
        return NULL;
    }
    struct site_function functions[] = {
        {SLICE("<module>"), 1},
        {slice_of(function), line > 0 ? line : 1},
    };
    struct site_table table = {
        .path = slice_of(path),
        .prefix = SLICE("_mt"),
        .options = is_reported ? SITE_TABLE_REPORTED : SLICE("observed"),
        .functions = functions,
        .function_count = 2,
    };
    arena_init(&arena);
    if (read_sites(sites, &arena, &table)) {
        place = make_hook(module, &table, file, module_name);
    }
    arena_release(&arena);
    return place;
}

/* ---- observe ---- */

PyDoc_STRVAR(observe_doc,
             "observe(place, site, path, module, *values)\n\n"
             "Records a visit of the place's site in the active recording, in\n"
             "the running frame, for the module of that path; module may be None.");

static PyObject *observe(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct observation observation = {0};
    unsigned long site;

    (void)self;
    if (count < 4 || !hook_check(arguments[0]) || !PyUnicode_Check(arguments[2])) {
        PyErr_SetString(
            PyExc_TypeError,
            "observe() expects a place, a site, a path, a module and values");
        return NULL;
    }
    site = PyLong_AsUnsignedLong(arguments[1]);
    if (PyErr_Occurred() || !read_text(arguments[2], &observation.path)) {
        return NULL;
    }
    observation.place = arguments[0];
    observation.site = site < UINT32_MAX ? (uint32_t)site : UINT32_MAX;
    observation.module = arguments[3] == Py_None ? NULL : arguments[3];
    if (!observe_pass_on(&observation, arguments + 4, count - 4)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

int observe_exec(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"make_place", make_place, METH_VARARGS, make_place_doc},
        {"observe", (PyCFunction)(void (*)(void))observe, METH_FASTCALL, observe_doc},
        {NULL, NULL, 0, NULL},
    };

    if (PyModule_AddFunctions(module, functions) < 0) {
        return -1;
    }
    return observer_add_type(module);
}
