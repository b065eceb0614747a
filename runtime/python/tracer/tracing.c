/* The classes Tracing, TracedMethod and OutputHook. */
#include "runtime/python/tracer/tracing.h"

#include "runtime/base/memory.h"
#include "runtime/python/module_add.h"
#include "runtime/python/watch/observe.h"

/* ---- visits ---- */

/* Chooses all sites: any of them may belong to a traced method, and only the method's plan shows
 * whether it matters. */
static bool choose(const struct consumer *consumer,
                   const struct site_module *module,
                   consumer_set bit,
                   consumer_set *sets)
{
    (void)consumer;
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        sets[i] |= bit;
    }
    return true;
}

HOT static bool visit_tracing(const struct consumer *consumer, struct site_visit *visit)
{
    struct traced_call *call = visit->thread->traced;

    return call == NULL ||
           tracing_visit((struct tracing *)consumer->object, call, visit);
}

static const struct consumer_kind tracing_kind = {choose, visit_tracing};

/* ---- moments ---- */

/* Whether the model's calls are traced in its current mode, training or evaluation. Negative
 * with an exception set. */
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

/* Whether values are traced outside of any call of the model. Calls that autograd repeats are
 * not. Negative with an exception set. */
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

/* Finds the moment of the current code: that of the innermost traced call, or a new one. Returns
 * false with an exception set. */
static HOT bool tracing_find_moment(const struct tracing *tracing,
                                    struct tracing_moment *moment)
{
    int is_active;

