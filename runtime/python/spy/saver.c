/* The classes and functions that save tensors to .pt and safetensors files: save_pt() and
 * SafetensorsWriter. */
#include "runtime/python/spy/saver.h"

#include "runtime/array/expanded.h"
#include "runtime/base/buffer.h"
#include "runtime/python/module_add.h"
#include "runtime/python/spy/spy.h"
#include "runtime/saved/pt/pt.h"
#include "runtime/saved/safetensors/safetensors.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The values of a saved tensor are read in its memory, or copied to memory that can be read. The
 * user requested the copy, so torch's own methods may be called. */

static void saver_request_release(struct saver_request *request);

/* ---- the request: names and place of a saved tensor ---- */

/* Adds a str as UTF-8, in which surrogates are encoded as they are. Returns false with an
 * exception set. */
static bool
add_text(struct saver_request *request, PyObject *object, struct slice *text)
{
    PyObject *bytes;

    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "expected a str, not %R", object);
        return false;
    }
    bytes = PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass");
    if (bytes == NULL) {
        return false;
    }
    request->texts[request->text_count++] = bytes;
    *text = (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
    return true;
}

static bool read_key(struct saver_request *request, PyObject *key)
{
    struct saved_key *saved = &request->saved.key;

    if (!PyTuple_Check(key) || PyTuple_Size(key) != 4) {
        PyErr_SetString(PyExc_TypeError,
                        "a key is a tuple: prefix, module path, name, call");
        return false;
    }
    if (!add_text(request, PyTuple_GetItem(key, 0), &saved->prefix) ||
        !add_text(request, PyTuple_GetItem(key, 1), &saved->module_path) ||
        !add_text(request, PyTuple_GetItem(key, 2), &saved->name)) {
        return false;
    }
    saved->call = PyLong_AsUnsignedLongLong(PyTuple_GetItem(key, 3));
    return !PyErr_Occurred();
}

static bool read_place(struct saver_request *request, PyObject *place)
{
    long line;

    if (!PyTuple_Check(place) || PyTuple_Size(place) != 3) {
        PyErr_SetString(PyExc_TypeError,
                        "a place is a tuple: file, line, function; or None");
        return false;
    }
    line = PyLong_AsLong(PyTuple_GetItem(place, 1));
    if (PyErr_Occurred()) {
        return false;
    }
    request->saved.line = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
    return add_text(request, PyTuple_GetItem(place, 0), &request->saved.file) &&
           add_text(request, PyTuple_GetItem(place, 2), &request->saved.function);
}

/* Whether the frame runs code of this package. */
static bool is_ours(struct session *session, PyObject *frame)
{
    PyObject *globals = PyObject_GetAttr(frame, session->name_f_globals);
    PyObject *name = globals == NULL || !PyDict_Check(globals)
                         ? NULL
                         : PyDict_GetItemWithError(globals, session->name_name);
    Py_ssize_t size = 0;
    const char *text = name == NULL || !PyUnicode_Check(name)
                           ? NULL
                           : PyUnicode_AsUTF8AndSize(name, &size);
    struct slice module = {text, (size_t)size};
    bool is = text != NULL && (slice_equal(module, SLICE("monitorch")) ||
                               slice_starts(module, SLICE("monitorch.")));

    PyErr_Clear();
    Py_XDECREF(globals);
    return is;
}

/* The frame that visits a site or calls spy_save, else the innermost one outside of this package. A
 * new reference, or NULL. */
static PyObject *find_frame(struct session *session)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame();

    if (session_caller() != NULL) {
        return Py_NewRef(session_caller());
    }
    Py_XINCREF(frame);
    while (frame != NULL && is_ours(session, frame)) {
        PyObject *back = PyObject_GetAttr(frame, session->name_f_back);
        Py_DECREF(frame);
        frame = back;
    }
    if (frame == NULL || frame == Py_None) {
        PyErr_Clear();
        Py_XDECREF(frame);
        return NULL;
    }
    return frame;
}

