/* Visits of sites in traced methods: finds the variables that a site may have changed, and
 * records them. */
#include "runtime/python/tracer/tracing.h"

#include "runtime/base/memory.h"
#include "runtime/python/visit/variables.h"

#include <assert.h>

/* ---- variables of traced methods: names that paths may match ---- */

struct method_memory *method_memory_use(struct tracing *tracing)
{
    struct method_memory *memory = tracing->method_memory;

    if (memory == NULL) {
        memory = memory_allocate_zeroed(1, sizeof(*memory));
        if (memory == NULL) {
            return (struct method_memory *)PyErr_NoMemory();
        }
        arena_init(&memory->arena);
        memory->user_count = 1; /* the Tracing's use, as long as it may make methods */
        tracing->method_memory = memory;
    }
    memory->user_count++;
    return memory;
}

void method_memory_leave(struct method_memory *memory)
{
    if (memory != NULL && --memory->user_count == 0) {
        arena_release(&memory->arena);
        memory_free(memory);
    }
}

static bool is_variable(const struct traced_variable *variable, struct slice name)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(variable->name, &size);

    return text != NULL && slice_equal((struct slice){text, (size_t)size}, name);
}

/* The path that ends at the variable of that name. NULL with an exception set. */
static struct traced_path *find_end(struct traced_method *method, struct slice name)
{
    struct buffer text = BUFFER_INIT;
    struct traced_path *path = NULL;
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(method->path, &size);

    if (bytes != NULL) {
        buffer_add_bytes(&text, bytes, (size_t)size);
        path_add_segment(&text, name);
        path = text.has_failed
                   ? (struct traced_path *)PyErr_NoMemory()
                   : tracing_find_path(method->tracing, buffer_slice(&text));
    }
    buffer_release(&text);
    return path;
}

static bool has_more(const struct path_set *paths, uint32_t state)
{
    const struct path_segment *segment;
    uint32_t at = 0;

    while ((segment = path_set_next(paths, state, &at)) != NULL) {
        if (!segment->is_end) {
            return true;
        }
    }
    return false;
}

static bool init_variable(struct traced_variable *variable,
                          struct traced_method *method,
                          struct slice name)
{
    struct path_set *paths = &method->tracing->paths;

    if (path_set_is_end(paths, variable->state, &variable->is_named)) {
        variable->path = find_end(method, name);
        if (variable->path == NULL) {
            return false;
        }
    }
    variable->has_more = has_more(paths, variable->state);
    variable->name = PyUnicode_DecodeUTF8(name.bytes, (Py_ssize_t)name.size, NULL);
    if (variable->name == NULL) {
        return false;
    }
    variable->slot = frame_find_slot(method->code, variable->name);
    return true;
}

/* Adds a variable to the method. NULL with an exception set. */
static struct traced_variable *
add_variable(struct traced_method *method, struct slice name, uint32_t state)
{
    struct traced_variable *variable =
        tracing_allocate(&method->memory->arena, 1, sizeof(*variable));

    if (variable == NULL) {
        return NULL;
    }
    variable->state = state;
    if (!init_variable(variable, method, name)) {
        Py_XDECREF(variable->name);
        return NULL;
    }
    if (method->last_variable == NULL) {
        method->variables = variable;
    } else {
        method->last_variable->next = variable;
    }
    method->last_variable = variable;
    method->variable_count++;
    return variable;
}

/* Finds the method's variable of that name, and adds it if it is new. `variable` is NULL if no
 * path wants it. Returns false with an exception set. */
static bool traced_variable_find(struct traced_method *method,
                                 struct slice name,
                                 struct traced_variable **variable)
{
    struct error error = ERROR_INIT;
    uint32_t state;

    *variable = method->variables;
    while (*variable != NULL && !is_variable(*variable, name)) {
        *variable = (*variable)->next;
    }
    if (*variable != NULL) {
        return true;
    }
    if (!path_set_step(&method->tracing->paths, method->state, name, &state, &error)) {
        PyErr_NoMemory();
        return false;
    }
    if (state == PATH_STATE_DEAD || name.size == 0) {
        return true;
    }
    *variable = add_variable(method, name, state);
    return *variable != NULL;
}

/* The first part of a name: `self` of `self.scale`. */
static struct slice root_of(struct slice name)
{
    return slice_part(name, 0, slice_find(name, SLICE("."), 0));
}

static bool has_step(const struct traced_plan *plan,
                     const struct traced_site *site,
                     const struct traced_variable *variable)
{
    for (uint32_t i = 0; i < site->step_count; i++) {
        if (plan->steps[site->first_step + i].variable == variable) {
            return true;
        }
    }
    return false;
}

static void add_step(struct traced_plan *plan,
                     struct traced_site *site,
                     struct traced_variable *variable,
                     int32_t value)
{
    if (variable != NULL) {
        plan->steps[site->first_step + site->step_count++] = (struct traced_step){
            .variable = variable,
            .path = variable->has_more ? NULL : variable->path,
            .is_named = variable->is_named,
            .slot = variable->slot,
            .value = value,
        };
    }
}

