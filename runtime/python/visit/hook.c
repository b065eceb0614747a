/* The hooks: the steps of a visit, from the inserted call to its events. */
#include "runtime/python/visit/hook.h"

#include "runtime/base/memory.h"
#include "runtime/python/gradient/gradient.h"
#include "runtime/python/record/change.h"
#include "runtime/python/record/fresh.h"
#include "runtime/python/record/session.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/visit/visit.h"
#include "runtime/python/visit/walk.h"
#include "runtime/record/left_out.h"

#include <assert.h>
#include <math.h>

static HOT bool visit_is_plain(const struct recorded_site *site, PyObject *value);

/* The conditions of session_enter under which it has nothing to do. */
static inline bool visit_is_recorded_here(const struct session *session)
{
    return !session->is_closing && !session->is_own &&
           session->fork_count == session_fork_count() &&
           (session->only_thread == 0 ||
            session->only_thread == session_thread_key()) &&
           (session->tracking == NULL || tracking_is_idle(session->tracking));
}

/* A fast path of visit_is_left_out for visits of one value that only have to be counted, as most
 * in a loop. Returns false if visit_is_left_out has to decide. */
static inline bool visit_is_skipped(const struct session *session,
                                    struct recorded_site *site,
                                    PyObject *const *values,
                                    Py_ssize_t count)
{
    if (count != 1 || values[0] == NULL || !left_out_skips_simply(site) ||
        session->only_thread != 0 || !visit_is_recorded_here(session) ||
        (Py_TYPE(values[0]) != &PyLong_Type && Py_TYPE(values[0]) != site->plain_type &&
         !visit_is_plain(site, values[0]))) {
        return false;
    }
    left_out_count_skipped(site);
    return true;
}

/* ---- visits that are left out: their values are numbers, texts and the like, or containers
 * whose newest item is one ---- */

/* So many items of a tuple are examined, since a tuple is new at each visit. */
#define TUPLE_ITEM_MAX 8

static inline bool is_plain_number(const PyObject *object, const PyTypeObject *type)
{
    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyBool_Type ||
           object == Py_None || type == &PyBytes_Type;
}

/* Whether the value is a finite float. Numbers that are not finite are always recorded. */
static bool is_plain_float(PyObject *object, const PyTypeObject *type)
{
    return type == &PyFloat_Type && isfinite(PyFloat_AsDouble(object));
}

static bool is_plain_item(const struct recorded_site *site, PyObject *item)
{
    const PyTypeObject *type = Py_TYPE(item);

    if (is_plain_number(item, type) || is_plain_float(item, type) ||
        type == site->plain_item_type) {
        return true;
    }
    if (type != &PyTuple_Type || PyTuple_Size(item) > TUPLE_ITEM_MAX) {
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(item); i++) {
        PyObject *part = PyTuple_GetItem(item, i);
        if (!is_plain_number(part, Py_TYPE(part)) &&
            !is_plain_float(part, Py_TYPE(part))) {
            return false;
        }
    }
    return true;
}

static bool is_plain_list(const struct recorded_site *site, PyObject *list)
{
    Py_ssize_t count = Py_SIZE(list);

    return count == 0 || is_plain_item(site, PyList_GetItem(list, count - 1));
}

/* Whether the entry at the last position is plain. After a deletion it need not be the newest
 * one. */
static bool is_plain_dict(const struct recorded_site *site, PyObject *dict)
{
    Py_ssize_t position = PyDict_Size(dict) - 1;
    PyObject *key, *item;

    return position < 0 || !PyDict_Next(dict, &position, &key, &item) ||
           is_plain_item(site, item);
}

static bool is_plain_tuple(const struct recorded_site *site, PyObject *tuple)
{
    Py_ssize_t count = PyTuple_Size(tuple);

    for (Py_ssize_t i = 0; i < count && i < TUPLE_ITEM_MAX; i++) {
        if (!is_plain_item(site, PyTuple_GetItem(tuple, i))) {
            return false;
        }
    }
    return true;
}

