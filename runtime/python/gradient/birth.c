/* Search for the gradients that the first NaN or infinity of a backward was computed from, over
 * autograd's graph. The graph is read once, from the tensors on which backward() was called down
 * to the leaves. The search then climbs from the function that received the bad gradient, over
 * functions without recorded outputs, to the recorded values. It costs about a microsecond for
 * each function, once for each backward that fails. */
#include "runtime/python/gradient/private.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <string.h>

/* Limits of the functions in a graph, and of the functions above the bad gradient that have no
 * recorded outputs. The search gives up beyond them. */
#define FUNCTIONS_MAX 500000
#define ABOVE_MAX     512
#define SOURCES_MAX   64
#define TEXT_MAX      512

/* The backward of `from` computes the gradient of an output of `to`. */
struct edge {
    uint32_t from, to; /* indices of functions */
    uint32_t output;   /* of `to` */
};

struct graph {
    struct session *session;
    PyObject **
        functions; /* owned, with each item, so that no address is reused during the search */
    size_t function_capacity;
    uint32_t function_count;
    uint32_t root_count;
    struct edge *edges; /* owned */
    size_t edge_capacity;
    size_t edge_count;
    struct number_map
        numbers; /* owned: address of the Python object -> index of its function */
    bool has_failed;
};

static void graph_release(struct graph *graph)
{
    for (uint32_t i = 0; i < graph->function_count; i++) {
        Py_DECREF(graph->functions[i]);
    }
    memory_free(graph->functions);
    memory_free(graph->edges);
    number_map_release(&graph->numbers);
}

/* The index of the function, added if it is new. SLOT_NONE if there is no room. */
static uint32_t add_function(struct graph *graph, PyObject *function)
{
    uint64_t key = (uint64_t)(uintptr_t)function;
    uint32_t number = number_map_get(&graph->numbers, key);
    void *functions = graph->functions;

    if (number != NUMBER_MAP_NONE) {
        return number;
    }
    if (graph->function_count == FUNCTIONS_MAX ||
        !memory_grow(&functions, &graph->function_capacity,
                     (size_t)graph->function_count + 1, sizeof *graph->functions)) {
        graph->has_failed = true;
        return SLOT_NONE;
    }
    graph->functions = functions;
    number = graph->function_count;
    if (!number_map_put(&graph->numbers, key, number)) {
        graph->has_failed = true;
        return SLOT_NONE;
    }
    graph->functions[graph->function_count++] = Py_NewRef(function);
    return number;
}

static void
add_edge(struct graph *graph, uint32_t from, PyObject *function, uint32_t output)
{
    void *edges = graph->edges;
    uint32_t to = add_function(graph, function);

    if (to == SLOT_NONE || !memory_grow(&edges, &graph->edge_capacity,
                                        graph->edge_count + 1, sizeof *graph->edges)) {
        graph->has_failed = true;
        return;
    }
    graph->edges = edges;
    graph->edges[graph->edge_count++] = (struct edge){from, to, output};
}

static void add_next(struct graph *graph, uint32_t number)
{
    assert(number < graph->function_count);
    PyObject *next = PyObject_GetAttr(graph->functions[number],
                                      graph->session->gradients->name_next);

    for (Py_ssize_t i = 0;
         next != NULL && PyTuple_Check(next) && i < PyTuple_Size(next); i++) {
        PyObject *pair = PyTuple_GetItem(next, i);
        PyObject *function = PyTuple_GetItem(pair, 0);

        if (function != NULL && function != Py_None) {
            unsigned long output = PyLong_AsUnsignedLong(PyTuple_GetItem(pair, 1));

            add_edge(graph, number, function, (uint32_t)output);
        }
    }
    graph->has_failed = graph->has_failed || next == NULL;
    Py_XDECREF(next);
}

/* ---- the tensors on which backward() was called ---- */

/* Reads a local variable of a frame. New reference, or NULL. */
static PyObject *local_of(PyObject *frame, const char *name)
{
    PyObject *locals = PyObject_GetAttrString(frame, "f_locals");
    PyObject *value = locals == NULL ? NULL : PyMapping_GetItemString(locals, name);

    PyErr_Clear();
    Py_XDECREF(locals);
    return value;
}

