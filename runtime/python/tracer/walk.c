/* The walk along the later segments of a path inside a value: items of dicts, lists and tuples,
 * fields of named tuples, attributes of modules and other objects, attributes of tensors.
 *
 * Like the recorder, it reads stored values only: it calls no property, `__getattr__` or
 * `__getitem__` of the user. */
#include "runtime/python/tracer/tracing.h"

#include "runtime/base/memory.h"
#include "runtime/python/visit/walk.h"

#include <stdio.h>

/* The arguments that are the same in the whole walk. */
struct descent {
    struct tracing *tracing;
    struct buffer *path;
    const struct tracing_moment *moment;
};

static bool go_in(const struct descent *descent, PyObject *object, uint32_t state);

static bool record_end(const struct descent *descent, PyObject *object, uint32_t state)
{
    bool is_named;
    struct traced_path *path;

    if (!path_set_is_end(&descent->tracing->paths, state, &is_named)) {
        return true;
    }
    path = tracing_find_path(descent->tracing, buffer_slice(descent->path));
    return path != NULL && tracing_keep_value(descent->tracing, path, object,
                                              descent->moment, is_named);
}

/* Records an item of that name, and the values inside it. The name and the item are borrowed.
 * Returns false with an exception set. */
static bool
step(const struct descent *descent, uint32_t state, struct slice name, PyObject *object)
{
    size_t size = descent->path->size;
    struct error error = ERROR_INIT;
    uint32_t next;
    bool is_good;

    if (!path_set_step(&descent->tracing->paths, state, name, &next, &error)) {
        PyErr_NoMemory();
        return false;
    }
    if (next == PATH_STATE_DEAD || name.size == 0) {
        return true;
    }
    path_add_segment(descent->path, name);
    if (descent->path->has_failed) {
        PyErr_NoMemory();
        return false;
    }
    is_good = record_end(descent, object, next) && go_in(descent, object, next);
    descent->path->size = size;
    return is_good;
}

/* step() for a name that is a str. */
static bool step_text(const struct descent *descent,
                      uint32_t state,
                      PyObject *name,
                      PyObject *object)
{
    PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape");
    bool is_good;

    if (bytes == NULL) {
        PyErr_Clear(); /* lone surrogates: no path has such a name */
        return true;
    }
    is_good = step(descent, state,
                   (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)},
                   object);
    Py_DECREF(bytes);
    return is_good;
}

/* ---- lists and tuples ---- */

static bool go_through_sequence(const struct descent *descent,
                                PyObject *object,
                                PyObject *fields,
                                uint32_t state)
{
    bool is_list = PyList_Check(object);
    bool is_good = true;

    for (Py_ssize_t i = 0; is_good; i++) {
        PyObject *item, *field;
        char text[32];

        if (i >= (is_list ? PyList_Size(object) : PyTuple_Size(object))) {
            break;
        }
        item = is_list ? PyList_GetItem(object, i) : PyTuple_GetItem(object, i);
        Py_INCREF(item);
        field = fields != NULL && i < PyTuple_Size(fields) ? PyTuple_GetItem(fields, i)
                                                           : NULL;
        if (field != NULL && PyUnicode_Check(field)) {
            is_good = step_text(descent, state, field, item);
        } else {
            snprintf(text, sizeof(text), "%zd", i);
            is_good = step(descent, state, slice_of(text), item);
        }
        Py_DECREF(item);
    }
    return is_good;
}

/* ---- dicts ---- */

/* Records the item of a key. Plain keys are named as they print: `1` matches both 1 and "1". */
static bool
step_key(const struct descent *descent, uint32_t state, PyObject *key, PyObject *item)
{
    PyObject *text;
    bool is_good = true;

    if (PyUnicode_Check(key)) {
        return step_text(descent, state, key, item);
    }
    if (!PyLong_CheckExact(key) && !PyBool_Check(key) && !PyFloat_CheckExact(key) &&
        key != Py_None) {
        return true;
    }
    text = PyObject_Str(key);
    is_good = text != NULL && step_text(descent, state, text, item);
    Py_XDECREF(text);
    return is_good;
}

/* The dict's own items, even if a subclass overrides items(): a list of pairs, since the walk
 * may run code that changes the dict. */
