/* What torch calls after a module's forward on a step that is monitored. */
#include "runtime/python/monitor/probe.h"

#include "runtime/python/module_add.h"
#include "runtime/python/monitor/gauge.h"
#include "runtime/python/watch/observe.h"

#include <structmember.h>

/* One for all probes of a monitor: whether they measure. */
struct switch_object {
    PyObject_HEAD char is_on;
};

struct probe {
    PyObject_HEAD PyObject *owner; /* owned: the Switch */
    PyObject *gauges;              /* owned: a tuple */
    PyObject *callback;            /* owned; NULL: the gauges alone */
    PyObject *unread;              /* owned: told what a gauge could not read */
    PyObject
        *get_task; /* owned: torch's function for the running backward pass's number */
    void *module;  /* its address: copies of the module have the hook too */
};

static void switch_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static int probe_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct probe *probe = (struct probe *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(probe->owner);
    Py_VISIT(probe->gauges);
    Py_VISIT(probe->callback);
    Py_VISIT(probe->unread);
    Py_VISIT(probe->get_task);
    return 0;
}

static int probe_clear(PyObject *self)
{
    struct probe *probe = (struct probe *)self;

    Py_CLEAR(probe->owner);
    Py_CLEAR(probe->gauges);
    Py_CLEAR(probe->callback);
    Py_CLEAR(probe->unread);
    Py_CLEAR(probe->get_task);
    return 0;
}

static void probe_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    probe_clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static bool are_gauges(PyObject *gauges)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(gauges); i++) {
        if (!gauge_check(PyTuple_GetItem(gauges, i))) {
            return false;
        }
    }
    return true;
}

static PyObject *probe_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"switch", "module", "gauges", "callback",
                            "unread", "task",   NULL};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *owner, *module, *gauges, *callback, *unread, *task;
    struct probe *probe;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO!OOO:Probe", words, &owner,
                                     &module, &PyTuple_Type, &gauges, &callback,
                                     &unread, &task)) {
        return NULL;
    }
    if (PyType_GetSlot(Py_TYPE(owner), Py_tp_dealloc) != (void *)switch_dealloc ||
        !are_gauges(gauges)) {
        PyErr_SetString(PyExc_TypeError, "Probe() expects a Switch and Gauges");
        return NULL;
    }
    probe = (struct probe *)allocate(type, 0);
    if (probe == NULL) {
        return NULL;
    }
    probe->owner = Py_NewRef(owner);
    probe->gauges = Py_NewRef(gauges);
    probe->callback = callback == Py_None ? NULL : Py_NewRef(callback);
    probe->unread = Py_NewRef(unread);
    probe->get_task = task == Py_None ? NULL : Py_NewRef(task);
    probe->module = module;
    return (PyObject *)probe;
}

/* ---- the hook ---- */

/* Whether a backward pass runs in this thread: then activation checkpointing has called the module,
 * once more. */
static bool is_in_backward(const struct probe *probe)
{
    PyObject *number =
        probe->get_task == NULL ? NULL : PyObject_CallNoArgs(probe->get_task);
    long task = number == NULL ? -1 : PyLong_AsLong(number);

    PyErr_Clear();
    Py_XDECREF(number);
    return task != -1;
}

static void note_recomputed(const struct probe *probe)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(probe->gauges); i++) {
        gauge_note_recomputed(PyTuple_GetItem(probe->gauges, i));
    }
}

/* False with an exception set. */
static bool measure_one(const struct probe *probe, PyObject *gauge, PyObject *output)
{
    PyObject *reason = gauge_measure(gauge, output);
    PyObject *result;

    if (reason == NULL) {
        return !PyErr_Occurred();
    }
    result = PyObject_CallFunctionObjArgs(probe->unread, gauge, reason, output, NULL);
    Py_DECREF(reason);
    Py_XDECREF(result);
    return result != NULL;
}

static bool measure_all(const struct probe *probe, PyObject *output)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(probe->gauges); i++) {
        if (!measure_one(probe, PyTuple_GetItem(probe->gauges, i), output)) {
            return false;
        }
    }
    return true;
}

PyDoc_STRVAR(leave_doc, "leave(module, args, …, output): a forward hook.");

static PyObject *
probe_leave(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct probe *probe = (struct probe *)self;
    PyObject *output, *result;

    if (probe->owner == NULL || !((struct switch_object *)probe->owner)->is_on ||
        count < 3 || arguments[0] != probe->module) {
        Py_RETURN_NONE;
    }
    output = arguments[count - 1];
    if (is_in_backward(probe)) {
        note_recomputed(probe);
        Py_RETURN_NONE;
    }
    if (!measure_all(probe, output)) {
        return NULL;
    }
    if (probe->callback != NULL) {
        /* Between arguments and output torch tells keywords, where it was asked to. */
        result =
            PyObject_CallFunctionObjArgs(probe->callback, arguments[0], arguments[1],
                                         output, count > 3 ? arguments[2] : NULL, NULL);
        if (result == NULL) {
            return NULL;
        }
        Py_DECREF(result);
    }
    Py_RETURN_NONE;
}

/* ---- the types ---- */

int probe_exec(PyObject *module)
{
    static PyMemberDef members[] = {
        {"is_on", T_BOOL, offsetof(struct switch_object, is_on), 0,
         "Whether the probes measure."},
        {NULL, 0, 0, 0, NULL},
    };
    static PyType_Slot switch_slots[] = {
        {Py_tp_dealloc, switch_dealloc},
        {Py_tp_members, members},
        {Py_tp_doc, "Turns the probes of a monitor on and off."},
        {0, NULL},
    };
    static PyType_Spec switch_spec = {
        .name = "monitorch._recorder.Switch",
        .basicsize = sizeof(struct switch_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = switch_slots,
    };
    static PyMethodDef methods[] = {
        {"leave", (PyCFunction)(void (*)(void))probe_leave, METH_FASTCALL, leave_doc},
        {"__reduce__", observe_reduce, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot probe_slots[] = {
        {Py_tp_new, probe_new},
        {Py_tp_dealloc, probe_dealloc},
        {Py_tp_traverse, probe_traverse},
        {Py_tp_clear, probe_clear},
        {Py_tp_methods, methods},
        {Py_tp_doc, "The forward hook of one monitored module."},
        {0, NULL},
    };
    static PyType_Spec probe_spec = {
        .name = "monitorch._recorder.Probe",
        .basicsize = sizeof(struct probe),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
        .slots = probe_slots,
    };

    return module_add_type(module, &switch_spec) < 0
               ? -1
               : module_add_type(module, &probe_spec);
}
