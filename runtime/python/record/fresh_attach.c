/* Functions of torch and NumPy that lead to ours while something is recorded. A function object holds
 * a pointer to its PyMethodDef, and a type one to what calling it does: these are changed, and put
 * back at the end. Each place is checked to hold what Python's own functions say of it before it is
 * changed; where it does not, the function stays as it is and its results are values like others. */
#include "runtime/python/record/fresh.h"

#include <string.h>

/* In a PyCFunctionObject and a PyMethodDescrObject, behind what all objects begin with. */
#define FUNCTION_DEFINITION   sizeof(PyObject)
#define DESCRIPTOR_DEFINITION (sizeof(PyObject) + 3 * sizeof(void *))
/* In a PyTypeObject: behind a PyVarObject come its name, two sizes and ten pointers. */
#define TYPE_CALL     (sizeof(PyVarObject) + 13 * sizeof(void *))
#define ARGUMENTS_MAX 8 /* that are looked at */

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

/* Of the process, as the functions are. Once it was found an original stays: a call may be under way
 * when the recording ends. */
static struct detour {
    PyObject *object;      /* owned, while it leads to ours; else NULL */
    PyMethodDef *original; /* that the object had; NULL: never found */
    PyMethodDef ours;
} detours[CALL_COUNT];

/* torch.Tensor(2, 3) and torch.FloatTensor(2, 3) call these types' types. */
static PyTypeObject *changed_types[2]; /* owned, while they lead to ours */
static ternaryfunc original_type_call;

/* ---- calling the originals ---- */

/* NumPy's own functions, such as ones, fill what they get from empty, and an array has no version
 * that shows it. So only calls from other code count. */
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

static struct fresh_note expect(enum fresh_call which,
                                PyObject *self,
                                PyObject *const *arguments,
                                Py_ssize_t count,
                                PyObject *keywords)
{
    if (!is_wanted(which)) {
        return (struct fresh_note){.effect = targets[which].effect};
    }
    return fresh_expect(targets[which].effect, self, arguments, count, keywords);
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
    Py_ssize_t count = PyTuple_Size(arguments);
    struct fresh_note note;
    PyObject *result;

    count = count < ARGUMENTS_MAX ? count : ARGUMENTS_MAX;
    for (Py_ssize_t i = 0; i < count; i++) {
        first[i] = PyTuple_GetItem(arguments, i);
    }
    note = expect(which, self, first, count, keywords);
    result = original(self, arguments, keywords);
    fresh_notice(&note, self, result);
    return result;
}

/* As CPython calls functions of METH_FASTCALL | METH_KEYWORDS. */
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

/* A function for each that is called: nothing else says which it is. */
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
    Py_ssize_t count = PyTuple_Size(arguments);
    struct fresh_note note;
    PyObject *result;

    count = count < ARGUMENTS_MAX ? count : ARGUMENTS_MAX;
    for (Py_ssize_t i = 0; i < count; i++) {
        first[i] = PyTuple_GetItem(arguments, i);
    }
    note = fresh_expect(FRESH_SIZED, NULL, first, count, keywords);
    result = original_type_call(type, arguments, keywords);
    fresh_notice(&note, NULL, result);
    return result;
}

/* ---- finding them: new references, NULL without an exception where there is none ---- */

static PyObject *find_attribute(PyObject *holder, const char *name)
{
    PyObject *found = holder == NULL ? NULL : PyObject_GetAttrString(holder, name);

    PyErr_Clear();
    return found;
}

/* A module that was imported, in whole or not yet. */
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

/* NumPy hands arguments to its functions through objects that look for overrides first. */
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

/* Whether the place that should hold the function's definition does. */
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

/* Of the type of that type of torch's. */
static void attach_type(PyTypeObject **changed, const char *name)
{
    PyObject *torch = find_module("torch");
    PyObject *type = find_attribute(torch, name);
    PyTypeObject *meta = type == NULL ? NULL : Py_TYPE(type);
    ternaryfunc inherited = (ternaryfunc)PyType_GetSlot(&PyType_Type, Py_tp_call);

    /* One that calls in a way of its own is left alone. */
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

void fresh_detach(void)
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
    }
}
