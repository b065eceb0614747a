/* From the visit of a site to the variables of the method that it stands in. */
#include "runtime/python/follow_frame.h"
#include "runtime/python/tracing.h"
#include "runtime/python/watcher.h"

/* `self`, which nearly every line reads, and which is no value. */
static bool is_passed_over(const struct traced_call *call,
                           const struct traced_variable *variable,
                           const PyObject *value)
{
    return value == call->method->module && !variable->is_named;
}

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

static bool tell_variable(const struct traced_call *call,
                          const struct traced_variable *variable,
                          PyObject *value)
{
    if (variable->path != NULL && !is_passed_over(call, variable, value) &&
        !tracing_tell(call->method->tracing, variable->path, value, &call->moment,
                      variable->is_named)) {
        return false;
    }
    return !variable->has_more || walk_variable(call, variable, value);
}

/* What the variable holds by now. */
static bool tell_current(const struct traced_call *call,
                         const struct traced_variable *variable)
{
    PyObject *value = variable->slot < 0 ? NULL
                                         : frame_find(call->frame, true, variable->name,
                                                      variable->slot);
    bool is_good = value == NULL || tell_variable(call, variable, value);

    Py_XDECREF(value);
    return is_good;
}

/* What was changed under another name is seen at the end at the latest. */
static bool tell_all(const struct traced_call *call)
{
    struct traced_method *method = call->method;

    for (size_t i = 0; i < method->variable_count; i++) {
        if (!tell_current(call, method->variables[i])) {
            return false;
        }
    }
    return true;
}

static bool tell_site(const struct traced_call *call,
                      const struct traced_plan *plan,
                      const struct traced_site *site,
                      PyObject *const *values,
                      Py_ssize_t count)
{
    const struct traced_step *step = &plan->steps[site->first_step];

    for (const struct traced_step *end = step + site->step_count; step < end; step++) {
        PyObject *value =
            step->value >= 0 && step->value < count ? values[step->value] : NULL;

        if (!(value != NULL ? tell_variable(call, step->variable, value)
                            : tell_current(call, step->variable))) {
            return false;
        }
    }
    return !site->is_return || tell_all(call);
}

/* Whether the running frame is the method's own. A call is known by its frame from the function's
 * first site on; `self` tells it from one of another module of the same class. */
static bool is_own_frame(struct traced_call *call,
                         bool is_enter,
                         PyObject *const *values,
                         Py_ssize_t count)
{
    struct traced_method *method = call->method;
    PyObject *frame = (PyObject *)PyEval_GetFrame();

    if (call->frame != NULL && !is_enter) {
        return frame == call->frame;
    }
    if (frame == NULL || frame_code(frame) != method->code) {
        return false;
    }
    if (is_enter && count > 0 && values[0] != NULL && values[0] != method->module &&
        type_cache_get(&method->tracing->session->types, Py_TYPE(values[0]))
            ->is_module) {
        return false;
    }
    call->frame = frame;
    return true;
}

static bool visit_call(struct traced_call *call,
                       const struct watched_module *module,
                       uint32_t index,
                       PyObject *const *values,
                       Py_ssize_t count)
{
    const struct site *site = &module->table.sites[index];
    const struct traced_plan *plan;

    if (!is_own_frame(call, site->kind == SITE_ENTER, values, count)) {
        return true;
    }
    plan = traced_plan_find(call->method, module, site->function);
    if (plan == NULL) {
        return false;
    }
    if (index < plan->first_site || index - plan->first_site >= plan->site_count) {
        return true;
    }
    return tell_site(call, plan, &plan->sites[index - plan->first_site], values, count);
}

bool tracing_visit(struct tracing *tracing,
                   const struct watched_module *module,
                   uint32_t site,
                   PyObject *const *values,
                   Py_ssize_t count)
{
    struct traced_call *call = tracing_this_thread()->top;
    const struct traced_method *first = NULL;

    /* A module that has two paths has two calls, one around the other. */
    for (; call != NULL; call = call->below) {
        struct traced_method *method = call->method;

        if (method->tracing != tracing) {
            continue;
        }
        if (first != NULL &&
            (method->module != first->module || method->code != first->code)) {
            break;
        }
        first = method;
        if (method->code == Py_None || !call->moment.is_active) {
            break;
        }
        if (!visit_call(call, module, site, values, count)) {
            return false;
        }
    }
    return true;
}
