/* Optimizer steps, and functions of torch that write to gradients: the program's line that runs
 * them, and the values that they read and wrote. */
#include "runtime/python/gradient/private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/values.h"

#include <string.h>

/* The maximal number of recorded state tensors of one parameter, and of parameters whose state
 * is recorded in one step. */
#define STATES_MAX       8
#define STATE_CHECKS_MAX 64

/* ---- the line that writes ---- */

/* The site of the function on that line; SITE_NONE if there is none. */
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

/* Reads a text attribute of a code object. `name` borrows from the returned object, which is a
 * new reference or NULL. */
static PyObject *read_text(PyObject *code, const char *attribute, struct slice *name)
{
    PyObject *text = PyObject_GetAttrString(code, attribute);
    Py_ssize_t size = 0;
    const char *bytes = text != NULL && PyUnicode_Check(text)
                            ? PyUnicode_AsUTF8AndSize(text, &size)
                            : NULL;

    PyErr_Clear();
    *name =
        (struct slice){bytes == NULL ? "" : bytes, bytes == NULL ? 0 : (size_t)size};
    return text;
}

/* Adds a module to the trace with one site: a line of a function that writes to parameters. */
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
        made = recorder_add_text(session->recorder, &module, &error);
    }
    buffer_release(&text);
    return made;
}

static struct place *keep_place(struct parameters *parameters,
                                const struct place *place)
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

/* Makes a place for a line in the function of a recorded call. */
static struct recorded_module *place_of_call(struct session *session,
                                             const struct call *call,
                                             uint32_t line,
                                             struct slice name)
{
    const struct recorded_module *module =
        recorder_module(session->recorder, call->function->table);

    return module == NULL ? NULL
                          : make_place(session, &module->table, &module->source->text,
                                       &module->table.functions[call->function->index],
                                       line, name);
}

/* Makes a place for a line in code that is not instrumented. */
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
    struct module_text text = {.name = SLICE(""),
                               .file = file,
                               .source = SLICE(""),
                               .source_tag = LOG_SOURCE_OTHER};
    struct recorded_module *made;

    PyErr_Clear();
    if (function.size == 0) {
        Py_XDECREF(function_text);
        function_text = read_text(code, "co_name", &function);
    }
    made = make_place(
        session, &table, &text,
        &(struct site_function){function, first > 0 ? (uint32_t)first : 1}, line, name);
    Py_XDECREF(number);
    Py_XDECREF(function_text);
    Py_XDECREF(file_text);
    return made;
}

/* Sets `visit` to a new visit of the place, in `call` or in a call of the frame. Returns false
 * if the frame gets no call. */
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

/* Sets `visit` to a visit of the program's line that runs a function of torch: a visit of the
 * line's own site, or of a place that is made for it and has the function's name. Returns false
 * if there is no such line. */
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

        site =
            module == NULL ? SITE_NONE : find_site(module, call->function->index, line);
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

/* Starts a step of the trace at the program's line. Returns false if nothing is to be recorded. */
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
    recorder_write_step(session->recorder, tag, thread, name, buffer_slice(&file),
                        line);
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
        PyObject *object = parameter_alive(parameters->items[i].reference);

        if (object != NULL) {
            Py_INCREF(object);
            parameter_record_gradient(session, visit, i, object, is_read, are_written);
            Py_DECREF(object);
        }
    }
}

/* Whether the function was called by the program, and not inside an optimizer's step. */
static bool is_for_program(struct session *session)
{
    struct parameters *parameters = parameters_of(session);
    PyObject *globals = PyEval_GetGlobals();
    PyObject *name = globals == NULL ? NULL : PyDict_GetItemString(globals, "__name__");

    return parameters != NULL && parameters->step_depth == 0 &&
           recorder_options(session->recorder)->has_gradients && name != NULL &&
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

        if (parameters_of(session) != NULL && visit->call->number != 0 &&
            tensor_guard_enter(session->access, &guard)) {
            record_gradients_all(session, visit, false, !is_counted);
            tensor_guard_leave(&guard);
        }
        PyErr_Clear();
        session_leave(session);
    }
}

