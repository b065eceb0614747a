/* The extension module `monitorch._recorder`, which instrumented files call during a recording.
 * It contains neither the compiler nor its parser. */
#include "runtime/array/sample.h"
#include "runtime/base/buffer.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/python/follow/follow.h"
#include "runtime/python/gradient/gradient.h"
#include "runtime/python/monitor/gauge.h"
#include "runtime/python/record/change.h"
#include "runtime/python/record/fresh.h"
#include "runtime/python/record/session.h"
#include "runtime/python/select/select.h"
#include "runtime/python/spy/saver.h"
#include "runtime/python/spy/spy.h"
#include "runtime/python/tensor/device/device.h"
#include "runtime/python/tracer/tracing.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/hook.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/watch/observe.h"
#include "runtime/python/watch/watch.h"

/* ---- measure(): the facts of a single value, as a dict ---- */

static PyObject *make_tuple(const int64_t *numbers, uint32_t count, int64_t divisor)
{
    PyObject *tuple;

    if (numbers == NULL) {
        Py_RETURN_NONE;
    }
    tuple = PyTuple_New(count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i] / divisor);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static PyObject *make_number(enum dtype dtype, const void *bytes)
{
    struct dtype_value value = dtype_read(dtype, bytes);

    switch (value.class) {
    case DTYPE_CLASS_SIGNED:
        return PyLong_FromLongLong(value.integer);
    case DTYPE_CLASS_UNSIGNED:
        return PyLong_FromUnsignedLongLong(value.natural);
    case DTYPE_CLASS_COMPLEX:
        return PyComplex_FromDoubles(value.real, value.imaginary);
    case DTYPE_CLASS_FLOATING:
        return PyFloat_FromDouble(value.real);
    default:
        Py_RETURN_NONE;
    }
}

static PyObject *make_bound(enum dtype dtype, union statistics_bound bound)
{
    switch (dtype_class(dtype)) {
    case DTYPE_CLASS_SIGNED:
        return PyLong_FromLongLong(bound.integer);
    case DTYPE_CLASS_UNSIGNED:
        return PyLong_FromUnsignedLongLong(bound.natural);
    default:
        return PyFloat_FromDouble(bound.real);
    }
}

