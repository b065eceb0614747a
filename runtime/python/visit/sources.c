/* Names that are read before anything is known of them. A site is visited after its statement, so
 * this is the value that the name has then: the one that was read, unless the statement itself
 * has bound the name anew in a function that it called. */
#include "runtime/python/visit/sources.h"

#include "runtime/python/visit/paths.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/visit/walk.h"

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

/* The module whose method the call is, where that is the read name's root. A new reference, or
 * NULL. */
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

/* What the root of a read name stands for; a new reference, or NULL. */
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

/* Records the value at the end of a read name whose root is `object`, a reference that it
 * releases; NULL: the root is not bound. */
static void record_source(struct session *session,
                          const struct visit *visit,
                          uint32_t index,
                          PyObject *object)
{
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

/* A name that the site writes itself has its new value when the site is visited: the old one cannot
 * be found any more. */
void sources_record(struct session *session, const struct visit *visit)
{
    for (uint32_t i = 0; i < visit->site->read_count; i++) {
        const struct site_read *read = &visit->site->reads[i];

        if (recorder_is_read_new(session->recorder, visit, i) &&
            !site_writes(visit->site, read->name)) {
            record_source(session, visit, i, find_root(session, visit, read));
        }
    }
}

/* ---- a call in its middle ---- */

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

/* The sites behind the frame's line are visited first, so that a value is recorded where it is read
 * next; those before may be reached again in a loop. */
void sources_record_frame(struct session *session,
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
