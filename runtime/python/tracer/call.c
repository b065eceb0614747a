/* What stands in a traced module's methods' places: by these it is known which module's method runs,
 * and what comes out of it. */
#include "runtime/python/tracer/tracing.h"

#include "runtime/base/hot.h"
#include "runtime/base/memory.h"
#include "runtime/python/module_add.h"

static __thread struct tracing_thread this_thread;

HOT struct tracing_thread *tracing_this_thread(void)
{
    return &this_thread;
}

/* ---- moments ---- */

/* Whether the model's calls are traced in the mode that it is in. Negative: an exception. */
static int is_in_mode(const struct tracing *tracing)
{
    PyObject *training;
    int is_training;

    if (tracing->mode == TRACING_ALWAYS) {
        return 1;
    }
    training = PyObject_GetAttrString(tracing->root, "training");
    is_training = training == NULL ? -1 : PyObject_IsTrue(training);
    Py_XDECREF(training);
    if (is_training < 0) {
        return -1;
    }
    return is_training == (tracing->mode == TRACING_TRAINING);
}

/* Of a call that no call of the model's stands around: not those that autograd makes again. */
static int is_active_alone(const struct tracing *tracing)
{
    PyObject *answer;
    int is_backward;
    int is_wanted =
        tracing->iteration % tracing->interval == 0 ? is_in_mode(tracing) : 0;

    if (is_wanted <= 0) {
        return is_wanted;
    }
    answer = PyObject_CallNoArgs(tracing->calls.is_backward);
    is_backward = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return is_backward < 0 ? -1 : !is_backward;
}

HOT bool tracing_find_moment(const struct tracing *tracing,
                             struct tracing_moment *moment)
{
    int is_active;

    for (struct traced_call *call = this_thread.top; call != NULL; call = call->below) {
        if (call->tracing == tracing) {
            *moment = call->moment;
            return true;
        }
    }
    is_active = is_active_alone(tracing);
    *moment = (struct tracing_moment){tracing->iteration, session_thread_key(),
                                      is_active > 0};
    return is_active >= 0;
}

static bool begin_iteration(struct tracing *tracing, struct tracing_moment *moment)
{
    int is_active;

    tracing->iteration++;
    is_active = tracing->iteration % tracing->interval == 0 ? is_in_mode(tracing) : 0;
    *moment = (struct tracing_moment){tracing->iteration, session_thread_key(),
                                      is_active > 0};
    return is_active >= 0;
}

/* The model's call has ended, by an exception perhaps, which stays. */
static bool end_iteration(struct tracing *tracing, uint64_t iteration)
{
    PyObject *type, *error, *traceback, *result;

    if (tracing->calls.gather == Py_None || !tracing->is_open ||
        iteration % tracing->gathering_interval != 0) {
        return true;
    }
    PyErr_Fetch(&type, &error, &traceback);
    result = PyObject_CallFunction(tracing->calls.gather, "K",
                                   (unsigned long long)iteration);
    if (type != NULL) {
        if (result == NULL) {
            PyErr_WriteUnraisable((PyObject *)tracing);
        }
        Py_XDECREF(result);
        PyErr_Restore(type, error, traceback);
        return true;
    }
    Py_XDECREF(result);
    return result != NULL;
}

/* ---- TracedMethod ---- */

static struct traced_call *find_outer(const struct tracing *tracing)
{
    struct traced_call *outer = this_thread.top;

    while (outer != NULL && outer->tracing != tracing) {
        outer = outer->below;
    }
    return outer;
}

/* The thread's calls begin with it. */
HOT static void push(struct traced_call *call)
{
    const struct traced_method *method = call->method;
    struct traced_call *outer = find_outer(call->tracing);

    call->is_watched = call->moment.is_active && method->code != Py_None;
    call->outer = outer;
    call->has_twin = outer != NULL && outer->method->module == method->module &&
                     outer->method->code == method->code;
    call->below = this_thread.top;
    this_thread.top = call;
}

/* The call has ended, by an exception perhaps, which stays. */
HOT static void let_go(const struct traced_call *call)
{
    const struct traced_method *method = call->method;
    uint64_t thread = call->moment.thread;
    PyObject *type, *error, *traceback;

    PyErr_Fetch(&type, &error, &traceback);
    for (const struct traced_variable *variable = method->variables;
         call->frame != NULL && variable != NULL; variable = variable->next) {
        if (variable->path != NULL) {
            tracing_let_go(method->tracing, variable->path, thread,
                           call->outer != NULL);
        }
    }
    if (call->outer == NULL) {
        tracing_let_all_go(method->tracing, thread, method->is_root);
    }
    PyErr_Restore(type, error, traceback);
}

HOT static PyObject *call_inner(struct traced_method *method,
                                struct traced_call *call,
                                PyObject *args,
                                PyObject *keywords)
{
    PyObject *inner = Py_NewRef(method->inner);
    PyObject *result;

    push(call);
    result = PyObject_Call(inner, args, keywords);
    this_thread.top = call->below;
    Py_DECREF(inner);
    let_go(call);
    if (result != NULL && method->output != NULL && call->moment.is_active &&
        !tracing_keep_value(method->tracing, method->output, result, &call->moment,
                            true)) {
        Py_CLEAR(result);
    }
    return result;
}

