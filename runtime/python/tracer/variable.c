/* The variables of traced methods: the names that paths may match. */
#include "runtime/base/memory.h"
#include "runtime/python/tracer/tracing.h"
#include "runtime/python/visit/variables.h"

struct method_memory *method_memory_use(struct tracing *tracing)
{
    struct method_memory *memory = tracing->method_memory;

    if (memory == NULL) {
        memory = memory_allocate_zeroed(1, sizeof(*memory));
        if (memory == NULL) {
            return (struct method_memory *)PyErr_NoMemory();
        }
        arena_init(&memory->arena);
        memory->user_count = 1; /* by the Tracing, as long as more may be made */
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

/* NULL with an exception set. */
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

bool traced_variable_find(struct traced_method *method,
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
