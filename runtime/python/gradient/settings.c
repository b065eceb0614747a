/* Settings that statements of the program change for later steps: those of optimizers, by their
 * constructor, by a scheduler or by hand; the scale of a GradScaler; and gradients that
 * zero_grad() removed. A statement is noted if it assigns such an object or calls a method of
 * it. Only changes are recorded. */
#include "runtime/python/gradient/private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/values.h"

/* ---- numbers of an optimizer's groups ---- */

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

/* Starts a step of the trace, at the visit's line. */
static void begin_at_visit(struct session *session,
                           const struct visit *visit,
                           enum log_step_tag tag,
                           struct slice name)
{
    struct call_thread *thread = frame_thread(session);

    if (thread != NULL) {
        recorder_write_step(session->recorder, tag, thread, name,
                            visit->module->table.path, visit->site->line);
    }
}

/* Starts the step of the settings with the first one that is recorded. */
static void begin_once(struct settings *settings)
{
    if (settings->step.size > 0 && !settings->is_begun) {
        settings->is_begun = true;
        begin_at_visit(settings->session, settings->visit, settings->tag,
                       settings->step);
    }
}

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

/* Records a setting if it is new or changed. Its name is `SGD.lr` in the first group, and
 * `SGD.lr[1]` in the second. */
static void record_setting(struct settings *settings,
                           Py_ssize_t group,
                           struct slice name,
                           PyObject *item)
{
    struct parameters *parameters = settings->session->gradients->parameters;
    uint64_t key = hash_64(name) ^ (uint64_t)(uintptr_t)settings->optimizer * 31 ^
                   (uint64_t)group << 48;
    struct value value = {.type = SLICE(""), .text = SLICE("")};
    struct setting *setting;
    struct buffer text = BUFFER_INIT;

    if (!read_number(item, &value)) {
        PyErr_Clear();
        return;
    }
    value.object = (uint64_t)(uintptr_t)settings->optimizer;
    setting = find_setting(parameters, key);
    if (setting == NULL || (setting->state.object != 0 &&
                            setting->state.hash == recorder_value_hash(&value))) {
        return;
    }
    begin_once(settings);
    buffer_add(&text, settings->kind);
    buffer_add_byte(&text, '.');
    buffer_add(&text, name);
    if (group > 0) {
        buffer_add_format(&text, "[%zd]", group);
    }
    recorder_write_parameter(settings->session->recorder, settings->visit,
                             buffer_slice(&text), settings->is_read, &setting->state,
                             &value);
    buffer_release(&text);
}

static void record_settings(struct settings *settings, Py_ssize_t group, PyObject *dict)
{
    PyObject *name, *item;
    Py_ssize_t position = 0;

    while (PyDict_Next(dict, &position, &name, &item)) {
        Py_ssize_t size = 0;
        const char *text =
            PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8AndSize(name, &size) : NULL;

        if (text != NULL) {
            record_setting(settings, group, (struct slice){text, (size_t)size}, item);
        }
    }
    PyErr_Clear();
}

void settings_record(struct settings *settings)
{
    PyObject *groups = PyObject_GetAttrString(settings->optimizer, "param_groups");

    for (Py_ssize_t i = 0;
         groups != NULL && PyList_Check(groups) && i < PyList_Size(groups); i++) {
        PyObject *dict = Py_NewRef(PyList_GetItem(groups, i));

        if (PyDict_Check(dict)) {
            record_settings(settings, i, dict);
        }
        Py_DECREF(dict);
    }
    PyErr_Clear();
    Py_XDECREF(groups);
}

/* ---- the objects that change settings ---- */

/* The class of torch, if its module was imported; borrowed, or NULL. */
static PyObject *find_class(struct parameters *parameters, enum setter setter)
{
    static const char *const modules[] = {
        [SETTER_OPTIMIZER] = "torch.optim.optimizer",
        [SETTER_SCHEDULER] = "torch.optim.lr_scheduler",
        [SETTER_SCALER] = "torch.amp.grad_scaler",
        [SETTER_MODULE] = "torch.nn.modules.module",
    };
    static const char *const names[] = {
        [SETTER_OPTIMIZER] = "Optimizer",
        [SETTER_SCHEDULER] = "LRScheduler",
        [SETTER_SCALER] = "GradScaler",
        [SETTER_MODULE] = "Module",
    };

    if (parameters->classes[setter] == NULL) {
        PyObject *module =
            PyDict_GetItemString(PyImport_GetModuleDict(), modules[setter]);

        if (module != NULL && PyModule_Check(module)) {
            PyObject *found =
                PyDict_GetItemString(PyModule_GetDict(module), names[setter]);

            parameters->classes[setter] =
                found != NULL && PyType_Check(found) ? Py_NewRef(found) : NULL;
        }
    }
    return parameters->classes[setter];
}

