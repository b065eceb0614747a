/* The variables of traced methods: the names that paths may match. */
#include "runtime/base/memory.h"
#include "runtime/python/follow_frame.h"
#include "runtime/python/tracing.h"

void traced_variables_forget(struct traced_method *method)
{
    for (size_t i = 0; i < method->variable_count; i++) {
        Py_XDECREF(method->variables[i]->name);
        memory_free(method->variables[i]);
    }
    memory_free(method->variables);
    method->variables = NULL;
    method->variable_count = method->variable_room = 0;
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

bool traced_variable_find(struct traced_method *method,
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
