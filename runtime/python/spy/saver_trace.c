/* The class TraceWriter, which saves tensors into a trace. */
#include "runtime/python/module_add.h"

#include "runtime/python/spy/saver.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/values.h"
#include "runtime/saved/trace.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

struct trace_writer {
    PyObject_HEAD struct session *session; /* borrowed from the module */
    PyObject *module;                      /* owned: keeps the session */
    PyObject *path;                        /* owned: bytes */
    struct saved_trace_writer *writer;     /* owned; NULL: finished */
    pid_t process;                         /* the process that writes the file */
    unsigned long long count;
};

/* Finishes the file. In a fork of the writing process the file belongs to the parent and stays
 * unchanged. */
static void let_go(struct trace_writer *self)
{
    struct saved_trace_writer *writer = self->writer;

    self->writer = NULL;
    if (writer != NULL && self->process != getpid()) {
        saved_trace_writer_abandon(writer);
    } else if (writer != NULL) {
        saved_trace_writer_finish(writer, NULL);
    }
}

static void trace_writer_dealloc(PyObject *object)
{
    struct trace_writer *self = (struct trace_writer *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    let_go(self);
    Py_XDECREF(self->path);
    Py_XDECREF(self->module);
    release(object);
    Py_DECREF(type);
}

static PyObject *raise_file_error(const struct error *error, int number, PyObject *path)
{
    PyObject *raised;

    if (error->kind == ERROR_MEMORY) {
        return PyErr_NoMemory();
    }
    raised = PyObject_CallFunction(PyExc_OSError, "isO&", number != 0 ? number : EIO,
                                   error->text, PyUnicode_DecodeFSDefault,
                                   PyBytes_AsString(path));
    if (raised != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
        Py_DECREF(raised);
    }
    return NULL;
}

static PyObject *
trace_writer_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", NULL};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *module = PyType_GetModule(type);
    struct error error = ERROR_INIT;
    struct trace_writer *self;
    PyObject *path;

    if (module == NULL ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "O&:TraceWriter", names,
                                     PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    self = (struct trace_writer *)allocate(type, 0);
    if (self == NULL) {
        Py_DECREF(path);
        return NULL;
    }
    self->session = PyModule_GetState(module);
    self->module = Py_NewRef(module);
    self->path = path;
    self->process = getpid();
    errno = 0;
    self->writer = saved_trace_writer_new(PyBytes_AsString(path), &error);
    if (self->writer == NULL) {
        raise_file_error(&error, errno, path);
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static bool is_open(const struct trace_writer *self)
{
    if (self->writer != NULL && self->process == getpid()) {
        return true;
    }
    PyErr_SetString(PyExc_ValueError, "the trace is finished, or another process's");
    return false;
}

/* Writes the tensor's values, or the norms of its rows, to the trace. */
static PyObject *
add(struct trace_writer *self, const struct saver_item *item, bool norm_only)
{
    struct recorded_array array = value_array(&item->value.tensor);
    PyObject *name = frame_thread_name(self->session);
    Py_ssize_t size = 0;
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, &size);
    struct saved_trace_thread thread = {
        .key = session_thread_key(),
        .native = (uint64_t)syscall(SYS_gettid),
        .name = {text, text == NULL ? 0 : (size_t)size},
    };
    struct error error = ERROR_INIT;
    bool is_added;
    int number;

    PyErr_Clear();
    if (norm_only) {
        array = (struct recorded_array){.array = &item->value.array,
                                        .type = SLICE(""),
                                        .dtype_text = SLICE(""),
                                        .device = SLICE(""),
                                        .layout = SLICE(""),
                                        .note = SLICE("")};
    }
    if (!is_open(self)) { /* checked again: another thread may have finished it */
        Py_XDECREF(name);
        return NULL;
    }
    errno = 0;
    is_added = saved_trace_writer_add(self->writer, &thread, &item->request.saved,
                                      &array, item->value.tensor.object, &error);
    number = errno != 0 ? errno : EIO;
    Py_XDECREF(name);
    if (!is_added) {
        return saver_raise(&error, number, &item->request,
                           PyBytes_AsString(self->path));
    }
    self->count++;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(add_doc,
             "add(tensor, key, place=None, norm_only=False)\n\n"
             "Writes a tensor, as save_pt() does. What was added is in the file then.");

static PyObject *trace_writer_add(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"tensor", "key", "place", "norm_only", NULL};
    struct trace_writer *self = (struct trace_writer *)object;
    struct saver_item item;
    PyObject *tensor, *key, *place = Py_None, *result;
    int norm_only = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|Op:add", names, &tensor, &key,
                                     &place, &norm_only) ||
        !is_open(self) ||
        !saver_item_init(&item, self->session, tensor, key, place, norm_only)) {
        return NULL;
    }
    result = add(self, &item, norm_only);
    saver_item_release(&item);
    return result;
}

PyDoc_STRVAR(finish_doc, "finish(): ends the file.");

static PyObject *trace_writer_finish(PyObject *object, PyObject *unused)
{
    struct trace_writer *self = (struct trace_writer *)object;
    struct saved_trace_writer *writer = self->writer;
    struct error error = ERROR_INIT;

    (void)unused;
    if (writer == NULL) {
        Py_RETURN_NONE;
    }
    if (!is_open(self)) {
        return NULL;
    }
    self->writer = NULL;
    errno = 0;
    if (!saved_trace_writer_finish(writer, &error)) {
        return raise_file_error(&error, errno, self->path);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(abandon_doc, "abandon(): ends the file, and reports no failure.");

static PyObject *trace_writer_abandon(PyObject *object, PyObject *unused)
{
    (void)unused;
    let_go((struct trace_writer *)object);
    Py_RETURN_NONE;
}

static PyObject *trace_writer_count(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((struct trace_writer *)object)->count);
}

int saver_trace_exec(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"add", (PyCFunction)(void (*)(void))trace_writer_add,
         METH_VARARGS | METH_KEYWORDS, add_doc},
        {"finish", trace_writer_finish, METH_NOARGS, finish_doc},
        {"abandon", trace_writer_abandon, METH_NOARGS, abandon_doc},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef attributes[] = {
        {"count", trace_writer_count, NULL, "How many tensors were added.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, trace_writer_new},
        {Py_tp_dealloc, trace_writer_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_getset, attributes},
        {Py_tp_doc, "TraceWriter(path): tensors saved into a trace with their values."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.TraceWriter",
        .basicsize = sizeof(struct trace_writer),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return module_add_type(module, &spec);
}