static PyObject *list_items(PyObject *dict)
{
    PyObject *items = PyList_New(0);
    PyObject *key, *item;
    Py_ssize_t position = 0;

    while (items != NULL && PyDict_Next(dict, &position, &key, &item)) {
        PyObject *pair = PyTuple_Pack(2, key, item);

        if (pair == NULL || PyList_Append(items, pair) < 0) {
            Py_CLEAR(items);
        }
        Py_XDECREF(pair);
    }
    return items;
}

static bool
go_through_dict(const struct descent *descent, PyObject *dict, uint32_t state)
{
    PyObject *items = list_items(dict);
    bool is_good = items != NULL;

    for (Py_ssize_t i = 0; is_good && i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i);

        is_good = step_key(descent, state, PyTuple_GetItem(pair, 0),
                           PyTuple_GetItem(pair, 1));
    }
    Py_XDECREF(items);
    return is_good;
}

/* ---- attributes ---- */

/* Reads an attribute such as `shape` or `grad` that the tensor's type implements in C. A new
 * reference, or NULL without an exception. */
static PyObject *
find_of_tensor(struct type_cache *types, PyObject *tensor, PyObject *name)
{
    PyObject *descriptor = type_cache_find(types, Py_TYPE(tensor), name);
    PyObject *found = descriptor != NULL && Py_TYPE(descriptor) == &PyGetSetDescr_Type
                          ? PyObject_GenericGetAttr(tensor, name)
                          : NULL;

    Py_XDECREF(descriptor);
    PyErr_Clear();
    return found;
}

/* Whether a star matches the attribute. Attributes that torch itself keeps in a module are
 * skipped. */
static bool is_for_stars(PyObject *name, PyObject *value, bool is_module)
{
    if (is_module && PyUnicode_CompareWithASCIIString(name, "training") == 0) {
        return false;
    }
    return PyUnicode_ReadChar(name, 0) != '_' && value != Py_None;
}

static bool go_through_names(const struct descent *descent,
                             PyObject *dict,
                             bool is_module,
                             uint32_t state)
{
    PyObject *items = list_items(dict);
    bool is_good = items != NULL;

    for (Py_ssize_t i = 0; is_good && i < PyList_Size(items); i++) {
        PyObject *name = PyTuple_GetItem(PyList_GetItem(items, i), 0);
        PyObject *value = PyTuple_GetItem(PyList_GetItem(items, i), 1);

        if (PyUnicode_Check(name) && PyUnicode_GetLength(name) > 0 &&
            is_for_stars(name, value, is_module)) {
            is_good = step_text(descent, state, name, value);
        }
    }
    Py_XDECREF(items);
    return is_good;
}

/* Records all attributes of the object, for segments with stars. */
static bool go_through_attributes(const struct descent *descent,
                                  PyObject *object,
                                  const struct type_info *info,
                                  uint32_t state)
{
    static const char *const homes[] = {"_parameters", "_buffers", "_modules"};
    bool is_module = info->is_module;
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    bool is_good = true;

    if (dict == NULL) {
        PyErr_Clear();
        return true;
    }
    for (size_t i = 0; is_module && is_good && i < 3; i++) {
        PyObject *home = PyDict_GetItemString(dict, homes[i]);
        if (home != NULL && PyDict_Check(home)) {
            is_good = go_through_names(descent, home, is_module, state);
        }
    }
    is_good = is_good && go_through_names(descent, dict, is_module, state);
    Py_DECREF(dict);
    return is_good;
}

/* ---- by name ---- */

/* The number of which the text is the usual spelling; negative if it is none. */
static Py_ssize_t read_index(struct slice text)
{
    Py_ssize_t number = 0;

    if (text.size == 0 || text.size > 9 || (text.size > 1 && text.bytes[0] == '0')) {
        return -1;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') {
            return -1;
        }
        number = 10 * number + (text.bytes[i] - '0');
    }
    return number;
}

static Py_ssize_t find_field(PyObject *fields, PyObject *name)
{
    for (Py_ssize_t i = 0; fields != NULL && i < PyTuple_Size(fields); i++) {
        PyObject *field = PyTuple_GetItem(fields, i);

        if (PyUnicode_Check(field) && PyUnicode_Compare(field, name) == 0) {
            return i;
        }
    }
    return -1;
}

