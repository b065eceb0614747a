/* The list of memory that was allocated and not written yet, and the replaced functions that
 * fill it. */
#include "runtime/python/record/fresh.h"

#include "runtime/python/gradient/gradient.h"

#include <string.h>

static struct fresh_note fresh_expect(enum fresh_effect effect,
                                      PyObject *self,
                                      PyObject *const *arguments,
                                      Py_ssize_t count,
                                      PyObject *keywords);
static void fresh_notice(struct fresh_note *note, PyObject *self, PyObject *result);

/* ---- functions of torch and NumPy that are replaced during a recording ----
 *
 * A function object holds a pointer to its PyMethodDef, and a type holds one to the function
 * that runs when it is called. These pointers are changed, and restored at the end. Before a
 * place is changed, its content is compared with the answers of Python's own functions. If they
 * differ, the function stays unchanged, and its results are treated as initialised. */

/* Offsets in a PyCFunctionObject and a PyMethodDescrObject, after the header of all objects. */
#define FUNCTION_DEFINITION   sizeof(PyObject)
#define DESCRIPTOR_DEFINITION (sizeof(PyObject) + 3 * sizeof(void *))
/* Offset in a PyTypeObject: after a PyVarObject, its name, two sizes and ten pointers. */
#define TYPE_CALL     (sizeof(PyVarObject) + 13 * sizeof(void *))
#define ARGUMENTS_MAX 8 /* so many arguments are read */

enum fresh_call {
#define FRESH_CALL(holder, name, effect) CALL_##holder##_##name,
#include "runtime/python/record/fresh_calls.def"
#undef FRESH_CALL
    CALL_COUNT
};

enum holder {
    HOLDER_TORCH,
    HOLDER_TENSOR,
    HOLDER_NUMPY,
};

static const struct target {
    const char *name;
    enum holder holder;
    enum fresh_effect effect;
} targets[CALL_COUNT] = {
#define FRESH_CALL(holder, name, effect) {#name, HOLDER_##holder, FRESH_##effect},
#include "runtime/python/record/fresh_calls.def"
#undef FRESH_CALL
};

/* The replaced functions belong to the process, not to a session. `original` stays set after the
 * recording: a call may be running when it ends. */
static struct detour {
    PyObject *object;      /* owned while replaced, else NULL */
    PyMethodDef *original; /* the object's own; NULL: not found yet */
    PyMethodDef ours;
} detours[CALL_COUNT];

/* The metatypes of torch.Tensor and torch.FloatTensor, which torch.Tensor(2, 3) and
 * torch.FloatTensor(2, 3) call. */
static PyTypeObject *changed_types[2]; /* owned while replaced */
static ternaryfunc original_type_call;

/* The session that records. The functions of torch belong to the process, not to an interpreter. */
static struct session *watching;

static bool is_noting(const struct session *session)
{
    return session != NULL && session->recorder != NULL && !session->is_closing;
}

/* ---- calling the originals ---- */

/* Whether the call counts. NumPy's own functions, such as ones, fill the results of empty, and
 * an array has no version that would show it. So only calls from other code count. */
static bool is_wanted(enum fresh_call which)
{
    PyObject *globals =
        targets[which].holder == HOLDER_NUMPY ? PyEval_GetGlobals() : NULL;
    PyObject *name = globals == NULL ? NULL : PyDict_GetItemString(globals, "__name__");
    PyObject *start;
    Py_ssize_t is_numpy;

    if (name == NULL || !PyUnicode_Check(name)) {
        return true;
    }
    start = PyUnicode_FromString("numpy.");
    is_numpy =
        start == NULL ? 1 : PyUnicode_Tailmatch(name, start, 0, PY_SSIZE_T_MAX, -1);
    Py_XDECREF(start);
    PyErr_Clear();
    return is_numpy == 0;
}

/* Finds the function of torch that the program calls, and the part of its writing that starts
 * now. */