static bool is_whole(const struct site_write *write)
{
    return write->source == SITE_SOURCE_VALUE &&
           slice_find(write->name, SLICE("."), 0) == write->name.size;
}

static bool plan_writes(struct traced_plan *plan,
                        struct traced_site *planned,
                        struct traced_method *method,
                        const struct site *site)
{
    struct traced_variable *variable;
    int32_t value = 0;

    for (uint32_t i = 0; i < site->write_count; i++) {
        const struct site_write *write = &site->writes[i];

        if (!traced_variable_find(method, root_of(write->name), &variable)) {
            return false;
        }
        add_step(plan, planned, variable, is_whole(write) ? value : -1);
        value += write->source != SITE_SOURCE_NONE;
    }
    return true;
}

/* Whether the variable is `self` and no path matches anything in it. Nearly every line reads
 * `self`, so it is left out. */
static bool is_owner(const struct traced_variable *variable,
                     const struct traced_method *method,
                     PyObject *frame)
{
    PyObject *value;

    if (variable == NULL || variable->slot != 0 || variable->is_named ||
        variable->has_more) {
        return false;
    }
    value = frame_find(frame, true, variable->name, variable->slot);
    Py_XDECREF(value);
    return value == method->module;
}

static bool plan_reads(struct traced_plan *plan,
                       struct traced_site *planned,
                       struct traced_method *method,
                       const struct site *site,
                       PyObject *frame)
{
    struct traced_variable *variable;

    for (uint32_t i = 0; i < site->read_count; i++) {
        if (site->reads[i].scope != SITE_SCOPE_LOCAL) {
            continue;
        }
        if (!traced_variable_find(method, root_of(site->reads[i].name), &variable)) {
            return false;
        }
        if (!has_step(plan, planned, variable) && !is_owner(variable, method, frame)) {
            add_step(plan, planned, variable, -1);
        }
    }
    return true;
}

/* Adds all other variables to a return's site, so that changes made under another name are found
 * at the end of the call. */
static void plan_rest(struct traced_plan *plan,
                      struct traced_site *planned,
                      const struct traced_method *method)
{
    for (struct traced_variable *variable = method->variables; variable != NULL;
         variable = variable->next) {
        if (!has_step(plan, planned, variable)) {
            add_step(plan, planned, variable, -1);
        }
    }
}

/* Plans a site. A return's value is no variable, so it is skipped. */
static bool plan_site(struct traced_plan *plan,
                      struct traced_site *planned,
                      struct traced_method *method,
                      const struct site *site,
                      PyObject *frame)
{
    planned->is_enter = site->kind == SITE_ENTER;
    planned->may_unbind = site->kind == SITE_LINE;
    if (site->kind != SITE_RETURN) {
        return plan_writes(plan, planned, method, site) &&
               plan_reads(plan, planned, method, site, frame);
    }
    if (!plan_reads(plan, planned, method, site, frame)) {
        return false;
    }
    plan_rest(plan, planned, method);
    return true;
}

