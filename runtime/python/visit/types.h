/* What the recorder has to know of a type, found out once and without running code of the
 * user's, not even a metaclass's. */
#ifndef MONITORCH_PYTHON_VISIT_TYPES_H
#define MONITORCH_PYTHON_VISIT_TYPES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/slice.h"
#include "runtime/python/tensor/tensor.h"

enum type_kind {
    TYPE_OBJECT, /* nothing that is known here */
    TYPE_NONE,
    TYPE_BOOL,
    TYPE_INT,
    TYPE_FLOAT,
    TYPE_COMPLEX,
    TYPE_TEXT,
    TYPE_BYTES,
    TYPE_TENSOR, /* of the class `tensor` */
    TYPE_LIST,
    TYPE_TUPLE,
    TYPE_NAMED_TUPLE, /* `fields` is the tuple of names */
    TYPE_DICT,
    TYPE_DEQUE,     /* `fields` is the class collections.deque */
    TYPE_DATACLASS, /* `fields` is the dict by name */
};

struct type_info {
    PyTypeObject *type;  /* borrowed: `reference` tells whether it is alive */
    PyObject *reference; /* owned: a weak reference to it */
    enum type_kind kind;
    enum tensor_class tensor;
    bool is_module; /* a torch.nn.Module */
    bool is_final;  /* cannot turn out to be anything else when more is imported */
    Py_ssize_t module_count; /* of sys.modules when it was looked at */
    PyObject *name;   /* owned: bytes, UTF-8; the qualified name with its module */
    PyObject *fields; /* owned; may be NULL */
};

#define TYPE_CACHE_BITS 9
#define TYPE_CACHE_SIZE (1 << TYPE_CACHE_BITS)

struct type_cache {
    struct tensor_access *access; /* borrowed */
    PyObject *modules;            /* owned: sys.modules */
    PyObject *get_mro, *get_dict, *get_name,
        *get_module;     /* owned: type's descriptors */
    PyTypeObject *deque; /* owned: collections.deque; NULL: none was met yet */
    struct type_info entries[TYPE_CACHE_SIZE];
};

/* 0, or -1 with an exception set. */
int type_cache_init(struct type_cache *cache, struct tensor_access *access);
void type_cache_release(struct type_cache *cache);

/* Never NULL; valid until the next call. */
const struct type_info *type_cache_get(struct type_cache *cache, PyTypeObject *type);

struct slice type_info_name(const struct type_info *info);

/* What the type or one of its bases holds under that name; a new reference, or NULL without an
 * exception. */
PyObject *type_cache_find(struct type_cache *cache, PyTypeObject *type, PyObject *name);

/* Whether values of the type are tensors of torch or another library, or arrays, readable here or not. */
bool type_is_tensor(struct type_cache *cache, PyTypeObject *type);

#endif