/* The object's kind; SETTER_COUNT if it changes no settings. */
static enum setter setter_of(struct parameters *parameters, PyObject *object)
{
    if (PyDict_CheckExact(object)) {
        return parameters->optimizer_count > 0 ? SETTER_OPTIMIZER : SETTER_COUNT;
    }
    for (int i = 0; i < SETTER_COUNT; i++) {
        PyObject *found = find_class(parameters, (enum setter)i);

        if (found != NULL && PyType_IsSubtype(Py_TYPE(object), (PyTypeObject *)found)) {
            return (enum setter)i;
        }
    }
    return SETTER_COUNT;
}

void parameters_note_object(struct session *session,
                            const struct visit *visit,
                            PyObject *object)
{
    struct parameters *parameters = parameters_of(session);
    enum site_kind kind = visit->site->kind;
    enum setter setter;

    if (parameters == NULL || (kind != SITE_MUTATE && kind != SITE_ASSIGN) ||
        parameters->touched_count == TOUCHED_MAX) {
        return;
    }
    setter = setter_of(parameters, object);
    if (setter != SETTER_COUNT && (kind == SITE_MUTATE || setter != SETTER_MODULE)) {
        parameters->touched[parameters->touched_count++] =
            (struct touched){Py_NewRef(object), setter, *visit};
    }
}

/* ---- the changed settings ---- */

static void keep_optimizer(struct parameters *parameters, PyObject *optimizer)
{
    for (uint32_t i = 0; i < parameters->optimizer_count; i++) {
        if (parameter_alive(parameters->optimizers[i]) == optimizer) {
            return;
        }
    }
    if (parameters->optimizer_count < OPTIMIZERS_MAX) {
        PyObject *reference = PyWeakref_NewRef(optimizer, NULL);

        PyErr_Clear();
        if (reference != NULL) {
            parameters->optimizers[parameters->optimizer_count++] = reference;
        }
    }
}

/* The optimizer that has the dict as one of its groups. New reference, or NULL. */
static PyObject *find_owner(struct parameters *parameters, PyObject *dict)
{
    for (uint32_t i = 0; i < parameters->optimizer_count; i++) {
        PyObject *optimizer = Py_XNewRef(parameter_alive(parameters->optimizers[i]));
        PyObject *groups = optimizer == NULL
                               ? NULL
                               : PyObject_GetAttrString(optimizer, "param_groups");
        bool is_owner = false;

        PyErr_Clear();
        for (Py_ssize_t k = 0; groups != NULL && PyList_Check(groups) &&
                               k < PyList_Size(groups) && !is_owner;
             k++) {
            is_owner = PyList_GetItem(groups, k) == dict;
        }
        Py_XDECREF(groups);
        if (is_owner) {
            return optimizer;
        }
        Py_XDECREF(optimizer);
    }
    return NULL;
}

static struct slice class_name(struct session *session, PyObject *object)
{
    return slice_last_part(
        type_info_name(type_cache_get(&session->types, Py_TYPE(object))), '.');
}

void settings_add_name(struct session *session,
                       PyObject *optimizer,
                       struct buffer *text)
{
    struct parameters *parameters = session->gradients->parameters;
    unsigned number = 1;

    keep_optimizer(parameters, optimizer);
    for (uint32_t i = 0; i < parameters->optimizer_count; i++) {
        PyObject *other = parameter_alive(parameters->optimizers[i]);

        if (other == optimizer) {
            break;
        }
        number += other != NULL && Py_TYPE(other) == Py_TYPE(optimizer);
    }
    buffer_add(text, class_name(session, optimizer));
    if (number > 1) {
        buffer_add_format(text, "@%u", number);
    }
}

/* Records an optimizer's settings. `what` is the step's name after the class of `setter`, as in
 * `StepLR.step`; "" if no step is written. */
static void record_optimizer(struct session *session,
                             const struct visit *visit,
                             PyObject *optimizer,
                             PyObject *setter,
                             struct slice what)
{
    struct buffer kind = BUFFER_INIT;
    struct buffer step = BUFFER_INIT;
    struct settings settings = {.session = session,
                                .visit = visit,
                                .optimizer = optimizer,
                                .tag = LOG_STEP_SETTINGS};

    /* The names are copied: the type cache may release its texts when other types are added. */
    settings_add_name(session, optimizer, &kind);
    if (what.size > 0) {
        buffer_add(&step, setter == optimizer ? buffer_slice(&kind)
                                              : class_name(session, setter));
        buffer_add(&step, what);
    }
    settings.kind = buffer_slice(&kind);
    settings.step = buffer_slice(&step);
    settings_record(&settings);
    buffer_release(&kind);
    buffer_release(&step);
}