    for (struct traced_call *call = visit_this_thread()->traced; call != NULL;
         call = call->below) {
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

/* Handles the end of a call of the model. An exception that is set stays set. Returns false with
 * a new exception set. */
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
    struct traced_call *outer = visit_this_thread()->traced;

    while (outer != NULL && outer->tracing != tracing) {
        outer = outer->below;
    }
    return outer;
}

/* Makes the call the innermost one of the thread. */
HOT static void push(struct traced_call *call)
{
    const struct traced_method *method = call->method;
    struct visit_thread *thread = visit_this_thread();
    struct traced_call *outer = find_outer(call->tracing);

    call->is_watched = call->moment.is_active && method->code != Py_None;
    call->outer = outer;
    call->has_twin = outer != NULL && outer->method->module == method->module &&
                     outer->method->code == method->code;
    call->below = thread->traced;
    thread->traced = call;
}

/* Releases the tensors that are held for the call's variables, after the call has ended. An
 * exception that is set stays set. */
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
    visit_this_thread()->traced = call->below;
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
    Py_INCREF(self); /* the module may release it during the call */
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

bool traced_method_check(PyObject *object)
{
    return PyType_GetSlot(Py_TYPE(object), Py_tp_call) == (void *)method_call;
}

/* Other attributes are those of the wrapped method. */
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
    return 0; /* the others are needed as long as it can be called */
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

/* The path for the output of a method or module; NULL with an exception set. */
static struct traced_path *tracing_find_output(struct tracing *tracing, PyObject *name)
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
    if (session == NULL || !consumers_is(&session->consumers, &tracing_kind, tracing)) {
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

static int tracing_add_method_type(PyObject *module)
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

    return module_add_type(module, &spec);
}

/* ---- hooks: modules' outputs ---- */

struct output_hook {
    PyObject_HEAD struct tracing *tracing; /* owned */
    struct traced_path *path;              /* borrowed from `tracing` */
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
    if (!consumers_is(&session->consumers, &tracing_kind, tracing)) {
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

static int tracing_add_hook_type(PyObject *module)
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

/* ---- paths ---- */

PyDoc_STRVAR(step_doc,
             "step(state, segment) -> int\n\n"
             "The state after one more segment; 0: nothing matches any more.");

static PyObject *tracing_step(PyObject *self, PyObject *args)
{
    struct tracing *tracing = (struct tracing *)self;
    struct error error = ERROR_INIT;
    const char *segment;
    Py_ssize_t size;
    unsigned int state;
    uint32_t next;

    if (!PyArg_ParseTuple(args, "Is#:step", &state, &segment, &size)) {
        return NULL;
    }
    if (!path_set_step(&tracing->paths, state, (struct slice){segment, (size_t)size},
                       &next, &error)) {
        return PyErr_NoMemory();
    }
    return PyLong_FromUnsignedLong(next);
}

PyDoc_STRVAR(
    waiting_doc,
    "waiting(state) -> list\n\n"
    "What the state waits for: (path, depth, segment or None at a path's end,\n"
    "whether it has a star, the segment before it or None if that has one).");

static PyObject *make_text(struct slice text)
{
    return PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "surrogateescape");
}

static PyObject *describe_segment(const struct path_segment *segment)
{
    PyObject *text = segment->is_end     ? Py_NewRef(Py_None)
                     : segment->has_star ? make_text(segment->text)
                                         : make_text(segment->name);
    PyObject *before = segment->depth == 0 || segment[-1].has_star
                           ? Py_NewRef(Py_None)
                           : make_text(segment[-1].name);

    return Py_BuildValue("IINNN", segment->path, segment->depth, text,
                         PyBool_FromLong(segment->has_star), before);
}

static PyObject *tracing_waiting(PyObject *self, PyObject *number)
{
    struct tracing *tracing = (struct tracing *)self;
    unsigned long state = PyLong_AsUnsignedLong(number);
    const struct path_segment *segment;
    PyObject *list;
    uint32_t at = 0;

    if (PyErr_Occurred()) {
        return NULL;
    }
    list = PyList_New(0);
    while (list != NULL && state < UINT32_MAX &&
           (segment = path_set_next(&tracing->paths, (uint32_t)state, &at)) != NULL) {
        PyObject *item = describe_segment(segment);

        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

PyDoc_STRVAR(join_doc,
             "join(path, segment) -> str\n\nThe path with one more segment, escaped.");

static PyObject *tracing_join(PyObject *unused, PyObject *args)
{
    struct buffer text = BUFFER_INIT;
    const char *path, *segment;
    Py_ssize_t path_size, size;
    PyObject *result;

    (void)unused;
    if (!PyArg_ParseTuple(args, "s#s#:join", &path, &path_size, &segment, &size)) {
        return NULL;
    }
    buffer_add_bytes(&text, path, (size_t)path_size);
    path_add_segment(&text, (struct slice){segment, (size_t)size});
    result = text.has_failed ? PyErr_NoMemory() : make_text(buffer_slice(&text));
    buffer_release(&text);
    return result;
}

/* ---- kept values ---- */

PyDoc_STRVAR(detach_doc,
             "detach() -> dict\n\n"
             "What was kept since the last time: path -> (values, iterations).");

static PyObject *detach(PyObject *self, PyObject *unused)
{
    (void)unused;
    return tracing_detach((struct tracing *)self);
}

PyDoc_STRVAR(seen_doc, "seen() -> list\n\nThe names of all paths that have matched.");

static PyObject *seen(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyDict_Keys(((struct tracing *)self)->numbers);
}

PyDoc_STRVAR(open_doc,
             "open(is_open)\n\n"
             "Whether there is anything to trace. Where there is not, nothing of the\n"
             "model's is held any more.");

static PyObject *set_open(PyObject *self, PyObject *is_open)
{
    struct tracing *tracing = (struct tracing *)self;
    int is_true = PyObject_IsTrue(is_open);

    if (is_true < 0) {
        return NULL;
    }
    tracing->is_open = is_true;
    for (size_t i = 0; !is_true && i < tracing->traced_count; i++) {
        traced_path_forget(tracing->traced[i]);
    }
    if (!is_true) {
        Py_CLEAR(tracing->chunk);
        method_memory_leave(tracing->method_memory);
        tracing->method_memory = NULL;
        tracing->next_chunk_size = TRACING_CHUNK_SIZE;
    }
    Py_RETURN_NONE;
}

static PyObject *get_iteration(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((struct tracing *)self)->iteration);
}

static int set_gather(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    tracing_replace(&((struct tracing *)self)->calls.gather,
                    Py_NewRef(value == NULL ? Py_None : value));
    return 0;
}

/* ---- the object ---- */

static PyObject **call_at(struct tracing_calls *calls, size_t i)
{
    PyObject **all[] = {&calls->chunk,      &calls->make,    &calls->keep,
                        &calls->save,       &calls->compare, &calls->gather,
                        &calls->is_backward};

    return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

static int tracing_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct tracing *tracing = (struct tracing *)self;
    PyObject **call;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(tracing->module);
    Py_VISIT(tracing->root);
    for (size_t i = 0; (call = call_at(&tracing->calls, i)) != NULL; i++) {
        Py_VISIT(*call);
    }
    for (size_t i = 0; i < tracing->traced_count; i++) {
        struct traced_path *path = tracing->traced[i];

        for (struct traced_state *state = &path->first; state != NULL;
             state = state->next) {
            Py_VISIT(state->last);
            Py_VISIT(state->held);
        }
    }
    for (const struct kept_list *list = tracing->kept; list != NULL;
         list = list->next) {
        for (size_t i = 0; i < list->count; i++) {
            /* A copy's owner is shared by many copies, so it is not visited. */
            if (list->items[i].form == NULL) {
                Py_VISIT(list->items[i].owner);
            }
        }
    }
    return 0;
}

static void tracing_dealloc(PyObject *self)
{
    struct tracing *tracing = (struct tracing *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    PyObject **call;

    PyObject_GC_UnTrack(self);
    tracing_forget_kept(tracing);
    for (size_t i = 0; i < tracing->traced_count; i++) {
        traced_path_release(tracing->traced[i]);
    }
    memory_free(tracing->traced);
    if (tracing->has_paths) {
        path_set_release(&tracing->paths);
    }
    for (size_t i = 0; (call = call_at(&tracing->calls, i)) != NULL; i++) {
        Py_XDECREF(*call);
    }
    Py_XDECREF(tracing->numbers);
    Py_XDECREF(tracing->chunk);
    Py_XDECREF(tracing->root);
    Py_XDECREF(tracing->module);
    method_memory_leave(tracing->method_memory);
    arena_release(&tracing->arena);
    release(self);
    Py_DECREF(type);
}

/* Reads the paths from a tuple of bytes. Returns false with an exception set. */
static bool read_paths(struct tracing *tracing, PyObject *given)
{
    uint32_t count = (uint32_t)PyTuple_Size(given);
    struct slice *texts = memory_allocate((size_t)count + 1, sizeof(*texts));
    struct error error = ERROR_INIT;
    bool is_good = texts != NULL;

    for (uint32_t i = 0; is_good && i < count; i++) {
        char *bytes;
        Py_ssize_t size;

        is_good =
            PyBytes_AsStringAndSize(PyTuple_GetItem(given, i), &bytes, &size) == 0;
        if (is_good) {
            texts[i] = (struct slice){bytes, (size_t)size};
        }
    }
    if (texts == NULL) {
        PyErr_NoMemory();
    } else if (is_good && !path_set_init(&tracing->paths, texts, count, &error)) {
        PyErr_SetString(error.kind == ERROR_MEMORY ? PyExc_MemoryError
                                                   : PyExc_ValueError,
                        error.text);
        is_good = false;
    }
    tracing->has_paths = is_good;
    memory_free(texts);
    return is_good;
}

static PyObject *tracing_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *words[] = {
        "root", "paths", "mode", "interval", "gathering_interval", "chunk",
        "make", "keep",  "save", "compare",  "is_backward",        NULL};
    PyObject *module = PyType_GetModule(type);
    PyObject *root, *paths, *calls[6];
    unsigned int mode;
    unsigned long long interval, gathering_interval;
    struct tracing *tracing;

    if (module == NULL ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "OO!IKK$OOOOOO:Tracing", words,
                                     &root, &PyTuple_Type, &paths, &mode, &interval,
                                     &gathering_interval, &calls[0], &calls[1],
                                     &calls[2], &calls[3], &calls[4], &calls[5])) {
        return NULL;
    }
    if (interval == 0 || gathering_interval == 0 || mode > TRACING_EVALUATION) {
        PyErr_SetString(PyExc_ValueError, "an interval is 1 at least");
        return NULL;
    }
    tracing = (struct tracing *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (tracing == NULL) {
        return NULL;
    }
    tracing->module = Py_NewRef(module);
    tracing->session = PyModule_GetState(module);
    arena_init(&tracing->arena);
    tracing->root = Py_NewRef(root);
    tracing->mode = (enum tracing_mode)mode;
    tracing->interval = interval;
    tracing->gathering_interval = gathering_interval;
    tracing->next_chunk_size = TRACING_CHUNK_SIZE;
    tracing->calls = (struct tracing_calls){
        .chunk = Py_NewRef(calls[0]),
        .make = Py_NewRef(calls[1]),
        .keep = Py_NewRef(calls[2]),
        .save = Py_NewRef(calls[3]),
        .compare = Py_NewRef(calls[4]),
        .is_backward = Py_NewRef(calls[5]),
        .gather = Py_NewRef(Py_None),
    };
    tracing->numbers = PyDict_New();
    if (tracing->numbers == NULL || !read_paths(tracing, paths)) {
        Py_DECREF(tracing);
        return NULL;
    }
    return (PyObject *)tracing;
}

/* Registers the type as a kind of consumer. Returns 0, or -1 with an exception set. */
static int add_consumer_type(PyObject *module, PyType_Spec *spec)
{
    struct session *session = PyModule_GetState(module);
    PyTypeObject *type = NULL;
    int status = module_keep_type(module, spec, &type);

    if (status == 0) {
        status =
            consumers_add_kind(&session->consumers, (PyObject *)type, &tracing_kind);
    }
    Py_XDECREF(type);
    return status;
}

int tracing_exec(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"step", tracing_step, METH_VARARGS, step_doc},
        {"waiting", tracing_waiting, METH_O, waiting_doc},
        {"join", tracing_join, METH_VARARGS | METH_STATIC, join_doc},
        {"detach", detach, METH_NOARGS, detach_doc},
        {"seen", seen, METH_NOARGS, seen_doc},
        {"open", set_open, METH_O, open_doc},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef properties[] = {
        {"iteration", get_iteration, NULL, "The number of the model's last call.",
         NULL},
        {"gather", NULL, set_gather,
         "What is called, with the iteration, when a gathering interval is over.",
         NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, tracing_new},
        {Py_tp_dealloc, tracing_dealloc},
        {Py_tp_traverse, tracing_traverse},
        {Py_tp_methods, methods},
        {Py_tp_getset, properties},
        {Py_tp_doc, "Values of a model's variables, by their paths."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.Tracing",
        .basicsize = sizeof(struct tracing),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };

    if (add_consumer_type(module, &spec) < 0 || tracing_add_method_type(module) < 0) {
        return -1;
    }
    return tracing_add_hook_type(module);
}