/* Whether a value is neither a tensor nor a number that is not finite, nor a container whose
 * newest item is one. */
static HOT bool visit_is_plain(const struct recorded_site *site, PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);

    if (type == &PyList_Type) {
        return is_plain_list(site, value);
    }
    if (type == &PyDict_Type) {
        return is_plain_dict(site, value);
    }
    if (is_plain_number(value, type) || type == site->plain_type ||
        is_plain_float(value, type)) {
        return true;
    }
    if (PyList_Check(value)) {
        return is_plain_list(site, value);
    }
    if (PyDict_Check(value)) {
        return is_plain_dict(site, value);
    }
    return type == &PyTuple_Type && is_plain_tuple(site, value);
}

/* Whether the value at the end of a dotted name is plain. It is read only if the recording stops
 * at values that are not finite; otherwise the answer is true. */
static bool is_plain_peeked(struct session *session,
                            const struct recorded_site *site,
                            struct slice name,
                            PyObject *root)
{
    PyObject *object;
    bool is_so;

    if (!stop_is_wanted(&session->stop)) {
        return true;
    }
    object = walk_dotted(&session->types, root, name);
    is_so = object == NULL || visit_is_plain(site, object);
    Py_XDECREF(object);
    return is_so;
}

/* are_plain for a site with values that must be found by their names. */
static __attribute__((noinline)) bool
are_plain_named(struct session *session,
                const struct recorded_module *module,
                uint32_t index,
                PyObject *const *values,
                Py_ssize_t count)
{
    assert(index < module->table.site_count);

    const struct site *site = &module->table.sites[index];
    Py_ssize_t next = 0;

    for (uint32_t i = 0; i < site->write_count && next < count; i++) {
        const struct site_write *write = &site->writes[i];
        PyObject *value = write->source == SITE_SOURCE_NONE ? NULL : values[next++];

        if (value == NULL) {
            continue;
        }
        if (write->source == SITE_SOURCE_PEEK
                ? !is_plain_peeked(session, &module->sites[index], write->name, value)
                : !visit_is_plain(&module->sites[index], value)) {
            return false;
        }
    }
    return true;
}

static inline bool are_plain(struct session *session,
                             const struct recorded_module *module,
                             uint32_t index,
                             PyObject *const *values,
                             Py_ssize_t count)
{
    assert(index < module->table.site_count);

    const struct recorded_site *site = &module->sites[index];

    if (site->has_peeks) {
        return are_plain_named(session, module, index, values, count);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (values[i] != NULL && !visit_is_plain(site, values[i])) {
            return false;
        }
    }
    return true;
}

/* Whether this visit is left out; if so, it is counted. The session need not be entered. */
static HOT bool visit_is_left_out(struct session *session,
                                  struct recorded_module *module,
                                  uint32_t site,
                                  PyObject *const *values,
                                  Py_ssize_t count)
{
    assert(site < module->table.site_count);

    struct recorded_site *recorded = &module->sites[site];

    if (!left_out_skips(recorded) || !visit_is_recorded_here(session) ||
        !are_plain(session, module, site, values, count)) {
        return false;
    }
    if (recorded->is_enter && recorded->function->known_count > 0) {
        frame_skip_call(session);
        if (session->recorder == NULL || session->is_closing) {
            return true;
        }
    }
    left_out_skip(session->recorder, module, site);
    return true;
}

/* The newest item of a list or dict, the first of a tuple. Returns NULL if there is none. */
static PyObject *newest_item(PyObject *object)
{
    Py_ssize_t position;
    PyObject *key, *item;

    if (PyList_Check(object) && PyList_Size(object) > 0) {
        return PyList_GetItem(object, PyList_Size(object) - 1);
    }
    if (PyDict_Check(object) && (position = PyDict_Size(object) - 1) >= 0 &&
        PyDict_Next(object, &position, &key, &item)) {
        return item;
    }
    return PyTuple_Check(object) && PyTuple_Size(object) > 0
               ? PyTuple_GetItem(object, 0)
               : NULL;
}