/* Drops recorded gradients that are None now. Returns whether there were any. */
static bool forget_gradients(struct session *session)
{
    struct gradients *gradients = session->gradients;
    struct parameters *parameters = gradients->parameters;
    bool is_any = false;

    for (uint32_t i = 0; i < parameters->count; i++) {
        PyObject *object = parameter_alive(parameters->items[i].reference);
        PyObject *gradient;

        if (object == NULL || parameters->items[i].gradient.object == 0) {
            continue;
        }
        Py_INCREF(object);
        gradient = PyObject_GetAttr(object, gradients->name_grad);
        PyErr_Clear();
        if (gradient == Py_None) {
            parameters->items[i].gradient = (struct name_state){.object = 0};
            is_any = true;
        }
        Py_XDECREF(gradient);
        Py_DECREF(object);
    }
    return is_any;
}

static void note_zero_grad(struct session *session, const struct visit *visit)
{
    if (recorder_options(session->recorder)->has_gradients &&
        forget_gradients(session)) {
        begin_at_visit(session, visit, LOG_STEP_GRADIENTS, SLICE("zero_grad"));
    }
}

/* Records the scale of a GradScaler if it is new, or if update() has changed it. */
static void
record_scale(struct session *session, const struct visit *visit, PyObject *scaler)
{
    struct parameters *parameters = session->gradients->parameters;
    PyObject *scale = PyObject_GetAttrString(scaler, "_scale");
    struct setting *setting =
        find_setting(parameters, (uint64_t)(uintptr_t)scaler * 31 + 1);
    struct log_nonfinite counts;

    PyErr_Clear();
    if (scale != NULL && scale != Py_None && setting != NULL &&
        (setting->state.object != (uint64_t)(uintptr_t)scale ||
         setting->state.version != tensor_version(session->access, scale))) {
        if (setting->state.object != 0) {
            begin_at_visit(session, visit, LOG_STEP_SETTINGS,
                           SLICE("GradScaler.update"));
        }
        (void)value_record_parameter(session, visit, SLICE("GradScaler.scale"), false,
                                     &setting->state, scale, &counts);
    }
    Py_XDECREF(scale);
}

static void record_touched(struct session *session, const struct touched *touched)
{
    struct parameters *parameters = session->gradients->parameters;
    const struct visit *visit = &touched->visit;
    bool is_made = visit->site->kind == SITE_ASSIGN;
    PyObject *optimizer = NULL;

    if (touched->setter == SETTER_SCHEDULER) {
        optimizer = PyObject_GetAttrString(touched->object, "optimizer");
        PyErr_Clear();
        if (optimizer != NULL && setter_of(parameters, optimizer) == SETTER_OPTIMIZER) {
            record_optimizer(session, visit, optimizer, touched->object,
                             is_made ? SLICE("") : SLICE(".step"));
        }
    } else if (touched->setter == SETTER_OPTIMIZER && PyDict_Check(touched->object)) {
        optimizer = find_owner(parameters, touched->object);
        if (optimizer != NULL) {
            record_optimizer(session, visit, optimizer, optimizer,
                             SLICE(".param_groups"));
        }
    } else if (touched->setter == SETTER_OPTIMIZER) {
        record_optimizer(session, visit, touched->object, touched->object,
                         is_made ? SLICE("") : SLICE(".param_groups"));
        note_zero_grad(session, visit);
    } else if (touched->setter == SETTER_MODULE) {
        note_zero_grad(session, visit);
    } else {
        record_scale(session, visit, touched->object);
    }
    Py_XDECREF(optimizer);
}

void settings_settle(struct session *session)
{
    struct parameters *parameters = session->gradients->parameters;

    while (parameters->touched_count > 0) {
        struct touched touched = parameters->touched[--parameters->touched_count];
        struct torch_guard guard;

        if (parameters->number == session->number &&
            parameters_of(session) == parameters && touched.visit.call->number != 0 &&
            tensor_guard_enter(session->access, &guard)) {
            record_touched(session, &touched);
            tensor_guard_leave(&guard);
        }
        PyErr_Clear();
        Py_DECREF(touched.object);
    }
}

void settings_clear(struct parameters *parameters)
{
    while (parameters->touched_count > 0) {
        Py_DECREF(parameters->touched[--parameters->touched_count].object);
    }
    while (parameters->optimizer_count > 0) {
        Py_DECREF(parameters->optimizers[--parameters->optimizer_count]);
    }
    for (int i = 0; i < SETTER_COUNT; i++) {
        Py_CLEAR(parameters->classes[i]);
    }
}
