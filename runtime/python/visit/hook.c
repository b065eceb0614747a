/* The hooks: the steps of a visit, from the inserted call to its events. */
#include "runtime/python/visit/hook.h"

#include "runtime/base/hot.h"
#include "runtime/python/gradient/gradient.h"
#include "runtime/python/record/fresh.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/left_out.h"
#include "runtime/python/visit/sources.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/watch/watch.h"

#define HOOK_NAME "site"

/* A hook is a builtin function bound to one of these. It stays the same over all recordings:
 * what compiles code watches its identity. */
struct hook_object {
    PyObject_HEAD struct session *session; /* borrowed from the module */
    struct watched_module watched;
    uint64_t number; /* of the recording that it has joined */
    struct recorded_module
        *recorded;    /* borrowed from that recording; NULL: it failed */
    PyObject *module; /* owned: keeps the session */
    PyObject *texts;  /* owned: a tuple of bytes: table, name, file, source */
    enum log_source_tag source_tag;
};

static void hook_dealloc(PyObject *self)
{
    struct hook_object *hook = (struct hook_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    Py_XDECREF(hook->module);
    Py_XDECREF(hook->texts);
    watched_module_release(&hook->watched);
    release(self);
    Py_DECREF(type);
}

static struct slice hook_text(const struct hook_object *hook, Py_ssize_t index)
{
    PyObject *bytes = PyTuple_GetItem(hook->texts, index);

    return (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
}

/* Once for a module and a recording. */
static __attribute__((noinline)) void join_recording(struct hook_object *hook)
{
    struct session *session = hook->session;
    struct error error = ERROR_INIT;
    struct module_text text = {
        .table = hook_text(hook, 0),
        .name = hook_text(hook, 1),
        .file = hook_text(hook, 2),
        .source = hook_text(hook, 3),
        .source_tag = hook->source_tag,
    };

    hook->number = session->number;
    fresh_attach(session); /* the module may have imported torch */
    hook->recorded = recorder_add_module(session->recorder, &text, &error);
    if (hook->recorded == NULL) {
        recorder_note(session->recorder, LOG_NOTE_WARNING, SITE_NONE,
                      slice_of(error.text));
    }
}

/* The module as the active recording knows it; it joins at its first visit. */
static inline struct recorded_module *find_recorded(struct hook_object *hook)
{
    if (hook->number != hook->session->number) {
        join_recording(hook);
    }
    return hook->recorded;
}

/* A function that is pickled with its globals has its hook among them: it is None where it is
 * unpickled, as if nothing was ever recorded there. */
static PyObject *hook_reduce(PyObject *self, PyObject *unused)
{
    PyObject *types = PyImport_ImportModule("types");
    PyObject *namespace =
        types == NULL ? NULL : PyObject_GetAttrString(types, "SimpleNamespace");

    (void)self;
    (void)unused;
    Py_XDECREF(types);
    return namespace == NULL
               ? NULL
               : Py_BuildValue("(N(){s:O})", namespace, HOOK_NAME, Py_None);
}

PyObject *hook_make_type(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"__reduce__", hook_reduce, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, hook_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_doc, "One recorded module, as its hook knows it."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.HookedModule",
        .basicsize = sizeof(struct hook_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return PyType_FromModuleAndSpec(module, &spec, NULL);
}

static void record_values(struct session *session,
                          const struct visit *visit,
                          PyObject *const *values,
                          Py_ssize_t count)
{
    static const struct value nothing = {.kind = VALUE_NOTHING};
    static const struct value missing = {.kind = VALUE_MISSING};
    const struct site *site = visit->site;
    Py_ssize_t next = 0;
    bool is_recorded = false;

    if (recorder_options(session->recorder)->has_sources) {
        sources_record(session, visit);
    }

    for (uint32_t i = 0; i < site->write_count; i++) {
        enum site_source source = site->writes[i].source;
        if (source == SITE_SOURCE_NONE) {
            recorder_write(session->recorder, visit, i, SLICE(""), &nothing);
        } else if (next >= count) {
            break;
        } else if (values[next] == NULL) {
            recorder_write(session->recorder, visit, i, SLICE(""), &missing);
            next++;
        } else if (source == SITE_SOURCE_PEEK) {
            value_record_peeked(session, visit, i, values[next++]);
        } else {
            value_record(session, visit, i, values[next++]);
        }
        is_recorded = true;
    }
    if (!is_recorded) {
        recorder_write(session->recorder, visit, 0, SLICE(""), &nothing);
    }
}

/* The module whose method began is written with the call: an enter site's first value, where it
 * is the first value given. */
static struct frame_owner
find_owner(const struct site *site, PyObject *const *values, Py_ssize_t count)
{
    bool has_value = site->kind == SITE_ENTER && site->write_count > 0 &&
                     site->writes[0].source == SITE_SOURCE_VALUE && count > 0;

    return (struct frame_owner){.object = has_value ? values[0] : NULL};
}

/* `owner` may be NULL: then it is found in the values. */
static void visit_site(struct session *session,
                       struct recorded_module *module,
                       uint32_t index,
                       const struct frame_owner *owner,
                       PyObject *const *values,
                       Py_ssize_t count)
{
    const struct site *site = &module->table.sites[index];
    struct frame_owner found = find_owner(site, values, count);
    struct visit visit;
    struct call *call =
        frame_find_call(session, module, index, owner != NULL ? owner : &found);

    if (call != NULL && call->is_left_out) {
        session->imports.left_out++;
    } else if (call != NULL &&
               recorder_begin_visit(session->recorder, module, index, call, &visit)) {
        record_values(session, &visit, values, count);
        if (call->tracked != NULL) {
            track_inspect(session, &visit);
        }
    }
}

/* Whether the module has joined the active recording, and the site is one whose visits are not all
 * recorded. */
static inline bool may_be_left_out(const struct hook_object *hook, unsigned long site)
{
    const struct recorded_module *recorded = hook->recorded;

    return hook->session->recorder != NULL && hook->number == hook->session->number &&
           recorded != NULL && site < recorded->table.site_count &&
           recorded->sites[site].is_left_out;
}

/* Whether this visit is one of those that are not recorded: then nothing is to be done for the
 * recording. */
static inline bool is_left_out(struct hook_object *hook,
                               unsigned long site,
                               PyObject *const *values,
                               Py_ssize_t count)
{
    return may_be_left_out(hook, site) &&
           visit_is_left_out(hook->session, hook->recorded, (uint32_t)site, values,
                             count);
}

HOT static void hook_visit_object(struct hook_object *hook,
                                  unsigned long site,
                                  const struct frame_owner *owner,
                                  PyObject *const *values,
                                  Py_ssize_t count)
{
    struct session *session = hook->session;
    struct recorded_module *recorded;

    if (!session_enter(session)) {
        return;
    }
    recorded = find_recorded(hook);
    if (recorded != NULL && site < recorded->table.site_count) {
        visit_site(session, recorded, (uint32_t)site, owner, values, count);
        if (recorded->sites[site].is_left_out) {
            visit_keep_types(session, recorded, (uint32_t)site, values, count);
        }
    }
    gradient_hang(session);
    session_leave(session);
}

/* Whether the visit has reached a value that the recording is to stop at: then an exception is set. */
static bool must_raise(const struct hook_object *hook)
{
    struct stop *stop = &hook->session->stop;

    return stop->is_reached && stop->thread == session_thread_key() && stop_raise(stop);
}

/* Lines about tracked calls are written before the program continues. False: an exception is set. */
static bool report_tracking(const struct hook_object *hook)
{
    struct session *session = hook->session;

    return session->tracking == NULL || track_report(session);
}

/* All steps of a visit that is not left out, or that others watch. */
static __attribute__((noinline)) PyObject *hook_call_whole(struct hook_object *hook,
                                                           unsigned long site,
                                                           PyObject *const *values,
                                                           Py_ssize_t count)
{
    if (site == (unsigned long)-1) {
        PyErr_Clear();
    }
    if ((!hook->session->is_muted || hook->session->is_own) &&
        !is_left_out(hook, site, values, count)) {
        hook_visit_object(hook, site, NULL, values, count);
        if (!report_tracking(hook)) {
            return NULL;
        }
    }
    if (hook->session->watchers != NULL &&
        !watchers_visit(hook->session, &hook->watched, site, values, count)) {
        return NULL;
    }
    if (must_raise(hook)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

HOT static PyObject *
hook_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct hook_object *hook = (struct hook_object *)self;
    unsigned long site;

    if (count == 0) {
        Py_RETURN_NONE;
    }
    site = PyLong_AsUnsignedLong(arguments[0]);
    if (may_be_left_out(hook, site) && hook->session->watchers == NULL &&
        !hook->session->is_muted &&
        visit_is_skipped(hook->session, &hook->recorded->sites[site], arguments + 1,
                         count - 1)) {
        Py_RETURN_NONE;
    }
    return hook_call_whole(hook, site, arguments + 1, count - 1);
}

static PyMethodDef hook_definition = {"site", (PyCFunction)(void (*)(void))hook_call,
                                      METH_FASTCALL, "Records the visit of a site."};

bool hook_check(PyObject *object)
{
    return PyCFunction_Check(object) &&
           PyCFunction_GetFunction(object) == hook_definition.ml_meth;
}

void hook_visit(PyObject *hook,
                uint32_t site,
                PyObject *const *values,
                Py_ssize_t count)
{
    struct hook_object *object = (struct hook_object *)PyCFunction_GetSelf(hook);

    if (!is_left_out(object, site, values, count)) {
        hook_visit_object(object, site, NULL, values, count);
    }
}

bool hook_observe(PyObject *hook,
                  uint32_t site,
                  const struct frame_owner *owner,
                  PyObject *const *values,
                  Py_ssize_t count)
{
    struct hook_object *object = (struct hook_object *)PyCFunction_GetSelf(hook);

    if (hook_is_recording(hook) && !is_left_out(object, site, values, count)) {
        hook_visit_object(object, site, owner, values, count);
        if (!report_tracking(object)) {
            return false;
        }
    }
    return !must_raise(object);
}

bool hook_is_recording(PyObject *hook)
{
    struct session *session =
        ((struct hook_object *)PyCFunction_GetSelf(hook))->session;

    return session->recorder != NULL && !session->is_closing &&
           (!session->is_muted || session->is_own);
}

void hook_join(PyObject *hook, PyObject *frame)
{
    struct hook_object *object = (struct hook_object *)PyCFunction_GetSelf(hook);
    struct session *session = object->session;
    struct recorded_module *recorded;

    if (!session_enter(session)) {
        return;
    }
    recorded = find_recorded(object);
    if (recorded != NULL) {
        struct call *call = frame_join(session, recorded, frame);

        if (call != NULL && !call->is_left_out &&
            recorder_options(session->recorder)->has_sources) {
            sources_record_frame(session, recorded, call, frame);
        }
    }
    gradient_hang(session);
    session_leave(session);
}

PyObject *hook_join_call(PyObject *module, PyObject *args)
{
    PyObject *running = (PyObject *)PyEval_GetFrame();
    PyObject *hook, *frame;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:join", &hook, &frame)) {
        return NULL;
    }
    if (!hook_check(hook) || running == NULL || Py_TYPE(frame) != Py_TYPE(running)) {
        PyErr_SetString(PyExc_TypeError, "join() expects a hook and a frame");
        return NULL;
    }
    hook_join(hook, frame);
    Py_RETURN_NONE;
}

static PyObject *
make_object(PyObject *module, PyObject *texts, enum log_source_tag source_tag)
{
    struct session *session = PyModule_GetState(module);
    allocfunc allocate = (allocfunc)PyType_GetSlot(session->hook_type, Py_tp_alloc);
    struct hook_object *object = (struct hook_object *)allocate(session->hook_type, 0);
    PyObject *name = PyUnicode_FromString("monitorch._recorder");
    PyObject *hook = NULL;

    if (object != NULL && name != NULL) {
        object->session = session;
        object->module = Py_NewRef(module);
        object->texts = Py_NewRef(texts);
        object->source_tag = source_tag;
        object->watched.text = hook_text(object, 0);
        object->watched.file = hook_text(object, 2);
        hook = PyCFunction_NewEx(&hook_definition, (PyObject *)object, name);
    }
    Py_XDECREF(object);
    Py_XDECREF(name);
    return hook;
}

static bool read_source_tag(const char *kind, enum log_source_tag *tag)
{
    static const struct {
        const char *text;
        enum log_source_tag tag;
    } known[] = {
        {"original", LOG_SOURCE_ORIGINAL},
        {"instrumented", LOG_SOURCE_INSTRUMENTED},
        {"other", LOG_SOURCE_OTHER},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(kind, known[i].text) == 0) {
            *tag = known[i].tag;
            return true;
        }
    }
    PyErr_Format(PyExc_ValueError,
                 "source_kind must be 'original', 'instrumented' or 'other', not '%s'",
                 kind);
    return false;
}

/* Whether the text is a table at all is known at once, not at the first visit. */
static bool check_table(struct slice text)
{
    struct arena arena;
    struct site_table table;
    struct error error = ERROR_INIT;
    bool is_good;

    arena_init(&arena);
    is_good = site_table_read(&table, text, &arena, &error);
    arena_release(&arena);
    if (!is_good) {
        PyErr_SetString(error.kind == ERROR_MEMORY ? PyExc_MemoryError
                                                   : PyExc_ValueError,
                        error.text);
    }
    return is_good;
}

PyObject *hook_make(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"table",  "module_name", "file",
                            "source", "source_kind", NULL};
    const char *table, *name, *file, *source, *kind;
    Py_ssize_t table_size, name_size, file_size, source_size;
    enum log_source_tag source_tag;
    PyObject *texts;
    PyObject *hook = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s#s#s#z#s:make_hook", names,
                                     &table, &table_size, &name, &name_size, &file,
                                     &file_size, &source, &source_size, &kind) ||
        !read_source_tag(kind, &source_tag) ||
        !check_table((struct slice){table, (size_t)table_size})) {
        return NULL;
    }
    texts =
        Py_BuildValue("(y#y#y#y#)", table, table_size, name, name_size, file, file_size,
                      source == NULL ? "" : source, source == NULL ? 0 : source_size);
    if (texts != NULL) {
        hook = make_object(module, texts, source_tag);
        Py_DECREF(texts);
    }
    return hook;
}
