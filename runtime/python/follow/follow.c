/* What is followed: decided once for each code object. */
#include "runtime/python/follow/follow.h"

#include "runtime/base/memory.h"
#include "runtime/python/visit/variables.h"

/* ---- the table of code objects, by address ---- */

#define FIRST_CAPACITY 1024

static size_t slot_of(size_t capacity, const void *code)
{
    return ((uintptr_t)code >> 4) * 0x9e3779b97f4a7c15u >> 20 & (capacity - 1);
}

/* The entry with that address, or the free one where it belongs. */
static struct code_entry *
entry_of(struct code_entry *entries, size_t capacity, const void *code)
{
    size_t slot = slot_of(capacity, code);

    while (entries[slot].code != NULL && entries[slot].code != code) {
        slot = (slot + 1) & (capacity - 1);
    }
    return &entries[slot];
}

static bool is_alive(const struct code_entry *entry)
{
    return PyWeakref_GetObject(entry->reference) == entry->code;
}

bool codes_find(const struct code_table *table,
                PyObject *code,
                struct follow_plan **plan)
{
    struct code_entry *entry;

    if (table->capacity == 0) {
        return false;
    }
    entry = entry_of(table->entries, table->capacity, code);
    if (entry->code == NULL || !is_alive(entry)) {
        return false;
    }
    *plan = entry->plan;
    return true;
}

static void release_entries(struct code_entry *entries, size_t capacity)
{
    for (size_t i = 0; i < capacity; i++) {
        Py_XDECREF(entries[i].reference);
        Py_XDECREF(entries[i].plan);
    }
    memory_free(entries);
}

/* Makes room; what died in the meantime is left out. */
static bool grow(struct code_table *table)
{
    struct code_table old = *table;
    struct code_table new = {NULL, FIRST_CAPACITY, 0};
    size_t alive = 0;

    for (size_t i = 0; i < old.capacity; i++) {
        alive += old.entries[i].code != NULL && is_alive(&old.entries[i]);
    }
    while (new.capacity / 4 <= alive) {
        new.capacity *= 2;
    }
    new.entries = memory_allocate(new.capacity, sizeof(*new.entries));
    if (new.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < new.capacity; i++) {
        new.entries[i] = (struct code_entry){NULL, NULL, NULL};
    }
    for (size_t i = 0; i < old.capacity; i++) {
        struct code_entry *entry = &old.entries[i];
        if (entry->code != NULL && is_alive(entry)) {
            *entry_of(new.entries, new.capacity, entry->code) = *entry;
            new.count++;
            *entry = (struct code_entry){NULL, NULL, NULL};
        }
    }
    *table = new;
    release_entries(old.entries, old.capacity);
    return true;
}

/* Remembers a code object. False without an exception: there is no memory. */
static bool
codes_add(struct code_table *table, PyObject *code, struct follow_plan *plan)
{
    PyObject *reference = PyWeakref_NewRef(code, NULL);
    struct code_entry *entry;
    struct code_entry old;

    if (reference == NULL ||
        (table->count + 1 > table->capacity / 4 * 3 && !grow(table))) {
        Py_XDECREF(reference);
        PyErr_Clear();
        return false;
    }
    entry = entry_of(table->entries, table->capacity, code);
    old = *entry;
    table->count += old.code == NULL;
    Py_XINCREF((PyObject *)plan);
    *entry = (struct code_entry){code, reference, plan};
    Py_XDECREF(old.reference);
    Py_XDECREF(old.plan);
    return true;
}

static void codes_clear(struct code_table *table)
{
    struct code_table old = *table;

    *table = (struct code_table){NULL, 0, 0};
    release_entries(old.entries, old.capacity);
}

struct follower follower;