static PyObject *find_text(PyObject *code, const char *plain, const char *better)
{
    PyObject *text = better == NULL ? NULL : PyObject_GetAttrString(code, better);

    if (text == NULL) {
        PyErr_Clear();
        text = PyObject_GetAttrString(code, plain);
    }
    return text;
}

/* Finds the place in the running program. If it is unknown, the request stays without a place.
 * Returns false with an exception set. */
static bool find_place(struct saver_request *request, struct session *session)
{
    PyObject *frame = find_frame(session);
    PyObject *code, *file, *function;
    bool is_read;

    if (frame == NULL) {
        return true;
    }
    code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    file = find_text(code, "co_filename", NULL);
    function = find_text(code, "co_name", "co_qualname"); /* from 3.11 on */
    int line = PyFrame_GetLineNumber((PyFrameObject *)frame);
    request->saved.line = line > 0 ? (uint32_t)line : 0;
    is_read = file != NULL && function != NULL &&
              add_text(request, file, &request->saved.file) &&
              add_text(request, function, &request->saved.function);
    Py_XDECREF(function);
    Py_XDECREF(file);
    Py_DECREF(code);
    Py_DECREF(frame);
    return is_read;
}

/* `key` is the tuple (prefix, module path, name, call). `place` is (file, line, function), or
 * None: the current line of the program, outside of this package. Each request gets the next
 * order number. Returns false with an exception set; the request needs no release then. */
static bool saver_request_init(struct saver_request *request,
                               struct session *session,
                               PyObject *key,
                               PyObject *place)
{
    *request = (struct saver_request){.text_count = 0};
    if (!read_key(request, key) || !(place == Py_None ? find_place(request, session)
                                                      : read_place(request, place))) {
        saver_request_release(request);
        return false;
    }
    request->saved.order = spy_next_order(session);
    return true;
}

static void saver_request_release(struct saver_request *request)
{
    for (size_t i = 0; i < request->text_count; i++) {
        Py_DECREF(request->texts[i]);
    }
    request->text_count = 0;
}

/* Makes a message such as `cannot save step0.encoder.q (call 3): No space left on device`. */
static PyObject *make_message(const struct saver_request *request, const char *reason)
{
    struct buffer text = BUFFER_INIT;
    PyObject *message = NULL;

    buffer_add(&text, SLICE("cannot save "));
    if (request == NULL) {
        buffer_add(&text, SLICE("a file of tensors: "));
    } else {
        saved_key_add_full_name(&request->saved.key, &text);
        buffer_add(&text, SLICE(" (call "));
        buffer_add_number(&text, request->saved.key.call);
        buffer_add(&text, SLICE("): "));
    }
    buffer_add(&text, slice_of(reason));
    if (text.has_failed) {
        PyErr_NoMemory();
    } else {
        message = PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "replace");
    }
    buffer_release(&text);
    return message;
}

PyObject *saver_raise(const struct error *error,
                      int number,
                      const struct saver_request *request,
                      const char *path)
{
    PyObject *message, *raised;

    if (error->kind == ERROR_MEMORY) {
        return PyErr_NoMemory();
    }
    if (error->kind == ERROR_USAGE || number == 0) {
        message = make_message(request, error->text);
        if (message != NULL) {
            PyErr_SetObject(PyExc_ValueError, message);
            Py_DECREF(message);
        }
        return NULL;
    }
    message = make_message(request, strerror(number));
    raised = message == NULL
                 ? NULL
                 : PyObject_CallFunction(PyExc_OSError, "iOO&", number, message,
                                         PyUnicode_DecodeFSDefault, path);
    if (raised != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    }
    Py_XDECREF(raised);
    Py_XDECREF(message);
    return NULL;
}

/* A tensor may be sparse, quantised and on a device, but needs no more copies than this. */
#define COPY_MAX 4

