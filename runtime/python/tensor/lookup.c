/* Looking at Python objects without running code of the user's. */
#include "runtime/python/tensor/private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

/* A name that cannot be looked up is not there: no exception is left. */
static PyObject *dict_find(PyObject *dict, const char *name)
{
    PyObject *key = PyUnicode_FromString(name);
    PyObject *value = NULL;

    if (key != NULL) {
        value = PyDict_GetItemWithError(dict, key);
        Py_DECREF(key);
    }
    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

PyObject *lookup_module_dict(const char *module)
{
    PyObject *modules = PyImport_GetModuleDict();

    if (modules == NULL || !PyDict_Check(modules)) {
        return NULL;
    }
    PyObject *found = dict_find(modules, module);
    return found != NULL && PyModule_Check(found) ? PyModule_GetDict(found) : NULL;
}

PyObject *lookup_in_module(const char *module, const char *name)
{
    PyObject *dict = lookup_module_dict(module);

    return dict == NULL ? NULL : dict_find(dict, name);
}

PyTypeObject *lookup_type(const char *module, const char *name)
{
    PyObject *found = lookup_in_module(module, name);

    return found != NULL && PyType_Check(found) ? (PyTypeObject *)found : NULL;
}

PyObject *lookup_in_instance(PyObject *object, const char *name)
{
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    PyObject *value = NULL;

    if (dict == NULL) {
        PyErr_Clear();
        return NULL;
    }
    if (PyDict_Check(dict)) {
        value = dict_find(dict, name);
    }
    Py_DECREF(dict); /* the instance keeps it */
    return value;
}

PyObject *descriptor_get(PyObject *descriptor, PyObject *object)
{
    descrgetfunc get =
        (descrgetfunc)PyType_GetSlot(Py_TYPE(descriptor), Py_tp_descr_get);

    if (get == NULL) {
        PyErr_SetString(PyExc_TypeError, "not a descriptor");
        return NULL;
    }
    return get(descriptor, object, (PyObject *)Py_TYPE(object));
}

bool type_access_init(struct type_access *access)
{
    PyObject *dict = PyObject_GetAttrString((PyObject *)&PyType_Type, "__dict__");

    *access = (struct type_access){NULL, NULL, NULL};
    if (dict != NULL) {
        access->mro = PyMapping_GetItemString(dict, "__mro__");
        access->dict = PyMapping_GetItemString(dict, "__dict__");
        access->name = PyMapping_GetItemString(dict, "__name__");
        Py_DECREF(dict);
    }
    if (access->mro == NULL || access->dict == NULL || access->name == NULL) {
        PyErr_Clear();
        type_access_release(access);
        return false;
    }
    return true;
}

void type_access_release(struct type_access *access)
{
    Py_CLEAR(access->mro);
    Py_CLEAR(access->dict);
    Py_CLEAR(access->name);
}

static PyObject *
class_find(const struct type_access *access, PyObject *class, PyObject *key)
{
    PyObject *dict = descriptor_get(access->dict, class);
    PyObject *value = NULL;

    if (dict != NULL) {
        value = PyObject_GetItem(dict, key);
        Py_DECREF(dict);
    }
    if (value == NULL) {
        PyErr_Clear();
        return NULL;
    }
    Py_DECREF(value); /* the class keeps it */
    return value;
}

PyObject *
type_find(const struct type_access *access, PyTypeObject *type, const char *name)
{
    PyObject *mro = descriptor_get(access->mro, (PyObject *)type);
    PyObject *key = PyUnicode_FromString(name);
    PyObject *found = NULL;

    if (mro != NULL && key != NULL && PyTuple_Check(mro)) {
        for (Py_ssize_t i = 0; i < PyTuple_Size(mro) && found == NULL; i++) {
            PyObject *class = PyTuple_GetItem(mro, i);
            if (PyType_Check(class)) {
                found = class_find(access, class, key);
            }
        }
    }
    PyErr_Clear();
    Py_XDECREF(key);
    Py_XDECREF(mro);
    return found;
}

struct text_entry {
    struct text_entry *next; /* owned */
    char text[];
};

void text_set_release(struct text_set *set)
{
    for (size_t i = 0; i < TEXT_BUCKET_COUNT; i++) {
        while (set->buckets[i] != NULL) {
            struct text_entry *entry = set->buckets[i];
            set->buckets[i] = entry->next;
            memory_free(entry);
        }
    }
    set->count = 0;
}

const char *text_set_add(struct text_set *set, const char *text)
{
    size_t size = strlen(text);
    size_t bucket = hash_64((struct slice){text, size}) % TEXT_BUCKET_COUNT;

    for (struct text_entry *entry = set->buckets[bucket]; entry != NULL;
         entry = entry->next) {
        if (strcmp(entry->text, text) == 0) {
            return entry->text;
        }
    }
    struct text_entry *added = memory_allocate(1, sizeof *added + size + 1);
    if (added == NULL) {
        return "?";
    }
    memcpy(added->text, text, size + 1);
    added->next = set->buckets[bucket];
    set->buckets[bucket] = added;
    set->count++;
    return added->text;
}

const char *text_set_add_object(struct text_set *set, PyObject *object)
{
    PyObject *string = PyObject_Str(object);
    const char *text = string == NULL ? NULL : PyUnicode_AsUTF8AndSize(string, NULL);
    const char *kept = "?";

    if (text == NULL) {
        PyErr_Clear();
    } else {
        kept = text_set_add(set, strncmp(text, "torch.", 6) == 0 ? text + 6 : text);
    }
    Py_XDECREF(string);
    return kept;
}