/* Whether every value of such a type is plain. A container is not: its items decide. */
static bool is_plain_kind(enum type_kind kind)
{
    return kind == TYPE_OBJECT || kind == TYPE_BYTES || kind == TYPE_COMPLEX ||
           kind == TYPE_INT || kind == TYPE_TEXT;
}

/* Remembers types without tensors, after a visit was recorded at a site whose visits may be left
 * out. Values of these types are plain from then on. */
static void visit_keep_types(struct session *session,
                             struct recorded_module *module,
                             uint32_t site,
                             PyObject *const *values,
                             Py_ssize_t count)
{
    assert(site < module->table.site_count);

    struct recorded_site *recorded = &module->sites[site];

    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = values[i];
        PyObject *item = value == NULL ? NULL : newest_item(value);

        if (value != NULL && !visit_is_plain(recorded, value) &&
            is_plain_kind(type_cache_get(&session->types, Py_TYPE(value))->kind)) {
            recorded->plain_type = Py_TYPE(value);
        }
        if (item != NULL && !is_plain_item(recorded, item) &&
            is_plain_kind(type_cache_get(&session->types, Py_TYPE(item))->kind)) {
            recorded->plain_item_type = Py_TYPE(item);
        }
    }
}

/* ---- names that are read before they have an event ----
 *
 * A site is visited after its statement, so the value that is recorded is the one that the name
 * has then. It is the value that was read, unless a function called by the statement has
 * assigned the name again. */

static struct slice root_of(struct slice name)
{
    return slice_part(name, 0, slice_find(name, SLICE("."), 0));
}

/* A new reference, or NULL without an exception. */
static PyObject *find_name(PyObject *names, struct slice name)
{
    PyObject *key = PyUnicode_DecodeUTF8(name.bytes, (Py_ssize_t)name.size, "strict");
    PyObject *value = NULL;

    if (key != NULL) {
        value = PyDict_CheckExact(names) ? Py_XNewRef(PyDict_GetItem(names, key))
                                         : PyObject_GetItem(names, key);
    }
    Py_XDECREF(key);
    PyErr_Clear();
    return value;
}

/* The module whose method the call runs, if `root` is the method's first parameter. A new
 * reference, or NULL. */
static PyObject *
find_self(struct session *session, const struct visit *visit, struct slice root)
{
    const struct call *call = visit->call;
    uint32_t enter = call->function->enter;
    const struct site *site;

    if (call->class_name == 0 || call->self == NULL || enter == SITE_NONE) {
        return NULL;
    }
    site = &visit->module->table.sites[enter];
    return site->write_count > 0 && slice_equal(site->writes[0].name, root)
               ? path_find_alive(session, call->self)
               : NULL;
}

/* The value of the first part of a read name; a new reference, or NULL. */
static PyObject *find_root(struct session *session,
                           const struct visit *visit,
                           const struct site_read *read)
{
    struct slice root = root_of(read->name);
    bool is_global = read->scope == SITE_SCOPE_GLOBAL || visit->site->function == 0;
    PyObject *found = NULL;

    if (is_global) {
        PyObject *names = PyEval_GetGlobals();
        found = names == NULL ? NULL : find_name(names, root);
    }
    if (found == NULL && !is_global && root.size < read->name.size) {
        found = find_self(session, visit, root);
    }
    return found;
}

/* Records the value of a read name whose first part has the value `object`. Steals the reference
 * to `object`; NULL: the name is not bound. */
static void record_source(struct session *session,
                          const struct visit *visit,
                          uint32_t index,
                          PyObject *object)
{
    assert(index < visit->site->read_count);

    struct slice name = visit->site->reads[index].name;
    bool is_recorded = false;

    if (object != NULL && root_of(name).size < name.size) {
        PyObject *end = walk_dotted(&session->types, object, name);
        Py_DECREF(object);
        object = end;
    }
    if (object != NULL) {
        is_recorded =
            value_record_tensors(session, visit, RECORDER_READ(index), object);
        Py_DECREF(object);
    }
    if (!is_recorded) {
        recorder_pass_read(visit, index);
    }
}

