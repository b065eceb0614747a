/* Which of a method's variables each site of it concerns, found out once. */
#include "runtime/python/follow_frame.h"

#include "runtime/base/hot.h"
#include "runtime/python/tracing.h"
#include "runtime/python/watcher.h"

#include "runtime/base/memory.h"

static void plan_free(struct traced_plan *plan)
{
    memory_free(plan->sites);
    memory_free(plan->steps);
    memory_free(plan);
}

void traced_method_forget(struct traced_method *method)
{
    struct traced_plan *plan = method->plans;

    method->plans = NULL;
    while (plan != NULL) {
        struct traced_plan *next = plan->next;
        plan_free(plan);
        plan = next;
    }
    for (size_t i = 0; i < method->variable_count; i++) {
        Py_XDECREF(method->variables[i]->name);
        memory_free(method->variables[i]);
    }
    memory_free(method->variables);
    method->variables = NULL;
    method->variable_count = method->variable_room = 0;
}

/* ---- what a site concerns ---- */

/* `self` of `self.scale`. */
static struct slice root_of(struct slice name)
{
    return slice_part(name, 0, slice_find(name, SLICE("."), 0));
}

static bool is_variable(const struct traced_variable *variable, struct slice name)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(variable->name, &size);

    return text != NULL && slice_equal((struct slice){text, (size_t)size}, name);
}

/* The path that ends at the variable. NULL with an exception set. */
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

static bool
add_variable(struct traced_method *method, struct slice name, uint32_t state)
{
    void *variables = method->variables;
    struct traced_variable *variable;

    if (!memory_grow(&variables, &method->variable_room, method->variable_count + 1,
                     sizeof(*method->variables))) {
        PyErr_NoMemory();
        return false;
    }
    method->variables = variables;
    variable = memory_allocate_zeroed(1, sizeof(*variable));
    if (variable == NULL) {
        PyErr_NoMemory();
        return false;
    }
    variable->state = state;
    if (!init_variable(variable, method, name)) {
        Py_XDECREF(variable->name);
        memory_free(variable);
        return false;
    }
    method->variables[method->variable_count++] = variable;
    return true;
}

/* NULL: no path wants it, or, where the result is false, an exception is set. */
static bool find_variable(struct traced_method *method,
                          struct slice name,
                          struct traced_variable **variable)
{
    struct error error = ERROR_INIT;
    uint32_t state;

    *variable = NULL;
    for (size_t i = 0; i < method->variable_count; i++) {
        if (is_variable(method->variables[i], name)) {
            *variable = method->variables[i];
            return true;
        }
    }
    if (!path_set_step(&method->tracing->paths, method->state, name, &state, &error)) {
        PyErr_NoMemory();
        return false;
    }
    if (state == PATH_STATE_DEAD || name.size == 0) {
        return true;
    }
    if (!add_variable(method, name, state)) {
        return false;
    }
    *variable = method->variables[method->variable_count - 1];
    return true;
}

/* ---- a plan ---- */

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
        plan->steps[site->first_step + site->step_count++] =
            (struct traced_step){variable, value};
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

        if (!find_variable(method, root_of(write->name), &variable)) {
            return false;
        }
        add_step(plan, planned, variable, is_whole(write) ? value : -1);
        value += write->source != SITE_SOURCE_NONE;
    }
    return true;
}

/* `self`, which nearly every line reads, where nothing of it is wanted. */
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
        if (!find_variable(method, root_of(site->reads[i].name), &variable)) {
            return false;
        }
        if (!has_step(plan, planned, variable) && !is_owner(variable, method, frame)) {
            add_step(plan, planned, variable, -1);
        }
    }
    return true;
}

/* What is returned is no variable. */
static bool plan_site(struct traced_plan *plan,
                      struct traced_site *planned,
                      struct traced_method *method,
                      const struct site *site,
                      PyObject *frame)
{
    planned->is_enter = site->kind == SITE_ENTER;
    planned->is_return = site->kind == SITE_RETURN;
    planned->may_unbind = site->kind == SITE_LINE;
    return (planned->is_return || plan_writes(plan, planned, method, site)) &&
           plan_reads(plan, planned, method, site, frame);
}

/* The function's first site, and how many there are up to its last one: others' may stand
 * between. */
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

static bool fill_plan(struct traced_plan *plan,
                      struct traced_method *method,
                      const struct site_table *table,
                      PyObject *frame)
{
    size_t room = 0;
    uint32_t next = 0;

    plan->site_count = count_sites(table, plan->function, &plan->first_site);
    for (uint32_t i = 0; i < plan->site_count; i++) {
        const struct site *site = &table->sites[plan->first_site + i];
        room += (size_t)site->write_count + site->read_count;
    }
    plan->sites = memory_allocate_zeroed(plan->site_count, sizeof(*plan->sites));
    plan->steps = memory_allocate(room, sizeof(*plan->steps));
    if (plan->sites == NULL || plan->steps == NULL) {
        PyErr_NoMemory();
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

HOT const struct traced_plan *traced_plan_find(struct traced_method *method,
                                               const struct watched_module *module,
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
    plan = memory_allocate_zeroed(1, sizeof(*plan));
    if (plan == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    plan->module = module->number;
    plan->function = function;
    if (!fill_plan(plan, method, &module->table, frame)) {
        plan_free(plan);
        return NULL;
    }
    plan->next = method->plans;
    method->plans = plan;
    return plan;
}
