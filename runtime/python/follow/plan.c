/* Plans: taken from Python, each number in them checked. */
#include "runtime/python/follow/follow.h"

#include "runtime/base/memory.h"
#include "runtime/python/visit/hook.h"

#include <string.h>

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

PyObject *plan_make_type(PyObject *module)
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

/* A copy of the numbers in `bytes`. */
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

/* Steps stand in the order of where they end. */
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