/* Records the values that the site reads and that have no event yet. Names that the site itself
 * writes are skipped: their old values are lost when the site is visited. */
static void sources_record(struct session *session, const struct visit *visit)
{
    for (uint32_t i = 0; i < visit->site->read_count; i++) {
        const struct site_read *read = &visit->site->reads[i];

        if (recorder_is_read_new(session->recorder, visit, i) &&
            !site_writes(visit->site, read->name)) {
            record_source(session, visit, i, find_root(session, visit, read));
        }
    }
}

/* ---- a call that is already running ---- */

static PyObject *
find_in_frame(PyObject *frame, const struct site_read *read, bool has_slots)
{
    struct slice root = root_of(read->name);
    PyObject *name = PyUnicode_DecodeUTF8(root.bytes, (Py_ssize_t)root.size, "strict");
    PyObject *found = NULL;

    if (name != NULL) {
        int slot = read->scope != SITE_SCOPE_GLOBAL
                       ? frame_find_slot(frame_code(frame), name)
                       : FRAME_NO_SLOT;

        found = frame_find(frame, has_slots, name, slot);
    }
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

static void record_ahead(struct session *session,
                         const struct visit *visit,
                         PyObject *frame,
                         bool has_slots)
{
    for (uint32_t i = 0; i < visit->site->read_count; i++) {
        if (recorder_is_read_new(session->recorder, visit, i)) {
            record_source(session, visit, i,
                          find_in_frame(frame, &visit->site->reads[i], has_slots));
        }
    }
}

/* Records the values that the rest of the call reads. Sites after the frame's line are handled
 * first, so that a value is recorded where it is read next; sites before it may run again in a
 * loop. */
static void sources_record_frame(struct session *session,
                                 struct recorded_module *module,
                                 struct call *call,
                                 PyObject *frame)
{
    bool has_slots = frame_is_function(frame_code(frame));
    int line = PyFrame_GetLineNumber((PyFrameObject *)frame);

    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < module->table.site_count; i++) {
            const struct site *site = &module->table.sites[i];
            bool is_next = (int64_t)site->line > line;

            if (site->function == call->function->index && is_next == (turn == 0)) {
                struct visit visit = recorder_peek(session->recorder, module, i, call);

                record_ahead(session, &visit, frame, has_slots);
            }
        }
    }
}

#define HOOK_NAME "site"

/* The object to which a hook, a builtin function, is bound. It stays the same in all recordings:
 * compilers of Python code guard on its identity. */
struct hook_object {
    PyObject_HEAD struct session *session; /* borrowed from the extension module */
    consumer_set *sets;   /* owned: one for each of the module's sites */
    uint64_t sets_number; /* the session's consumers.number for which they were made */
    uint64_t number;      /* of the recording that it joined */
    struct recorded_module
        *recorded;              /* borrowed from that recording; NULL: joining failed */
    struct site_module *module; /* used */
    PyObject *extension;        /* owned: keeps the session */
};

static void hook_dealloc(PyObject *self)
{
    struct hook_object *hook = (struct hook_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    memory_free(hook->sets);
    site_module_leave(hook->module);
    Py_XDECREF(hook->extension);
    release(self);
    Py_DECREF(type);
}

/* Adds the module to the recording, once for each recording. */
static __attribute__((noinline)) void join_recording(struct hook_object *hook)
{
    struct session *session = hook->session;
    struct error error = ERROR_INIT;

    hook->number = session->number;
    fresh_attach(session); /* the module may have imported torch */
    hook->recorded = recorder_add_module(session->recorder, hook->module, &error);
    if (hook->recorded == NULL) {
        recorder_note(session->recorder, LOG_NOTE_WARNING, SITE_NONE,
                      slice_of(error.text));
    }
}

/* The module in the active recording, to which it is added at its first visit. */
static inline struct recorded_module *find_recorded(struct hook_object *hook)
{
    if (hook->number != hook->session->number) {
        join_recording(hook);
    }
    return hook->recorded;
}

/* Pickles a hook, which is among the globals of a function that is pickled by value. It is
 * unpickled as None, so nothing is recorded there. */
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

static const struct value nothing = {.kind = VALUE_NOTHING};
static const struct value missing = {.kind = VALUE_MISSING};

/* Records the value at the end of a dotted name whose root is `root`. Reads no property. */
static void record_peeked(struct site_visit *from,
                          const struct visit *visit,
                          uint32_t write,
                          PyObject *root)
{
    PyObject *object = visit_peek(from, write, root);

    if (object == NULL) {
        recorder_write(from->session->recorder, visit, write, SLICE(""), &missing);
        return;
    }
    value_record(from->session, visit, write, object);
    Py_DECREF(object);
}

static void record_values(struct site_visit *from, const struct visit *visit)
{
    struct session *session = from->session;
    PyObject *const *values = from->values;
    Py_ssize_t count = from->count;
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
            record_peeked(from, visit, i, values[next++]);
        } else {
            value_record(session, visit, i, values[next++]);
        }
        is_recorded = true;
    }
    if (!is_recorded) {
        recorder_write(session->recorder, visit, 0, SLICE(""), &nothing);
    }
}