static PyObject *find_in_dict(PyObject *dict, PyObject *name, Py_ssize_t index)
{
    PyObject *found = PyDict_GetItemWithError(dict, name);

    if (found == NULL && index >= 0) {
        PyObject *number = PyLong_FromSsize_t(index);
        found = number == NULL ? NULL : PyDict_GetItemWithError(dict, number);
        Py_XDECREF(number);
    }
    PyErr_Clear();
    return Py_XNewRef(found);
}

static PyObject *find_in_sequence(PyObject *object, Py_ssize_t index)
{
    if (PyList_Check(object)) {
        return index >= 0 && index < PyList_Size(object)
                   ? Py_XNewRef(PyList_GetItem(object, index))
                   : NULL;
    }
    return index >= 0 && index < PyTuple_Size(object)
               ? Py_XNewRef(PyTuple_GetItem(object, index))
               : NULL;
}

/* The item or attribute of that name: a new reference, or NULL without an exception. */
static PyObject *find_named(const struct descent *descent,
                            PyObject *object,
                            const struct type_info *info,
                            struct slice text)
{
    struct type_cache *types = &descent->tracing->session->types;
    Py_ssize_t index = read_index(text);
    PyObject *name =
        PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "surrogateescape");
    PyObject *found = NULL;

    if (name == NULL) {
        PyErr_Clear();
        return NULL;
    }
    switch (info->kind) {
    case TYPE_LIST:
    case TYPE_TUPLE:
        found = find_in_sequence(object, index);
        break;
    case TYPE_NAMED_TUPLE:
        index = index < 0 ? find_field(info->fields, name) : index;
        found = find_in_sequence(object, index);
        break;
    case TYPE_DICT:
        found = find_in_dict(object, name, index);
        break;
    case TYPE_DATACLASS:
    case TYPE_OBJECT:
        found = walk_peek(types, object, name);
        break;
    case TYPE_TENSOR:
        found = find_of_tensor(types, object, name);
        break;
    default:
        break;
    }
    Py_DECREF(name);
    return found;
}

/* Records the items whose names are given by segments without a star. */
static bool go_to_named(const struct descent *descent,
                        PyObject *object,
                        const struct type_info *info,
                        uint32_t state)
{
    const struct path_set *paths = &descent->tracing->paths;
    const struct path_segment *segment;
    struct slice last = SLICE("");
    uint32_t at = 0;
    bool is_good = true;

    while (is_good && (segment = path_set_next(paths, state, &at)) != NULL) {
        PyObject *found;

        if (segment->is_end || segment->has_star || slice_equal(segment->name, last)) {
            continue; /* equal names mostly follow each other */
        }
        last = segment->name;
        found = find_named(descent, object, info, last);
        is_good = found == NULL || step(descent, state, last, found);
        Py_XDECREF(found);
    }
    return is_good;
}

static bool go_through(const struct descent *descent,
                       PyObject *object,
                       const struct type_info *info,
                       uint32_t state)
{
    switch (info->kind) {
    case TYPE_LIST:
    case TYPE_TUPLE:
        return go_through_sequence(descent, object, NULL, state);
    case TYPE_NAMED_TUPLE:
        return go_through_sequence(descent, object, info->fields, state);
    case TYPE_DICT:
        return go_through_dict(descent, object, state);
    case TYPE_DATACLASS:
    case TYPE_OBJECT:
        return go_through_attributes(descent, object, info, state);
    default:
        return true;
    }
}

static bool go_in(const struct descent *descent, PyObject *object, uint32_t state)
{
    const struct path_set *paths = &descent->tracing->paths;
    const struct path_segment *segment;
    struct type_info info;
    uint32_t at = 0;
    bool has_names = false, has_stars = false, is_good;

    while ((segment = path_set_next(paths, state, &at)) != NULL) {
        has_stars = has_stars || (!segment->is_end && segment->has_star);
        has_names = has_names || (!segment->is_end && !segment->has_star);
    }
    if (!has_names && !has_stars) {
        return true;
    }
    info = *type_cache_get(&descent->tracing->session->types, Py_TYPE(object));
    Py_XINCREF(info.fields);
    is_good = (!has_names || go_to_named(descent, object, &info, state)) &&
              (!has_stars || go_through(descent, object, &info, state));
    Py_XDECREF(info.fields);
    return is_good;
}

bool tracing_walk(struct tracing *tracing,
                  PyObject *object,
                  uint32_t state,
                  struct buffer *path,
                  const struct tracing_moment *moment)
{
    struct descent descent = {tracing, path, moment};

    return go_in(&descent, object, state);
}
