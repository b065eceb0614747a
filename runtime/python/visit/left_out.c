/* Visits that are not recorded: their values are numbers, texts and the like, or containers whose
 * newest item is one. */
#include "runtime/python/visit/left_out.h"

#include "runtime/base/hot.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/walk.h"
#include "runtime/record/left_out.h"

#include <math.h>

/* Items of a tuple, which is new at each visit, that are looked at. */
#define TUPLE_ITEM_MAX 8

static inline bool is_plain_number(const PyObject *object, const PyTypeObject *type)
{
    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyBool_Type ||
           object == Py_None || type == &PyBytes_Type;
}

/* A number that is not finite is never left out. */
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

/* Where an entry was deleted, the one that is found need not be the newest. */
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

HOT bool visit_is_plain(const struct recorded_site *site, PyObject *value)
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

/* The value at the end of a dotted name is looked up only where its being finite matters. */
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

/* Where a value has to be looked up, by the site's names. */
static __attribute__((noinline)) bool
are_plain_named(struct session *session,
                const struct recorded_module *module,
                uint32_t index,
                PyObject *const *values,
                Py_ssize_t count)
{
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

HOT bool visit_is_left_out(struct session *session,
                           struct recorded_module *module,
                           uint32_t site,
                           PyObject *const *values,
                           Py_ssize_t count)
{
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

/* NULL: it holds others, or none of that sort. */
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

/* Of what may hold others the type alone says nothing. */
static bool is_plain_kind(enum type_kind kind)
{
    return kind == TYPE_OBJECT || kind == TYPE_BYTES || kind == TYPE_COMPLEX ||
           kind == TYPE_INT || kind == TYPE_TEXT;
}

void visit_keep_types(struct session *session,
                      struct recorded_module *module,
                      uint32_t site,
                      PyObject *const *values,
                      Py_ssize_t count)
{
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