/* The object whose method started, for the record of the call: the first value of an enter site,
 * if it was passed to the hook. */
static struct frame_owner
find_owner(const struct site *site, PyObject *const *values, Py_ssize_t count)
{
    bool has_value = site->kind == SITE_ENTER && site->write_count > 0 &&
                     site->writes[0].source == SITE_SOURCE_VALUE && count > 0;

    return (struct frame_owner){.object = has_value ? values[0] : NULL};
}

/* Records the visit. If `owner` is NULL, it is found in the values. */
static void visit_site(struct site_visit *from,
                       struct recorded_module *module,
                       const struct frame_owner *owner)
{
    struct session *session = from->session;
    struct frame_owner found = find_owner(from->site, from->values, from->count);
    struct visit visit;
    struct call *call =
        frame_find_call(session, module, from->index, owner != NULL ? owner : &found);

    if (call != NULL && call->is_left_out) {
        session->imports.left_out++;
    } else if (call != NULL && recorder_begin_visit(session->recorder, module,
                                                    from->index, call, &visit)) {
        record_values(from, &visit);
        if (call->tracked != NULL) {
            track_inspect(session, &visit);
        }
    }
}

/* Whether the site has visits that are left out, in the active recording. The module must have
 * the site; it need not have joined the recording. */
static inline bool may_be_left_out(const struct hook_object *hook, uint32_t site)
{
    const struct recorded_module *recorded = hook->recorded;

    return hook->session->recorder != NULL && hook->number == hook->session->number &&
           recorded != NULL && recorded->sites[site].is_left_out;
}

/* Whether this visit is left out, so that the recording has nothing to do. */
static inline bool is_left_out(struct hook_object *hook,
                               uint32_t site,
                               PyObject *const *values,
                               Py_ssize_t count)
{
    return may_be_left_out(hook, site) &&
           visit_is_left_out(hook->session, hook->recorded, site, values, count);
}

/* Work after all events of a visit are written. Runs Python code. */
static inline void finish_visit(struct session *session)
{
    if (session->gradients != NULL) {
        gradient_hang(session);
    }
    if (session->changes != NULL) {
        change_apply(session);
    }
}

HOT static void record_visit(struct hook_object *hook,
                             struct site_visit *visit,
                             const struct frame_owner *owner)
{
    struct session *session = hook->session;
    struct recorded_module *recorded;

    if (!session_enter(session)) {
        return;
    }
    recorded = find_recorded(hook);
    if (recorded != NULL) {
        visit_site(visit, recorded, owner);
        if (recorded->sites[visit->index].is_left_out) {
            visit_keep_types(session, recorded, visit->index, visit->values,
                             visit->count);
        }
    }
    finish_visit(session);
    session_leave(session);
}

/* Whether the visit has reached a value at which the recording stops. If so, an exception is
 * set. */
static bool must_raise(const struct hook_object *hook)
{
    struct stop *stop = &hook->session->stop;

    return stop->is_reached && stop->thread == session_thread_key() && stop_raise(stop);
}

