/* Parameters of a recording with gradients: their values and gradients as the forward reads
 * them, and as optimizers and torch's functions for gradients write them.
 * docs/internals/gradients.md says when each is recorded.
 *
 * A parameter is stored as a weak reference and compared by its version counter: a parameter
 * whose counter is unchanged is not measured again. torch's hooks for all optimizers report
 * steps, and the detours of python/record/fresh.h report writes to gradients. */
#include "runtime/python/gradient/private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/python/record/fresh.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/values.h"

#include <assert.h>
#include <string.h>

/* The maximal depth of a tree of modules, since a module may contain itself. */
#define DEPTH_MAX 32

/* ---- the list of parameters ---- */

static void release_items(struct parameters *parameters)
{
    for (uint32_t i = 0; i < parameters->count; i++) {
        Py_DECREF(parameters->items[i].reference);
        memory_free(parameters->items[i].name);
    }
    for (uint32_t i = 0; i < parameters->candidate_count; i++) {
        Py_DECREF(parameters->candidates[i].reference);
    }
    memory_free(parameters->items);
    memory_free(parameters->candidates);
    number_map_release(&parameters->numbers);
    number_map_release(&parameters->candidate_numbers);
    number_map_release(&parameters->uses);
}

void parameters_clear(struct parameters *parameters)
{
    PyObject *handles[2] = {parameters->handles[0], parameters->handles[1]};

    release_items(parameters);
    settings_clear(parameters);
    memset(parameters, 0, sizeof *parameters);
    number_map_init(&parameters->numbers);
    number_map_init(&parameters->candidate_numbers);
    number_map_init(&parameters->uses);
    parameters->handles[0] = handles[0];
    parameters->handles[1] = handles[1];
}

void parameters_free(struct parameters *parameters)
{
    if (parameters != NULL) {
        parameters_clear(parameters);
        memory_free(parameters);
    }
}

/* The parameters of this recording and process. NULL if the recording wants none. */
struct parameters *parameters_of(struct session *session)
{
    struct gradients *gradients = session->gradients;
    struct parameters *parameters;

    if (gradients == NULL || session->recorder == NULL ||
        !recorder_options(session->recorder)->has_parameters) {
        return NULL;
    }
    if (gradients->parameters == NULL) {
        gradients->parameters = memory_allocate(1, sizeof *parameters);
        if (gradients->parameters != NULL) {
            memset(gradients->parameters, 0, sizeof *parameters);
        }
    }
    parameters = gradients->parameters;
    if (parameters != NULL && (parameters->number != session->number ||
                               parameters->fork_count != session->fork_count)) {
        parameters_clear(parameters);
        parameters->number = session->number;
        parameters->fork_count = session->fork_count;
    }
    return parameters;
}

static bool has_gradients(const struct session *session)
{
    return recorder_options(session->recorder)->has_gradients;
}

/* The object of the weak reference; borrowed. NULL if it no longer exists. */
PyObject *parameter_alive(PyObject *reference)
{
    PyObject *object = PyWeakref_GetObject(reference);

    return object == Py_None ? NULL : object;
}

struct parameter *parameters_find(const struct parameters *parameters,
                                  const PyObject *object)
{
    uint32_t number = number_map_get(&parameters->numbers, (uint64_t)(uintptr_t)object);
    struct parameter *parameter =
        number == NUMBER_MAP_NONE ? NULL : &parameters->items[number];

    return parameter != NULL && parameter_alive(parameter->reference) == object
               ? parameter
               : NULL;
}

/* A copy of the name. If another parameter has or had the name, a number is appended:
 * `weight@2`. */
static char *make_name(struct parameters *parameters, struct slice name)
{
    uint64_t key = hash_64(name);
    uint32_t uses = number_map_get(&parameters->uses, key);
    struct buffer text = BUFFER_INIT;
    char *copy = NULL;

    uses = uses == NUMBER_MAP_NONE ? 1 : uses + 1;
    buffer_add(&text, name);
    if (uses > 1) {
        buffer_add_format(&text, "@%lu", (unsigned long)uses);
    }
    if (!text.has_failed && number_map_put(&parameters->uses, key, uses)) {
        copy = memory_allocate(text.size + 1, 1);
    }
    if (copy != NULL) {
        memcpy(copy, text.bytes == NULL ? "" : text.bytes, text.size);
        copy[text.size] = '\0';
    }
    buffer_release(&text);
    return copy;
}

