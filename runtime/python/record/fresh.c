/* Noting memory that was allocated and not written, and asking for it. */
#include "runtime/python/record/fresh.h"

#include <string.h>

/* The session that records; the functions of torch are the process's, not an interpreter's. */
static struct session *watching;

/* ---- owners: weak references to what keeps the memory, a storage or a NumPy array ---- */

static bool read_integer(PyObject *object, const char *method, int64_t *value)
{
    PyObject *number = PyObject_CallMethod(object, method, NULL);

    *value = number == NULL ? -1 : PyLong_AsLongLong(number);
    Py_XDECREF(number);
    if (PyErr_Occurred() != NULL) {
        PyErr_Clear();
        return false;
    }
    return true;
}

static bool is_array(PyObject *owner)
{
    return !PyObject_HasAttrString(owner, "data_ptr");
}

/* A storage may have been given other memory since: by resize_, share_memory_, a swap. */
static bool is_alive(void *reference, uint64_t begin)
{
    PyObject *owner = PyWeakref_GetObject(reference);
    int64_t data, size;
    bool is_same;

    if (owner == NULL || owner == Py_None) {
        PyErr_Clear();
        return false;
    }
    Py_INCREF(owner);
    is_same = is_array(owner) ||
              (read_integer(owner, "data_ptr", &data) &&
               read_integer(owner, "nbytes", &size) && begin >= (uint64_t)data &&
               begin < (uint64_t)data + (uint64_t)size);
    Py_DECREF(owner);
    return is_same;
}

static void let_go(void *reference)
{
    Py_DECREF((PyObject *)reference);
}

void fresh_begin(struct session *session)
{
    struct uninitialised_owners owners = {is_alive, let_go};

    if (watching == NULL && session->fresh == NULL) {
        session->fresh = uninitialised_new(owners);
        watching = session->fresh == NULL ? NULL : session;
    }
    fresh_attach(session);
}

void fresh_end(struct session *session)
{
    if (watching == session) {
        watching = NULL;
        fresh_detach();
    }
    uninitialised_free(session->fresh);
    session->fresh = NULL;
}

/* ---- finding ---- */

enum uninitialised_state fresh_find(struct session *session,
                                    const struct tensor *tensor,
                                    const struct uninitialised_piece **piece)
{
    if (session->fresh == NULL || uninitialised_is_empty(session->fresh) ||
        tensor->array.data == NULL) {
        return UNINITIALISED_NONE;
    }
    return uninitialised_find(session->fresh, &tensor->array,
                              (tensor->flags & LOG_FORM_NUMPY) == 0, tensor->version,
                              piece);
}

/* ---- noting ---- */

static bool is_noting(const struct session *session)
{
    return session != NULL && session->recorder != NULL && !session->is_closing;
}

/* 0: described, and tensor_release must follow. */
static int describe(struct session *session, PyObject *object, struct tensor *tensor)
{
    enum tensor_class class = tensor_classify(session->access, Py_TYPE(object));

    if (class != TENSOR_CLASS_EXACT && class != TENSOR_CLASS_NUMPY) {
        return -1;
    }
    return tensor_describe(session->access, object, class, tensor);
}

static void add(struct session *session,
                const struct array *array,
                uint32_t version,
                PyObject *owner)
{
    PyObject *reference = owner == NULL ? NULL : PyWeakref_NewRef(owner, NULL);

    if (reference != NULL && session->fresh != NULL) {
        uninitialised_add(session->fresh, array, version,
                          recorder_options(session->recorder)->log.sample, reference);
    } else {
        Py_XDECREF(reference);
    }
    PyErr_Clear();
}

static void add_tensor(struct session *session, PyObject *object)
{
    struct tensor tensor;

    if (describe(session, object, &tensor) != 0) {
        return;
    }
    if (tensor.array.data != NULL) {
        bool is_numpy = (tensor.flags & LOG_FORM_NUMPY) != 0;
        PyObject *owner =
            is_numpy ? Py_NewRef(object) : tensor_hold(session->access, object);

        add(session, &tensor.array, tensor.version, owner);
        Py_XDECREF(owner);
    }
    tensor_release(&tensor);
}