static PyObject *make_sample(const struct array *array, unsigned limit)
{
    struct sample_grid grid;
    size_t size = dtype_size(array->dtype);
    PyObject *list = PyList_New(0);
    char *bytes;

    if (list == NULL || array->data == NULL || size == 0) {
        return list;
    }
    sample_grid_init(&grid, array->shape, array->dimension_count, limit);
    bytes = memory_allocate(grid.count, size);
    if (bytes == NULL) {
        Py_DECREF(list);
        return PyErr_NoMemory();
    }
    sample_copy(&grid, array, bytes);
    for (uint64_t i = 0; list != NULL && i < grid.count; i++) {
        PyObject *number = make_number(array->dtype, bytes + i * size);
        if (number == NULL || PyList_Append(list, number) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(number);
    }
    memory_free(bytes);
    return list;
}

/* Puts `value` into the dict. Steals the reference to `value`. */
static int put(PyObject *dict, const char *name, PyObject *value)
{
    int status = value == NULL ? -1 : PyDict_SetItemString(dict, name, value);

    Py_XDECREF(value);
    return status;
}

static int put_facts(PyObject *dict, const struct tensor *tensor)
{
    const struct array *array = &tensor->array;
    int64_t size = (int64_t)dtype_size(array->dtype);
    bool is_on_cpu = tensor->device[0] == '\0';
    bool is_strided = tensor->layout[0] == '\0';
    const char *dtype =
        array->dtype == DTYPE_OTHER ? tensor->dtype_text : dtype_text(array->dtype);

    if (put(dict, "dtype", PyUnicode_FromString(dtype)) < 0 ||
        put(dict, "shape", make_tuple(array->shape, array->dimension_count, 1)) < 0 ||
        put(dict, "strides",
            make_tuple(array->strides, array->dimension_count, size > 0 ? size : 1)) <
            0 ||
        put(dict, "device", PyUnicode_FromString(is_on_cpu ? "cpu" : tensor->device)) <
            0 ||
        put(dict, "layout",
            PyUnicode_FromString(is_strided ? "strided" : tensor->layout)) < 0 ||
        put(dict, "type", PyUnicode_FromString(tensor->type)) < 0 ||
        put(dict, "note", PyUnicode_FromString(tensor->note)) < 0 ||
        put(dict, "requires_grad",
            PyBool_FromLong(tensor->flags & LOG_FORM_REQUIRES_GRAD)) < 0 ||
        put(dict, "version", PyLong_FromUnsignedLong(tensor->version)) < 0 ||
        put(dict, "offset", PyLong_FromLongLong(tensor->offset)) < 0 ||
        put(dict, "data", PyLong_FromUnsignedLongLong(tensor->data)) < 0 ||
        put(dict, "flags", PyLong_FromUnsignedLong(tensor->flags)) < 0 ||
        put(dict, "is_readable", PyBool_FromLong(array->data != NULL)) < 0) {
        return -1;
    }
    return 0;
}

static int
put_statistics(PyObject *dict, enum dtype dtype, const struct statistics *statistics)
{
    if (put(dict, "count", PyLong_FromUnsignedLongLong(statistics->count)) < 0) {
        return -1;
    }
#define STATISTIC_COUNT(field, name, function)                                         \
    if (put(dict, #name, PyLong_FromUnsignedLongLong(statistics->field)) < 0) {        \
        return -1;                                                                     \
    }
#include "runtime/array/statistics/statistics.def"
#define STATISTIC_BOUND(field, name)                                                   \
    if (put(dict, #name, make_bound(dtype, statistics->field)) < 0) {                  \
        return -1;                                                                     \
    }
#define STATISTIC_REAL(field, name)                                                    \
    if (put(dict, #name, PyFloat_FromDouble(statistics->field)) < 0) {                 \
        return -1;                                                                     \
    }
#include "runtime/array/statistics/statistics.def"
    return 0;
}

static void
keep_statistics(void *context, void *target, const struct statistics *statistics)
{
    (void)context;
    *(struct statistics *)target = *statistics;
}

/* Measures a tensor on another device and waits for the result. Adds no statistics if the device
 * cannot measure it. */
static int fill_from_device(struct session *session,
                            PyObject *dict,
                            PyObject *value,
                            const struct tensor *tensor)
{
    struct device_queue *queue =
        device_queue_new(session->access, keep_statistics, NULL);
    struct statistics statistics;
    int status = 0;

    if (queue == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (device_queue_add(queue, value, tensor, &statistics)) {
        device_queue_flush(queue);
        if (!device_queue_is_waiting(queue)) {
            status = put_statistics(dict, tensor->array.dtype, &statistics);
        }
    }
    device_queue_free(queue);
    return status;
}

static int fill(PyObject *dict,
                const struct tensor *tensor,
                unsigned sample,
                unsigned wanted,
                unsigned threads)
{
    struct statistics statistics;
    uint64_t hash;

    if (put_facts(dict, tensor) < 0) {
        return -1;
    }
    if (tensor->array.data == NULL) {
        return 0;
    }
    if (wanted != 0) {
        wanted = value_measure(tensor, wanted, threads, &statistics, &hash);
    }
    if ((wanted & STATISTICS_WANT_VALUES) != 0 &&
        put_statistics(dict, tensor->array.dtype, &statistics) < 0) {
        return -1;
    }
    if ((wanted & STATISTICS_WANT_HASH) != 0 &&
        put(dict, "hash", PyLong_FromUnsignedLongLong(hash)) < 0) {
        return -1;
    }
    return sample == 0 ? 0 : put(dict, "sample", make_sample(&tensor->array, sample));
}

/* The module's function `measure`. */
static PyObject *measure_value(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"value", "sample", "stats", "hash", "threads", NULL};
    struct session *session = PyModule_GetState(module);
    unsigned sample = 64, threads = 1;
    int has_statistics = 1, has_hash = 1;
    struct tensor tensor;
    PyObject *value;
    PyObject *dict;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$IppI:measure", names, &value,
                                     &sample, &has_statistics, &has_hash, &threads)) {
        return NULL;
    }
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(value));
    if (info->kind != TYPE_TENSOR ||
        tensor_describe(session->access, value, info->tensor, &tensor) != 0) {
        Py_RETURN_NONE;
    }
    dict = PyDict_New();
    if (dict != NULL && fill(dict, &tensor, sample,
                             (has_statistics ? STATISTICS_WANT_VALUES : 0) |
                                 (has_hash ? STATISTICS_WANT_HASH : 0),
                             threads) < 0) {
        Py_CLEAR(dict);
    }
    if (dict != NULL && tensor.is_on_device && has_statistics &&
        fill_from_device(session, dict, value, &tensor) < 0) {
        Py_CLEAR(dict);
    }
    tensor_release(&tensor);
    return dict;
}

PyDoc_STRVAR(
    start_doc,
    "start(path, *, sample=64, last=0, size_limit=0, stats=True, hash=True,\n"
    "      names=(), every=1, max_elements=0, one_thread=False, quiet=False,\n"
    "      stop=0, all_scalars=False)\n\n"
    "Begins to record. Raises OSError where the file cannot be written; its errno\n"
    "is EBUSY where another process writes it.");

PyDoc_STRVAR(stop_doc,
             "stop() -> dict\n\nEnds the recording; says what is in the file.");

PyDoc_STRVAR(remove_trace_doc,
             "remove_trace(path) -> bool\n\n"
             "Removes a file, unless somebody is writing it; whether it was removed.");

PyDoc_STRVAR(make_hook_doc,
             "make_hook(table, module_name, file, source, source_kind)\n\n"
             "The hook of a module with that site table: one for all recordings.");

PyDoc_STRVAR(
    measure_doc,
    "measure(value, *, sample=64, stats=True, hash=True, threads=1) -> dict\n\n"
    "What the recorder writes of a tensor or an array; None for others.");

PyDoc_STRVAR(
    join_doc,
    "join(hook, frame)\n\n"
    "The running frame's call is known from now on: calls that it makes before\n"
    "its first event have it as their caller.");

PyDoc_STRVAR(is_recording_doc, "is_recording() -> bool");

static PyObject *is_recording(PyObject *module, PyObject *unused)
{
    struct session *session = PyModule_GetState(module);

    (void)unused;
    return PyBool_FromLong(session_is_recording(session));
}

PyDoc_STRVAR(path_doc, "path() -> str | None\n\nOf the file that is being written.");

static PyObject *get_path(PyObject *module, PyObject *unused)
{
    struct session *session = PyModule_GetState(module);

    (void)unused;
    if (session->recorder == NULL || session->is_own) {
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeFSDefault(session->path);
}

PyDoc_STRVAR(note_doc,
             "note(text, is_warning=False)\n\n"
             "Writes a remark into the trace; nothing while nothing is recorded.");

static PyObject *note(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"text", "is_warning", NULL};
    struct session *session = PyModule_GetState(module);
    const char *text;
    Py_ssize_t size;
    int is_warning = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s#|p:note", names, &text, &size,
                                     &is_warning)) {
        return NULL;
    }
    if (session_enter(session)) {
        recorder_note(session->recorder,
                      is_warning ? LOG_NOTE_WARNING : LOG_NOTE_REMARK, SITE_NONE,
                      (struct slice){text, (size_t)size});
        session_leave(session);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    begin_step_doc,
    "begin_step(step)\n\n"
    "A training step begins, counted from 0; nothing while nothing is recorded.");

