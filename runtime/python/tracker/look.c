/* What a statement did to variables that it only reads: `update(x)` may write to x. */
#include "runtime/python/tracker/tracker.h"

#include "runtime/python/record/session.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/visit/walk.h"

static bool writes_name(const struct site *site, struct slice name)
{
    for (uint32_t i = 0; i < site->write_count; i++) {
        if (slice_equal(site->writes[i].name, name)) {
            return true;
        }
    }
    return false;
}

void look_slots_clear(struct look_slot *slots)
{
    for (size_t i = 0; i < LOOK_SLOT_COUNT; i++) {
        Py_CLEAR(slots[i].name);
        slots[i].read = NULL;
    }
}

/* Where frames of the code keep what is read, found once. NULL: no memory. */
static const struct look_slot *
find_slot(struct session *session, PyObject *code, const struct site_read *read)
{
    size_t index = ((uintptr_t)read / sizeof *read) % LOOK_SLOT_COUNT;
    struct look_slot *slot = &session->tracking->slots[index];
    struct slice root =
        slice_part(read->name, 0, slice_find(read->name, SLICE("."), 0));

    if (slot->read == read && slot->code == code) {
        return slot;
    }
    Py_CLEAR(slot->name);
    slot->name = PyUnicode_DecodeUTF8(root.bytes, (Py_ssize_t)root.size, "strict");
    slot->read = slot->name == NULL ? NULL : read;
    slot->code = code;
    if (slot->name != NULL) {
        slot->is_function = frame_is_function(code);
        slot->slot = frame_find_slot(code, slot->name);
    }
    PyErr_Clear();
    return slot->name == NULL ? NULL : slot;
}

/* A new reference, or NULL without an exception. */
static PyObject *
find_value(struct session *session, PyObject *frame, const struct site_read *read)
{
    const struct look_slot *slot = find_slot(session, frame_code(frame), read);
    struct slice name = read->name;
    PyObject *found = NULL;

    if (slot != NULL) {
        found = frame_find(frame, slot->is_function, slot->name, slot->slot);
    }
    PyErr_Clear();
    if (found != NULL && slice_find(name, SLICE("."), 0) < name.size) {
        PyObject *end = walk_dotted(&session->types, found, name);
        Py_DECREF(found);
        found = end;
    }
    return found;
}

/* A tensor with the version that was seen is not measured again. */
static bool may_differ(struct session *session,
                       const struct visit *visit,
                       uint32_t read,
                       PyObject *object)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    bool has_version = info->kind == TYPE_TENSOR && info->tensor != TENSOR_CLASS_NUMPY;
    struct tensor tensor = {.version = 0};

    if (has_version) {
        has_version =
            tensor_describe(session->access, object, info->tensor, &tensor) == 0;
        if (has_version) {
            tensor_release(&tensor);
        }
    }
    return recorder_read_may_differ(visit, read, (uint64_t)(uintptr_t)object,
                                    has_version, tensor.version);
}

void track_look(struct session *session, const struct visit *visit)
{
    const struct tracked_wish *wish = visit->call->tracked;
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    struct visit look = *visit;

    look.is_look = true;
    if (wish->read.names.size == 0 || frame == NULL) {
        return;
    }
    for (uint32_t i = 0; i < visit->site->read_count; i++) {
        struct slice name = visit->site->reads[i].name;

        if (visit->site->reads[i].scope == SITE_SCOPE_GLOBAL ||
            writes_name(visit->site, name) ||
            !track_wish_names(&wish->read, name, SLICE("")) ||
            !recorder_read_may_differ(visit, i, 0, false, 0)) {
            continue;
        }
        PyObject *value = find_value(session, frame, &visit->site->reads[i]);
        if (value != NULL && may_differ(session, visit, i, value)) {
            value_tell(session, &look, RECORDER_READ(i), value);
        }
        Py_XDECREF(value);
    }
}