static bool is_text(const char *text, const char *other)
{
    return strcmp(text, other) == 0;
}

/* The method that copies the tensor into a form nearer to plain memory; NULL if there is none. */
static const char *next_method(const struct tensor *tensor, enum tensor_class class)
{
    if (tensor->flags & LOG_FORM_NUMPY) {
        return is_text(tensor->note, "masked") ? "filled" : NULL;
    }
    if (class == TENSOR_CLASS_WRAPPER) {
        return "to_local"; /* the local part of a DTensor */
    }
    if (is_text(tensor->note, "quantised")) {
        return "dequantize";
    }
    if (strncmp(tensor->note, "sparse", 6) == 0 || is_text(tensor->note, "mkldnn")) {
        return "to_dense";
    }
    if (is_text(tensor->note, "meta") || is_text(tensor->note, "batched") ||
        is_text(tensor->note, "storage too small")) {
        return NULL;
    }
    return tensor->device[0] == '\0' ? NULL : "cpu";
}

/* A new reference, or NULL with an exception set. */
static PyObject *copy_by(PyObject *object, const char *method, bool is_torch)
{
    PyObject *detached =
        is_torch ? PyObject_CallMethod(object, "detach", NULL) : Py_NewRef(object);
    PyObject *copy =
        detached == NULL ? NULL : PyObject_CallMethod(detached, method, NULL);

    Py_XDECREF(detached);
    return copy;
}

/* Whether the array has the byte order of another machine. */
static bool is_swapped(const struct tensor *tensor)
{
    return tensor->flags & LOG_FORM_NUMPY && tensor->dtype_text[0] == '>';
}

/* A new reference, or NULL with an exception set. */
static PyObject *copy_native(PyObject *array)
{
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *native =
        dtype == NULL ? NULL : PyObject_CallMethod(dtype, "newbyteorder", "s", "=");
    PyObject *copy =
        native == NULL ? NULL : PyObject_CallMethod(array, "astype", "O", native);

    Py_XDECREF(native);
    Py_XDECREF(dtype);
    return copy;
}

static void refuse(const struct tensor *tensor, PyObject *object)
{
    if (tensor->array.dtype == DTYPE_OTHER && tensor->dtype_text[0] != '\0') {
        PyErr_Format(PyExc_TypeError, "cannot save a %R of dtype %s", Py_TYPE(object),
                     tensor->dtype_text);
    } else {
        PyErr_Format(PyExc_TypeError,
                     "cannot save a %R: its values are not on this machine (%s)",
                     Py_TYPE(object),
                     tensor->note[0] == '\0' ? "not readable" : tensor->note);
    }
}

/* Tries to read the values. Returns 1 if they can be read, 0 if `object` is a copy now that must
 * be tried again, -1 with an exception set. */
static int inspect(struct saver_value *value, struct session *session)
{
    PyObject *object = value->object;
    enum tensor_class class = tensor_classify(session->access, Py_TYPE(object));
    const char *method;
    bool swapped;

    if (class == TENSOR_CLASS_NONE ||
        tensor_describe(session->access, object, class, &value->tensor) < 0) {
        PyErr_Format(PyExc_TypeError, "expected a tensor or a NumPy array, not %R",
                     Py_TYPE(object));
        return -1;
    }
    if (value->tensor.array.data != NULL && pt_has_dtype(value->tensor.array.dtype)) {
        value->storage = tensor_hold(session->access, object);
        value->array = value->tensor.array;
        return 1;
    }
    method = next_method(&value->tensor, class);
    swapped = is_swapped(&value->tensor);
    if (!swapped && (method == NULL || !PyObject_HasAttrString(object, method))) {
        refuse(&value->tensor, object);
        tensor_release(&value->tensor);
        return -1;
    }
    tensor_release(&value->tensor);
    value->object = swapped ? copy_native(object)
                            : copy_by(object, method, class != TENSOR_CLASS_NUMPY);
    Py_DECREF(object);
    return value->object == NULL ? -1 : 0;
}

