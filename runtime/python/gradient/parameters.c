/* The parameters of a recording with gradients: their values and gradients as the forward reads them, and
 * as optimizers and torch's functions for gradients write them. docs/internals/gradients.md says when
 * each is recorded.
 *
 * A parameter is known by a weak reference, and is compared by its version counter: what a counter proves
 * unchanged is not measured again. Steps of optimizers are seen by torch's own hooks for all
 * optimizers, writes to gradients by the detours of python/record/fresh.h. */
#include "runtime/python/gradient/private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/python/record/fresh.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/values.h"

#include <assert.h>
#include <string.h>

/* Of a module that contains itself no more levels are visited. */
#define DEPTH_MAX 32
/* So many lines that write to parameters have a place of their own where the compiler has made none. */
#define PLACES_MAX 256
/* Settings of so many optimizers are recorded. */
#define SETTINGS_MAX 512
/* Tensors of an optimizer's state that are recorded for one parameter, and parameters of a step whose
 * state is. */
#define STATES_MAX       8
#define STATE_CHECKS_MAX 64

struct parameter {
    PyObject *reference;       /* owned: weak */
    char *name;                /* owned: `encoder.layers.0.weight` */
    struct name_state value;   /* as recorded last; object 0: never */
    struct name_state gradient;
    bool was_bad; /* the value that was recorded last held NaN or an infinity */
    bool is_named; /* by a module, and not by its place in an optimizer */
};

/* A torch.nn.Module that a line assigned or called. */
struct candidate {
    PyObject *reference; /* owned: weak */
    uint64_t object;
    bool is_inner; /* another candidate contains it */
};

/* A line that writes to parameters, which has no site. */
struct place {
    const void *code; /* compared only */
    uint32_t line;
    struct recorded_module *module; /* borrowed from the recording */
    uint32_t visit_count;
};

/* A number in an optimizer's param_groups. */
struct setting {
    uint64_t key; /* of the optimizer, the group and the name */
    struct name_state state;
};

struct parameters {
    uint64_t number;     /* of the recording that all of it belongs to */
    unsigned fork_count; /* of its process */
    struct parameter *items; /* owned */
    size_t capacity;
    uint32_t count;
    struct number_map numbers; /* owned: address -> the newest item there */
    struct candidate *candidates; /* owned */
    size_t candidate_capacity;
    uint32_t candidate_count;
    struct number_map candidate_numbers; /* owned: address -> candidate */
    bool has_new;      /* candidates whose parameters are not known yet */
    bool is_wanted;    /* they are to be recorded at the end of the visit that goes on: */
    struct visit visit;
    struct place places[PLACES_MAX];
    uint32_t place_count;
    struct setting settings[SETTINGS_MAX];
    uint32_t setting_count;
    PyObject *handles[2]; /* owned: of torch's hooks; NULL: not hung yet */
    unsigned step_depth;  /* steps of optimizers that go on */
};

/* ---- the list ---- */

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
}

static void clear(struct parameters *parameters)
{
    PyObject *handles[2] = {parameters->handles[0], parameters->handles[1]};

    release_items(parameters);
    memset(parameters, 0, sizeof *parameters);
    number_map_init(&parameters->numbers);
    number_map_init(&parameters->candidate_numbers);
    parameters->handles[0] = handles[0];
    parameters->handles[1] = handles[1];
}

void parameters_free(struct parameters *parameters)
{
    if (parameters != NULL) {
        clear(parameters);
        memory_free(parameters);
    }
}

/* Those of this recording and process; NULL: none are wanted. */
static struct parameters *find_all(struct session *session)
{
    struct gradients *gradients = session->gradients;
    struct parameters *parameters;

    if (gradients == NULL || session->recorder == NULL ||
        !recorder_options(session->recorder)->has_gradients) {
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
        clear(parameters);
        parameters->number = session->number;
        parameters->fork_count = session->fork_count;
    }
    return parameters;
}

