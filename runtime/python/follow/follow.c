/* The followed code objects and their plans, made once for each code object. */
#include "runtime/python/follow/follow.h"

#include "runtime/base/memory.h"
#include "runtime/python/visit/hook.h"
#include "runtime/python/visit/variables.h"

#include <string.h>

/* ---- plans: made from Python's arguments, all numbers of which are checked ---- */

static void plan_dealloc(PyObject *self)
{
    struct follow_plan *plan = (struct follow_plan *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    for (uint32_t i = 0; i < plan->value_count; i++) {
        Py_XDECREF(plan->values[i].root);
        Py_XDECREF(plan->values[i].dotted);
    }
    memory_free(plan->values);
    memory_free(plan->visits);
    memory_free(plan->steps);
    memory_free(plan->returns);
    memory_free(plan->first_step);
    memory_free(plan->numbers);
    Py_XDECREF(plan->hook);
    Py_XDECREF(plan->module);
    release(self);
    Py_DECREF(type);
}

/* Makes the type of plans. A new reference, or NULL with an exception. */
static PyObject *plan_make_type(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, plan_dealloc},
        {Py_tp_doc, "The plan of one followed code object."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.Plan",
        .basicsize = sizeof(struct follow_plan),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return PyType_FromModuleAndSpec(module, &spec, NULL);
}

static bool refuse(const char *what)
{
    PyErr_Format(PyExc_ValueError, "make_plan: %s", what);
    return false;
}

/* Copies the numbers in `bytes`. Returns false with an exception set. */
static bool
read_numbers(PyObject *bytes, size_t width, void *numbers_place, uint32_t *count)
{
    size_t size;
    void *numbers;

    if (!PyBytes_Check(bytes)) {
        return refuse("numbers are bytes");
    }
    size = (size_t)PyBytes_Size(bytes);
    if (size % width != 0 || size / width > UINT32_MAX / 2) {
        return refuse("an odd number of bytes");
    }
    numbers = memory_allocate(size / width + 1, width);
    if (numbers == NULL) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(numbers, PyBytes_AsString(bytes), size);
    memcpy(numbers_place, &numbers, sizeof(numbers));
    *count = (uint32_t)(size / width);
    return true;
}

static bool
read_value(struct follow_plan *plan, PyObject *item, struct plan_value *value)
{
    PyObject *root, *dotted;

    (void)plan;
    if (!PyTuple_Check(item) ||
        !PyArg_ParseTuple(item, "OOi:make_plan", &root, &dotted, &value->slot)) {
        return PyErr_Occurred() ? false : refuse("a value is a tuple");
    }
    if ((root != Py_None && !PyUnicode_Check(root)) ||
        (dotted != Py_None && !PyBytes_Check(dotted))) {
        return refuse("a value is a name and a dotted name");
    }
    value->root = root == Py_None ? NULL : Py_NewRef(root);
    value->dotted = dotted == Py_None ? NULL : Py_NewRef(dotted);
    return true;
}

static bool count_values(PyObject *visits, uint32_t *count)
{
    Py_ssize_t total = 0;

    for (Py_ssize_t i = 0; i < PyTuple_Size(visits); i++) {
        PyObject *item = PyTuple_GetItem(visits, i);
        PyObject *values = PyTuple_Check(item) && PyTuple_Size(item) == 2
                               ? PyTuple_GetItem(item, 1)
                               : NULL;
        if (values == NULL || !PyTuple_Check(values)) {
            return refuse("a visit is a site and its values");
        }
        total += PyTuple_Size(values);
    }
    if (total > UINT32_MAX / 2) {
        return refuse("too many values");
    }
    *count = (uint32_t)total;
    return true;
}

static bool read_visit(struct follow_plan *plan, PyObject *item)
{
    struct plan_visit *visit = &plan->visits[plan->visit_count];
    PyObject *values = PyTuple_GetItem(item, 1);
    unsigned long site = PyLong_AsUnsignedLong(PyTuple_GetItem(item, 0));

    if (PyErr_Occurred()) {
        return false;
    }
    if (site >= PLAN_NOTHING) {
        return refuse("there is no such site");
    }
    *visit = (struct plan_visit){(uint32_t)site, plan->value_count, 0};
    for (Py_ssize_t i = 0; i < PyTuple_Size(values); i++) {
        if (!read_value(plan, PyTuple_GetItem(values, i),
                        &plan->values[plan->value_count])) {
            return false;
        }
        plan->value_count++;
        visit->value_count++;
    }
    plan->visit_count++;
    return true;
}

static bool read_visits(struct follow_plan *plan, PyObject *visits)
{
    uint32_t value_count = 0;

    if (!PyTuple_Check(visits)) {
        return refuse("visits are a tuple");
    }
    if (!count_values(visits, &value_count)) {
        return false;
    }
    plan->values = memory_allocate((size_t)value_count + 1, sizeof(*plan->values));
    plan->visits =
        memory_allocate((size_t)PyTuple_Size(visits) + 1, sizeof(*plan->visits));
    if (plan->values == NULL || plan->visits == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(visits); i++) {
        if (!read_visit(plan, PyTuple_GetItem(visits, i))) {
            return false;
        }
    }
    return true;
}

static bool is_visit(const struct follow_plan *plan, uint32_t visit)
{
    return visit < plan->visit_count;
}

/* Whether all steps are valid, and sorted by their last instruction. Returns false with an
 * exception set. */
static bool check_steps(struct follow_plan *plan)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (step->before >= plan->number_count || step->after >= plan->number_count ||
            step->after < last || !is_visit(plan, step->visit)) {
            return refuse("a step leads nowhere");
        }
        last = step->after;
    }
    return true;
}

