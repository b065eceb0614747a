/* The leaves of containers, and the ends of dotted names. */
#include "runtime/python/recorder_walk.h"

#include <stdio.h>
#include <string.h>

bool type_is_container(const struct type_info *info)
{
    switch (info->kind) {
    case TYPE_LIST:
    case TYPE_TUPLE:
    case TYPE_NAMED_TUPLE:
    case TYPE_DICT:
    case TYPE_DATACLASS:
        return true;
    default:
        return false;
    }
}

void walk_init(struct walk *walk)
{
    walk->leaf_count = 0;
    walk->item_count = 0;
    walk->seen_count = 0;
    walk->is_cut = false;
    walk->path_end = 0;
    walk->prefix_size = 0;
}

void walk_release(struct walk *walk)
{
    for (size_t i = 0; i < walk->leaf_count; i++) {
        Py_DECREF(walk->leaves[i].object);
    }
    walk->leaf_count = 0;
}

struct slice walk_path(const struct walk *walk, size_t leaf)
{
    return (struct slice){walk->paths + walk->leaves[leaf].path,
                          walk->leaves[leaf].path_size};
}

static bool is_limit_met(struct walk *walk)
{
    if (walk->leaf_count >= WALK_LEAF_MAX || walk->seen_count >= WALK_ITEM_MAX ||
        walk->path_end + walk->prefix_size > WALK_PATH_SIZE) {
        walk->is_cut = true;
    }
    return walk->is_cut;
}

static void add_leaf(struct walk *walk, PyObject *object)
{
    struct walk_leaf *leaf = &walk->leaves[walk->leaf_count];

    if (is_limit_met(walk)) {
        return;
    }
    leaf->object = Py_NewRef(object);
    leaf->path = walk->path_end;
    leaf->path_size = walk->prefix_size;
    memcpy(walk->paths + walk->path_end, walk->prefix, walk->prefix_size);
    walk->path_end += walk->prefix_size;
    walk->leaf_count++;
}

/* Makes the path one step longer; false where it would be too long. */
static bool
step(struct walk *walk, const char *before, struct slice name, const char *after)
{
    size_t size = strlen(before) + name.size + strlen(after);

    if (walk->prefix_size + size > sizeof(walk->prefix)) {
        walk->is_cut = true;
        return false;
    }
    char *place = walk->prefix + walk->prefix_size;
    memcpy(place, before, strlen(before));
    memcpy(place + strlen(before), name.bytes, name.size);
    memcpy(place + strlen(before) + name.size, after, strlen(after));
    walk->prefix_size += size;
    return true;
}

static bool step_index(struct walk *walk, long long index)
{
    char text[32];
    int size = snprintf(text, sizeof(text), "[%lld]", index);

    return step(walk, "", (struct slice){text, (size_t)size}, "");
}

/* The text of a str; `owner` keeps it. */
static struct slice text_of(PyObject *text, PyObject **owner)
{
    *owner = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    if (*owner == NULL) {
        PyErr_Clear();
        return SLICE("?");
    }
    return (struct slice){PyBytes_AsString(*owner), (size_t)PyBytes_Size(*owner)};
}

static bool step_key(struct walk *walk, struct type_cache *types, PyObject *key)
{
    PyObject *owner = NULL;
    int overflow = 0;
    bool is_done;

    if (PyUnicode_Check(key)) {
        is_done = step(walk, "['", text_of(key, &owner), "']");
        Py_XDECREF(owner);
        return is_done;
    }
    if (PyLong_CheckExact(key)) {
        long long number = PyLong_AsLongLongAndOverflow(key, &overflow);
        return overflow == 0 ? step_index(walk, number)
                             : step(walk, "[", SLICE("int"), "]");
    }
    return step(walk, "[<", type_info_name(type_cache_get(types, Py_TYPE(key))), ">]");
}

static void
walk_item(struct walk *walk, struct type_cache *types, PyObject *item, int depth);

static void walk_sequence(struct walk *walk,
                          struct type_cache *types,
                          PyObject *object,
                          PyObject *fields,
                          int depth)
{
    bool is_list = PyList_Check(object);
    Py_ssize_t count = is_list ? PyList_Size(object) : PyTuple_Size(object);
    size_t start = walk->prefix_size;

    for (Py_ssize_t i = 0; i < count && !is_limit_met(walk); i++) {
        PyObject *item =
            is_list ? PyList_GetItem(object, i) : PyTuple_GetItem(object, i);
        PyObject *owner = NULL;
        PyObject *field = fields != NULL && i < PyTuple_Size(fields)
                              ? PyTuple_GetItem(fields, i)
                              : NULL;
        if (item == NULL) { /* a list that has become shorter meanwhile */
            PyErr_Clear();
            break;
        }
        Py_INCREF(item);
        bool is_named = field != NULL && PyUnicode_Check(field);
        if (is_named ? step(walk, ".", text_of(field, &owner), "")
                     : step_index(walk, i)) {
            walk_item(walk, types, item, depth);
        }
        Py_XDECREF(owner);
        Py_DECREF(item);
        walk->prefix_size = start;
    }
}

static void
walk_dict(struct walk *walk, struct type_cache *types, PyObject *object, int depth)
{
    Py_ssize_t position = 0;
    PyObject *key, *item;
    size_t start = walk->prefix_size;

    while (!is_limit_met(walk) && PyDict_Next(object, &position, &key, &item)) {
        Py_INCREF(key);
        Py_INCREF(item);
        if (step_key(walk, types, key)) {
            walk_item(walk, types, item, depth);
        }
        Py_DECREF(key);
        Py_DECREF(item);
        walk->prefix_size = start;
    }
}

