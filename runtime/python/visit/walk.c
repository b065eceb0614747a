/* Walks over containers to their leaves, and along dotted names to their values. */
#include "runtime/python/visit/walk.h"

#include <string.h>

bool type_is_container(const struct type_info *info)
{
    switch (info->kind) {
    case TYPE_LIST:
    case TYPE_TUPLE:
    case TYPE_NAMED_TUPLE:
    case TYPE_DICT:
    case TYPE_DEQUE:
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
    walk->first = 0;
    walk->end = PY_SSIZE_T_MAX;
    walk->item_limit = WALK_ITEM_MAX;
    walk->is_cut = false;
    walk->has_paths = true;
    walk->path_end = 0;
    walk->step_count = 0;
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

static bool is_limit_reached(struct walk *walk)
{
    if (walk->leaf_count >= WALK_LEAF_MAX || walk->seen_count >= walk->item_limit) {
        walk->is_cut = true;
    }
    return walk->is_cut;
}

/* ---- paths ---- */

/* Returns false if there is no room. */
static bool
add_text(struct walk *walk, const char *before, struct slice text, const char *after)
{
    size_t first = strlen(before);
    size_t last = strlen(after);
    char *place = walk->paths + walk->path_end;

    if (first + text.size + last > WALK_PATH_SIZE - walk->path_end) {
        return false;
    }
    memcpy(place, before, first);
    memcpy(place + first, text.bytes, text.size);
    memcpy(place + first + text.size, after, last);
    walk->path_end += first + text.size + last;
    return true;
}

/* Written without printf for speed: most steps of a walk have an index. */
static bool add_index(struct walk *walk, long long index)
{
    char text[24];
    size_t start = sizeof(text);
    unsigned long long rest = (unsigned long long)index;

    rest = index < 0 ? 0 - rest : rest;
    do {
        text[--start] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (index < 0) {
        text[--start] = '-';
    }
    return add_text(walk, "[", (struct slice){text + start, sizeof(text) - start}, "]");
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

static bool add_key(struct walk *walk, struct type_cache *types, PyObject *key)
{
    int overflow = 0;

    if (PyLong_CheckExact(key)) {
        long long number = PyLong_AsLongLongAndOverflow(key, &overflow);
        return overflow == 0 ? add_index(walk, number)
                             : add_text(walk, "[", SLICE("int"), "]");
    }
    return add_text(walk, "[<", type_info_name(type_cache_get(types, Py_TYPE(key))),
                    ">]");
}

static bool
add_step(struct walk *walk, struct type_cache *types, const struct walk_step *step)
{
    PyObject *owner = NULL;
    bool is_done;

    if (step->name == NULL) {
        return add_index(walk, step->index);
    }
    if (!PyUnicode_Check(step->name)) {
        return add_key(walk, types, step->name);
    }
    struct slice text = text_of(step->name, &owner);
    is_done = step->is_field ? add_text(walk, ".", text, "")
                             : add_text(walk, "['", text, "']");
    Py_XDECREF(owner);
    return is_done;
}

static uint64_t find_place(const struct walk *walk)
{
    uint64_t place = 0;

    for (size_t i = 0; i < walk->step_count; i++) {
        const struct walk_step *step = &walk->steps[i];
        uint64_t part = step->name == NULL ? (uint64_t)step->index
                                           : (uint64_t)(uintptr_t)step->name;

        place = (place ^ part) * 0x9e3779b97f4a7c15u + 1;
    }
    return place;
}

static void add_leaf(struct walk *walk, struct type_cache *types, PyObject *object)
{
    struct walk_leaf *leaf = &walk->leaves[walk->leaf_count];
    size_t path = walk->path_end;

    if (is_limit_reached(walk)) {
        return;
    }
    for (size_t i = 0; walk->has_paths && i < walk->step_count; i++) {
        if (!add_step(walk, types, &walk->steps[i]) ||
            walk->path_end - path > WALK_PATH_MAX) {
            walk->path_end = path;
            walk->is_cut = true;
            return;
        }
    }
    leaf->object = Py_NewRef(object);
    leaf->place = find_place(walk);
    leaf->path = path;
    leaf->path_size = walk->path_end - path;
    walk->leaf_count++;
}

/* ---- items ---- */

static void
walk_item(struct walk *walk, struct type_cache *types, PyObject *item, int depth);

/* The first visited item of a container: `first` for the outermost one. */
static Py_ssize_t first_of(const struct walk *walk, int depth)
{
    return depth == 1 ? walk->first : 0;
}

static Py_ssize_t end_of(const struct walk *walk, int depth, Py_ssize_t count)
{
    return depth == 1 && walk->end < count ? walk->end : count;
}

/* Whether Python's own numbers and texts may be skipped: they contain nothing, and their types
 * need not be found. In a small outermost container they are leaves. */
static inline bool may_pass(const struct walk *walk, int depth)
{
    return depth != 1 || walk->item_count > WALK_SMALL;
}

static inline bool holds_nothing(const PyObject *item)
{
    const PyTypeObject *type = Py_TYPE(item);

    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyFloat_Type ||
           type == &PyBool_Type;
}

/* How many more items may be visited. */
static Py_ssize_t room_of(const struct walk *walk)
{
    return walk->seen_count < walk->item_limit
               ? (Py_ssize_t)(walk->item_limit - walk->seen_count)
               : 0;
}

/* Skips items that contain nothing, from the `index`-th on and within the limit of items.
 * Returns the index of the next item. */
static Py_ssize_t
pass_items(struct walk *walk, PyObject *object, Py_ssize_t index, Py_ssize_t end)
{
    PyObject *(*get)(PyObject *, Py_ssize_t) =
        PyList_Check(object) ? PyList_GetItem : PyTuple_GetItem;
    const PyTypeObject *type = NULL; /* of the previous item */
    Py_ssize_t first = index;

    if (room_of(walk) < end - index) {
        end = index + room_of(walk);
    }
    for (; index < end; index++) {
        PyObject *item = get(object, index);

        if (item == NULL || (Py_TYPE(item) != type && !holds_nothing(item))) {
            break;
        }
        type = Py_TYPE(item);
    }
    walk->seen_count += (size_t)(index - first);
    return index;
}

/* pass_items for the entries of a dict. Returns the position of the next entry. */
static Py_ssize_t
pass_entries(struct walk *walk, PyObject *dict, Py_ssize_t position, Py_ssize_t end)
{
    const PyTypeObject *type = NULL;
    Py_ssize_t room = room_of(walk);
    Py_ssize_t next = position;
    PyObject *key, *item;

    while (room > 0 && next < end && PyDict_Next(dict, &next, &key, &item) &&
           (Py_TYPE(item) == type || holds_nothing(item))) {
        type = Py_TYPE(item);
        position = next;
        room--;
        walk->seen_count++;
    }
    return position;
}

static void walk_into(struct walk *walk,
                      struct type_cache *types,
                      struct walk_step step,
                      PyObject *item,
                      int depth)
{
    walk->steps[walk->step_count++] = step;
    walk_item(walk, types, item, depth);
    walk->step_count--;
}

static void walk_sequence(struct walk *walk,
                          struct type_cache *types,
                          PyObject *object,
                          PyObject *fields,
                          int depth)
{
    bool is_list = PyList_Check(object);
    bool may_skip = may_pass(walk, depth);
    Py_ssize_t count = is_list ? PyList_Size(object) : PyTuple_Size(object);

    count = end_of(walk, depth, count);
    for (Py_ssize_t i = first_of(walk, depth);; i++) {
        i = may_skip ? pass_items(walk, object, i, count) : i;
        if (i >= count || is_limit_reached(walk)) {
            break;
        }
        PyObject *item =
            is_list ? PyList_GetItem(object, i) : PyTuple_GetItem(object, i);
        if (item == NULL) { /* the list has become shorter during the walk */
            PyErr_Clear();
            break;
        }
        PyObject *field = fields != NULL && i < PyTuple_Size(fields)
                              ? PyTuple_GetItem(fields, i)
                              : NULL;
        bool is_named = field != NULL && PyUnicode_Check(field);
        Py_INCREF(item);
        walk_into(walk, types, (struct walk_step){is_named ? field : NULL, i, is_named},
                  item, depth);
        Py_DECREF(item);
    }
}

/* An item of a deque, read with the functions of collections.deque even if a subclass overrides
 * them. A new reference, or NULL without an exception. */
static PyObject *
deque_item(const struct type_info *info, PyObject *object, Py_ssize_t index)
{
    ssizeargfunc get =
        (ssizeargfunc)PyType_GetSlot((PyTypeObject *)info->fields, Py_sq_item);
    PyObject *item = get == NULL ? NULL : get(object, index);

    PyErr_Clear();
    return item;
}

static Py_ssize_t deque_size(const struct type_info *info, PyObject *object)
{
    lenfunc size = (lenfunc)PyType_GetSlot((PyTypeObject *)info->fields, Py_sq_length);

    return size == NULL ? 0 : size(object);
}

static void walk_deque(struct walk *walk,
                       struct type_cache *types,
                       PyObject *object,
                       PyObject *deque,
                       int depth)
{
    const struct type_info info = {.fields = deque};
    bool may_skip = may_pass(walk, depth);
    Py_ssize_t count = end_of(walk, depth, deque_size(&info, object));

    for (Py_ssize_t i = first_of(walk, depth); i < count && !is_limit_reached(walk);
         i++) {
        PyObject *item = deque_item(&info, object, i);

        if (item == NULL) { /* the deque has become shorter during the walk */
            break;
        }
        if (may_skip && holds_nothing(item)) {
            walk->seen_count++;
        } else {
            walk_into(walk, types, (struct walk_step){NULL, i, false}, item, depth);
        }
        Py_DECREF(item);
    }
}

/* The position of PyDict_Next is the number of the entry and counts deleted ones too. A caller
 * that sets `first` has made sure that none was deleted. */
static void
walk_dict(struct walk *walk, struct type_cache *types, PyObject *object, int depth)
{
    Py_ssize_t position = first_of(walk, depth);
    Py_ssize_t end = end_of(walk, depth, PY_SSIZE_T_MAX);
    bool may_skip = may_pass(walk, depth);
    PyObject *key, *item;

    for (;;) {
        position = may_skip ? pass_entries(walk, object, position, end) : position;
        if (position >= end || is_limit_reached(walk) ||
            !PyDict_Next(object, &position, &key, &item)) {
            break;
        }
        Py_INCREF(key);
        Py_INCREF(item);
        walk_into(walk, types, (struct walk_step){key, 0, false}, item, depth);
        Py_DECREF(key);
        Py_DECREF(item);
    }
}

/* The value of a slot, read with the type's own descriptor; a new reference or NULL. */
static PyObject *peek_slot(struct type_cache *types, PyObject *object, PyObject *name)
{
    PyObject *member = type_cache_find(types, Py_TYPE(object), name);
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
    bool may_skip = may_pass(walk, depth);
    PyObject *name, *unused;

    while (!is_limit_reached(walk) && PyDict_Next(fields, &position, &name, &unused)) {
        PyObject *item = PyUnicode_Check(name) ? walk_peek(types, object, name) : NULL;
        if (item != NULL && may_skip && holds_nothing(item)) {
            walk->seen_count++;
        } else if (item != NULL) {
            walk_into(walk, types, (struct walk_step){name, 0, true}, item, depth);
        }
        Py_XDECREF(item);
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
    case TYPE_DEQUE:
        walk_deque(walk, types, object, fields, depth);
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
        add_leaf(walk, types, item);
    } else if (type_is_container(info)) {
        if (depth >= WALK_DEPTH_MAX) {
            walk->is_cut = true;
            return;
        }
        PyObject *fields = Py_XNewRef(info->fields);
        walk_inside(walk, types, item, kind, fields, depth + 1);
        Py_XDECREF(fields);
    } else if (depth == 1 && walk->item_count <= WALK_SMALL && is_small_scalar(info)) {
        add_leaf(walk, types, item);
    }
}

size_t walk_count_items(const struct type_info *info, PyObject *object)
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
    case TYPE_DEQUE:
        count = deque_size(info, object);
        break;
    default:
        count = PyDict_Size(info->fields);
    }
    return count > 0 ? (size_t)count : 0;
}

/* The key of the `index`-th item. If no entry was deleted since the dict's table was made, the
 * position of PyDict_Next is the item's number. Else the result is another key, or NULL. */
static PyObject *key_at(PyObject *dict, Py_ssize_t index)
{
    Py_ssize_t position = index;
    PyObject *key, *item;

    return PyDict_Next(dict, &position, &key, &item) && position == index + 1 ? key
                                                                              : NULL;
}

PyObject *walk_item_at(const struct type_info *info, PyObject *object, size_t index)
{
    PyObject *item = NULL;

    switch (info->kind) {
    case TYPE_LIST:
        item = PyList_GetItem(object, (Py_ssize_t)index);
        break;
    case TYPE_TUPLE:
    case TYPE_NAMED_TUPLE:
        item = PyTuple_GetItem(object, (Py_ssize_t)index);
        break;
    case TYPE_DICT:
        item = key_at(object, (Py_ssize_t)index);
        break;
    case TYPE_DEQUE:
        item = deque_item(info, object, (Py_ssize_t)index);
        Py_XDECREF(item); /* the deque keeps it */
        break;
    default:
        break;
    }
    PyErr_Clear();
    return item;
}

void walk_container(struct walk *walk, struct type_cache *types, PyObject *object)
{
    const struct type_info *info = type_cache_get(types, Py_TYPE(object));
    enum type_kind kind = info->kind;
    PyObject *fields = Py_XNewRef(info->fields);

    walk->item_count = walk_count_items(info, object);
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
