/* What torch calls behind a traced module's forward: what comes out of modules whose methods are left
 * as they are. */
#include "runtime/python/module_add.h"
#include "runtime/python/tracer/tracing.h"
#include "runtime/python/watch/observe.h"

struct output_hook {
    PyObject_HEAD struct tracing *tracing; /* owned */
    struct traced_path *path;              /* borrowed from it */
};

PyDoc_STRVAR(leave_doc,
             "leave(module, args, output)\n\nAs torch calls a forward hook.");

static PyObject *
hook_leave(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct output_hook *hook = (struct output_hook *)self;
    struct tracing_moment moment;
    struct tracing *tracing;
    bool is_good;

    if (count < 3) {
        PyErr_SetString(PyExc_TypeError,
                        "leave() expects a module, args and an output");
        return NULL;
    }
    if (hook->tracing == NULL || !hook->tracing->is_open) {
        Py_RETURN_NONE;
    }
    tracing = (struct tracing *)Py_NewRef((PyObject *)hook->tracing);
    is_good = tracing_find_moment(tracing, &moment) &&
              (!moment.is_active ||
               tracing_keep_value(tracing, hook->path, arguments[2], &moment, true));
    Py_DECREF((PyObject *)tracing);
    return is_good ? Py_NewRef(Py_None) : NULL;
}

PyDoc_STRVAR(release_doc,
             "release()\n\nReleases the tracing: torch.compile keeps hooks for ever.");

static PyObject *hook_release(PyObject *self, PyObject *unused)
{
    struct output_hook *hook = (struct output_hook *)self;

    (void)unused;
    Py_CLEAR(hook->tracing);
    Py_RETURN_NONE;
}

static int hook_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct output_hook *)self)->tracing);
    return 0;
}

static void hook_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    PyObject_GC_UnTrack(self);
    Py_XDECREF(((struct output_hook *)self)->tracing);
    release(self);
    Py_DECREF(type);
}

static PyObject *hook_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct session *session = PyType_GetModuleState(type);
    PyObject *tracing, *path;
    struct output_hook *hook;

    (void)keywords;
    if (session == NULL || !PyArg_ParseTuple(args, "OU:OutputHook", &tracing, &path)) {
        return NULL;
    }
    if (Py_TYPE(tracing) != session->tracing_type) {
        PyErr_SetString(PyExc_TypeError, "OutputHook() expects a Tracing");
        return NULL;
    }
    hook =
        (struct output_hook *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (hook == NULL) {
        return NULL;
    }
    hook->tracing = (struct tracing *)Py_NewRef(tracing);
    hook->path = tracing_find_output(hook->tracing, path);
    if (hook->path == NULL) {
        Py_DECREF(hook);
        return NULL;
    }
    return (PyObject *)hook;
}

int tracing_add_hook_type(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"leave", (PyCFunction)(void (*)(void))hook_leave, METH_FASTCALL, leave_doc},
        {"release", hook_release, METH_NOARGS, release_doc},
        {"__reduce__", observe_reduce, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, hook_new},
        {Py_tp_dealloc, hook_dealloc},
        {Py_tp_traverse, hook_traverse},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.OutputHook",
        .basicsize = sizeof(struct output_hook),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };

    return module_add_type(module, &spec);
}