/* ---- steps of optimizers ---- */

/* A record of an optimizer's parameters, before or after its step. */
struct step {
    struct session *session;
    struct visit visit;
    PyObject *optimizer;   /* borrowed */
    struct slice kind;     /* "SGD" */
    bool is_read;          /* before the step */
    unsigned state_checks; /* number of parameters whose state was recorded */
};

/* The dict that the optimizer stores for a parameter. Borrowed from `state`, or NULL. */
static PyObject *find_kept(PyObject *state, PyObject *object)
{
    PyObject *kept =
        state != NULL && PyDict_Check(state) ? PyDict_GetItem(state, object) : NULL;

    PyErr_Clear();
    return kept != NULL && PyDict_Check(kept) ? kept : NULL;
}

/* Records the tensors of the parameter's state, named as in `weight.momentum_buffer`. */
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
        name_add_part(&text, name);
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

/* The index of a parameter of the optimizer, added if it is new. SLOT_NONE if memory runs out. */
static uint32_t
number_of(struct step *step, Py_ssize_t group, Py_ssize_t place, PyObject *object)
{
    struct parameters *parameters = step->session->gradients->parameters;
    struct parameter *parameter = parameters_find(parameters, object);

    if (parameter == NULL) {
        struct buffer name = BUFFER_INIT;

        buffer_add_format(&name, "param_groups[%zd]['params'][%zd]", group, place);
        parameter = parameters_add(parameters, object, buffer_slice(&name), false);
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
        parameter_record_gradient(session, &step->visit, number, object, true, false);
    }
    if (parameter_record_value(session, &step->visit, &parameters->items[number],
                               object, step->is_read) &&
        !step->is_read && step->state_checks++ < STATE_CHECKS_MAX) {
        record_state(step, number, object);
    }
}

static void record_group(struct step *step, Py_ssize_t group, PyObject *dict)
{
    PyObject *list = Py_XNewRef(PyDict_GetItemString(dict, "params"));

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
    struct buffer kind = BUFFER_INIT;
    struct buffer name = BUFFER_INIT;
    bool is_found;

    settings_add_name(session, optimizer, &kind);
    step.kind = buffer_slice(&kind);
    buffer_add(&name, step.kind);
    buffer_add(&name, SLICE(".step"));
    is_found = is_read ? begin_step(session, LOG_STEP_OPTIMIZER, buffer_slice(&name),
                                    &step.visit)
                       : find_writer(session, buffer_slice(&name), &step.visit);
    if (is_found) {
        if (parameters->has_new) {
            parameters_add_all(session, &step.visit);
        }
        if (is_read) {
            settings_record(&(struct settings){.session = session,
                                               .visit = &step.visit,
                                               .optimizer = optimizer,
                                               .kind = step.kind,
                                               .is_read = true});
        }
        record_groups(&step);
        gradient_hang(session);
    }
    buffer_release(&kind);
    buffer_release(&name);
}

/* Called by torch's hooks for all optimizers, with the optimizer, before and after its step. */
static PyObject *notice_step(PyObject *module, PyObject *arguments, bool is_begin)
{
    struct session *session = PyModule_GetState(module);
    struct torch_guard guard;

    if (!session->is_muted && PyTuple_Size(arguments) > 0 && session_enter(session)) {
        struct parameters *parameters = parameters_of(session);

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

/* ---- start and end of a recording ---- */

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
    struct parameters *parameters = parameters_of(session);
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *torch =
        Py_XNewRef(PyDict_GetItemString(modules, "torch.optim.optimizer"));
    PyObject *own = Py_XNewRef(PyDict_GetItemString(modules, "monitorch._recorder"));

    for (size_t i = 0; i < 2 && parameters != NULL && torch != NULL && own != NULL;
         i++) {
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
        parameters_clear(parameters);
    }
}