/* What the reference leads to; borrowed, NULL: it is gone. */
static PyObject *alive(PyObject *reference)
{
    PyObject *object = PyWeakref_GetObject(reference);

    return object == Py_None ? NULL : object;
}

static struct parameter *find(const struct parameters *parameters,
                              const PyObject *object)
{
    uint32_t number =
        number_map_get(&parameters->numbers, (uint64_t)(uintptr_t)object);
    struct parameter *parameter =
        number == NUMBER_MAP_NONE ? NULL : &parameters->items[number];

    return parameter != NULL && alive(parameter->reference) == object ? parameter : NULL;
}

static char *copy_name(struct slice name)
{
    char *copy = memory_allocate(name.size + 1, 1);

    if (copy != NULL) {
        memcpy(copy, name.bytes, name.size);
        copy[name.size] = '\0';
    }
    return copy;
}

/* NULL: out of memory, or no weak reference can be made to it. */
static struct parameter *
add(struct parameters *parameters, PyObject *object, struct slice name, bool is_named)
{
    void *items = parameters->items;
    PyObject *reference = PyWeakref_NewRef(object, NULL);
    char *copy = copy_name(name);

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

/* ---- recording one ---- */

/* Whether the tensor is another one than the state has, or was written to since. */
static bool
has_changed(struct session *session, const struct name_state *state, PyObject *tensor)
{
    return state->object != (uint64_t)(uintptr_t)tensor ||
           state->version != tensor_version(session->access, tensor);
}

static bool is_bad(const struct log_nonfinite *counts)
{
    return counts->nan_count + counts->posinf_count + counts->neginf_count > 0;
}

/* Records the parameter's value if it changed, and has its next gradients refer to that event. Gives
 * whether it holds NaN or an infinity now and did not before. */
static bool record_value(struct session *session,
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

/* The `.grad` as a tensor whose values can be read: those of a sparse one; a new reference, or NULL. */
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

/* `is_written`: it was, though no counter may show it. */
static void record_gradient(struct session *session,
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

    if (gradient != NULL &&
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
        parameters == NULL ? NULL : find(parameters, leaf);

    if (parameter != NULL) {
        parameter->gradient = (struct name_state){
            .object = (uint64_t)(uintptr_t)gradient,
            .version = tensor_version(session->access, gradient),
            .kind = VALUE_TENSOR,
        };
    }
}

/* ---- modules: they name parameters ---- */

void parameters_add_module(struct session *session, PyObject *module)
{
    struct parameters *parameters = find_all(session);
    uint64_t key = (uint64_t)(uintptr_t)module;
    struct candidate *known;
    uint32_t number;
    void *candidates;

    if (parameters == NULL) {
        return;
    }
    number = number_map_get(&parameters->candidate_numbers, key);
    known = number == NUMBER_MAP_NONE ? NULL : &parameters->candidates[number];
    if (known != NULL && alive(known->reference) == module) {
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
    if (reference == NULL ||
        !number_map_put(&parameters->candidate_numbers, key,
                        parameters->candidate_count)) {
        PyErr_Clear();
        Py_XDECREF(reference);
        return;
    }
    parameters->candidates[parameters->candidate_count++] =
        (struct candidate){.reference = reference, .object = key};
    parameters->has_new = true;
}

/* The dict that a module keeps under that name; borrowed from `dict`, or NULL. */
static PyObject *find_home(PyObject *dict, const char *name)
{
    PyObject *home =
        dict != NULL && PyDict_Check(dict) ? PyDict_GetItemString(dict, name) : NULL;

    return home != NULL && PyDict_Check(home) ? home : NULL;
}

/* The modules of a tree, each with its path, are handed to `visit`. */
struct tree_walk {
    struct session *session;
    void (*on_module)(struct tree_walk *walk, PyObject *module, PyObject *dict);
    const struct visit *visit;
    struct buffer path; /* owned */
};

static size_t add_part(struct buffer *path, PyObject *name)
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
        size = add_part(&walk->path, name);
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
    uint32_t number = number_map_get(&parameters->candidate_numbers,
                                     (uint64_t)(uintptr_t)module);

    (void)dict;
    if (number != NUMBER_MAP_NONE && walk->path.size > 0 &&
        alive(parameters->candidates[number].reference) == module) {
        parameters->candidates[number].is_inner = true;
    }
}

static bool requires_gradient(struct session *session, PyObject *object)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct tensor tensor;
    bool is_so;

    if (info->kind != TYPE_TENSOR ||
        tensor_describe(session->access, object, info->tensor, &tensor) != 0) {
        return false;
    }
    is_so = (tensor.flags & LOG_FORM_REQUIRES_GRAD) != 0;
    tensor_release(&tensor);
    return is_so;
}

/* Makes the module's own parameters known, and records those that are new. */
static void add_own(struct tree_walk *walk, PyObject *module, PyObject *dict)
{
    struct session *session = walk->session;
    struct parameters *parameters = session->gradients->parameters;
    PyObject *home = Py_XNewRef(find_home(dict, "_parameters"));
    PyObject *name, *item;
    Py_ssize_t position = 0;

    (void)module;
    while (home != NULL && PyDict_Next(home, &position, &name, &item)) {
        struct parameter *parameter = find(parameters, item);
        size_t size;

        if ((parameter != NULL && parameter->is_named) ||
            !requires_gradient(session, item)) {
            continue;
        }
        Py_INCREF(item);
        size = add_part(&walk->path, name);
        if (parameter == NULL) {
            parameter = add(parameters, item, buffer_slice(&walk->path), true);
        }
        if (parameter != NULL) {
            record_value(session, walk->visit, parameter, item, true);
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
        PyObject *module = alive(parameters->candidates[i].reference);

        if (module != NULL && !parameters->candidates[i].is_inner) {
            Py_INCREF(module);
            walk_tree(&walk, module, 0);
            Py_DECREF(module);
        }
        buffer_release(&walk.path);
    }
}

/* Makes the parameters of all candidates known that are not yet. */
static void settle(struct session *session, const struct visit *visit)
{
    session->gradients->parameters->has_new = false;
    walk_candidates(session, visit, mark_inner);
    walk_candidates(session, visit, add_own);
}

void parameters_want(struct session *session, const struct visit *visit)
{
    struct parameters *parameters = session->gradients->parameters;

    if (parameters != NULL && parameters->has_new &&
        parameters->number == session->number) {
        parameters->is_wanted = true;
        parameters->visit = *visit;
    }
}

void parameters_settle(struct session *session)
{
    struct parameters *parameters = session->gradients->parameters;

    if (parameters != NULL && parameters->is_wanted) {
        struct visit visit = parameters->visit;

        parameters->is_wanted = false;
        if (parameters->number == session->number && find_all(session) == parameters &&
            visit.call->number != 0) {
            settle(session, &visit);
        }
    }
}

/* ---- the line that writes ---- */

/* The site of the call's function that is on that line; SITE_NONE: there is none. */
static uint32_t
find_site(const struct recorded_module *module, uint32_t function, uint32_t line)
{
    uint32_t found = SITE_NONE;

    for (uint32_t i = 0; i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];
        bool is_statement = site->kind == SITE_MUTATE || site->kind == SITE_ASSIGN;

        if (site->function == function && site->line == line && is_statement &&
            (found == SITE_NONE || site->kind == SITE_MUTATE)) {
            found = i;
        }
    }
    return found;
}

/* The text of a code object's attribute; `name` borrows from it. A new reference, or NULL. */
static PyObject *read_text(PyObject *code, const char *attribute, struct slice *name)
{
    PyObject *text = PyObject_GetAttrString(code, attribute);
    Py_ssize_t size = 0;
    const char *bytes = text != NULL && PyUnicode_Check(text)
                            ? PyUnicode_AsUTF8AndSize(text, &size)
                            : NULL;

    PyErr_Clear();
    *name = (struct slice){bytes == NULL ? "" : bytes, bytes == NULL ? 0 : (size_t)size};
    return text;
}

/* A module of the trace with one site: a line of a function that writes to parameters. */
static struct recorded_module *make_place(struct session *session,
                                          const struct site_table *file,
                                          const struct module_text *origin,
                                          const struct site_function *function,
                                          uint32_t line,
                                          struct slice name)
{
    struct site_function functions[] = {{SLICE("<module>"), 1}, *function};
    struct site_write write = {.name = name, .source = SITE_SOURCE_VALUE};
    bool is_module = slice_equal(function->name, SLICE("<module>"));
    struct site site = {.kind = SITE_MUTATE,
                        .line = line,
                        .column = 1,
                        .function = is_module ? 0 : 1,
                        .writes = &write,
                        .write_count = 1,
                        .term = SLICE("")};
    struct site_table table = *file;
    struct buffer text = BUFFER_INIT;
    struct module_text module = *origin;
    struct error error = ERROR_INIT;
    struct recorded_module *made = NULL;

    table.sites = &site;
    table.site_count = 1;
    table.functions = functions;
    table.function_count = is_module ? 1 : 2;
    site_table_write(&table, &text);
    module.table = buffer_slice(&text);
    if (!text.has_failed) {
        made = recorder_add_module(session->recorder, &module, &error);
    }
    buffer_release(&text);
    return made;
}

static struct place *
keep_place(struct parameters *parameters, const struct place *place)
{
    if (place->module == NULL || parameters->place_count == PLACES_MAX) {
        return NULL;
    }
    parameters->places[parameters->place_count] = *place;
    return &parameters->places[parameters->place_count++];
}

static struct place *
find_place(struct parameters *parameters, const void *code, uint32_t line)
{
    for (uint32_t i = 0; i < parameters->place_count; i++) {
        if (parameters->places[i].code == code && parameters->places[i].line == line) {
            return &parameters->places[i];
        }
    }
    return NULL;
}

/* The place of a line of a recorded call's function. */
static struct recorded_module *place_of_call(struct session *session,
                                             const struct call *call,
                                             uint32_t line,
                                             struct slice name)
{
    const struct recorded_module *module =
        recorder_module(session->recorder, call->function->table);

    return module == NULL
               ? NULL
               : make_place(session, &module->table, &module->text,
                            &module->table.functions[call->function->index], line, name);
}

/* The place of a line in code that is not instrumented. */
static struct recorded_module *
place_of_code(struct session *session, PyObject *code, uint32_t line, struct slice name)
{
    struct slice file, function;
    PyObject *file_text = read_text(code, "co_filename", &file);
    PyObject *function_text = read_text(code, "co_qualname", &function);
    PyObject *number = PyObject_GetAttrString(code, "co_firstlineno");
    long first = number == NULL ? 1 : PyLong_AsLong(number);
    struct site_table table = {
        .path = file, .prefix = SLICE("_mt"), .options = SLICE("observed")};
    struct module_text text = {
        .name = SLICE(""), .file = file, .source = SLICE(""), .source_tag = LOG_SOURCE_OTHER};
    struct recorded_module *made;

    PyErr_Clear();
    if (function.size == 0) {
        Py_XDECREF(function_text);
        function_text = read_text(code, "co_name", &function);
    }
    made = make_place(session, &table, &text,
                      &(struct site_function){function, first > 0 ? (uint32_t)first : 1},
                      line, name);
    Py_XDECREF(number);
    Py_XDECREF(function_text);
    Py_XDECREF(file_text);
    return made;
}

/* A visit of the place; its call is that of the frame, or begins there. false: there is none. */
static bool visit_place(struct session *session,
                        struct place *place,
                        struct call *call,
                        PyObject *frame,
                        struct visit *visit)
{
    if (call == NULL) {
        call = frame_join(session, place->module, frame);
    }
    if (call == NULL) {
        return false;
    }
    *visit = (struct visit){
        .module = place->module,
        .site = &place->module->table.sites[0],
        .call = call,
        .time = recorder_time(session->recorder),
        .number = place->visit_count++,
        .is_measured = true,
    };
    return true;
}

/* The visit of the program's line that runs a function of torch: of its own site, or of a place that
 * is made for it and has the function's name. */
static bool find_writer(struct session *session, struct slice name, struct visit *visit)
{
    struct parameters *parameters = session->gradients->parameters;
    struct call *call;
    PyObject *frame = frame_find_program(session, &call);
    PyObject *code;
    struct place *place;
    uint32_t line, site = SITE_NONE;
    bool is_found = false;

    if (frame == NULL) {
        return false;
    }
    line = frame_line(frame);
    if (call != NULL) {
        struct recorded_module *module =
            recorder_module(session->recorder, call->function->table);

        site = module == NULL ? SITE_NONE
                              : find_site(module, call->function->index, line);
        if (site != SITE_NONE) {
            *visit = recorder_peek(session->recorder, module, site, call);
            Py_DECREF(frame);
            return true;
        }
    }
    code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    place = find_place(parameters, code, line);
    if (place == NULL && line > 0) {
        struct place made = {
            .code = code,
            .line = line,
            .module = call != NULL ? place_of_call(session, call, line, name)
                                   : place_of_code(session, code, line, name),
        };

        place = keep_place(parameters, &made);
    }
    is_found = place != NULL && visit_place(session, place, call, frame, visit);
    Py_DECREF(code);
    Py_DECREF(frame);
    return is_found;
}

/* Begins a step of the trace at the program's line; false: nothing is to be recorded. */
static bool begin_step(struct session *session,
                       enum log_step_tag tag,
                       struct slice name,
                       struct visit *visit)
{
    struct call_thread *thread = frame_thread(session);
    struct buffer file = BUFFER_INIT;
    uint32_t line;

    if (thread == NULL || !find_writer(session, name, visit)) {
        return false;
    }
    line = frame_find_caller(session, &file);
    recorder_write_step(session->recorder, tag, thread, name, buffer_slice(&file), line);
    buffer_release(&file);
    return true;
}

/* ---- gradients that a function of torch writes to ---- */

static void record_gradients_all(struct session *session,
                                 const struct visit *visit,
                                 bool is_read,
                                 bool are_written)
{
    struct parameters *parameters = session->gradients->parameters;

    for (uint32_t i = 0; i < parameters->count; i++) {
        PyObject *object = alive(parameters->items[i].reference);

        if (object != NULL) {
            Py_INCREF(object);
            record_gradient(session, visit, i, object, is_read, are_written);
            Py_DECREF(object);
        }
    }
}

/* Whether the function runs for the program, and not for an optimizer's step. */
static bool is_for_program(struct session *session)
{
    struct parameters *parameters = find_all(session);
    PyObject *globals = PyEval_GetGlobals();
    PyObject *name = globals == NULL ? NULL : PyDict_GetItemString(globals, "__name__");

    return parameters != NULL && parameters->step_depth == 0 && name != NULL &&
           PyUnicode_Check(name) &&
           (PyUnicode_CompareWithASCIIString(name, "torch.nn.utils.clip_grad") == 0 ||
            PyUnicode_CompareWithASCIIString(name, "torch.amp.grad_scaler") == 0);
}

static bool begin_write(struct session *session,
                        struct slice name,
                        enum parameters_write part,
                        struct visit *visit)
{
    if (part == PARAMETERS_WRITE_LAST) {
        return find_writer(session, name, visit);
    }
    if (!begin_step(session, LOG_STEP_GRADIENTS, name, visit)) {
        return false;
    }
    record_gradients_all(session, visit, true, false);
    return part == PARAMETERS_WRITE_WHOLE;
}

bool parameters_begin_write(struct session *session,
                            const char *name,
                            enum parameters_write part,
                            struct visit *visit)
{
    bool is_begun = false;

    if (!session->is_muted && session_enter(session)) {
        struct torch_guard guard;

        if (is_for_program(session) && tensor_guard_enter(session->access, &guard)) {
            is_begun = begin_write(session, slice_of(name), part, visit);
            tensor_guard_leave(&guard);
        }
        PyErr_Clear();
        session_leave(session);
    }
    return is_begun;
}

void parameters_end_write(struct session *session,
                          const struct visit *visit,
                          bool is_counted)
{
    if (session_enter(session)) {
        struct torch_guard guard;

        if (find_all(session) != NULL && visit->call->number != 0 &&
            tensor_guard_enter(session->access, &guard)) {
            record_gradients_all(session, visit, false, !is_counted);
            tensor_guard_leave(&guard);
        }
        PyErr_Clear();
        session_leave(session);
    }
}

/* ---- steps of optimizers ---- */

static struct setting *find_setting(struct parameters *parameters, uint64_t key)
{
    for (uint32_t i = 0; i < parameters->setting_count; i++) {
        if (parameters->settings[i].key == key) {
            return &parameters->settings[i];
        }
    }
    if (parameters->setting_count == SETTINGS_MAX) {
        return NULL;
    }
    parameters->settings[parameters->setting_count] = (struct setting){.key = key};
    return &parameters->settings[parameters->setting_count++];
}

/* Of the optimizers' parameters, as a step begins or ends. */
struct step {
    struct session *session;
    struct visit visit;
    PyObject *optimizer;   /* borrowed */
    struct slice kind;     /* "SGD" */
    bool is_read;          /* the step begins */
    unsigned state_checks; /* parameters whose state was searched */
};

static bool read_number(PyObject *item, struct value *value)
{
    if (PyFloat_CheckExact(item)) {
        *value = (struct value){.kind = VALUE_FLOAT, .real = PyFloat_AsDouble(item)};
        return true;
    }
    if (PyBool_Check(item)) {
        *value = (struct value){.kind = VALUE_BOOL, .integer = item == Py_True};
        return true;
    }
    if (PyLong_CheckExact(item)) {
        *value = (struct value){.kind = VALUE_INT, .integer = PyLong_AsLongLong(item)};
        return PyErr_Occurred() == NULL;
    }
    return false;
}

/* Records a setting that is new or has changed: `SGD.lr`, of other groups `SGD.lr[1]`. */
static void
record_setting(struct step *step, Py_ssize_t group, struct slice name, PyObject *item)
{
    struct parameters *parameters = step->session->gradients->parameters;
    uint64_t key = hash_64(name) ^ (uint64_t)(uintptr_t)step->optimizer * 31 ^
                   (uint64_t)group << 48;
    struct value value = {.type = SLICE(""), .text = SLICE("")};
    struct setting *setting;
    struct buffer text = BUFFER_INIT;

    if (!read_number(item, &value)) {
        PyErr_Clear();
        return;
    }
    value.object = (uint64_t)(uintptr_t)step->optimizer;
    setting = find_setting(parameters, key);
    if (setting == NULL || (setting->state.object != 0 &&
                            setting->state.hash == recorder_value_hash(&value))) {
        return;
    }
    buffer_add(&text, step->kind);
    buffer_add_byte(&text, '.');
    buffer_add(&text, name);
    if (group > 0) {
        buffer_add_format(&text, "[%zd]", group);
    }
    recorder_write_parameter(step->session->recorder, &step->visit, buffer_slice(&text),
                             true, &setting->state, &value);
    buffer_release(&text);
}

static void record_settings(struct step *step, Py_ssize_t group, PyObject *dict)
{
    PyObject *name, *item;
    Py_ssize_t position = 0;

    while (PyDict_Next(dict, &position, &name, &item)) {
        Py_ssize_t size = 0;
        const char *text =
            PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8AndSize(name, &size) : NULL;

        if (text != NULL) {
            record_setting(step, group, (struct slice){text, (size_t)size}, item);
        }
    }
    PyErr_Clear();
}

/* The dict with what the optimizer keeps for a parameter; borrowed from `state`, or NULL. */
static PyObject *find_kept(PyObject *state, PyObject *object)
{
    PyObject *kept =
        state != NULL && PyDict_Check(state) ? PyDict_GetItem(state, object) : NULL;

    PyErr_Clear();
    return kept != NULL && PyDict_Check(kept) ? kept : NULL;
}

/* Records which tensors of the parameter's state hold NaN or infinities: `weight.momentum_buffer`. */
static void record_state(struct step *step, uint32_t number, PyObject *object)
{
    struct session *session = step->session;
    PyObject *state = PyObject_GetAttrString(step->optimizer, "state");
    PyObject *kept = Py_XNewRef(find_kept(state, object));
    PyObject *name, *item;
    Py_ssize_t position = 0;
    unsigned count = 0;

    PyErr_Clear();
    while (kept != NULL && count < STATES_MAX &&
           PyDict_Next(kept, &position, &name, &item)) {
        struct buffer text = BUFFER_INIT;
        struct name_state unknown = {.object = 0};
        struct log_nonfinite counts;

        Py_INCREF(item);
        buffer_add(&text, slice_of(session->gradients->parameters->items[number].name));
        add_part(&text, name);
        if (type_cache_get(&session->types, Py_TYPE(item))->kind == TYPE_TENSOR) {
            count++;
            value_record_parameter(session, &step->visit, buffer_slice(&text), true,
                                   &unknown, item, &counts);
        }
        buffer_release(&text);
        Py_DECREF(item);
    }
    Py_XDECREF(kept);
    Py_XDECREF(state);
}

/* The number of a parameter of the optimizer; SLOT_NONE: out of memory. */
static uint32_t number_of(struct step *step, Py_ssize_t group, Py_ssize_t place, PyObject *object)
{
    struct parameters *parameters = step->session->gradients->parameters;
    struct parameter *parameter = find(parameters, object);

    if (parameter == NULL) {
        struct buffer name = BUFFER_INIT;

        buffer_add_format(&name, "param_groups[%zd]['params'][%zd]", group, place);
        parameter = add(parameters, object, buffer_slice(&name), false);
        buffer_release(&name);
    }
    return parameter == NULL ? SLOT_NONE : (uint32_t)(parameter - parameters->items);
}

static void
record_one(struct step *step, Py_ssize_t group, Py_ssize_t place, PyObject *object)
{
    struct session *session = step->session;
    struct parameters *parameters = session->gradients->parameters;
    uint32_t number = number_of(step, group, place, object);

    if (number == SLOT_NONE) {
        return;
    }
    if (step->is_read) {
        record_gradient(session, &step->visit, number, object, true, false);
    }
    if (record_value(session, &step->visit, &parameters->items[number], object,
                     step->is_read) &&
        !step->is_read && step->state_checks++ < STATE_CHECKS_MAX) {
        record_state(step, number, object);
    }
}

static void record_group(struct step *step, Py_ssize_t group, PyObject *dict)
{
    PyObject *list = Py_XNewRef(PyDict_GetItemString(dict, "params"));

    if (step->is_read) {
        record_settings(step, group, dict);
    }
    for (Py_ssize_t i = 0; list != NULL && PyList_Check(list) && i < PyList_Size(list);
         i++) {
        PyObject *object = Py_NewRef(PyList_GetItem(list, i));

        if (type_cache_get(&step->session->types, Py_TYPE(object))->kind ==
            TYPE_TENSOR) {
            record_one(step, group, i, object);
        }
        Py_DECREF(object);
    }
    Py_XDECREF(list);
}

static void record_groups(struct step *step)
{
    PyObject *groups = PyObject_GetAttrString(step->optimizer, "param_groups");

    for (Py_ssize_t i = 0;
         groups != NULL && PyList_Check(groups) && i < PyList_Size(groups); i++) {
        PyObject *dict = Py_NewRef(PyList_GetItem(groups, i));

        if (PyDict_Check(dict)) {
            record_group(step, i, dict);
        }
        Py_DECREF(dict);
    }
    PyErr_Clear();
    Py_XDECREF(groups);
}

static void record_step(struct session *session, PyObject *optimizer, bool is_read)
{
    struct parameters *parameters = session->gradients->parameters;
    struct step step = {.session = session, .optimizer = optimizer, .is_read = is_read};
    struct slice type =
        type_info_name(type_cache_get(&session->types, Py_TYPE(optimizer)));
    struct buffer name = BUFFER_INIT;
    bool is_found;

    step.kind = slice_last_part(type, '.');
    buffer_add(&name, step.kind);
    buffer_add(&name, SLICE(".step"));
    is_found = is_read ? begin_step(session, LOG_STEP_OPTIMIZER, buffer_slice(&name),
                                    &step.visit)
                       : find_writer(session, buffer_slice(&name), &step.visit);
    if (is_found) {
        if (parameters->has_new) {
            settle(session, &step.visit);
        }
        record_groups(&step);
        gradient_hang(session);
    }
    buffer_release(&name);
}

/* torch's hooks of all optimizers call it with an optimizer, before its step and after it. */
static PyObject *notice_step(PyObject *module, PyObject *arguments, bool is_begin)
{
    struct session *session = PyModule_GetState(module);
    struct torch_guard guard;

    if (!session->is_muted && PyTuple_Size(arguments) > 0 && session_enter(session)) {
        struct parameters *parameters = find_all(session);

        if (parameters != NULL && tensor_guard_enter(session->access, &guard)) {
            parameters->step_depth = is_begin ? 1 : 0;
            record_step(session, PyTuple_GetItem(arguments, 0), is_begin);
            tensor_guard_leave(&guard);
        }
        PyErr_Clear();
        session_leave(session);
    }
    Py_RETURN_NONE;
}

static PyObject *step_begins(PyObject *module, PyObject *arguments)
{
    return notice_step(module, arguments, true);
}

static PyObject *step_ends(PyObject *module, PyObject *arguments)
{
    return notice_step(module, arguments, false);
}

static PyMethodDef step_functions[] = {
    {"step_begins", step_begins, METH_VARARGS, "An optimizer's step begins."},
    {"step_ends", step_ends, METH_VARARGS, "An optimizer's step has ended."},
    {NULL, NULL, 0, NULL},
};

int parameters_exec(PyObject *module)
{
    return PyModule_AddFunctions(module, step_functions);
}

/* ---- a recording begins and ends ---- */

static PyObject *register_hook(PyObject *torch, const char *method, PyObject *hook)
{
    PyObject *handle =
        hook == NULL ? NULL : PyObject_CallMethod(torch, method, "O", hook);

    PyErr_Clear();
    return handle;
}

void parameters_attach(struct session *session)
{
    static const char *const names[] = {"step_begins", "step_ends"};
    static const char *const methods[] = {"register_optimizer_step_pre_hook",
                                          "register_optimizer_step_post_hook"};
    struct parameters *parameters = find_all(session);
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *torch = Py_XNewRef(PyDict_GetItemString(modules, "torch.optim.optimizer"));
    PyObject *own = Py_XNewRef(PyDict_GetItemString(modules, "monitorch._recorder"));

    for (size_t i = 0;
         i < 2 && parameters != NULL && torch != NULL && own != NULL; i++) {
        if (parameters->handles[i] == NULL) {
            PyObject *hook = PyObject_GetAttrString(own, names[i]);

            PyErr_Clear();
            parameters->handles[i] = register_hook(torch, methods[i], hook);
            Py_XDECREF(hook);
        }
    }
    Py_XDECREF(torch);
    Py_XDECREF(own);
}

void parameters_end(struct parameters *parameters)
{
    for (size_t i = 0; parameters != NULL && i < 2; i++) {
        PyObject *handle = parameters->handles[i];

        parameters->handles[i] = NULL;
        if (handle != NULL) {
            Py_XDECREF(PyObject_CallMethod(handle, "remove", NULL));
            PyErr_Clear();
            Py_DECREF(handle);
        }
    }
    if (parameters != NULL) {
        clear(parameters);
    }
}