/* The value of a slot, read as the type itself describes it; a new reference or NULL. */
static PyObject *peek_slot(struct type_cache *types, PyObject *object, PyObject *name)
{
    PyObject *member = type_cache_look_up(types, Py_TYPE(object), name);
    PyObject *found = NULL;

    if (member != NULL && Py_TYPE(member) == &PyMemberDescr_Type) {
        descrgetfunc get =
            (descrgetfunc)PyType_GetSlot(&PyMemberDescr_Type, Py_tp_descr_get);
        found = get(member, object, (PyObject *)Py_TYPE(object));
    }
    Py_XDECREF(member);
    PyErr_Clear();
    return found;
}

static PyObject *get_from(PyObject *dict, PyObject *name)
{
    PyObject *found =
        dict != NULL && PyDict_Check(dict) ? PyDict_GetItem(dict, name) : NULL;

    return Py_XNewRef(found);
}

PyObject *walk_peek(struct type_cache *types, PyObject *object, PyObject *name)
{
    static const char *const homes[] = {"_parameters", "_buffers", "_modules"};
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    PyObject *found = get_from(dict, name);

    PyErr_Clear();
    for (size_t i = 0; i < 3 && found == NULL && dict != NULL; i++) {
        found = get_from(PyDict_GetItemString(dict, homes[i]), name);
    }
    if (found == NULL) {
        found = peek_slot(types, object, name);
    }
    Py_XDECREF(dict);
    PyErr_Clear();
    return found;
}

static void walk_fields(struct walk *walk,
                        struct type_cache *types,
                        PyObject *object,
                        PyObject *fields,
                        int depth)
{
    Py_ssize_t position = 0;
    PyObject *name, *unused;
    size_t start = walk->prefix_size;

    while (!is_limit_met(walk) && PyDict_Next(fields, &position, &name, &unused)) {
        PyObject *item = PyUnicode_Check(name) ? walk_peek(types, object, name) : NULL;
        PyObject *owner = NULL;
        if (item != NULL && step(walk, ".", text_of(name, &owner), "")) {
            walk_item(walk, types, item, depth);
        }
        Py_XDECREF(owner);
        Py_XDECREF(item);
        walk->prefix_size = start;
    }
}

static void walk_inside(struct walk *walk,
                        struct type_cache *types,
                        PyObject *object,
                        enum type_kind kind,
                        PyObject *fields,
                        int depth)
{
    switch (kind) {
    case TYPE_LIST:
    case TYPE_TUPLE:
        walk_sequence(walk, types, object, NULL, depth);
        break;
    case TYPE_NAMED_TUPLE:
        walk_sequence(walk, types, object, fields, depth);
        break;
    case TYPE_DICT:
        walk_dict(walk, types, object, depth);
        break;
    case TYPE_DATACLASS:
        walk_fields(walk, types, object, fields, depth);
        break;
    default:
        break;
    }
}

static bool is_small_scalar(const struct type_info *info)
{
    switch (info->kind) {
    case TYPE_NONE:
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX:
    case TYPE_TEXT:
        return true;
    default:
        return false;
    }
}

static void
walk_item(struct walk *walk, struct type_cache *types, PyObject *item, int depth)
{
    const struct type_info *info = type_cache_get(types, Py_TYPE(item));
    enum type_kind kind = info->kind;

    walk->seen_count++;
    if (kind == TYPE_TENSOR) {
        add_leaf(walk, item);
    } else if (type_is_container(info)) {
        if (depth >= WALK_DEPTH_MAX) {
            walk->is_cut = true;
            return;
        }
        PyObject *fields = Py_XNewRef(info->fields);
        walk_inside(walk, types, item, kind, fields, depth + 1);
        Py_XDECREF(fields);
    } else if (depth == 1 && walk->item_count <= WALK_SMALL && is_small_scalar(info)) {
        add_leaf(walk, item);
    }
}

static size_t count_items(const struct type_info *info, PyObject *object)
{
    Py_ssize_t count;

    switch (info->kind) {
    case TYPE_LIST:
        count = PyList_Size(object);
        break;
    case TYPE_TUPLE:
    case TYPE_NAMED_TUPLE:
        count = PyTuple_Size(object);
        break;
    case TYPE_DICT:
        count = PyDict_Size(object);
        break;
    default:
        count = PyDict_Size(info->fields);
    }
    return count > 0 ? (size_t)count : 0;
}

void walk_container(struct walk *walk, struct type_cache *types, PyObject *object)
{
    const struct type_info *info = type_cache_get(types, Py_TYPE(object));
    enum type_kind kind = info->kind;
    PyObject *fields = Py_XNewRef(info->fields);

    walk->item_count = count_items(info, object);
    walk_inside(walk, types, object, kind, fields, 1);
    Py_XDECREF(fields);
}

PyObject *walk_dotted(struct type_cache *types, PyObject *root, struct slice name)
{
    PyObject *object = Py_NewRef(root);
    size_t dot = slice_find(name, SLICE("."), 0);

    while (object != NULL && dot < name.size) {
        size_t end = slice_find(name, SLICE("."), dot + 1);
        PyObject *part = PyUnicode_FromStringAndSize(name.bytes + dot + 1,
                                                     (Py_ssize_t)(end - dot - 1));
        PyObject *found = part == NULL ? NULL : walk_peek(types, object, part);
        PyErr_Clear();
        Py_XDECREF(part);
        Py_DECREF(object);
        object = found;
        dot = end;
    }
    return object;
}