static bool
value_init(struct saver_value *value, struct session *session, PyObject *object)
{
    value->object = Py_NewRef(object);
    value->storage = NULL;
    value->norms.bytes = NULL;
    for (int i = 0; i <= COPY_MAX; i++) {
        int state = inspect(value, session);
        if (state == 1) {
            return true;
        }
        if (state < 0) {
            Py_XDECREF(value->object);
            return false;
        }
    }
    PyErr_Format(PyExc_TypeError, "cannot save a %R: no copy of it can be read",
                 Py_TYPE(value->object));
    Py_DECREF(value->object);
    return false;
}

static bool measure_norms(struct saver_value *value)
{
    if (dtype_class(value->array.dtype) == DTYPE_CLASS_OPAQUE) {
        PyErr_Format(PyExc_TypeError, "a tensor of dtype %s has no norm",
                     dtype_text(value->array.dtype));
        return false;
    }
    if (!row_norms_init(&value->norms, &value->array)) {
        PyErr_NoMemory();
        return false;
    }
    value->array = value->norms.array;
    return true;
}

static void value_release(struct saver_value *value)
{
    row_norms_release(&value->norms);
    tensor_release(&value->tensor);
    Py_XDECREF(value->storage);
    Py_DECREF(value->object);
}

bool saver_item_init(struct saver_item *item,
                     struct session *session,
                     PyObject *tensor,
                     PyObject *key,
                     PyObject *place,
                     bool norm_only)
{
    if (!saver_request_init(&item->request, session, key, place)) {
        return false;
    }
    if (!value_init(&item->value, session, tensor)) {
        saver_request_release(&item->request);
        return false;
    }
    if (norm_only && !measure_norms(&item->value)) {
        saver_item_release(item);
        return false;
    }
    item->request.saved.array = item->value.array;
    return true;
}

void saver_item_release(struct saver_item *item)
{
    value_release(&item->value);
    saver_request_release(&item->request);
}

/* ---- one tensor in one .pt file ---- */

const char saver_save_pt_doc[] = PyDoc_STR(
    "save_pt(path, tensor, key, *, may_replace, norm_only=False, place=None)\n"
    "    -> 'written' | 'replaced' | 'exists'\n\n"
    "Writes a file that torch.load(path, weights_only=True) reads. `key` is (prefix,\n"
    "module path, name, call), `place` (file, line, function). Raises OSError with\n"
    "the tensor's name where the file cannot be written, TypeError for what is no\n"
    "tensor.");

static PyObject *save(const struct saver_item *item, const char *path, bool may_replace)
{
    static const char *const texts[] = {
        [PT_WRITTEN] = "written",
        [PT_REPLACED] = "replaced",
        [PT_EXISTS] = "exists",
    };
    struct error error = ERROR_INIT;
    enum pt_write_result result;
    int number;

    Py_BEGIN_ALLOW_THREADS;
    errno = 0;
    result = pt_write(path, &item->request.saved, may_replace, &error);
    number = errno;
    Py_END_ALLOW_THREADS;
    if (result == PT_FAILED) {
        return saver_raise(&error, number, &item->request, path);
    }
    return PyUnicode_FromString(texts[result]);
}

PyObject *saver_save_pt(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path",      "tensor", "key", "may_replace",
                            "norm_only", "place",  NULL};
    struct session *session = PyModule_GetState(module);
    struct saver_item item;
    PyObject *path, *tensor, *key, *place = Py_None, *result = NULL;
    int may_replace = -1, norm_only = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&OO|$ppO:save_pt", names,
                                     PyUnicode_FSConverter, &path, &tensor, &key,
                                     &may_replace, &norm_only, &place)) {
        return NULL;
    }
    if (may_replace < 0) {
        PyErr_SetString(PyExc_TypeError, "save_pt() needs may_replace=");
    } else if (saver_item_init(&item, session, tensor, key, place, norm_only)) {
        result = save(&item, PyBytes_AsString(path), may_replace);
        saver_item_release(&item);
    }
    Py_DECREF(path);
    return result;
}