static PyObject *begin_step(PyObject *module, PyObject *step)
{
    struct session *session = PyModule_GetState(module);
    unsigned long long number = PyLong_AsUnsignedLongLong(step);

    if (PyErr_Occurred()) {
        return NULL;
    }
    if (session_enter(session)) {
        recorder_begin_training_step(session->recorder, number);
        session_leave(session);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(setting_doc,
             "write_setting(name, value)\n\n"
             "Writes into the trace what the run is made with, or its newer value;\n"
             "nothing while nothing is recorded.");

static PyObject *write_setting(PyObject *module, PyObject *args)
{
    struct session *session = PyModule_GetState(module);
    const char *name, *value;
    Py_ssize_t name_size, value_size;

    if (!PyArg_ParseTuple(args, "s#s#:write_setting", &name, &name_size, &value,
                          &value_size)) {
        return NULL;
    }
    if (session_enter(session)) {
        recorder_write_setting(session->recorder,
                               (struct slice){name, (size_t)name_size},
                               (struct slice){value, (size_t)value_size});
        session_leave(session);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(guess_doc,
             "guess(function, parameter, how)\n\n"
             "Notes that an argument of the next call of `function` was made up.");

/* Adds one of the three parts of a note. Tabs separate the parts, so tabs in a part become
 * spaces. */
static void add_part(struct buffer *text, const char *bytes, Py_ssize_t size)
{
    for (Py_ssize_t i = 0; i < size; i++) {
        buffer_add_byte(text, bytes[i] == '\t' ? ' ' : bytes[i]);
    }
}

static PyObject *guess(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"function", "parameter", "how", NULL};
    struct session *session = PyModule_GetState(module);
    struct buffer text = BUFFER_INIT;
    const char *function, *parameter, *how;
    Py_ssize_t function_size, parameter_size, how_size;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s#s#s#:guess", names, &function,
                                     &function_size, &parameter, &parameter_size, &how,
                                     &how_size)) {
        return NULL;
    }
    add_part(&text, function, function_size);
    buffer_add_byte(&text, '\t');
    add_part(&text, parameter, parameter_size);
    buffer_add_byte(&text, '\t');
    add_part(&text, how, how_size);
    if (text.has_failed) {
        buffer_release(&text);
        return PyErr_NoMemory();
    }
    if (session_enter(session)) {
        recorder_note(session->recorder, LOG_NOTE_GUESS, SITE_NONE,
                      buffer_slice(&text));
        session_leave(session);
    }
    buffer_release(&text);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    flush_doc,
    "flush()\n\n"
    "Waits for what devices still compute, so that a reader finds it in the file.");

static PyObject *flush(PyObject *module, PyObject *unused)
{
    struct session *session = PyModule_GetState(module);

    (void)unused;
    if (session_enter(session)) {
        device_queue_flush(session->devices);
        session_leave(session);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(note_empty_doc,
             "note_empty()\n\n"
             "torch or NumPy was imported: while something is recorded, memory that\n"
             "torch.empty and its like give is known as uninitialised from now on.");

static PyObject *note_empty(PyObject *module, PyObject *unused)
{
    (void)unused;
    fresh_attach(PyModule_GetState(module));
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    event_count_doc,
    "event_count() -> int\n\n"
    "How many events were recorded: the number of the next one. 0 where nothing\n"
    "is recorded, or nothing yet in this process.");

static PyObject *event_count(PyObject *module, PyObject *unused)
{
    struct session *session = PyModule_GetState(module);
    const struct log_writer *log = NULL;

    (void)unused;
    if (session_is_recording(session) && !session_is_parents(session)) {
        log = recorder_log(session->recorder);
    }
    return PyLong_FromUnsignedLongLong(log == NULL ? 0 : log_writer_event_count(log));
}

PyDoc_STRVAR(
    source_hash_doc,
    "source_hash(source) -> str\n\n"
    "The hash of a source file's bytes, as the second word of its table has it.");

static PyObject *source_hash(PyObject *module, PyObject *source)
{
    uint64_t hash[2];
    struct buffer text = BUFFER_INIT;
    PyObject *result;

    (void)module;
    if (!PyBytes_Check(source)) {
        PyErr_SetString(PyExc_TypeError, "source_hash() expects bytes");
        return NULL;
    }
    hash_128((struct slice){PyBytes_AsString(source), (size_t)PyBytes_Size(source)},
             hash);
    buffer_add_hex(&text, hash[1], 16);
    buffer_add_hex(&text, hash[0], 16);
    result = text.has_failed
                 ? PyErr_NoMemory()
                 : PyUnicode_FromStringAndSize(text.bytes, (Py_ssize_t)text.size);
    buffer_release(&text);
    return result;
}

PyDoc_STRVAR(kernels_doc,
             "kernels() -> str\n\n"
             "How statistics are computed: 'avx512', 'avx2', 'neon' or 'portable'.");

static PyObject *kernels(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(statistics_kernels());
}

PyDoc_STRVAR(
    mute_doc,
    "mute(is_muted)\n\n"
    "Sets whether the active recording leaves out instrumented code, which then has\n"
    "its hooks for watchers alone.");

static PyObject *mute(PyObject *module, PyObject *is_muted)
{
    struct session *session = PyModule_GetState(module);
    int is_true = PyObject_IsTrue(is_muted);

    if (is_true < 0) {
        return NULL;
    }
    session->is_muted = is_true;
    consumers_change(&session->consumers);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    make_watcher_doc,
    "make_watcher(names, lines)\n\n"
    "Watches values by names, globs as bytes, and by lines, (file, first, last);\n"
    "empty tuples select all.");

PyDoc_STRVAR(
    set_watchers_doc,
    "set_watchers(pairs)\n\n"
    "From now on these functions are called with what their watchers watch:\n"
    "visit(name, value, may_be_unchanged, module). What they raise is raised in\n"
    "the program.");

PyDoc_STRVAR(
    running_modules_doc,
    "running_modules() -> list\n\n"
    "The torch.nn.Modules whose methods run in this thread, innermost first, each\n"
    "with whether it is the module's constructor that runs.");

PyDoc_STRVAR(
    is_tensor_doc,
    "is_tensor(value) -> bool\n\n"
    "Whether the value is a tensor of torch or another library, or an array. Only\n"
    "its type is asked.");

static PyObject *is_tensor(PyObject *module, PyObject *value)
{
    struct session *session = PyModule_GetState(module);

    return PyBool_FromLong(type_is_tensor(&session->types, Py_TYPE(value)));
}

PyDoc_STRVAR(is_nonfinite_doc,
             "is_nonfinite(tensor, wanted) -> bool | NotImplemented\n\n"
             "Whether it holds NaN (1), infinities (2) or either (3); NotImplemented\n"
             "where its values cannot be read here.");

#define WITH_KEYWORDS(function)                                                        \
    (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"start", WITH_KEYWORDS(session_start), start_doc},
    {"stop", session_stop, METH_NOARGS, stop_doc},
    {"remove_trace", session_remove_trace, METH_VARARGS, remove_trace_doc},
    {"is_recording", is_recording, METH_NOARGS, is_recording_doc},
    {"path", get_path, METH_NOARGS, path_doc},
    {"make_hook", WITH_KEYWORDS(hook_make), make_hook_doc},
    {"event_count", event_count, METH_NOARGS, event_count_doc},
    {"flush", flush, METH_NOARGS, flush_doc},
    {"note_empty", note_empty, METH_NOARGS, note_empty_doc},
    {"join", hook_join_call, METH_VARARGS, join_doc},
    {"guess", WITH_KEYWORDS(guess), guess_doc},
    {"note", WITH_KEYWORDS(note), note_doc},
    {"begin_step", begin_step, METH_O, begin_step_doc},
    {"write_setting", write_setting, METH_VARARGS, setting_doc},
    {"measure", WITH_KEYWORDS(measure_value), measure_doc},
    {"source_hash", source_hash, METH_O, source_hash_doc},
    {"kernels", kernels, METH_NOARGS, kernels_doc},
    {"mute", mute, METH_O, mute_doc},
    {"make_watcher", WITH_KEYWORDS(watcher_make), make_watcher_doc},
    {"set_watchers", consumers_set_watchers, METH_O, set_watchers_doc},
    {"running_modules", frame_running_modules, METH_NOARGS, running_modules_doc},
    {"is_nonfinite", watcher_is_nonfinite, METH_VARARGS, is_nonfinite_doc},
    {"is_tensor", is_tensor, METH_O, is_tensor_doc},
    {"save_pt", WITH_KEYWORDS(saver_save_pt), saver_save_pt_doc},
    {"find_module_path", spy_find_module_path, METH_VARARGS, spy_find_module_path_doc},
    {"make_full_name", spy_make_full_name, METH_VARARGS, spy_make_full_name_doc},
    {"saved_file_stem", saver_stem, METH_O, saver_stem_doc},
    {"spy_save", (PyCFunction)(void (*)(void))spy_save, METH_FASTCALL | METH_KEYWORDS,
     spy_save_doc},
    {"spy_begin", spy_begin, METH_O, spy_begin_doc},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    struct session *session = PyModule_GetState(module);

    session->access = tensor_access_new();
    if (session->access == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    session->module_paths = PyDict_New();
    session->name_f_back = PyUnicode_InternFromString("f_back");
    session->name_f_globals = PyUnicode_InternFromString("f_globals");
    session->name_name = PyUnicode_InternFromString("__name__");
    session->name_co_flags = PyUnicode_InternFromString("co_flags");
    session->name_co_name = PyUnicode_InternFromString("co_name");
    imports_init(&session->imports);
    session->hook_type = (PyTypeObject *)hook_make_type(module);
    session->first_parameters = PyDict_New();
    if (session->module_paths == NULL || session->name_f_back == NULL ||
        session->name_f_globals == NULL || session->name_name == NULL ||
        session->name_co_flags == NULL || session->name_co_name == NULL ||
        session->hook_type == NULL || session->first_parameters == NULL) {
        return -1;
    }
    return type_cache_init(&session->types, session->access);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct session *session = PyModule_GetState(module);

    Py_VISIT(session->hook_type);
    Py_VISIT(session->gradient_type);
    if (parts_traverse(&session->parts, visit, arg) != 0 ||
        consumers_traverse(&session->consumers, visit, arg) != 0) {
        return -1;
    }
    if (change_traverse(session, visit, arg) != 0) {
        return -1;
    }
    return session->tracking == NULL ? 0
                                     : tracking_traverse(session->tracking, visit, arg);
}

static int module_clear(PyObject *module)
{
    struct session *session = PyModule_GetState(module);

    Py_CLEAR(session->hook_type);
    Py_CLEAR(session->gradient_type);
    consumers_clear(&session->consumers);
    parts_clear(&session->parts);
    if (session->tracking != NULL) {
        tracking_clear(session->tracking);
    }
    return 0;
}

static void module_free(void *module)
{
    struct session *session = PyModule_GetState(module);

    if (session == NULL) {
        return;
    }
    if (session->recorder != NULL && session_is_parents(session)) {
        session_abandon(session);
    } else if (session->recorder != NULL) {
        fresh_end(session);
        recorder_close(session->recorder, NULL);
    }
    change_end(session);
    frame_forget_lines(session);
    parts_release(&session->parts);
    device_queue_free(session->devices);
    tracking_free(session->tracking);
    gradients_free(session->gradients);
    type_cache_release(&session->types);
    Py_XDECREF(session->module_paths);
    Py_XDECREF(session->first_parameters);
    Py_XDECREF(session->name_f_back);
    Py_XDECREF(session->name_f_globals);
    Py_XDECREF(session->name_name);
    Py_XDECREF(session->name_co_flags);
    Py_XDECREF(session->name_co_name);
    imports_release(&session->imports);
    tensor_access_free(session->access);
    memory_free(session->path);
    stop_release(&session->stop);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {Py_mod_exec, spy_exec},
    {Py_mod_exec, watcher_exec},
    {Py_mod_exec, follow_exec},
    {Py_mod_exec, observe_exec},
    {Py_mod_exec, saver_safetensors_exec},
    {Py_mod_exec, saver_trace_exec},
    {Py_mod_exec, tracing_exec},
    {Py_mod_exec, gauge_exec},
    {Py_mod_exec, probe_exec},
    {Py_mod_exec, track_exec},
    {Py_mod_exec, gradient_exec},
    {Py_mod_exec, parameters_exec},
    {Py_mod_exec, select_exec},
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "monitorch._recorder",
    .m_doc = "Records what instrumented code does.",
    .m_size = sizeof(struct session),
    .m_methods = methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__recorder(void)
{
    return PyModuleDef_Init(&module_definition);
}