static bool is_named(PyObject *frame, const char *expected)
{
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    PyObject *name = PyObject_GetAttrString(code, "co_name");
    bool is_so = name != NULL && PyUnicode_Check(name) &&
                 PyUnicode_CompareWithASCIIString(name, expected) == 0;

    PyErr_Clear();
    Py_XDECREF(name);
    Py_DECREF(code);
    return is_so;
}

/* The tensors whose backward runs, read from torch's own frame. New reference, or NULL. */
static PyObject *find_outputs(struct session *session)
{
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *outputs = NULL;

    while (frame != NULL && frame != Py_None && outputs == NULL) {
        PyObject *back;

        if (is_named(frame, "_engine_run_backward")) {
            outputs = local_of(frame, "t_outputs");
        }
        back = PyObject_GetAttr(frame, session->name_f_back);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Clear();
    return outputs;
}

/* Adds a root: a tensor, or torch's GradientEdge, which is a function and one of its outputs. */
static void add_root(struct graph *graph, PyObject *output)
{
    PyObject *function =
        PyTuple_Check(output) && PyTuple_Size(output) > 0
            ? Py_NewRef(PyTuple_GetItem(output, 0))
            : PyObject_GetAttr(output, graph->session->gradients->name_grad_fn);

    if (function != NULL && function != Py_None) {
        add_function(graph, function);
    }
    PyErr_Clear();
    Py_XDECREF(function);
}

static bool build(struct graph *graph)
{
    PyObject *outputs = find_outputs(graph->session);
    Py_ssize_t count = outputs == NULL ? 0 : PySequence_Size(outputs);

    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *output = PySequence_GetItem(outputs, i);

        if (output != NULL) {
            add_root(graph, output);
        }
        Py_XDECREF(output);
    }
    Py_XDECREF(outputs);
    PyErr_Clear();
    graph->root_count = graph->function_count;
    for (uint32_t i = 0; i < graph->function_count && !graph->has_failed; i++) {
        add_next(graph, i);
        PyErr_Clear();
    }
    return graph->root_count > 0 && !graph->has_failed;
}

/* ---- the way up from the bad gradient ---- */

/* A function above the bad gradient, and the function from which the search reached it. */
struct above {
    uint32_t function;
    uint32_t
        below; /* index of that function in `above`; SLOT_NONE: the bad gradient itself */
};

struct climb {
    struct graph *graph;
    struct above above[ABOVE_MAX];
    uint32_t above_count;
    struct gradient_source sources[SOURCES_MAX];
    char texts[SOURCES_MAX][TEXT_MAX];
    uint32_t source_count;
    struct birth_place *place;
    bool has_failed;
};

static struct gradient_hook *hook_of(const struct graph *graph, uint32_t function)
{
    assert(function < graph->function_count);

    struct session *session = graph->session;
    struct gradient_hook *hook = gradients_find(
        session->gradients, tensor_function_address(graph->functions[function]));

    return hook != NULL && hook->number == session->number ? hook : NULL;
}

static void add_name(struct buffer *text, const struct graph *graph, uint32_t function)
{
    assert(function < graph->function_count);
    PyObject *name = PyObject_CallMethodObjArgs(
        graph->functions[function], graph->session->gradients->name_name, NULL);
    Py_ssize_t size = 0;
    const char *bytes = name != NULL && PyUnicode_Check(name)
                            ? PyUnicode_AsUTF8AndSize(name, &size)
                            : NULL;

    PyErr_Clear();
    if (bytes != NULL) {
        buffer_add(text, text->size > 0 ? SLICE(" ") : SLICE(""));
        buffer_add_bytes(text, bytes, (size_t)size);
    }
    Py_XDECREF(name);
}

/* The names of the functions on the way, the last one first. */
static struct slice
keep_functions(struct climb *climb, uint32_t above, char kept[TEXT_MAX])
{
    struct buffer text = BUFFER_INIT;
    uint32_t path[ABOVE_MAX];
    uint32_t count = 0;
    size_t size;

    for (uint32_t i = above; i != SLOT_NONE; i = climb->above[i].below) {
        path[count++] = climb->above[i].function;
    }
    while (count > 0) {
        add_name(&text, climb->graph, path[--count]);
    }
    size = text.size < TEXT_MAX ? text.size : TEXT_MAX;
    memcpy(kept, text.bytes == NULL ? "" : text.bytes, size);
    buffer_release(&text);
    return (struct slice){kept, size};
}