static struct fresh_note expect_write(enum fresh_call which)
{
    struct fresh_note note = {.effect = targets[which].effect};
    bool is_whole = note.effect == FRESH_WRITE;
    const char *name = !is_whole                           ? "clip_grad_value_"
                       : which == CALL_TORCH__foreach_mul_ ? "clip_grad_norm_"
                                                           : "GradScaler.unscale_";

    note.is_counted = which != CALL_TORCH__amp_foreach_non_finite_check_and_unscale_;
    note.is_wanted =
        is_noting(watching) && parameters_begin_write(watching, name,
                                                      is_whole ? PARAMETERS_WRITE_WHOLE
                                                      : note.effect == FRESH_WRITE_FIRST
                                                          ? PARAMETERS_WRITE_FIRST
                                                          : PARAMETERS_WRITE_LAST,
                                                      &note.visit);
    return note;
}

static struct fresh_note expect(enum fresh_call which,
                                PyObject *self,
                                PyObject *const *arguments,
                                Py_ssize_t count,
                                PyObject *keywords)
{
    if (targets[which].effect >= FRESH_WRITE) {
        return expect_write(which);
    }
    if (!is_wanted(which)) {
        return (struct fresh_note){.effect = targets[which].effect};
    }
    return fresh_expect(targets[which].effect, self, arguments, count, keywords);
}

/* Borrows the first items of a tuple. Returns their number. */
static Py_ssize_t first_arguments(PyObject *tuple, PyObject *first[ARGUMENTS_MAX])
{
    Py_ssize_t count = PyTuple_Size(tuple);

    count = count < ARGUMENTS_MAX ? count : ARGUMENTS_MAX;
    for (Py_ssize_t i = 0; i < count; i++) {
        first[i] = PyTuple_GetItem(tuple, i);
    }
    return count;
}

static PyObject *call_with_tuple(enum fresh_call which,
                                 PyObject *self,
                                 PyObject *arguments,
                                 PyObject *keywords)
{
    PyCFunction function = detours[which].original->ml_meth;
    PyCFunctionWithKeywords original =
        (PyCFunctionWithKeywords)(void (*)(void))function;
    PyObject *first[ARGUMENTS_MAX];
    Py_ssize_t count = first_arguments(arguments, first);
    struct fresh_note note;
    PyObject *result;

    note = expect(which, self, first, count, keywords);
    result = original(self, arguments, keywords);
    fresh_notice(&note, self, result);
    return result;
}

/* The type of functions with METH_FASTCALL | METH_KEYWORDS. */
typedef PyObject *(*vector_function)(PyObject *self,
                                     PyObject *const *arguments,
                                     Py_ssize_t count,
                                     PyObject *names);

static PyObject *call_with_vector(enum fresh_call which,
                                  PyObject *self,
                                  PyObject *const *arguments,
                                  Py_ssize_t count,
                                  PyObject *names)
{
    PyCFunction function = detours[which].original->ml_meth;
    vector_function original = (vector_function)(void (*)(void))function;
    struct fresh_note note = expect(which, self, arguments, count, NULL);
    PyObject *result = original(self, arguments, count, names);

    fresh_notice(&note, self, result);
    return result;
}

/* One function for each replaced one, since a function gets no argument that identifies it. */
#define FRESH_CALL(holder, name, effect)                                               \
    static PyObject *holder##_##name##_tuple(PyObject *self, PyObject *arguments,      \
                                             PyObject *keywords)                       \
    {                                                                                  \
        return call_with_tuple(CALL_##holder##_##name, self, arguments, keywords);     \
    }                                                                                  \
    static PyObject *holder##_##name##_vector(                                         \
        PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) \
    {                                                                                  \
        return call_with_vector(CALL_##holder##_##name, self, arguments, count,        \
                                names);                                                \
    }
#include "runtime/python/record/fresh_calls.def"
#undef FRESH_CALL