/* Calls `decide(code, globals)`, which never raises. */
static PyObject *ask(PyObject *code, PyObject *frame)
{
    PyObject *globals = PyObject_GetAttrString(frame, "f_globals");
    PyObject *decide = follower.decide;
    PyObject *answer = NULL;

    if (globals != NULL && decide != NULL) {
        Py_INCREF(decide);
        answer = PyObject_CallFunctionObjArgs(decide, code, globals, NULL);
        Py_DECREF(decide);
    }
    Py_XDECREF(globals);
    PyErr_Clear();
    return answer;
}

struct follow_plan *follower_find(PyObject *code, PyObject *frame)
{
    struct follow_plan *plan = NULL;
    PyObject *answer;

    if (codes_find(&follower.codes, code, &plan)) {
        return plan;
    }
    Py_INCREF(code);
    answer = ask(code, frame);
    if (answer != NULL && (void *)Py_TYPE(answer) == follower.plan_type) {
        plan = (struct follow_plan *)answer;
    }
    if (!codes_add(&follower.codes, code, plan)) {
        plan = NULL; /* nothing holds it */
    }
    Py_XDECREF(answer);
    Py_DECREF(code);
    return plan;
}

PyDoc_STRVAR(
    begin_doc,
    "follow_begin(decide)\n\n"
    "From now on `decide(code, globals)` says what is followed: a plan, or None.\n"
    "It never raises.");

static PyObject *begin(PyObject *module, PyObject *decide)
{
    PyObject *old = follower.decide;

    (void)module;
    codes_clear(&follower.codes);
    follower.decide = Py_NewRef(decide);
    follower.is_on = true;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

/* What was followed stays known: other threads have yet to clean up behind us. */
PyDoc_STRVAR(end_doc, "follow_end()\n\nNothing is followed any more.");

static PyObject *end(PyObject *module, PyObject *unused)
{
    PyObject *old = follower.decide;

    (void)module;
    (void)unused;
    follower.is_on = false;
    follower.decide = NULL;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(find_slot_doc,
             "find_slot(code, name)\n\n"
             "Where frames of the code keep a variable of that name, as make_plan "
             "wants it; -1: nowhere.");

static PyObject *find_slot(PyObject *module, PyObject *args)
{
    PyObject *code, *name;

    (void)module;
    if (!PyArg_ParseTuple(args, "OU:find_slot", &code, &name)) {
        return NULL;
    }
    return PyLong_FromLong(frame_find_slot(code, name));
}

PyDoc_STRVAR(
    make_plan_doc,
    "make_plan(hook, is_function, start, enter, numbers, returns, steps, visits)\n\n"
    "Makes the plan of a code object: see monitorch/_follow/plan.py.");

static PyObject *make_plan(PyObject *module, PyObject *args, PyObject *keywords)
{
    return plan_make(module, (PyTypeObject *)follower.plan_type, args, keywords);
}

PyDoc_STRVAR(learn_layout_doc,
             "learn_layout(value)\n\n"
             "Called by a function whose first variable is `value`.");

static PyObject *learn_layout(PyObject *module, PyObject *value)
{
    (void)module;
    frame_learn_layout((PyObject *)PyEval_GetFrame(), value);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"follow_begin", begin, METH_O, begin_doc},
    {"follow_end", end, METH_NOARGS, end_doc},
    {"find_slot", find_slot, METH_VARARGS, find_slot_doc},
    {"make_plan", (PyCFunction)(void (*)(void))make_plan, METH_VARARGS | METH_KEYWORDS,
     make_plan_doc},
    {"learn_layout", learn_layout, METH_O, learn_layout_doc},
    {NULL, NULL, 0, NULL},
};

int follow_exec(PyObject *module)
{
    PyObject *type = plan_make_type(module);

    if (type == NULL) {
        return -1;
    }
    Py_XDECREF(follower.plan_type);
    follower.plan_type = type;
    if (PyModule_AddFunctions(module, methods) != 0 ||
        PyModule_AddFunctions(module, follow_trace_methods) != 0 ||
        PyModule_AddFunctions(module, follow_monitor_methods) != 0) {
        return -1;
    }
    return 0;
}