/* Writes the lines about tracked calls before the program continues. Returns false with an
 * exception set. */
static bool report_tracking(const struct hook_object *hook)
{
    struct session *session = hook->session;

    return session->tracking == NULL || track_report(session);
}

/* Makes the sets of the module's sites. Returns false with an exception set. Not inlined: it
 * runs once for a module after consumers have changed. */
static __attribute__((noinline)) bool hook_choose(struct hook_object *hook)
{
    struct session *session = hook->session;
    uint32_t count = hook->module->table.site_count;
    consumer_set recording = session_records(session) ? CONSUMER_RECORDING : 0;

    for (uint32_t i = 0; i < count; i++) {
        hook->sets[i] = recording;
    }
    if (!consumers_choose(&session->consumers, hook->module, hook->sets)) {
        return false;
    }
    hook->sets_number = session->consumers.number;
    return true;
}

/* Passes the visit to its consumers but the recording. The sets are checked again, since the
 * recording may have run code that adds or removes consumers. Returns false with an exception
 * set. */
static bool visit_others(struct hook_object *hook, struct site_visit *visit)
{
    consumer_set set;

    if (hook->sets_number != hook->session->consumers.number && !hook_choose(hook)) {
        return false;
    }
    set = hook->sets[visit->index] & ~CONSUMER_RECORDING;
    return set == 0 || consumers_visit(visit, set);
}

/* Passes the visit to the consumers of the set. Returns false with an exception set. */
static inline bool
visit_set(struct hook_object *hook, struct site_visit *visit, consumer_set set)
{
    if ((set & CONSUMER_RECORDING) == 0) {
        return consumers_visit(visit, set);
    }
    if (!is_left_out(hook, visit->index, visit->values, visit->count)) {
        record_visit(hook, visit, NULL);
        if (!report_tracking(hook)) {
            return false;
        }
    }
    return set == CONSUMER_RECORDING || visit_others(hook, visit);
}

/* visit_set for several consumers. Each tensor is measured once for all of them, unless the
 * recording changes values after it has measured them. */
static __attribute__((noinline)) bool
visit_several(struct hook_object *hook, struct site_visit *visit, consumer_set set)
{
    struct visit_figures figures;
    struct visit_figures *former;
    bool is_good;

    figures.count = 0;
    former = visit_keep_figures(hook->session->changes == NULL ? &figures : NULL);
    is_good = visit_set(hook, visit, set);
    visit_keep_figures(former);
    visit_figures_release(&figures);
    return is_good;
}

/* Handles a visit that has a consumer and is not skipped at once. */
static __attribute__((noinline)) PyObject *hook_call_whole(struct hook_object *hook,
                                                           uint32_t site,
                                                           consumer_set set,
                                                           PyObject *const *values,
                                                           Py_ssize_t count)
{
    struct site_visit visit;
    bool is_good;

    visit_init(&visit, hook->session, hook->module, site, values, count);
    is_good = (set & (set - 1)) == 0 ? visit_set(hook, &visit, set)
                                     : visit_several(hook, &visit, set);
    is_good = is_good && !must_raise(hook);
    visit_release(&visit);
    return is_good ? Py_NewRef(Py_None) : NULL;
}

HOT static PyObject *
hook_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    struct hook_object *hook = (struct hook_object *)self;
    unsigned long site;
    consumer_set set;

    if (count == 0) {
        Py_RETURN_NONE;
    }
    site = PyLong_AsUnsignedLong(arguments[0]);
    if (site >= hook->module->table.site_count) {
        PyErr_Clear(); /* the compiler writes only valid numbers */
        Py_RETURN_NONE;
    }
    if (hook->sets_number != hook->session->consumers.number && !hook_choose(hook)) {
        return NULL;
    }
    set = hook->sets[site];
    if (set == 0 ||
        (set == CONSUMER_RECORDING && may_be_left_out(hook, (uint32_t)site) &&
         visit_is_skipped(hook->session, &hook->recorded->sites[site], arguments + 1,
                          count - 1))) {
        Py_RETURN_NONE;
    }
    return hook_call_whole(hook, (uint32_t)site, set, arguments + 1, count - 1);
}