const char saver_stem_doc[] = PyDoc_STR(
    "saved_file_stem(full_name) -> str\n\n"
    "A name as part of a file's name: bytes that are not allowed there become %XX,\n"
    "what is too long is cut.");

PyObject *saver_stem(PyObject *module, PyObject *name)
{
    PyObject *bytes = PyUnicode_Check(name)
                          ? PyUnicode_AsEncodedString(name, "utf-8", "surrogatepass")
                          : NULL;
    struct buffer text = BUFFER_INIT;
    PyObject *stem;

    (void)module;
    if (bytes == NULL) {
        return PyErr_Occurred()
                   ? NULL
                   : PyErr_Format(PyExc_TypeError, "expected a str, not %R", name);
    }
    saved_add_file_stem(
        (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)}, &text);
    stem = text.has_failed ? PyErr_NoMemory()
                           : PyUnicode_FromStringAndSize(buffer_slice(&text).bytes,
                                                         (Py_ssize_t)text.size);
    buffer_release(&text);
    Py_DECREF(bytes);
    return stem;
}

/* The object SafetensorsWriter. The lock is acquired without the GIL, and held while the writer
 * runs. */
struct saver_file {
    PyObject_HEAD struct session *session; /* borrowed from the module */
    PyObject *module;                      /* owned: keeps the session */
    PyThread_type_lock lock;               /* owned */
    struct safetensors_writer *writer;     /* owned; NULL: finished or abandoned */
    PyObject *path;                        /* owned: bytes */
    size_t count;                          /* number of added tensors */
    pid_t
        process; /* the process that writes the file; in a fork of it the lock may stay held */
};

static PyObject *file_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", NULL};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct error error = ERROR_INIT;
    struct saver_file *file;
    PyObject *module = PyType_GetModule(type);
    PyObject *path;

    if (module == NULL ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "O&:SafetensorsWriter", names,
                                     PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    file = (struct saver_file *)allocate(type, 0);
    if (file == NULL) {
        Py_DECREF(path);
        return NULL;
    }
    file->session = PyModule_GetState(module);
    file->module = Py_NewRef(module);
    file->path = path;
    file->process = getpid();
    file->lock = PyThread_allocate_lock();
    file->writer = file->lock == NULL
                       ? NULL
                       : safetensors_writer_new(PyBytes_AsString(path), &error);
    if (file->writer == NULL) {
        Py_DECREF(file);
        return PyErr_NoMemory();
    }
    return (PyObject *)file;
}

