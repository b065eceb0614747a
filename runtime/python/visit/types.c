/* The cache of types: facts about a type, read with the descriptors of `type` itself. */
#include "runtime/python/visit/types.h"

#include "runtime/base/hash/mix.h"

#include <string.h>

static PyObject *type_attribute(const char *name)
{
    PyObject *dict = PyObject_GetAttrString((PyObject *)&PyType_Type, "__dict__");
    PyObject *found = NULL;

    if (dict != NULL) {
        found = PyMapping_GetItemString(dict, name);
        Py_DECREF(dict);
    }
    return found;
}

int type_cache_init(struct type_cache *cache, struct tensor_access *access)
{
    memset(cache, 0, sizeof(*cache));
    cache->access = access;
    cache->modules = PySys_GetObject("modules");
    Py_XINCREF(cache->modules);
    cache->get_mro = type_attribute("__mro__");
    cache->get_dict = type_attribute("__dict__");
    cache->get_name = type_attribute("__qualname__");
    cache->get_module = type_attribute("__module__");
    if (cache->modules == NULL || cache->get_mro == NULL || cache->get_dict == NULL ||
        cache->get_name == NULL || cache->get_module == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_RuntimeError, "sys.modules is missing");
        }
        return -1;
    }
    return 0;
}

static void info_clear(struct type_info *info)
{
    struct type_info old = *info;

    memset(info, 0, sizeof(*info));
    Py_XDECREF(old.reference);
    Py_XDECREF(old.name);
    Py_XDECREF(old.fields);
}

void type_cache_release(struct type_cache *cache)
{
    for (size_t i = 0; i < TYPE_CACHE_SIZE; i++) {
        info_clear(&cache->entries[i]);
    }
    Py_CLEAR(cache->modules);
    Py_CLEAR(cache->get_mro);
    Py_CLEAR(cache->get_dict);
    Py_CLEAR(cache->get_name);
    Py_CLEAR(cache->get_module);
    Py_CLEAR(cache->deque);
}

/* Calls a descriptor of `type` itself for a class, so that its metaclass is not involved. */
static PyObject *describe(PyObject *descriptor, PyTypeObject *type)
{
    descrgetfunc get =
        (descrgetfunc)PyType_GetSlot(Py_TYPE(descriptor), Py_tp_descr_get);
    PyObject *found =
        get == NULL ? NULL
                    : get(descriptor, (PyObject *)type, (PyObject *)Py_TYPE(type));

    if (found == NULL) {
        PyErr_Clear();
    }
    return found;
}

PyObject *type_cache_find(struct type_cache *cache, PyTypeObject *type, PyObject *name)
{
    PyObject *mro = describe(cache->get_mro, type);
    PyObject *found = NULL;

    if (mro == NULL || !PyTuple_Check(mro)) {
        Py_XDECREF(mro);
        return NULL;
    }
    for (Py_ssize_t i = 0; found == NULL && i < PyTuple_Size(mro); i++) {
        PyObject *base = PyTuple_GetItem(mro, i);
        PyObject *dict =
            PyType_Check(base) ? describe(cache->get_dict, (PyTypeObject *)base) : NULL;
        if (dict != NULL) {
            found = PyObject_GetItem(dict, name);
            PyErr_Clear();
            Py_DECREF(dict);
        }
    }
    Py_DECREF(mro);
    return found;
}

static PyObject *
find_text(struct type_cache *cache, PyTypeObject *type, const char *name)
{
    PyObject *key = PyUnicode_FromString(name);
    PyObject *found = key == NULL ? NULL : type_cache_find(cache, type, key);

    Py_XDECREF(key);
    PyErr_Clear();
    return found;
}

/* `name` for builtins, else `module.name`. */
static PyObject *make_name(struct type_cache *cache, PyTypeObject *type)
{
    PyObject *name = describe(cache->get_name, type);
    PyObject *module = describe(cache->get_module, type);
    PyObject *text = NULL;
    PyObject *bytes = NULL;

    if (name != NULL && PyUnicode_CheckExact(name)) {
        bool is_plain = module == NULL || !PyUnicode_CheckExact(module) ||
                        PyUnicode_CompareWithASCIIString(module, "builtins") == 0;
        text = is_plain ? Py_NewRef(name) : PyUnicode_FromFormat("%U.%U", module, name);
    }
    if (text != NULL) {
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    }
    Py_XDECREF(text);
    Py_XDECREF(name);
    Py_XDECREF(module);
    PyErr_Clear();
    return bytes;
}

/* The torch.nn.Module of this process, or NULL if torch is not imported (yet). */
static PyObject *find_module_class(struct type_cache *cache)
{
    PyObject *module = PyDict_GetItemString(cache->modules, "torch.nn.modules.module");
    PyObject *dict =
        module != NULL && PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
    PyObject *found = dict == NULL ? NULL : PyDict_GetItemString(dict, "Module");

    return found != NULL && PyType_Check(found) ? found : NULL;
}