static const struct {
    PyCFunctionWithKeywords tuple;
    vector_function vector;
} ours[CALL_COUNT] = {
#define FRESH_CALL(holder, name, effect)                                               \
    {holder##_##name##_tuple, holder##_##name##_vector},
#include "runtime/python/record/fresh_calls.def"
#undef FRESH_CALL
};

static PyObject *call_type(PyObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *first[ARGUMENTS_MAX];
    Py_ssize_t count = first_arguments(arguments, first);
    struct fresh_note note;
    PyObject *result;

    note = fresh_expect(FRESH_SIZED, NULL, first, count, keywords);
    result = original_type_call(type, arguments, keywords);
    fresh_notice(&note, NULL, result);
    return result;
}

/* ---- finding them: new references; NULL without an exception if not found ---- */

static PyObject *find_attribute(PyObject *holder, const char *name)
{
    PyObject *found = holder == NULL ? NULL : PyObject_GetAttrString(holder, name);

    PyErr_Clear();
    return found;
}

/* A module in sys.modules, whose import may not be finished. */
static PyObject *find_module(const char *name)
{
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *found = modules == NULL ? NULL : PyDict_GetItemString(modules, name);

    PyErr_Clear();
    return Py_XNewRef(found);
}

static PyObject *find_holder(enum holder holder)
{
    PyObject *module = find_module(holder == HOLDER_NUMPY ? "numpy" : "torch");
    PyObject *tensor, *base;

    if (holder != HOLDER_TENSOR) {
        return module;
    }
    tensor = find_attribute(module, "Tensor");
    Py_XDECREF(module);
    base = tensor != NULL && PyType_Check(tensor)
               ? PyType_GetSlot((PyTypeObject *)tensor, Py_tp_base)
               : NULL;
    Py_XINCREF(base);
    Py_XDECREF(tensor);
    return base;
}

/* Finds the function of a target. NumPy wraps its functions in objects that search for overrides
 * first; the function is their `_implementation`. */
static PyObject *find_function(const struct target *target, PyObject *holder)
{
    PyObject *found = find_attribute(holder, target->name);
    PyObject *inner;

    if (target->holder != HOLDER_NUMPY || found == NULL || PyCFunction_Check(found)) {
        return found;
    }
    inner = find_attribute(found, "_implementation");
    Py_DECREF(found);
    return inner;
}

/* ---- changing them ---- */

static PyMethodDef **definition_of(PyObject *object)
{
    size_t offset =
        PyCFunction_Check(object) ? FUNCTION_DEFINITION : DESCRIPTOR_DEFINITION;

    return (PyMethodDef **)(void *)((char *)object + offset);
}

/* Whether the function's definition is at the expected offset. */
static bool is_known(PyObject *object, const char *name, const PyObject *holder)
{
    const PyMethodDef *definition;

    if (PyCFunction_Check(object)) {
        definition = *definition_of(object);
        return PyCFunction_GetFunction(object) == definition->ml_meth &&
               PyCFunction_GetFlags(object) == definition->ml_flags &&
               strcmp(definition->ml_name, name) == 0;
    }
    if (Py_TYPE(object) != &PyMethodDescr_Type ||
        *(void **)(void *)((char *)object + sizeof(PyObject)) != holder) {
        return false;
    }
    definition = *definition_of(object);
    return strcmp(definition->ml_name, name) == 0;
}

static void attach(struct detour *detour, enum fresh_call which, PyObject *holder)
{
    PyObject *object = find_function(&targets[which], holder);
    PyMethodDef *definition;
    int way;

    if (object == NULL || !is_known(object, targets[which].name, holder)) {
        Py_XDECREF(object);
        return;
    }
    definition = *definition_of(object);
    way = definition->ml_flags & (METH_VARARGS | METH_FASTCALL | METH_KEYWORDS);
    detour->ours = *definition;
    if (way == (METH_VARARGS | METH_KEYWORDS)) {
        detour->ours.ml_meth = (PyCFunction)(void (*)(void))ours[which].tuple;
    } else if (way == (METH_FASTCALL | METH_KEYWORDS)) {
        detour->ours.ml_meth = (PyCFunction)(void (*)(void))ours[which].vector;
    } else {
        Py_DECREF(object);
        return;
    }
    detour->original = definition;
    detour->object = object;
    *definition_of(object) = &detour->ours;
}

static ternaryfunc *call_of(PyTypeObject *type)
{
    return (ternaryfunc *)(void *)((char *)type + TYPE_CALL);
}

/* Replaces the call function of the metatype of the type torch.NAME. */
static void attach_type(PyTypeObject **changed, const char *name)
{
    PyObject *torch = find_module("torch");
    PyObject *type = find_attribute(torch, name);
    PyTypeObject *meta = type == NULL ? NULL : Py_TYPE(type);
    ternaryfunc inherited = (ternaryfunc)PyType_GetSlot(&PyType_Type, Py_tp_call);

    /* A metatype with a call function of its own is left unchanged. */
    if (meta != NULL && meta != &PyType_Type && *call_of(meta) == inherited &&
        PyType_GetSlot(meta, Py_tp_call) == (void *)inherited) {
        original_type_call = inherited;
        *changed = (PyTypeObject *)Py_NewRef((PyObject *)meta);
        *call_of(meta) = call_type;
    }
    Py_XDECREF(type);
    Py_XDECREF(torch);
}

static void attach_all(void)
{
    static const char *const types[] = {"Tensor", "FloatTensor"};
    enum holder last = HOLDER_TORCH;
    PyObject *holder = find_holder(last);

    for (enum fresh_call which = 0; which < CALL_COUNT; which++) {
        if (targets[which].holder != last) {
            last = targets[which].holder;
            Py_XDECREF(holder);
            holder = find_holder(last);
        }
        if (holder != NULL && detours[which].object == NULL) {
            attach(&detours[which], which, holder);
        }
    }
    Py_XDECREF(holder);
    for (size_t i = 0; i < 2; i++) {
        if (changed_types[i] == NULL) {
            attach_type(&changed_types[i], types[i]);
        }
    }
}

static void fresh_detach(void)
{
    for (enum fresh_call which = 0; which < CALL_COUNT; which++) {
        struct detour *detour = &detours[which];

        if (detour->object != NULL) {
            *definition_of(detour->object) = detour->original;
            Py_CLEAR(detour->object);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        if (changed_types[i] != NULL) {
            *call_of(changed_types[i]) = original_type_call;
            Py_CLEAR(changed_types[i]);
        }
    }
}

void fresh_attach(struct session *session)
{
    if (session->fresh != NULL) {
        attach_all();
        parameters_attach(session);
    }
}

/* ---- owners: weak references to the object that owns the memory, a storage or a NumPy array
 * ---- */

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

/* Whether the owner is alive and still owns the memory. A storage may have got other memory
 * since: by resize_, share_memory_, a swap. */
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

/* ---- adding ---- */

/* Describes a tensor of torch or NumPy. After 0 the caller must call tensor_release. */
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

/* Adds the part by which a tensor's memory has grown. */
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

/* Adds a copy whose original holds no values: the copy holds none either. */
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

/* Prepares the note of a call. `self` may be NULL; `arguments` are the positional ones. No
 * exception may be set before, and none is set after. */
static struct fresh_note fresh_expect(enum fresh_effect effect,
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
        note.is_wanted = out == NULL || out == Py_None; /* `out` keeps its state */
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
    default: /* FRESH_WRITE */
        parameters_end_write(watching, &note->visit, note->is_counted);
        break;
    }
}

/* Stores the effect of a call that has returned. `result` may be NULL, with an exception set,
 * which stays set. */
static void fresh_notice(struct fresh_note *note, PyObject *self, PyObject *result)
{
    if (note->is_wanted && result != NULL && is_noting(watching) &&
        watching->fresh != NULL) {
        notice(note, self, result);
        PyErr_Clear();
    }
    Py_XDECREF(note->storage);
}