struct parameter *parameters_add(struct parameters *parameters,
                                 PyObject *object,
                                 struct slice name,
                                 bool is_named)
{
    void *items = parameters->items;
    PyObject *reference = PyWeakref_NewRef(object, NULL);
    char *copy = make_name(parameters, name);

    PyErr_Clear();
    if (reference == NULL || copy == NULL || parameters->count == SLOT_NONE - 1 ||
        !memory_grow(&items, &parameters->capacity, (size_t)parameters->count + 1,
                     sizeof *parameters->items)) {
        Py_XDECREF(reference);
        memory_free(copy);
        return NULL;
    }
    parameters->items = items;
    parameters->items[parameters->count] =
        (struct parameter){.reference = reference, .name = copy, .is_named = is_named};
    if (!number_map_put(&parameters->numbers, (uint64_t)(uintptr_t)object,
                        parameters->count)) {
        Py_DECREF(reference);
        memory_free(copy);
        return NULL;
    }
    return &parameters->items[parameters->count++];
}

/* ---- recording one parameter ---- */

/* Whether the tensor is not the one in the state, or has been written to since. */
static bool
has_changed(struct session *session, const struct name_state *state, PyObject *tensor)
{
    return state->object != (uint64_t)(uintptr_t)tensor ||
           state->version != tensor_version(session->access, tensor);
}

bool parameters_know_finite(struct session *session, PyObject *object)
{
    struct parameters *parameters = parameters_of(session);
    const struct parameter *parameter =
        parameters == NULL ? NULL : parameters_find(parameters, object);

    return parameter != NULL && !parameter->was_bad && parameter->value.has_hash &&
           !has_changed(session, &parameter->value, object);
}

static bool is_bad(const struct log_nonfinite *counts)
{
    return counts->nan_count + counts->posinf_count + counts->neginf_count > 0;
}

bool parameter_record_value(struct session *session,
                            const struct visit *visit,
                            struct parameter *parameter,
                            PyObject *object,
                            bool is_read)
{
    struct log_nonfinite counts;
    bool was_bad = parameter->was_bad;

    if (!has_changed(session, &parameter->value, object) ||
        !value_record_parameter(session, visit, slice_of(parameter->name), is_read,
                                &parameter->value, object, &counts)) {
        return false;
    }
    parameter->was_bad = is_bad(&counts);
    gradient_follow(session, visit, object);
    return parameter->was_bad && !was_bad;
}

/* The `.grad`, or NULL if there is none. New reference. */
static PyObject *gradient_of(struct gradients *gradients, PyObject *object)
{
    PyObject *gradient = PyObject_GetAttr(object, gradients->name_grad);

    PyErr_Clear();
    if (gradient == Py_None) {
        Py_DECREF(gradient);
        return NULL;
    }
    return gradient;
}

void parameter_record_gradient(struct session *session,
                               const struct visit *visit,
                               uint32_t number,
                               PyObject *object,
                               bool is_read,
                               bool is_written)
{
    struct gradients *gradients = session->gradients;
    struct parameter *parameter = &gradients->parameters->items[number];
    PyObject *gradient = gradient_of(gradients, object);
    struct buffer name = BUFFER_INIT;
    struct log_nonfinite counts;

    if (gradient != NULL && has_gradients(session) &&
        (is_written || has_changed(session, &parameter->gradient, gradient))) {
        PyObject *values = gradient_values(gradients, gradient);

        buffer_add(&name, slice_of(parameter->name));
        buffer_add(&name, SLICE(".grad"));
        value_record_parameter(session, visit, buffer_slice(&name), is_read,
                               &parameter->gradient, values, &counts);
        parameter->gradient.object = (uint64_t)(uintptr_t)gradient;
        parameter->gradient.version = tensor_version(session->access, gradient);
        Py_DECREF(values);
    }
    buffer_release(&name);
    Py_XDECREF(gradient);
}

