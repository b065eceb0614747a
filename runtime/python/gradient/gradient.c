/* Hooks that record gradients: their registration, and the records that they write. */
#include "runtime/python/gradient/private.h"

#include "runtime/base/memory.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/values.h"

#include <assert.h>

/* The number of backwards for whose first bad gradient the origin is searched. */
#define BIRTHS_MAX 1000

/* ---- living hooks ---- */

static bool add_slot(struct gradients *gradients, struct gradient_hook *hook)
{
    void *slots = gradients->slots;
    uint32_t slot = gradients->first_free;

    if (slot != SLOT_NONE) {
        gradients->first_free = gradients->slots[slot].next_free;
    } else {
        if (!memory_grow(&slots, &gradients->slot_capacity,
                         (size_t)gradients->slot_count + 1, sizeof *gradients->slots)) {
            return false;
        }
        gradients->slots = slots;
        slot = gradients->slot_count++;
    }
    gradients->slots[slot] = (struct gradient_slot){.hook = hook};
    hook->slot = slot;
    return number_map_put(hook->is_leaf ? &gradients->leaves : &gradients->functions,
                          hook->target, slot);
}

static void remove_slot(struct gradients *gradients, struct gradient_hook *hook)
{
    uint32_t slot = hook->slot;

    if (slot == SLOT_NONE) {
        return;
    }
    assert(slot < gradients->slot_count && gradients->slots[slot].hook == hook);
    gradients->slots[slot] =
        (struct gradient_slot){.hook = NULL, .next_free = gradients->first_free};
    gradients->first_free = slot;
    hook->slot = SLOT_NONE;
}

/* The living hook of the target, or NULL. The address may have been reused by another object;
 * the slot has another hook then, or none. */
static struct gradient_hook *find_hook(const struct gradients *gradients,
                                       const struct number_map *map,
                                       uint64_t target)
{
    uint32_t slot = target == 0 ? NUMBER_MAP_NONE : number_map_get(map, target);
    struct gradient_hook *hook =
        slot == NUMBER_MAP_NONE ? NULL : gradients->slots[slot].hook;
    bool is_leaf = map == &gradients->leaves;

    return hook != NULL && hook->target == target && hook->is_leaf == is_leaf ? hook
                                                                              : NULL;
}

struct gradient_hook *gradients_find(const struct gradients *gradients,
                                     uint64_t function)
{
    return find_hook(gradients, &gradients->functions, function);
}