static bool is_subtype(PyTypeObject *type, PyTypeObject *base)
{
    return type == base || PyType_IsSubtype(type, base);
}

/* Whether the type is collections.deque or derived from it. No deque exists before its module is
 * imported. */
static bool is_deque(struct type_cache *cache, PyTypeObject *type)
{
    PyObject *module = PyDict_GetItemString(cache->modules, "_collections");
    PyObject *found = NULL;

    if (cache->deque == NULL && module != NULL && PyModule_Check(module)) {
        found = PyDict_GetItemString(PyModule_GetDict(module), "deque");
        if (found != NULL && PyType_Check(found)) {
            cache->deque = (PyTypeObject *)Py_NewRef(found);
        }
    }
    return cache->deque != NULL && is_subtype(type, cache->deque);
}

static enum type_kind find_tuple_kind(struct type_cache *cache, struct type_info *info)
{
    info->fields = find_text(cache, info->type, "_fields");
    if (info->fields != NULL && PyTuple_CheckExact(info->fields)) {
        return TYPE_NAMED_TUPLE;
    }
    Py_CLEAR(info->fields);
    return TYPE_TUPLE;
}

static enum type_kind find_object_kind(struct type_cache *cache, struct type_info *info)
{
    info->fields = find_text(cache, info->type, "__dataclass_fields__");
    if (info->fields != NULL && PyDict_Check(info->fields)) {
        return TYPE_DATACLASS;
    }
    Py_CLEAR(info->fields);
    return TYPE_OBJECT;
}

static enum type_kind find_kind(struct type_cache *cache, struct type_info *info)
{
    static const struct {
        PyTypeObject *type;
        enum type_kind kind;
    } known[] = {
        {&PyBool_Type, TYPE_BOOL},       {&PyLong_Type, TYPE_INT},
        {&PyFloat_Type, TYPE_FLOAT},     {&PyComplex_Type, TYPE_COMPLEX},
        {&PyUnicode_Type, TYPE_TEXT},    {&PyBytes_Type, TYPE_BYTES},
        {&PyByteArray_Type, TYPE_BYTES}, {&PyList_Type, TYPE_LIST},
        {&PyDict_Type, TYPE_DICT},
    };

    if (info->type == Py_TYPE(Py_None)) {
        return TYPE_NONE;
    }
    info->tensor = tensor_classify(cache->access, info->type);
    if (info->tensor != TENSOR_CLASS_NONE) {
        return TYPE_TENSOR;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (is_subtype(info->type, known[i].type)) {
            return known[i].kind;
        }
    }
    if (is_subtype(info->type, &PyTuple_Type)) {
        return find_tuple_kind(cache, info);
    }
    if (is_deque(cache, info->type)) {
        info->fields = Py_NewRef((PyObject *)cache->deque);
        return TYPE_DEQUE;
    }
    return find_object_kind(cache, info);
}

/* Finds the facts of a type. The entry is filled in only at the end: the calls here may run the
 * garbage collector, and finalizers that visit sites and use the cache themselves. */
static void
examine(struct type_cache *cache, struct type_info *entry, PyTypeObject *type)
{
    PyObject *module_class = find_module_class(cache);
    struct type_info info = {.type = type};

    info.module_count = PyDict_Size(cache->modules);
    info.kind = find_kind(cache, &info);
    info.is_module =
        module_class != NULL && is_subtype(type, (PyTypeObject *)module_class);
    info.is_final = info.is_module || info.kind != TYPE_OBJECT;
    info.name = make_name(cache, type);
    info.reference = PyWeakref_NewRef((PyObject *)type, NULL);
    PyErr_Clear();
    info_clear(entry);
    *entry = info;
}

const struct type_info *type_cache_get(struct type_cache *cache, PyTypeObject *type)
{
    size_t slot = hash_slot((uintptr_t)type >> 4, TYPE_CACHE_BITS);
    struct type_info *info = &cache->entries[slot];

    if (info->type == type && info->reference != NULL &&
        PyWeakref_GetObject(info->reference) == (PyObject *)type &&
        (info->is_final || info->module_count == PyDict_Size(cache->modules))) {
        return info;
    }
    examine(cache, info, type);
    return info;
}

_Static_assert(TYPE_CACHE_SIZE == 1 << (64 - 55), "the slot is an index of the cache");

struct slice type_info_name(const struct type_info *info)
{
    if (info->name == NULL) {
        return SLICE("?");
    }
    return (struct slice){PyBytes_AsString(info->name),
                          (size_t)PyBytes_Size(info->name)};
}

static bool has_text(struct type_cache *cache, PyTypeObject *type, const char *name)
{
    PyObject *found = find_text(cache, type, name);

    Py_XDECREF(found);
    return found != NULL;
}

bool type_is_tensor(struct type_cache *cache, PyTypeObject *type)
{
    return type_cache_get(cache, type)->kind == TYPE_TENSOR ||
           has_text(cache, type, "__dlpack__") ||
           has_text(cache, type, "__array_interface__");
}