static PyMethodDef hook_definition = {"site", (PyCFunction)(void (*)(void))hook_call,
                                      METH_FASTCALL, "Records the visit of a site."};

bool hook_check(PyObject *object)
{
    return PyCFunction_Check(object) &&
           PyCFunction_GetFunction(object) == hook_definition.ml_meth;
}

/* Records the visit, unless it is left out. */
static void record_alone(struct hook_object *hook,
                         uint32_t site,
                         const struct frame_owner *owner,
                         PyObject *const *values,
                         Py_ssize_t count)
{
    struct site_visit visit;

    if (site < hook->module->table.site_count &&
        !is_left_out(hook, site, values, count)) {
        visit_init(&visit, hook->session, hook->module, site, values, count);
        record_visit(hook, &visit, owner);
        visit_release(&visit);
    }
}

void hook_visit(PyObject *hook,
                uint32_t site,
                PyObject *const *values,
                Py_ssize_t count)
{
    record_alone((struct hook_object *)PyCFunction_GetSelf(hook), site, NULL, values,
                 count);
}

bool hook_observe(PyObject *hook,
                  uint32_t site,
                  const struct frame_owner *owner,
                  PyObject *const *values,
                  Py_ssize_t count)
{
    struct hook_object *object = (struct hook_object *)PyCFunction_GetSelf(hook);

    if (hook_is_recording(hook)) {
        record_alone(object, site, owner, values, count);
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

    return session_records(session) && !session->is_closing;
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
    finish_visit(session);
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

/* Makes the object of a hook. It takes over the use of `site_module`. */
static PyObject *make_object(PyObject *extension, struct site_module *site_module)
{
    struct session *session = PyModule_GetState(extension);
    allocfunc allocate = (allocfunc)PyType_GetSlot(session->hook_type, Py_tp_alloc);
    struct hook_object *object = (struct hook_object *)allocate(session->hook_type, 0);
    PyObject *name = PyUnicode_FromString("monitorch._recorder");
    PyObject *hook = NULL;

    if (object == NULL) {
        site_module_leave(site_module);
    } else {
        object->session = session;
        object->extension = Py_NewRef(extension);
        object->module = site_module;
        object->sets_number = UINT64_MAX;
        /* Allocated here, because a visit must not fail for lack of memory. */
        object->sets =
            memory_allocate(site_module->table.site_count, sizeof(*object->sets));
        if (object->sets == NULL) {
            PyErr_NoMemory();
        }
    }
    if (object != NULL && object->sets != NULL && name != NULL) {
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

/* The module that is described by its texts. NULL with an exception set. */
static struct site_module *make_module(const struct module_text *text)
{
    struct error error = ERROR_INIT;
    struct site_module *module = site_module_new(text, &error);

    if (module == NULL) {
        PyErr_SetString(error.kind == ERROR_MEMORY ? PyExc_MemoryError
                                                   : PyExc_ValueError,
                        error.text);
        return NULL;
    }
    site_module_number(module);
    return module;
}

PyObject *hook_make(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"table",  "module_name", "file",
                            "source", "source_kind", NULL};
    const char *table, *name, *file, *source, *kind;
    Py_ssize_t table_size, name_size, file_size, source_size;
    struct module_text text;
    struct site_module *made;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s#s#s#z#s:make_hook", names,
                                     &table, &table_size, &name, &name_size, &file,
                                     &file_size, &source, &source_size, &kind) ||
        !read_source_tag(kind, &text.source_tag)) {
        return NULL;
    }
    text.table = (struct slice){table, (size_t)table_size};
    text.name = (struct slice){name, (size_t)name_size};
    text.file = (struct slice){file, (size_t)file_size};
    text.source = (struct slice){source == NULL ? "" : source,
                                 source == NULL ? 0 : (size_t)source_size};
    made = make_module(&text);
    return made == NULL ? NULL : make_object(module, made);
}