void parameters_note_gradient(struct session *session,
                              PyObject *leaf,
                              PyObject *gradient)
{
    struct parameters *parameters = session->gradients->parameters;
    struct parameter *parameter =
        parameters == NULL ? NULL : parameters_find(parameters, leaf);

    if (parameter != NULL) {
        parameter->gradient = (struct name_state){
            .object = (uint64_t)(uintptr_t)gradient,
            .version = tensor_version(session->access, gradient),
            .kind = VALUE_TENSOR,
        };
    }
}

/* ---- modules, which name parameters ---- */

void parameters_add_module(struct session *session, PyObject *module)
{
    struct parameters *parameters = parameters_of(session);
    uint64_t key = (uint64_t)(uintptr_t)module;
    struct candidate *known;
    uint32_t number;
    void *candidates;

    if (parameters == NULL) {
        return;
    }
    number = number_map_get(&parameters->candidate_numbers, key);
    known = number == NUMBER_MAP_NONE ? NULL : &parameters->candidates[number];
    if (known != NULL && parameter_alive(known->reference) == module) {
        parameters->is_due |= !known->is_inner && !has_gradients(session);
        return;
    }
    candidates = parameters->candidates;
    if (!memory_grow(&candidates, &parameters->candidate_capacity,
                     (size_t)parameters->candidate_count + 1,
                     sizeof *parameters->candidates)) {
        return;
    }
    parameters->candidates = candidates;
    PyObject *reference = PyWeakref_NewRef(module, NULL);
    if (reference == NULL || !number_map_put(&parameters->candidate_numbers, key,
                                             parameters->candidate_count)) {
        PyErr_Clear();
        Py_XDECREF(reference);
        return;
    }
    parameters->candidates[parameters->candidate_count++] =
        (struct candidate){.reference = reference, .object = key};
    parameters->has_new = true;
}

/* The dict that a module stores under that name. Borrowed from `dict`; NULL if there is none. */
static PyObject *find_home(PyObject *dict, const char *name)
{
    PyObject *home =
        dict != NULL && PyDict_Check(dict) ? PyDict_GetItemString(dict, name) : NULL;

    return home != NULL && PyDict_Check(home) ? home : NULL;
}

/* A walk over a tree of modules. It calls `on_module` with each module, while `path` is the
 * module's path. */
struct tree_walk {
    struct session *session;
    void (*on_module)(struct tree_walk *walk, PyObject *module, PyObject *dict);
    const struct visit *visit;
    struct buffer path; /* owned */
};

size_t name_add_part(struct buffer *path, PyObject *name)
{
    size_t before = path->size;
    Py_ssize_t size = 0;
    const char *text =
        PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8AndSize(name, &size) : NULL;

    PyErr_Clear();
    buffer_add(path, before > 0 ? SLICE(".") : SLICE(""));
    buffer_add_bytes(path, text == NULL ? "?" : text, text == NULL ? 1 : (size_t)size);
    return before;
}

static void walk_tree(struct tree_walk *walk, PyObject *module, int depth)
{
    PyObject *dict = PyObject_GenericGetDict(module, NULL);
    PyObject *home = Py_XNewRef(find_home(dict, "_modules"));
    PyObject *name, *item;
    Py_ssize_t position = 0;

    PyErr_Clear();
    walk->on_module(walk, module, dict);
    while (home != NULL && depth < DEPTH_MAX &&
           PyDict_Next(home, &position, &name, &item)) {
        size_t size;

        if (!type_cache_get(&walk->session->types, Py_TYPE(item))->is_module) {
            continue;
        }
        Py_INCREF(item);
        size = name_add_part(&walk->path, name);
        walk_tree(walk, item, depth + 1);
        walk->path.size = size;
        Py_DECREF(item);
    }
    Py_XDECREF(home);
    Py_XDECREF(dict);
}

static void mark_inner(struct tree_walk *walk, PyObject *module, PyObject *dict)
{
    struct parameters *parameters = walk->session->gradients->parameters;
    uint32_t number =
        number_map_get(&parameters->candidate_numbers, (uint64_t)(uintptr_t)module);

    (void)dict;
    if (number != NUMBER_MAP_NONE && walk->path.size > 0 &&
        parameter_alive(parameters->candidates[number].reference) == module) {
        parameters->candidates[number].is_inner = true;
    }
}