/* Finds the variables that a site may change. A return reads all variables. */
static bool find_variables(struct traced_method *method, const struct site *site)
{
    struct traced_variable *variable;

    for (uint32_t i = 0; i < site->write_count && site->kind != SITE_RETURN; i++) {
        if (!traced_variable_find(method, root_of(site->writes[i].name), &variable)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        if (site->reads[i].scope == SITE_SCOPE_LOCAL &&
            !traced_variable_find(method, root_of(site->reads[i].name), &variable)) {
            return false;
        }
    }
    return true;
}

/* The function's first site, and the number of sites up to its last one. Sites of other
 * functions between them are included. */
static uint32_t
count_sites(const struct site_table *table, uint32_t function, uint32_t *first)
{
    uint32_t last = 0;

    *first = table->site_count;
    for (uint32_t i = 0; i < table->site_count; i++) {
        if (table->sites[i].function == function) {
            *first = i < *first ? i : *first;
            last = i;
        }
    }
    return *first < table->site_count ? last - *first + 1 : 0;
}

/* The largest possible number of steps. Returns false with an exception set. */
static bool count_steps(const struct traced_plan *plan,
                        struct traced_method *method,
                        const struct site_table *table,
                        size_t *count)
{
    size_t return_count = 0;

    *count = 0;
    for (uint32_t i = 0; i < plan->site_count; i++) {
        const struct site *site = &table->sites[plan->first_site + i];

        if (site->function == plan->function) {
            if (!find_variables(method, site)) {
                return false;
            }
            *count += (size_t)site->write_count + site->read_count;
            return_count += site->kind == SITE_RETURN;
        }
    }
    *count += return_count * method->variable_count;
    return true;
}

static bool fill_plan(struct traced_plan *plan,
                      struct traced_method *method,
                      const struct site_table *table,
                      PyObject *frame)
{
    size_t room;
    uint32_t next = 0;

    plan->site_count = count_sites(table, plan->function, &plan->first_site);
    if (!count_steps(plan, method, table, &room)) {
        return false;
    }
    plan->sites = tracing_allocate(&method->memory->arena, plan->site_count,
                                   sizeof(*plan->sites));
    plan->steps = plan->sites == NULL ? NULL
                                      : tracing_allocate(&method->memory->arena, room,
                                                         sizeof(*plan->steps));
    if (plan->steps == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < plan->site_count; i++) {
        const struct site *site = &table->sites[plan->first_site + i];

        plan->sites[i].first_step = next;
        if (site->function == plan->function &&
            !plan_site(plan, &plan->sites[i], method, site, frame)) {
            return false;
        }
        next += plan->sites[i].step_count;
    }
    plan->step_count = next;
    return true;
}

/* The method's plan for the function of that module, whose frame is running. NULL with an
 * exception set. */
static HOT const struct traced_plan *traced_plan_find(struct traced_method *method,
                                                      const struct site_module *module,
                                                      uint32_t function,
                                                      PyObject *frame)
{
    struct traced_plan *plan = method->plans;

    while (plan != NULL &&
           (plan->module != module->number || plan->function != function)) {
        plan = plan->next;
    }
    if (plan != NULL) {
        return plan;
    }
    plan = tracing_allocate(&method->memory->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return NULL;
    }
    plan->module = module->number;
    plan->function = function;
    if (!fill_plan(plan, method, &module->table, frame)) {
        return NULL;
    }
    plan->next = method->plans;
    method->plans = plan;
    return plan;
}

/* Records the values inside a variable. Not inlined: most paths end at a variable. */
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

/* Records the value, unless it is `self`, which nearly every line reads, and no path names it. */
HOT static bool record_value(const struct traced_call *call,
                             struct traced_path *path,
                             bool is_named,
                             PyObject *value)
{
    return (value == call->method->module && !is_named) ||
           tracing_keep_local(call->method->tracing, path, value, &call->moment,
                              is_named);
}

/* Records a variable that has longer paths, too. Not inlined: most variables have none. */
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

/* The variable's current value: a new reference, or NULL if it is not bound. */
static PyObject *find_current(const struct traced_call *call,
                              const struct traced_variable *variable)
{
    return variable->slot < 0
               ? NULL
               : frame_find(call->frame, true, variable->name, variable->slot);
}

/* Releases the held tensors of variables that are not bound any more. */
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

/* Whether the value is the path's last tensor and unchanged. That is so for most values that a
 * line reads. */
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

/* Records the variable of a step. `value` is borrowed; NULL: the variable's current value is
 * read. */
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

/* Whether the call belongs to another module of the same class, which `self` shows. */
static bool
is_others(const struct traced_method *method, PyObject *const *values, Py_ssize_t count)
{
    return count > 0 && values[0] != NULL && values[0] != method->module &&
           type_cache_get(&method->tracing->session->types, Py_TYPE(values[0]))
               ->is_module;
}

/* Prefetches all paths of the method, since they were last used long ago. */
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

/* Starts a call's frame at the function's first site: stores the frame and its plan if the
 * running frame is the method's own. Returns false with an exception set. Not inlined: it runs
 * once for a call. */
HOT static __attribute__((noinline)) bool enter_frame(struct traced_call *call,
                                                      const struct site_module *module,
                                                      uint32_t index,
                                                      PyObject *frame,
                                                      PyObject *const *values,
                                                      Py_ssize_t count)
{
    assert(index < module->table.site_count);

    struct traced_method *method = call->method;
    const struct site *site = &module->table.sites[index];
    bool is_enter = site->kind == SITE_ENTER;

    if (call->frame != NULL && !is_enter) {
        return true;
    }
    if (frame ==
        call->frame) { /* the stored frame has ended; this one has its address */
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

/* The site in the call's plan, if the call's frame is running. A frame of another file may have
 * the address of one that has ended. */
static const struct traced_site *find_site(const struct traced_call *call,
                                           const struct site_module *module,
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

HOT static bool visit_call(struct traced_call *call, const struct site_visit *visit)
{
    const struct site_module *module = visit->module;
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    const struct traced_site *site = find_site(call, module, visit->index, frame);

    if (site == NULL || site->is_enter) {
        if (!enter_frame(call, module, visit->index, frame, visit->values,
                         visit->count)) {
            return false;
        }
        site = find_site(call, module, visit->index, frame);
    }
    return site == NULL ||
           keep_site(call, call->plan, site, visit->values, visit->count);
}

HOT bool tracing_visit(struct tracing *tracing,
                       struct traced_call *call,
                       const struct site_visit *visit)
{
    while (call != NULL && call->tracing != tracing) {
        call = call->below;
    }
    /* A module that has two paths has two nested calls. */
    while (call != NULL && call->is_watched) {
        if (!visit_call(call, visit)) {
            return false;
        }
        call = call->has_twin ? call->outer : NULL;
    }
    return true;
}
