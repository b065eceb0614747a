/* From the visit of a site to the variables of the method that it stands in. */
#include "runtime/python/follow_frame.h"
#include "runtime/python/tracing.h"
#include "runtime/python/watcher.h"

#include "runtime/base/memory.h"

#define NO_VARIABLE (-1)

static void plan_free(struct traced_plan *plan)
{
    memory_free(plan->starts);
    memory_free(plan->entries);
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

/* The number of the variable, NO_VARIABLE where no path wants it; false with an exception set. */
static bool
find_variable(struct traced_method *method, struct slice name, int32_t *number)
{
    struct error error = ERROR_INIT;
    uint32_t state;

    *number = NO_VARIABLE;
    for (size_t i = 0; i < method->variable_count; i++) {
        if (is_variable(method->variables[i], name)) {
            *number = (int32_t)i;
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
    *number = (int32_t)method->variable_count;
    return add_variable(method, name, state);
}

/* Whether the number stands in `entries` between the two places. */
static bool
has_entry(const int32_t *entries, uint32_t start, uint32_t end, int32_t number)
{
    for (uint32_t i = start; i < end; i++) {
        if (entries[i] == number) {
            return true;
        }
    }
    return false;
}

static bool plan_site(struct traced_method *method,
                      const struct site *site,
                      int32_t *entries,
                      uint32_t *next)
{
    uint32_t start = *next;
    int32_t number;

    for (uint32_t i = 0; i < site->write_count; i++) {
        if (site->kind == SITE_RETURN) { /* what is returned is no variable */
            entries[(*next)++] = NO_VARIABLE;
            continue;
        }
        if (!find_variable(method, root_of(site->writes[i].name), &number)) {
            return false;
        }
        entries[(*next)++] = number;
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        if (site->reads[i].scope != SITE_SCOPE_LOCAL) {
            continue;
        }
        if (!find_variable(method, root_of(site->reads[i].name), &number)) {
            return false;
        }
        if (number != NO_VARIABLE && !has_entry(entries, start, *next, number)) {
            entries[(*next)++] = number;
        }
    }
    return true;
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
                      const struct site_table *table)
{
    size_t room = 0;
    uint32_t next = 0;

    plan->site_count = count_sites(table, plan->function, &plan->first_site);
    for (uint32_t i = 0; i < plan->site_count; i++) {
        const struct site *site = &table->sites[plan->first_site + i];
        room += (size_t)site->write_count + site->read_count;
    }
    plan->starts = memory_allocate((size_t)plan->site_count + 1, sizeof(*plan->starts));
    plan->entries = memory_allocate(room + 1, sizeof(*plan->entries));
    if (plan->starts == NULL || plan->entries == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (uint32_t i = 0; i < plan->site_count; i++) {
        const struct site *site = &table->sites[plan->first_site + i];
        plan->starts[i] = next;
        if (site->function == plan->function &&
            !plan_site(method, site, plan->entries, &next)) {
            return false;
        }
    }
    plan->starts[plan->site_count] = next;
    return true;
}

/* NULL with an exception set. */
static struct traced_plan *find_plan(struct traced_method *method,
                                     const struct watched_module *module,
                                     uint32_t function)
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
    if (!fill_plan(plan, method, &module->table)) {
        plan_free(plan);
        return NULL;
    }
    plan->next = method->plans;
    method->plans = plan;
    return plan;
}

/* ---- visits ---- */

static bool tell_variable(const struct traced_call *call,
                          const struct traced_variable *variable,
                          PyObject *value)
{
    struct tracing *tracing = call->method->tracing;
    uint64_t iteration = call->moment.iteration;
    struct buffer text = BUFFER_INIT;
    const char *bytes, *name;
    Py_ssize_t size, name_size;
    bool is_good;

    if (variable->path != NULL &&
        !tracing_tell(tracing, variable->path, value, iteration, variable->is_named)) {
        return false;
    }
    if (!variable->has_more) {
        return true;
    }
    bytes = PyUnicode_AsUTF8AndSize(call->method->path, &size);
    name = PyUnicode_AsUTF8AndSize(variable->name, &name_size);
    if (bytes == NULL || name == NULL) {
        return false;
    }
    buffer_add_bytes(&text, bytes, (size_t)size);
    path_add_segment(&text, (struct slice){name, (size_t)name_size});
    is_good = tracing_walk(tracing, value, variable->state, &text, iteration);
    buffer_release(&text);
    return is_good;
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

static bool is_whole(const struct site_write *write)
{
    return write->source == SITE_SOURCE_VALUE &&
           slice_find(write->name, SLICE("."), 0) == write->name.size;
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
                      const struct site *site,
                      uint32_t place,
                      PyObject *const *values,
                      Py_ssize_t count)
{
    struct traced_method *method = call->method;
    Py_ssize_t next = 0;

    for (uint32_t i = 0; i < plan->starts[place + 1] - plan->starts[place]; i++) {
        int32_t number = plan->entries[plan->starts[place] + i];
        PyObject *value = NULL;

        if (i < site->write_count && site->writes[i].source != SITE_SOURCE_NONE) {
            value = next < count ? values[next++] : NULL;
            value = is_whole(&site->writes[i]) ? value : NULL;
        }
        if (number != NO_VARIABLE) {
            struct traced_variable *variable = method->variables[number];
            if (!(value != NULL ? tell_variable(call, variable, value)
                                : tell_current(call, variable))) {
                return false;
            }
        }
    }
    return site->kind != SITE_RETURN || tell_all(call);
}

/* Whether the running frame is the method's own. A call is known by its frame from the function's
 * first site on; `self` tells it from one of another module of the same class. */
static bool is_own_frame(struct traced_call *call,
                         const struct site *site,
                         PyObject *const *values,
                         Py_ssize_t count)
{
    struct traced_method *method = call->method;
    PyObject *frame = (PyObject *)PyEval_GetFrame();

    if (call->frame != NULL && site->kind != SITE_ENTER) {
        return frame == call->frame;
    }
    if (frame == NULL || frame_code(frame) != method->code) {
        return false;
    }
    if (site->kind == SITE_ENTER && count > 0 && values[0] != NULL &&
        values[0] != method->module &&
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
    struct traced_method *method = call->method;
    const struct site *site = &module->table.sites[index];
    const struct traced_plan *plan;

    if (!is_own_frame(call, site, values, count)) {
        return true;
    }
    plan = find_plan(method, module, site->function);
    if (plan == NULL) {
        return false;
    }
    if (index < plan->first_site || index - plan->first_site >= plan->site_count) {
        return true;
    }
    return tell_site(call, plan, site, index - plan->first_site, values, count);
}

bool tracing_visit(struct tracing *tracing,
                   const struct watched_module *module,
                   uint32_t site,
                   PyObject *const *values,
                   Py_ssize_t count)
{
    struct traced_call *call = tracing_top_call();
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
