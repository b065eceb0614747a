/* Names that are read before anything is known of them. A site is visited after its statement, so
 * this is the value that the name has then: the one that was read, unless the statement itself
 * has bound the name anew in a function that it called. */
#include "runtime/python/recorder_sources.h"

#include "runtime/python/recorder_paths.h"
#include "runtime/python/recorder_values.h"
#include "runtime/python/recorder_walk.h"

static struct slice root_of(struct slice name)
{
    return slice_part(name, 0, slice_find(name, SLICE("."), 0));
}

/* A new reference, or NULL without an exception. */
static PyObject *look_up(PyObject *names, struct slice name)
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
    const struct site_table *table = &visit->module->table;
    const struct call *call = visit->call;

    if (call->class_name == 0 || call->self == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];

        if (site->kind == SITE_ENTER && site->function == visit->site->function) {
            return site->write_count > 0 && slice_equal(site->writes[0].name, root)
                       ? path_find_alive(session, call->self)
                       : NULL;
        }
    }
    return NULL;
}

/* What the root of a read name stands for; a new reference, or NULL. */
static PyObject *find_root(struct session *session,
                           const struct visit *visit,
                           const struct site_read *read)
{
    struct slice root = root_of(read->name);
    bool is_global = read->scope == SITE_SCOPE_GLOBAL || visit->site->function == 0;
    PyObject *found = NULL;

    if (session->locals != NULL && read->scope != SITE_SCOPE_GLOBAL) {
        found = look_up(session->locals, root);
    }
    if (found == NULL && is_global) {
        PyObject *names = PyEval_GetGlobals();
        found = names == NULL ? NULL : look_up(names, root);
    }
    if (found == NULL && !is_global && root.size < read->name.size) {
        found = find_self(session, visit, root);
    }
    return found;
}

static void
tell_source(struct session *session, const struct visit *visit, uint32_t index)
{
    const struct site_read *read = &visit->site->reads[index];
    PyObject *object = find_root(session, visit, read);
    bool is_told = false;

    if (object != NULL && root_of(read->name).size < read->name.size) {
        PyObject *end = walk_dotted(&session->types, object, read->name);
        Py_DECREF(object);
        object = end;
    }
    if (object != NULL) {
        is_told = value_tell_tensors(session, visit, RECORDER_READ(index), object);
        Py_DECREF(object);
    }
    if (!is_told) {
        recorder_pass_read(visit, index);
    }
}

void sources_tell(struct session *session, const struct visit *visit)
{
    for (uint32_t i = 0; i < visit->site->read_count; i++) {
        if (recorder_is_read_new(session->recorder, visit, i)) {
            tell_source(session, visit, i);
        }
    }
}