/* Whether the tensor is recorded as a parameter. Parameters without a gradient are recorded only
 * if gradients are not, since a
 * check for parameters without a gradient would report them. */
static bool is_recorded(struct session *session, PyObject *object)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct tensor tensor;
    bool is_so;

    if (info->kind != TYPE_TENSOR ||
        tensor_describe(session->access, object, info->tensor, &tensor) != 0) {
        return false;
    }
    is_so = (tensor.flags & LOG_FORM_REQUIRES_GRAD) != 0 || !has_gradients(session);
    tensor_release(&tensor);
    return is_so;
}

/* Adds the module's own parameters, and records the new ones. */
static void add_own(struct tree_walk *walk, PyObject *module, PyObject *dict)
{
    struct session *session = walk->session;
    struct parameters *parameters = session->gradients->parameters;
    PyObject *home = Py_XNewRef(find_home(dict, "_parameters"));
    PyObject *name, *item;
    Py_ssize_t position = 0;

    (void)module;
    while (home != NULL && PyDict_Next(home, &position, &name, &item)) {
        struct parameter *parameter = parameters_find(parameters, item);
        size_t size;

        if ((parameter != NULL && parameter->is_named) || !is_recorded(session, item)) {
            continue;
        }
        Py_INCREF(item);
        size = name_add_part(&walk->path, name);
        if (parameter == NULL) {
            parameter =
                parameters_add(parameters, item, buffer_slice(&walk->path), true);
        }
        if (parameter != NULL) {
            parameter_record_value(session, walk->visit, parameter, item, true);
        }
        walk->path.size = size;
        Py_DECREF(item);
    }
    Py_XDECREF(home);
}

static void walk_candidates(struct session *session,
                            const struct visit *visit,
                            void (*on_module)(struct tree_walk *walk,
                                              PyObject *module,
                                              PyObject *dict))
{
    struct parameters *parameters = session->gradients->parameters;

    for (uint32_t i = 0; i < parameters->candidate_count; i++) {
        struct tree_walk walk = {session, on_module, visit, BUFFER_INIT};
        PyObject *module = parameter_alive(parameters->candidates[i].reference);

        if (module != NULL && !parameters->candidates[i].is_inner) {
            Py_INCREF(module);
            walk_tree(&walk, module, 0);
            Py_DECREF(module);
        }
        buffer_release(&walk.path);
    }
}

void parameters_add_all(struct session *session, const struct visit *visit)
{
    session->gradients->parameters->has_new = false;
    walk_candidates(session, visit, mark_inner);
    walk_candidates(session, visit, add_own);
}

void parameters_want(struct session *session, const struct visit *visit)
{
    struct parameters *parameters = session->gradients->parameters;

    if (parameters != NULL && (parameters->has_new || parameters->is_due) &&
        parameters->number == session->number) {
        parameters->is_wanted = true;
        parameters->visit = *visit;
    }
}

/* Records the parameters that were written to since their last record by code that no hook
 * observes. Called before each forward of a recording without gradients. */
static void record_due(struct session *session, const struct visit *visit)
{
    struct parameters *parameters = session->gradients->parameters;

    parameters->is_due = false;
    for (uint32_t i = 0; i < parameters->count; i++) {
        PyObject *object = Py_XNewRef(parameter_alive(parameters->items[i].reference));

        if (object != NULL) {
            (void)parameter_record_value(session, visit, &parameters->items[i], object,
                                         true);
            Py_DECREF(object);
        }
    }
}

void parameters_settle(struct session *session)
{
    struct parameters *parameters = session->gradients->parameters;

    if (parameters == NULL) {
        return;
    }
    if (parameters->is_wanted) {
        struct visit visit = parameters->visit;
        bool is_due = parameters->is_due;

        parameters->is_wanted = false;
        if (parameters->number == session->number &&
            parameters_of(session) == parameters && visit.call->number != 0) {
            if (parameters->has_new) {
                parameters_add_all(session, &visit);
            }
            if (is_due) {
                record_due(session, &visit);
            }
        }
    }
    settings_settle(session);
}
