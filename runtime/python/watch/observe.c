/* Places that are observed, and their events. */
#include "runtime/python/watch/observe.h"

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/python/visit/hook.h"
#include "runtime/python/watch/observe_module.h"
#include "runtime/site/site.h"

bool observe_pass_on(const struct observation *observation,
                     PyObject *const *values,
                     Py_ssize_t count)
{
    struct frame_owner owner = {
        .object = observation->module, .has_path = true, .path = observation->path};

    return hook_observe(observation->place, observation->site, &owner, values, count);
}

/* ---- places ---- */

/* The text lives as long as `object`. False with an exception set. */
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

/* A site as (kind, line, names, names that are read). */
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

/* Sites of one kind that write the same names are told apart by their number. */
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

/* The hook of a module that holds that one function. */
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
             "make_place(path, file, module_name, function, line, sites)\n\n"
             "Describes a function for observe(). It is in `file`, which views\n"
             "call `path`. Each site is (kind, line, names, names that are read).");

static PyObject *make_place(PyObject *module, PyObject *args)
{
    const char *path, *file, *module_name, *function;
    unsigned int line;
    PyObject *sites;
    struct arena arena;
    PyObject *place = NULL;

    if (!PyArg_ParseTuple(args, "ssssIO!:make_place", &path, &file, &module_name,
                          &function, &line, &PyTuple_Type, &sites)) {
        return NULL;
    }
    struct site_function functions[] = {
        {SLICE("<module>"), 1},
        {slice_of(function), line > 0 ? line : 1},
    };
    struct site_table table = {
        .path = slice_of(path),
        .prefix = SLICE("_mt"),
        .options = SLICE("observed"),
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