static void file_dealloc(PyObject *self)
{
    struct saver_file *file = (struct saver_file *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    if (file->writer != NULL) {
        safetensors_writer_abandon(file->writer);
    }
    if (file->lock != NULL) {
        PyThread_free_lock(file->lock);
    }
    Py_XDECREF(file->path);
    Py_XDECREF(file->module);
    release(self);
    Py_DECREF(type);
}

static bool is_our_file(const struct saver_file *file)
{
    if (file->process == getpid()) {
        return true;
    }
    PyErr_SetString(PyExc_ValueError, "the file is written by another process");
    return false;
}

/* Whether an expanded tensor is too large to be written. The format has no strides, so each
 * repeated element would be stored. */
static bool is_too_large(const struct array *array)
{
    struct expanded_array expanded;

    return expanded_find(array, &expanded) &&
           array_count(array) > ((uint64_t)1 << 30) / dtype_size(array->dtype);
}

static PyObject *add(struct saver_file *file, const struct saver_item *item)
{
    struct error error = ERROR_INIT;
    bool is_added = false, is_open;
    int number;

    if (!safetensors_has_dtype(item->value.array.dtype)) {
        PyErr_Format(PyExc_TypeError, "the format safetensors has no dtype %s",
                     dtype_text(item->value.array.dtype));
        return NULL;
    }
    if (is_too_large(&item->value.array)) {
        PyErr_SetString(PyExc_TypeError,
                        "it is expanded to more than 1 GiB, and the format safetensors "
                        "would hold each element as often: save it as \"pt\"");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(file->lock, WAIT_LOCK);
    is_open = file->writer != NULL;
    errno = 0;
    if (is_open) {
        is_added = safetensors_writer_add(file->writer, &item->request.saved, &error);
    }
    number = errno;
    file->count += is_added;
    PyThread_release_lock(file->lock);
    Py_END_ALLOW_THREADS;
    if (!is_open) {
        PyErr_SetString(PyExc_ValueError, "the file is finished");
        return NULL;
    }
    if (!is_added) {
        return saver_raise(&error, number, &item->request,
                           PyBytes_AsString(file->path));
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    add_doc,
    "add(tensor, key, place=None, norm_only=False)\n\n"
    "Adds a tensor, as save_pt() writes it. Where that fails, those before it are\n"
    "still to be finished.");

static PyObject *file_add(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"tensor", "key", "place", "norm_only", NULL};
    struct saver_file *file = (struct saver_file *)self;
    struct saver_item item;
    PyObject *tensor, *key, *place = Py_None, *result;
    int norm_only = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|Op:add", names, &tensor, &key,
                                     &place, &norm_only) ||
        !is_our_file(file) ||
        !saver_item_init(&item, file->session, tensor, key, place, norm_only)) {
        return NULL;
    }
    result = add(file, &item);
    saver_item_release(&item);
    return result;
}

PyDoc_STRVAR(finish_doc,
             "finish()\n\n"
             "Renames the complete file to its name; without tensors there is none.");

static PyObject *file_finish(PyObject *self, PyObject *unused)
{
    struct saver_file *file = (struct saver_file *)self;
    struct safetensors_writer *writer;
    struct error error = ERROR_INIT;
    bool is_finished = true;
    int number = 0;

    (void)unused;
    if (!is_our_file(file)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(file->lock, WAIT_LOCK);
    writer = file->writer;
    file->writer = NULL;
    if (writer != NULL) {
        errno = 0;
        is_finished = safetensors_writer_finish(writer, &error);
        number = errno;
    }
    PyThread_release_lock(file->lock);
    Py_END_ALLOW_THREADS;
    if (!is_finished) {
        return saver_raise(&error, number, NULL, PyBytes_AsString(file->path));
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(abandon_doc, "abandon()\n\nLeaves no file.");

static PyObject *file_abandon(PyObject *self, PyObject *unused)
{
    struct saver_file *file = (struct saver_file *)self;

    (void)unused;
    if (!is_our_file(file)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(file->lock, WAIT_LOCK);
    if (file->writer != NULL) {
        safetensors_writer_abandon(file->writer);
        file->writer = NULL;
    }
    PyThread_release_lock(file->lock);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *file_count(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((struct saver_file *)self)->count);
}

int saver_safetensors_exec(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"add", (PyCFunction)(void (*)(void))file_add, METH_VARARGS | METH_KEYWORDS,
         add_doc},
        {"finish", file_finish, METH_NOARGS, finish_doc},
        {"abandon", file_abandon, METH_NOARGS, abandon_doc},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef attributes[] = {
        {"count", file_count, NULL, "How many tensors were added.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, file_new},
        {Py_tp_dealloc, file_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_getset, attributes},
        {Py_tp_doc, "SafetensorsWriter(path): many tensors saved into one file."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.SafetensorsWriter",
        .basicsize = sizeof(struct saver_file),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return module_add_type(module, &spec);
}