static void hook_dealloc(PyObject *self)
{
    struct gradient_hook *hook = (struct gradient_hook *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    if (hook->session != NULL && hook->session->gradients != NULL) {
        remove_slot(hook->session->gradients, hook);
    }
    if (hook->outputs != &hook->first) {
        memory_free(hook->outputs);
    }
    Py_XDECREF(hook->handle);
    release(self);
    Py_DECREF(type);
}

/* ---- a gradient arrives ---- */

static bool is_finite(const struct log_nonfinite *counts)
{
    return counts->nan_count + counts->posinf_count + counts->neginf_count == 0;
}

static PyObject *find_task_function(void)
{
    PyObject *modules = PySys_GetObject("modules"); /* borrowed */
    PyObject *module =
        modules == NULL ? NULL : PyDict_GetItemString(modules, "torch._C");
    PyObject *function = module == NULL
                             ? NULL
                             : PyObject_GetAttrString(module, "_current_graph_task_id");

    PyErr_Clear();
    return function;
}

/* Finds the step of the running backward. Each backward is one step of the trace, written with
 * its first gradient. */
static void find_step(struct session *session)
{
    struct gradients *gradients = session->gradients;
    struct call_thread *thread = frame_thread(session);
    PyObject *number;
    long long task;
    struct buffer file = BUFFER_INIT;
    uint32_t line;

    if (gradients->task_function == NULL) {
        gradients->task_function = find_task_function();
    }
    number = gradients->task_function == NULL
                 ? NULL
                 : PyObject_CallNoArgs(gradients->task_function);
    task = number == NULL ? -1 : PyLong_AsLongLong(number);
    Py_XDECREF(number);
    PyErr_Clear();
    if ((task == gradients->task && gradients->step != 0) || thread == NULL) {
        return;
    }
    gradients->task = task;
    gradients->is_bad = false;
    gradients->birth = (struct birth_place){NULL, 0};
    line = frame_find_caller(session, &file);
    gradients->step = recorder_write_step(session->recorder, LOG_STEP_BACKWARD, thread,
                                          SLICE(""), buffer_slice(&file), line);
    buffer_release(&file);
}

static void record_one(struct session *session,
                       const struct gradient_hook *hook,
                       const struct watched_output *output,
                       PyObject *object)
{
    struct gradients *gradients = session->gradients;
    struct watched_output kept = *output;
    struct value_gradient gradient = {
        .owner = &kept.owner,
        .tag = hook->is_leaf ? LOG_GRADIENT_ACCUMULATED : LOG_GRADIENT_ARRIVED,
        .step = gradients->step,
    };
    bool is_first = !gradients->is_bad;

    if (!value_record_gradient(session, &gradient, object) ||
        is_finite(&gradient.counts)) {
        return;
    }
    if (is_first && gradients->bad_count < BIRTHS_MAX) {
        gradients->is_bad = true;
        gradients->bad_count++;
        gradients->birth = (struct birth_place){NULL, 0};
        gradient_write_birth(session, hook, &kept, &gradients->birth);
    }
    if (stop_is_wanted(&session->stop)) {
        struct stop_gradient found = {
            .module = kept.module,
            .site = kept.site,
            .owner = &kept.owner,
            .maker = gradients->birth.module,
            .maker_site = gradients->birth.site,
            .is_first = is_first,
            .counts = gradient.counts,
            .element_count = gradient.element_count,
            .dtype = gradient.what,
        };
        stop_check_gradient(&session->stop, session_thread_key(), &found);
    }
}

/* The `.grad` of a leaf. New reference, or NULL. */
static PyObject *grad_of(struct gradients *gradients, PyObject *leaf)
{
    PyObject *grad = PyObject_GetAttr(leaf, gradients->name_grad);

    PyErr_Clear();
    return grad;
}

PyObject *gradient_values(struct gradients *gradients, PyObject *gradient)
{
    PyObject *is_sparse = PyObject_GetAttr(gradient, gradients->name_is_sparse);
    PyObject *values =
        is_sparse == Py_True
            ? PyObject_CallMethodObjArgs(gradient, gradients->name_values, NULL)
            : NULL;

    PyErr_Clear();
    Py_XDECREF(is_sparse);
    return values == NULL ? Py_NewRef(gradient) : values;
}

static void record_gradients(struct gradient_hook *hook, PyObject *given)
{
    struct session *session = hook->session;

    find_step(session);
    if (hook->is_leaf) {
        PyObject *grad = grad_of(session->gradients, given);

        if (grad != NULL && hook->count > 0) {
            PyObject *values = gradient_values(session->gradients, grad);

            record_one(session, hook, &hook->outputs[0], values);
            parameters_note_gradient(session, given, grad);
            Py_DECREF(values);
        }
        Py_XDECREF(grad);
        return;
    }
    for (uint32_t i = 0; i < hook->count && PyTuple_Check(given); i++) {
        uint32_t output = hook->outputs[i].output;

        if ((Py_ssize_t)output < PyTuple_Size(given)) {
            record_one(session, hook, &hook->outputs[i],
                       PyTuple_GetItem(given, (Py_ssize_t)output));
        }
    }
}

/* Disables the program's __torch_function__ while gradients are recorded; see hang_pending. */
static void record_quietly(struct gradient_hook *hook, PyObject *given)
{
    struct torch_guard guard;

    if (tensor_guard_enter(hook->session->access, &guard)) {
        record_gradients(hook, given);
        PyErr_Clear();
        tensor_guard_leave(&guard);
    }
}

/* The call by autograd, with the gradients of a function's outputs, or with the leaf. */
static PyObject *hook_call(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    struct gradient_hook *hook = (struct gradient_hook *)self;
    struct session *session = hook->session;
    struct stop *stop = &session->stop;

    (void)keywords;
    if (hook->number == session->number && !session->is_muted &&
        PyTuple_Size(arguments) == 1 && session_enter(session)) {
        if (hook->fork_count == session->fork_count && session->gradients != NULL) {
            record_quietly(hook, PyTuple_GetItem(arguments, 0));
        }
        session_leave(session);
        if (stop->is_reached && stop->thread == session_thread_key() &&
            stop_raise(stop)) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

/* ---- registration of hooks ---- */

static struct gradient_hook *
make_hook(struct session *session, uint64_t target, bool is_leaf)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(session->gradient_type, Py_tp_alloc);
    struct gradient_hook *hook =
        (struct gradient_hook *)allocate(session->gradient_type, 0);

    if (hook == NULL) {
        return NULL;
    }
    hook->session = session;
    hook->number = session->number;
    hook->fork_count = session->fork_count;
    hook->target = target;
    hook->is_leaf = is_leaf;
    hook->slot = SLOT_NONE;
    hook->outputs = &hook->first;
    hook->capacity = 1;
    return hook;
}

/* Adds an output to the function's hook. An output that the hook has keeps its event, which is
 * that of the line that made it. A leaf gets the newest event instead, and a parameter the
 * newest event with its own name. */
static bool add_output(struct gradient_hook *hook, const struct watched_output *output)
{
    for (uint32_t i = 0; i < hook->count; i++) {
        if (hook->outputs[i].output == output->output) {
            bool is_parameter =
                (hook->outputs[i].owner.flags & LOG_EVENT_PARAMETER) != 0;

            if (hook->is_leaf &&
                (!is_parameter || (output->owner.flags & LOG_EVENT_PARAMETER) != 0)) {
                hook->outputs[i] = *output;
            }
            return true;
        }
    }
    if (hook->count == hook->capacity) {
        uint32_t capacity = hook->capacity * 4;
        struct watched_output *outputs =
            memory_allocate(capacity, sizeof *hook->outputs);

        if (outputs == NULL) {
            return false;
        }
        memcpy(outputs, hook->outputs, hook->count * sizeof *outputs);
        if (hook->outputs != &hook->first) {
            memory_free(hook->outputs);
        }
        hook->outputs = outputs;
        hook->capacity = capacity;
    }
    hook->outputs[hook->count++] = *output;
    return true;
}

/* Registers a new hook on `target`, a function or a leaf, by calling `method` of it. */
static void hang(struct session *session,
                 PyObject *target,
                 PyObject *method,
                 struct gradient_hook *hook,
                 const struct watched_output *output)
{
    if (hook != NULL && add_output(hook, output)) {
        hook->handle =
            PyObject_CallMethodObjArgs(target, method, (PyObject *)hook, NULL);
        if (hook->handle != NULL) {
            (void)add_slot(session->gradients, hook);
        }
    }
    PyErr_Clear();
    Py_XDECREF((PyObject *)hook);
}

static void hang_on_leaf(struct session *session, struct pending_output *pending)
{
    struct gradients *gradients = session->gradients;
    uint64_t target = (uint64_t)(uintptr_t)pending->object;
    struct gradient_hook *hook = find_hook(gradients, &gradients->leaves, target);

    if (hook != NULL) {
        add_output(hook, &pending->output);
    } else {
        hang(session, pending->object, gradients->name_register_leaf,
             make_hook(session, target, true), &pending->output);
    }
}

static uint32_t output_of(const struct gradients *gradients, PyObject *tensor)
{
    PyObject *number = PyObject_GetAttr(tensor, gradients->name_output_nr);
    unsigned long output = number == NULL ? 0 : PyLong_AsUnsignedLong(number);

    Py_XDECREF(number);
    PyErr_Clear();
    return (uint32_t)output;
}

static void hang_one(struct session *session, struct pending_output *pending)
{
    struct gradients *gradients = session->gradients;
    PyObject *function = PyObject_GetAttr(pending->object, gradients->name_grad_fn);
    struct gradient_hook *hook;
    uint64_t address;

    if (function == NULL || function == Py_None) {
        PyErr_Clear();
        if (function != NULL) {
            hang_on_leaf(session, pending);
        }
        Py_XDECREF(function);
        return;
    }
    address = tensor_function_address(function);
    hook = gradients_find(gradients, address);
    pending->output.output = output_of(gradients, pending->object);
    if (hook != NULL) {
        add_output(hook, &pending->output);
    } else {
        hang(session, function, gradients->name_register,
             make_hook(session, address, false), &pending->output);
    }
    Py_DECREF(function);
}

/* Registers the hooks of pending values, without the program's __torch_function__: its code
 * would be recorded too, in an endless recursion. */
static void hang_pending(struct session *session)
{
    struct gradients *gradients = session->gradients;
    struct torch_guard guard;
    bool is_quiet = tensor_guard_enter(session->access, &guard);

    /* A finalizer that visits a site during this loop registers the rest. */
    while (gradients->pending_first < gradients->pending_count) {
        struct pending_output pending = gradients->pending[gradients->pending_first++];

        if (is_quiet) {
            hang_one(session, &pending);
        }
        Py_DECREF(pending.object);
    }
    gradients->pending_first = 0;
    gradients->pending_count = 0;
    if (is_quiet) {
        tensor_guard_leave(&guard);
    }
}

void gradient_hang(struct session *session)
{
    struct gradients *gradients = session->gradients;

    if (gradients == NULL) {
        return;
    }
    parameters_settle(session);
    if (gradients->pending_first < gradients->pending_count) {
        hang_pending(session);
    }
}

void gradient_follow(struct session *session,
                     const struct visit *visit,
                     PyObject *object)
{
    struct gradients *gradients = session->gradients;
    void *grown = gradients->pending;
    struct pending_output pending = {
        .object = object,
        .output = {.module = visit->module, .site = visit->index},
    };

    if (recorder_options(session->recorder)->has_gradients &&
        recorder_find_written(session->recorder, &pending.output.owner) &&
        memory_grow(&grown, &gradients->pending_capacity,
                    (size_t)gradients->pending_count + 1, sizeof pending)) {
        gradients->pending = grown;
        Py_INCREF(pending.object);
        gradients->pending[gradients->pending_count++] = pending;
    }
}

void gradient_watch(struct session *session,
                    const struct visit *visit,
                    const struct tensor *tensor)
{
    const struct recorder_options *options = recorder_options(session->recorder);
    bool is_followed = (tensor->flags & LOG_FORM_REQUIRES_GRAD) != 0;

    if (session->gradients == NULL || (tensor->flags & LOG_FORM_NUMPY) != 0 ||
        !visit->is_measured || !options->has_parameters) {
        return;
    }
    if (is_followed && options->has_gradients) {
        gradient_follow(session, visit, (PyObject *)(uintptr_t)tensor->object);
    }
    if (is_followed || !options->has_gradients) {
        parameters_want(session, visit);
    }
}

/* ---- start and end of a recording ---- */

static void release(struct gradients *gradients)
{
    parameters_free(gradients->parameters);
    memory_free(gradients->slots);
    memory_free(gradients->pending);
    number_map_release(&gradients->functions);
    number_map_release(&gradients->leaves);
    Py_XDECREF(gradients->task_function);
    Py_XDECREF(gradients->name_grad_fn);
    Py_XDECREF(gradients->name_output_nr);
    Py_XDECREF(gradients->name_register);
    Py_XDECREF(gradients->name_register_leaf);
    Py_XDECREF(gradients->name_grad);
    Py_XDECREF(gradients->name_next);
    Py_XDECREF(gradients->name_name);
    Py_XDECREF(gradients->name_variable);
    Py_XDECREF(gradients->name_is_sparse);
    Py_XDECREF(gradients->name_values);
}

void gradients_free(struct gradients *gradients)
{
    if (gradients != NULL) {
        release(gradients);
        memory_free(gradients);
    }
}

static bool make_names(struct gradients *gradients)
{
    const struct {
        PyObject **name;
        const char *text;
    } names[] = {
        {&gradients->name_grad_fn, "grad_fn"},
        {&gradients->name_output_nr, "output_nr"},
        {&gradients->name_register, "register_prehook"},
        {&gradients->name_register_leaf, "register_post_accumulate_grad_hook"},
        {&gradients->name_grad, "grad"},
        {&gradients->name_next, "next_functions"},
        {&gradients->name_name, "name"},
        {&gradients->name_variable, "variable"},
        {&gradients->name_is_sparse, "is_sparse"},
        {&gradients->name_values, "_values"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        *names[i].name = PyUnicode_InternFromString(names[i].text);
        if (*names[i].name == NULL) {
            return false;
        }
    }
    return true;
}

bool gradient_begin(struct session *session)
{
    struct gradients *gradients = session->gradients;

    if (gradients == NULL) {
        gradients = memory_allocate(1, sizeof *gradients);
        if (gradients == NULL) {
            return false;
        }
        *gradients = (struct gradients){.first_free = SLOT_NONE};
        number_map_init(&gradients->functions);
        number_map_init(&gradients->leaves);
        if (!make_names(gradients)) {
            PyErr_Clear();
            gradients_free(gradients);
            return false;
        }
        session->gradients = gradients;
    }
    gradients->task = -1;
    gradients->step = 0;
    gradients->is_bad = false;
    gradients->bad_count = 0;
    parameters_attach(session);
    return true;
}

void gradient_end(struct session *session)
{
    struct gradients *gradients = session->gradients;

    for (uint32_t i = 0; gradients != NULL && i < gradients->slot_count; i++) {
        PyObject *hook = (PyObject *)gradients->slots[i].hook;
        PyObject *handle = hook == NULL ? NULL : gradients->slots[i].hook->handle;

        if (handle != NULL) {
            Py_INCREF(hook);
            Py_XDECREF(PyObject_CallMethod(handle, "remove", NULL));
            PyErr_Clear();
            Py_DECREF(hook);
        }
    }
    while (gradients != NULL && gradients->pending_first < gradients->pending_count) {
        Py_DECREF(gradients->pending[gradients->pending_first++].object);
    }
    if (gradients != NULL) {
        gradients->pending_first = 0;
        gradients->pending_count = 0;
        parameters_end(gradients->parameters);
    }
}

int gradient_exec(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, hook_dealloc},
        {Py_tp_call, hook_call},
        {Py_tp_doc, "Records gradients of a function's outputs, or of a leaf."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.GradientHook",
        .basicsize = sizeof(struct gradient_hook),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };
    struct session *session = PyModule_GetState(module);

    session->gradient_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return session->gradient_type == NULL ? -1 : 0;
}