/* Of a tensor whose memory has grown, the part behind what it had. */
static void
add_grown(struct session *session, PyObject *object, const struct fresh_note *note)
{
    PyObject *storage = tensor_hold(session->access, object);
    struct tensor tensor;
    int64_t size, data;

    if (storage == NULL) {
        return;
    }
    if (read_integer(storage, "nbytes", &size) &&
        read_integer(storage, "data_ptr", &data) && size > note->size &&
        describe(session, object, &tensor) == 0) {
        int64_t unit = (int64_t)dtype_size(tensor.array.dtype);
        int64_t count = unit > 0 ? (size - note->size) / unit : 0;
        struct array grown = {
            .data = (const void *)(uintptr_t)(data + note->size),
            .dtype = tensor.array.dtype,
            .dimension_count = 1,
            .shape = &count,
        };

        if (tensor.array.data != NULL && count > 0 && note->size % unit == 0) {
            add(session, &grown, tensor.version, storage);
        }
        tensor_release(&tensor);
    }
    Py_DECREF(storage);
}

/* Of a copy: it holds no values either, where its original has none. */
static void add_moved(struct session *session, PyObject *self, PyObject *result)
{
    const struct uninitialised_piece *piece;
    struct tensor tensor;
    bool is_fresh;

    if (self == NULL || self == result || uninitialised_is_empty(session->fresh) ||
        describe(session, self, &tensor) != 0) {
        return;
    }
    is_fresh = fresh_find(session, &tensor, &piece) == UNINITIALISED_WHOLE;
    tensor_release(&tensor);
    if (!is_fresh || describe(session, result, &tensor) != 0) {
        return;
    }
    if (fresh_find(session, &tensor, &piece) == UNINITIALISED_NONE) {
        add_tensor(session, result);
    }
    tensor_release(&tensor);
}

static bool are_sizes(PyObject *const *arguments, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        bool is_size = PyLong_CheckExact(arguments[i]) ||
                       (count == 1 && PyTuple_Check(arguments[i]) &&
                        !PyTuple_CheckExact(arguments[i])); /* torch.Size */
        if (!is_size) {
            return false;
        }
    }
    return count > 0;
}

struct fresh_note fresh_expect(enum fresh_effect effect,
                               PyObject *self,
                               PyObject *const *arguments,
                               Py_ssize_t count,
                               PyObject *keywords)
{
    struct fresh_note note = {.effect = effect, .is_wanted = is_noting(watching)};

    if (!note.is_wanted) {
        return note;
    }
    if (effect == FRESH_GIVE && keywords != NULL) {
        PyObject *out = PyDict_GetItemString(keywords, "out");
        note.is_wanted = out == NULL || out == Py_None; /* that keeps what it holds */
    } else if (effect == FRESH_SIZED) {
        note.is_wanted = are_sizes(arguments, count);
    } else if (effect == FRESH_GROW && self != NULL) {
        note.storage = tensor_hold(watching->access, self);
        note.is_wanted =
            note.storage != NULL && read_integer(note.storage, "nbytes", &note.size);
    }
    PyErr_Clear();
    return note;
}

static void notice(const struct fresh_note *note, PyObject *self, PyObject *result)
{
    switch (note->effect) {
    case FRESH_GIVE:
    case FRESH_SIZED:
        add_tensor(watching, result);
        break;
    case FRESH_GROW:
        add_grown(watching, result, note);
        break;
    case FRESH_MOVE:
        add_moved(watching, self, result);
        break;
    }
}

void fresh_notice(struct fresh_note *note, PyObject *self, PyObject *result)
{
    if (note->is_wanted && result != NULL && is_noting(watching) &&
        watching->fresh != NULL) {
        notice(note, self, result);
        PyErr_Clear();
    }
    Py_XDECREF(note->storage);
}
