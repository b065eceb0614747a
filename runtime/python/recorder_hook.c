#include "runtime/python/recorder_hook.h"

#include "runtime/python/recorder_frames.h"
#include "runtime/python/recorder_values.h"

/* A hook is a builtin function bound to one of these. */
struct hook_object {
    PyObject_HEAD
    struct session *session;          /* borrowed from the module */
    PyObject *module;                 /* owned: keeps the session */
    struct recorded_module *recorded; /* borrowed from the recording of that number */
    uint64_t number;
};

static void hook_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    Py_XDECREF(((struct hook_object *)self)->module);
    release(self);
    Py_DECREF(type);
}

PyObject *hook_make_type(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, hook_dealloc},
        {Py_tp_doc, "One recorded module, as its hook knows it."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.HookedModule",
        .basicsize = sizeof(struct hook_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return PyType_FromModuleAndSpec(module, &spec, NULL);
}

static void tell_values(struct session *session,
                        const struct visit *visit,
                        PyObject *const *values,
                        Py_ssize_t count)
{
    const struct site *site = visit->site;
    struct value nothing = {.kind = VALUE_NOTHING};
    Py_ssize_t next = 0;
    bool is_told = false;

    for (uint32_t i = 0; i < site->write_count; i++) {
        enum site_source source = site->writes[i].source;
        if (source == SITE_SOURCE_NONE) {
            recorder_tell(session->recorder, visit, i, SLICE(""), &nothing);
        } else if (next >= count) {
            break;
        } else if (source == SITE_SOURCE_PEEK) {
            value_tell_peeked(session, visit, i, values[next++]);
        } else {
            value_tell(session, visit, i, values[next++]);
        }
        is_told = true;
    }
    if (!is_told) {
        recorder_tell(session->recorder, visit, 0, SLICE(""), &nothing);
    }
}

/* The module whose method began is told with the call: an enter site's first value, where it
 * is the value that stands first. */
static PyObject *
find_first(const struct site *site, PyObject *const *values, Py_ssize_t count)
{
    bool has_value = site->kind == SITE_ENTER && site->write_count > 0 &&
                     site->writes[0].source == SITE_SOURCE_VALUE && count > 0;

    return has_value ? values[0] : NULL;
}

static void visit_site(struct session *session,
                       struct recorded_module *module,
                       uint32_t index,
                       PyObject *const *values,
                       Py_ssize_t count)
{
    const struct site *site = &module->table.sites[index];
    struct visit visit;
    struct call *call =
        frame_find_call(session, module, index, find_first(site, values, count));

    if (call != NULL &&
        recorder_begin_visit(session->recorder, module, index, call, &visit)) {
        tell_values(session, &visit, values, count);
    }
}

static PyObject *hook_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct hook_object *hook = (struct hook_object *)self;
    struct session *session = hook->session;

    if (count > 0 && session_enter(session, hook->number)) {
        unsigned long index = PyLong_AsUnsignedLong(arguments[0]);
        if (index < hook->recorded->table.site_count) {
            visit_site(session, hook->recorded, (uint32_t)index, arguments + 1,
                       count - 1);
        } else {
            PyErr_Clear();
        }
        session_leave(session);
    }
    Py_RETURN_NONE;
}

static PyMethodDef hook_definition = {
    "site", (PyCFunction)(void (*)(void))hook_call, METH_FASTCALL,
    "Tells the recorder that a site was visited."};

static PyObject *make_object(struct session *session,
                             PyObject *module,
                             struct recorded_module *recorded)
{
    allocfunc allocate =
        (allocfunc)PyType_GetSlot(session->hook_type, Py_tp_alloc);
    struct hook_object *object =
        (struct hook_object *)allocate(session->hook_type, 0);
    PyObject *name = PyUnicode_FromString("monitorch._recorder");
    PyObject *hook = NULL;

    if (object != NULL && name != NULL) {
        object->session = session;
        object->module = Py_NewRef(module);
        object->recorded = recorded;
        object->number = session->number;
        hook = PyCFunction_NewEx(&hook_definition, (PyObject *)object, name);
    }
    Py_XDECREF(object);
    Py_XDECREF(name);
    return hook;
}

static bool read_source_tag(const char *kind, enum log_source_tag *tag)
{
    static const struct {
        const char *text;
        enum log_source_tag tag;
    } known[] = {
        {"original", LOG_SOURCE_ORIGINAL},
        {"instrumented", LOG_SOURCE_INSTRUMENTED},
        {"other", LOG_SOURCE_OTHER},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(kind, known[i].text) == 0) {
            *tag = known[i].tag;
            return true;
        }
    }
    PyErr_Format(PyExc_ValueError,
                 "source_kind must be 'original', 'instrumented' or 'other', not '%s'",
                 kind);
    return false;
}

PyObject *hook_make(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"table", "module_name", "file", "source", "source_kind", NULL};
    struct session *session = PyModule_GetState(module);
    struct error error = ERROR_INIT;
    const char *table, *name, *file, *source, *kind;
    Py_ssize_t table_size, name_size, file_size, source_size;
    struct module_text text;
    struct recorded_module *recorded;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s#s#s#z#s:make_hook", names,
                                     &table, &table_size, &name, &name_size, &file,
                                     &file_size, &source, &source_size, &kind) ||
        !read_source_tag(kind, &text.source_tag)) {
        return NULL;
    }
    if (session->recorder == NULL || session->is_closing) {
        PyErr_SetString(PyExc_RuntimeError, "nothing is being recorded");
        return NULL;
    }
    text.table = (struct slice){table, (size_t)table_size};
    text.name = (struct slice){name, (size_t)name_size};
    text.file = (struct slice){file, (size_t)file_size};
    text.source = (struct slice){source, source == NULL ? 0 : (size_t)source_size};
    recorded = recorder_add_module(session->recorder, &text, &error);
    if (recorded == NULL) {
        if (error.kind == ERROR_MEMORY) {
            return PyErr_NoMemory();
        }
        PyErr_SetString(PyExc_ValueError, error.text);
        return NULL;
    }
    return make_object(session, module, recorded);
}
