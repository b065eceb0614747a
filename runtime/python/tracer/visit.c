/* From the visit of a site to the variables of the method that it stands in. */
#include "runtime/python/tracer/tracing.h"

#include "runtime/base/hot.h"
#include "runtime/base/memory.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/watch/watch.h"

/* Not inlined: most paths end at a variable. */
static __attribute__((noinline)) bool
walk_variable(const struct traced_call *call,
              const struct traced_variable *variable,
              PyObject *value)
{
    struct buffer text = BUFFER_INIT;
    const char *bytes, *name;
    Py_ssize_t size, name_size;
    bool is_good;

    bytes = PyUnicode_AsUTF8AndSize(call->method->path, &size);
    name = PyUnicode_AsUTF8AndSize(variable->name, &name_size);
    if (bytes == NULL || name == NULL) {
        return false;
    }
    buffer_add_bytes(&text, bytes, (size_t)size);
    path_add_segment(&text, (struct slice){name, (size_t)name_size});
    is_good = tracing_walk(call->method->tracing, value, variable->state, &text,
                           &call->moment);
    buffer_release(&text);
    return is_good;
}

/* `self`, which nearly every line reads, is no value. */
HOT static bool record_value(const struct traced_call *call,
                             struct traced_path *path,
                             bool is_named,
                             PyObject *value)
{
    return (value == call->method->module && !is_named) ||
           tracing_keep_local(call->method->tracing, path, value, &call->moment,
                              is_named);
}

/* Where not its value alone is wanted. Not inlined: of most it is. */
static __attribute__((noinline)) bool
record_variable(const struct traced_call *call,
                const struct traced_variable *variable,
                PyObject *value)
{
    if (variable->path != NULL &&
        !record_value(call, variable->path, variable->is_named, value)) {
        return false;
    }
    return !variable->has_more || walk_variable(call, variable, value);
}

/* What the variable holds by now: a new reference; NULL: nothing. */
static PyObject *find_current(const struct traced_call *call,
                              const struct traced_variable *variable)
{
    return variable->slot < 0
               ? NULL
               : frame_find(call->frame, true, variable->name, variable->slot);
}

/* What is deleted is not held any longer. */
static void let_go_of_unbound(const struct traced_call *call)
{
    struct traced_method *method = call->method;

    for (const struct traced_variable *variable = method->variables; variable != NULL;
         variable = variable->next) {
        PyObject *value = find_current(call, variable);

        if (value == NULL && variable->path != NULL) {
            tracing_let_go(call->method->tracing, variable->path, call->moment.thread,
                           false);
        }
        Py_XDECREF(value);
    }
}

/* Whether the path was that tensor last, unwritten since: so is most of what a line reads. */
HOT static bool is_as_it_was(const struct traced_call *call,
                             const struct traced_path *path,
                             PyObject *value)
{
    const struct traced_state *state = &path->first;

    return state->held == value && state->thread == call->moment.thread &&
           state->iteration == call->moment.iteration && !state->has_hash &&
           state->version ==
               tensor_version(call->method->tracing->session->access, value);
}

/* `value` is borrowed; NULL: what the variable holds by now. */
HOT static bool report_step(const struct traced_call *call,
                            const struct traced_step *step,
                            PyObject *const *variables,
                            PyObject *value)
{
    bool is_good;

    if (value != NULL) {
        Py_INCREF(value);
    } else if (variables != NULL && step->slot >= 0 && step->slot % 2 == 0) {
        value = variables[step->slot / 2];
        if (value == NULL ||
            (step->path != NULL && is_as_it_was(call, step->path, value))) {
            return true;
        }
        Py_INCREF(value);
    } else {
        value = find_current(call, step->variable);
        if (value == NULL) {
            return true;
        }
    }
    is_good = step->path != NULL ? record_value(call, step->path, step->is_named, value)
                                 : record_variable(call, step->variable, value);
    Py_DECREF(value);
    return is_good;
}

