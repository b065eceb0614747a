/* The class Tracing: paths, and what was kept of what they match. */
#include "runtime/python/tracer/tracing.h"

#include "runtime/base/memory.h"
#include "runtime/python/module_add.h"

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

/* ---- what was kept ---- */

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
            /* A copy's owner is one of many holders. */
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

/* A tuple of bytes. False with an exception set. */
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
    struct session *session = PyModule_GetState(module);

    if (module_keep_type(module, &spec, &session->tracing_type) < 0 ||
        tracing_add_method_type(module) < 0) {
        return -1;
    }
    return tracing_add_hook_type(module);
}