/* Adds a source of the bad gradient. `event` has the meaning of struct gradient_source. */
static void add_source(struct climb *climb, uint64_t event, uint32_t above)
{
    uint32_t count = climb->source_count;

    for (uint32_t i = 0; i < count; i++) {
        if (climb->sources[i].event == event) {
            return;
        }
    }
    if (count == SOURCES_MAX) {
        climb->has_failed = true;
        return;
    }
    climb->sources[count].event = event;
    climb->sources[count].functions = keep_functions(climb, above, climb->texts[count]);
    climb->source_count++;
}

/* Adds a function above. If it has recorded outputs, they are sources, and the search ends
 * there. */
static void climb_to(struct climb *climb, uint32_t function, uint32_t below)
{
    struct gradient_hook *hook;
    uint32_t above = climb->above_count;

    for (uint32_t i = 0; i < above; i++) {
        if (climb->above[i].function == function) {
            return;
        }
    }
    if (above == ABOVE_MAX) {
        climb->has_failed = true;
        return;
    }
    climb->above[climb->above_count++] = (struct above){function, below};
    hook = hook_of(climb->graph, function);
    for (uint32_t i = 0; hook != NULL && i < hook->count; i++) {
        const struct watched_output *output = &hook->outputs[i];

        add_source(climb, 1 + output->owner.event, above);
        *climb->place = (struct birth_place){output->module, output->site};
    }
    if (hook == NULL && function < climb->graph->root_count) {
        add_source(climb, 0, above);
    }
}

static bool is_ended(const struct climb *climb, uint32_t above)
{
    return hook_of(climb->graph, climb->above[above].function) != NULL;
}

static void climb_from(struct climb *climb, uint32_t target, uint32_t output)
{
    const struct graph *graph = climb->graph;

    for (size_t i = 0; i < graph->edge_count; i++) {
        if (graph->edges[i].to == target && graph->edges[i].output == output) {
            climb_to(climb, graph->edges[i].from, SLOT_NONE);
        }
    }
    for (uint32_t k = 0; k < climb->above_count && !climb->has_failed; k++) {
        if (is_ended(climb, k)) {
            continue;
        }
        for (size_t i = 0; i < graph->edge_count; i++) {
            if (graph->edges[i].to == climb->above[k].function) {
                climb_to(climb, graph->edges[i].from, k);
            }
        }
    }
}

/* ---- the function that received the bad gradient ---- */

static bool is_of_leaf(const struct graph *graph, uint32_t function, uint64_t leaf)
{
    assert(function < graph->function_count);
    PyObject *variable = PyObject_GetAttr(graph->functions[function],
                                          graph->session->gradients->name_variable);
    bool is_so = (uint64_t)(uintptr_t)variable == leaf;

    PyErr_Clear();
    Py_XDECREF(variable);
    return is_so;
}

/* The function of the hook, or SLOT_NONE if the graph does not have it. */
static uint32_t find_target(const struct graph *graph, const struct gradient_hook *hook)
{
    for (uint32_t i = 0; i < graph->function_count; i++) {
        bool is_it = hook->is_leaf
                         ? is_of_leaf(graph, i, hook->target)
                         : tensor_function_address(graph->functions[i]) == hook->target;

        if (is_it) {
            return i;
        }
    }
    return SLOT_NONE;
}

void gradient_write_birth(struct session *session,
                          const struct gradient_hook *hook,
                          const struct watched_output *output,
                          struct birth_place *place)
{
    struct graph graph = {.session = session};
    struct climb *climb = memory_allocate(1, sizeof *climb);
    struct birth_place found = {NULL, 0};
    uint32_t target = SLOT_NONE;

    number_map_init(&graph.numbers);
    if (climb != NULL && hook->target != 0 && build(&graph)) {
        target = find_target(&graph, hook);
    }
    if (target != SLOT_NONE) {
        climb->graph = &graph;
        climb->above_count = 0;
        climb->source_count = 0;
        climb->has_failed = false;
        climb->place = &found;
        climb_from(climb, target, hook->is_leaf ? 0 : output->output);
        if (target < graph.root_count) {
            add_source(climb, 0, SLOT_NONE);
        }
        if (!climb->has_failed && climb->source_count > 0) {
            recorder_write_birth(session->recorder, output->owner.event,
                                 session->gradients->step, climb->sources,
                                 climb->source_count);
            if (climb->source_count == 1 && climb->sources[0].event != 0) {
                *place = found;
            }
        }
    }
    PyErr_Clear();
    graph_release(&graph);
    memory_free(climb);
}