HOT static bool keep_site(const struct traced_call *call,
                          const struct traced_plan *plan,
                          const struct traced_site *site,
                          PyObject *const *values,
                          Py_ssize_t count)
{
    const struct traced_step *step = &plan->steps[site->first_step];
    const struct traced_step *end = step + site->step_count;
    PyObject *const *variables = frame_peek(call->frame);

    for (; step < end; step++) {
        bool has_value = step->value >= 0 && step->value < count;

        if (!report_step(call, step, variables,
                         has_value ? values[step->value] : NULL)) {
            return false;
        }
    }
    if (site->may_unbind) {
        let_go_of_unbound(call);
    }
    return true;
}

/* `self` tells a call from one of another module of the same class. */
static bool
is_others(const struct traced_method *method, PyObject *const *values, Py_ssize_t count)
{
    return count > 0 && values[0] != NULL && values[0] != method->module &&
           type_cache_get(&method->tracing->session->types, Py_TYPE(values[0]))
               ->is_module;
}

/* The paths, touched once in a call, long after the last one, are asked for all at once. */
static void prefetch_paths(const struct traced_method *method)
{
    for (const struct traced_variable *variable = method->variables; variable != NULL;
         variable = variable->next) {
        if (variable->path != NULL) {
            __builtin_prefetch(variable->path);
            __builtin_prefetch((const char *)variable->path + MEMORY_LINE_SIZE);
        }
    }
}

/* A call is known by its frame from the function's first site on: sets the frame and its plan where
 * the frame that runs is the method's own. False with an exception set. Not inlined: it is once a
 * call. */
HOT static __attribute__((noinline)) bool
enter_frame(struct traced_call *call,
            const struct watched_module *module,
            uint32_t index,
            PyObject *frame,
            PyObject *const *values,
            Py_ssize_t count)
{
    struct traced_method *method = call->method;
    const struct site *site = &module->table.sites[index];
    bool is_enter = site->kind == SITE_ENTER;

    if (call->frame != NULL && !is_enter) {
        return true;
    }
    if (frame == call->frame) { /* that one has ended, and this has its place */
        call->frame = NULL;
        call->plan = NULL;
    }
    if (frame == NULL || frame_code(frame) != method->code ||
        (is_enter && is_others(method, values, count))) {
        return true;
    }
    call->frame = frame;
    call->plan = traced_plan_find(method, module, site->function, frame);
    if (call->plan == NULL) {
        return false;
    }
    prefetch_paths(method);
    return true;
}

/* The site as the call's plan has it, where its frame runs. When that has ended, one of another file may
 * lie in its place. */
static const struct traced_site *find_site(const struct traced_call *call,
                                           const struct watched_module *module,
                                           uint32_t index,
                                           const PyObject *frame)
{
    const struct traced_plan *plan = call->plan;

    return frame == call->frame && plan != NULL && plan->module == module->number &&
                   index >= plan->first_site &&
                   index - plan->first_site < plan->site_count
               ? &plan->sites[index - plan->first_site]
               : NULL;
}

HOT static bool visit_call(struct traced_call *call,
                           const struct watched_module *module,
                           uint32_t index,
                           PyObject *const *values,
                           Py_ssize_t count)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    const struct traced_site *site = find_site(call, module, index, frame);

    if (site == NULL || site->is_enter) {
        if (!enter_frame(call, module, index, frame, values, count)) {
            return false;
        }
        site = find_site(call, module, index, frame);
    }
    return site == NULL || keep_site(call, call->plan, site, values, count);
}

HOT bool tracing_visit(struct tracing *tracing,
                       struct traced_call *call,
                       const struct watched_module *module,
                       uint32_t site,
                       PyObject *const *values,
                       Py_ssize_t count)
{
    while (call != NULL && call->tracing != tracing) {
        call = call->below;
    }
    /* A module that has two paths has two calls, one around the other. */
    while (call != NULL && call->is_watched) {
        if (!visit_call(call, module, site, values, count)) {
            return false;
        }
        call = call->has_twin ? call->outer : NULL;
    }
    return true;
}