static bool check_plan(struct follow_plan *plan)
{
    for (uint32_t i = 0; i < plan->unit_count; i++) {
        if (plan->numbers[i] >= plan->number_count) {
            return refuse("an instruction's number is too large");
        }
    }
    for (uint32_t i = 0; i < plan->number_count; i++) {
        if (plan->returns[i] != PLAN_NOTHING && !is_visit(plan, plan->returns[i])) {
            return refuse("a return visits nothing");
        }
    }
    if (plan->enter != PLAN_NOTHING && !is_visit(plan, plan->enter)) {
        return refuse("a beginning visits nothing");
    }
    return check_steps(plan);
}

static bool index_steps(struct follow_plan *plan)
{
    uint32_t step = 0;

    plan->first_step =
        memory_allocate((size_t)plan->number_count + 1, sizeof(*plan->first_step));
    if (plan->first_step == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (uint32_t number = 0; number <= plan->number_count; number++) {
        while (step < plan->step_count && plan->steps[step].after < number) {
            step++;
        }
        plan->first_step[number] = step;
    }
    return true;
}

PyObject *
plan_make(PyObject *module, PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"hook",    "is_function", "start",  "enter", "numbers",
                            "returns", "steps",       "visits", NULL};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *hook, *numbers, *returns, *steps, *visits;
    int is_function;
    unsigned int start, enter;
    struct follow_plan *plan;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OpIIOOOO:make_plan", names, &hook,
                                     &is_function, &start, &enter, &numbers, &returns,
                                     &steps, &visits)) {
        return NULL;
    }
    if (!hook_check(hook)) {
        refuse("hook is not what make_hook gave");
        return NULL;
    }
    plan = (struct follow_plan *)allocate(type, 0);
    if (plan == NULL) {
        return NULL;
    }
    plan->session = PyModule_GetState(module);
    plan->module = Py_NewRef(module);
    plan->hook = Py_NewRef(hook);
    plan->is_function = is_function;
    plan->start = start;
    plan->enter = enter;
    if (!read_numbers(numbers, sizeof(uint32_t), &plan->numbers, &plan->unit_count) ||
        !read_numbers(returns, sizeof(uint32_t), &plan->returns, &plan->number_count) ||
        !read_numbers(steps, sizeof(struct plan_step), &plan->steps,
                      &plan->step_count) ||
        !read_visits(plan, visits) || !check_plan(plan) || !index_steps(plan)) {
        Py_DECREF(plan);
        return NULL;
    }
    return (PyObject *)plan;
}

/* ---- the table of code objects, by address ---- */

#define FIRST_CAPACITY 1024

static size_t slot_of(size_t capacity, const void *code)
{
    return ((uintptr_t)code >> 4) * 0x9e3779b97f4a7c15u >> 20 & (capacity - 1);
}

/* The entry of that address, or the free entry where it would be added. */
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

/* Makes room in the table, and drops the entries of deleted code objects. Returns false if
 * memory ran out. */
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

/* Adds a code object. Returns false, without an exception, if memory ran out. */
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

/* Calls `decide(code, globals)`. Returns a new reference, or NULL without an exception. */
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
        plan = NULL; /* no entry keeps it alive */
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

/* The table of code objects is kept: other threads use it to restore their frames. */
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
