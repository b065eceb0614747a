/* Changes: the tensors of a visit, stored until its events are written, and the calls of the
 * function that changes them. */
#include "runtime/python/record/change.h"

#include "runtime/base/memory.h"
#include "runtime/python/tensor/tensor.h"

/* A tensor that is changed at the end of its visit. */
struct pending_change {
    PyObject *object; /* owned */
    PyObject *path;   /* owned: the place in the value; "" for the value itself */
    uint64_t event;
    uint32_t site, write;
    uint64_t hash;
    bool is_mutated, has_hash;
};

struct changes {
    PyObject *function;             /* owned */
    struct pending_change *pending; /* owned */
    size_t count, capacity;
    bool is_running; /* tensors that the function itself assigns are not changed */
};

bool change_begin(struct session *session, PyObject *function)
{
    struct changes *changes = memory_allocate_zeroed(1, sizeof *changes);

    if (changes == NULL) {
        return false;
    }
    changes->function = Py_NewRef(function);
    session->changes = changes;
    return true;
}

static void drop(struct pending_change *pending)
{
    Py_DECREF(pending->object);
    Py_DECREF(pending->path);
}

void change_end(struct session *session)
{
    struct changes *changes = session->changes;

    session->changes = NULL;
    if (changes == NULL) {
        return;
    }
    for (size_t i = 0; i < changes->count; i++) {
        drop(&changes->pending[i]);
    }
    memory_free(changes->pending);
    Py_DECREF(changes->function);
    memory_free(changes);
}

int change_traverse(const struct session *session, visitproc visit, void *arg)
{
    if (session->changes != NULL) {
        Py_VISIT(session->changes->function);
    }
    return 0;
}

void change_note(struct session *session,
                 const struct visit *visit,
                 uint32_t write,
                 struct slice path,
                 const struct value *value)
{
    struct changes *changes = session->changes;
    struct gradient_owner written;
    void *grown;

    if (changes == NULL || changes->is_running || write >= visit->site->write_count ||
        (value->array->flags & LOG_FORM_NUMPY) != 0 ||
        site_table_is_reported(&visit->module->table) ||
        !recorder_find_written(session->recorder, &written)) {
        return;
    }
    grown = changes->pending;
    struct pending_change pending = {
        .object = (PyObject *)(uintptr_t)value->object,
        .event = written.event,
        .site = written.site,
        .write = write,
        .hash = value->array->hash,
        .has_hash = value->array->has_hash,
        .is_mutated = visit->site->kind == SITE_MUTATE,
    };

    if (memory_grow(&grown, &changes->capacity, changes->count + 1, sizeof pending)) {
        changes->pending = grown;
        pending.path =
            PyUnicode_DecodeUTF8(path.bytes, (Py_ssize_t)path.size, "replace");
        if (pending.path == NULL) {
            PyErr_Clear();
            return;
        }
        Py_INCREF(pending.object);
        changes->pending[changes->count++] = pending;
    }
}

static void change_one(const struct changes *changes,
                       const struct pending_change *pending)
{
    PyObject *hash = pending->has_hash ? PyLong_FromUnsignedLongLong(pending->hash)
                                       : Py_NewRef(Py_None);
    PyObject *result =
        hash == NULL
            ? NULL
            : PyObject_CallFunction(changes->function, "OKIIOOO", pending->object,
                                    (unsigned long long)pending->event,
                                    (unsigned)pending->site, (unsigned)pending->write,
                                    pending->path,
                                    pending->is_mutated ? Py_True : Py_False, hash);

    Py_XDECREF(hash);
    if (result == NULL) {
        PyErr_WriteUnraisable(changes->function);
    }
    Py_XDECREF(result);
}

/* A finalizer that visits a site during the calls adds no tensor, and cannot end the recording
 * while hooks are running: `changes` stays valid. */
void change_apply(struct session *session)
{
    struct changes *changes = session->changes;
    struct torch_guard guard;

    if (changes == NULL || changes->count == 0 || changes->is_running) {
        return;
    }
    changes->is_running = true;
    bool is_quiet = tensor_guard_enter(session->access, &guard);
    for (size_t i = 0; i < changes->count; i++) {
        if (is_quiet) {
            change_one(changes, &changes->pending[i]);
        }
        drop(&changes->pending[i]);
    }
    if (is_quiet) {
        tensor_guard_leave(&guard);
    }
    changes->count = 0;
    changes->is_running = false;
}