HOT static PyObject *method_call(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct traced_method *method = (struct traced_method *)self;
    struct tracing *tracing = method->tracing;
    struct traced_call call = {.method = method, .tracing = tracing};
    PyObject *result = NULL;

    if (!tracing->is_open) {
        return PyObject_Call(method->inner, args, keywords);
    }
    Py_INCREF(self); /* the module may lose it meanwhile */
    if (method->is_root ? begin_iteration(tracing, &call.moment)
                        : tracing_find_moment(tracing, &call.moment)) {
        result = call_inner(method, &call, args, keywords);
        if (method->is_root && !end_iteration(tracing, call.moment.iteration)) {
            Py_CLEAR(result);
        }
    }
    Py_DECREF(self);
    return result;
}

/* Whatever else is asked of it is asked of the method. */
static PyObject *method_getattr(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);

    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        found = PyObject_GetAttr(((struct traced_method *)self)->inner, name);
    }
    return found;
}

static PyObject *method_get_inner(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((struct traced_method *)self)->inner);
}

static int method_set_inner(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "__wrapped__ cannot be deleted");
        return -1;
    }
    tracing_replace(&((struct traced_method *)self)->inner, Py_NewRef(value));
    return 0;
}

static PyObject *method_get_doc(PyObject *self, void *unused)
{
    (void)unused;
    return PyObject_GetAttrString(((struct traced_method *)self)->inner, "__doc__");
}

static PyObject *method_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(((struct traced_method *)self)->reduction);
}

static int method_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct traced_method *method = (struct traced_method *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(method->tracing);
    Py_VISIT(method->module);
    Py_VISIT(method->inner);
    Py_VISIT(method->reduction);
    return 0;
}

static int method_clear(PyObject *self)
{
    struct traced_method *method = (struct traced_method *)self;

    Py_CLEAR(method->module);
    Py_CLEAR(method->reduction);
    return 0; /* the others are needed as long as it may be called */
}

static void method_dealloc(PyObject *self)
{
    struct traced_method *method = (struct traced_method *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    PyObject_GC_UnTrack(self);
    for (struct traced_variable *variable = method->variables; variable != NULL;
         variable = variable->next) {
        Py_XDECREF(variable->name);
    }
    method_memory_leave(method->memory);
    Py_XDECREF(method->tracing);
    Py_XDECREF(method->module);
    Py_XDECREF(method->inner);
    Py_XDECREF(method->code);
    Py_XDECREF(method->path);
    Py_XDECREF(method->reduction);
    release(self);
    Py_DECREF(type);
}

struct traced_path *tracing_find_output(struct tracing *tracing, PyObject *name)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(name, &size);

    return text == NULL
               ? NULL
               : tracing_find_path(tracing, (struct slice){text, (size_t)size});
}

static PyObject *method_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"tracing", "module",    "path",      "inner",   "code",
                            "state",   "reduction", "is_output", "is_root", NULL};
    PyObject *tracing, *module, *path, *inner, *code, *reduction;
    unsigned int state;
    int is_output, is_root;
    struct traced_method *method;
    struct session *session;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOUOOIO!pp:TracedMethod", words,
                                     &tracing, &module, &path, &inner, &code, &state,
                                     &PyTuple_Type, &reduction, &is_output, &is_root)) {
        return NULL;
    }
    session = PyType_GetModuleState(type);
    if (session == NULL || Py_TYPE(tracing) != session->tracing_type) {
        PyErr_SetString(PyExc_TypeError, "TracedMethod() expects a Tracing");
        return NULL;
    }
    method =
        (struct traced_method *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (method == NULL) {
        return NULL;
    }
    method->tracing = (struct tracing *)Py_NewRef(tracing);
    method->module = Py_NewRef(module);
    method->path = Py_NewRef(path);
    method->inner = Py_NewRef(inner);
    method->code = Py_NewRef(code);
    method->reduction = Py_NewRef(reduction);
    method->state = state;
    method->is_root = is_root;
    method->memory = method_memory_use(method->tracing);
    if (method->memory != NULL && is_output) {
        method->output = tracing_find_output(method->tracing, path);
    }
    if (method->memory == NULL || (is_output && method->output == NULL)) {
        Py_DECREF(method);
        return NULL;
    }
    return (PyObject *)method;
}

int tracing_add_method_type(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"__reduce__", method_reduce, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef properties[] = {
        {"__wrapped__", method_get_inner, method_set_inner, NULL, NULL},
        {"__doc__", method_get_doc, NULL, NULL, NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, method_new},
        {Py_tp_dealloc, method_dealloc},
        {Py_tp_traverse, method_traverse},
        {Py_tp_clear, method_clear},
        {Py_tp_call, method_call},
        {Py_tp_getattro, method_getattr},
        {Py_tp_methods, methods},
        {Py_tp_getset, properties},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.TracedMethod",
        .basicsize = sizeof(struct traced_method),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };
    struct session *session = PyModule_GetState(module);

    return module_keep_type(module, &spec, &session->traced_method_type);
}
