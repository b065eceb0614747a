/* Types of Python as the recorder sees them: found once for each type, without running code of
 * the user, not even of a metaclass. */
#ifndef MONITORCH_PYTHON_VISIT_TYPES_H
#define MONITORCH_PYTHON_VISIT_TYPES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/base/slice.h"
#include "runtime/python/tensor/tensor.h"

enum type_kind {
    TYPE_OBJECT, /* any other type */
    TYPE_NONE,
    TYPE_BOOL,
    TYPE_INT,
    TYPE_FLOAT,
    TYPE_COMPLEX,
    TYPE_TEXT,
    TYPE_BYTES,
    TYPE_TENSOR, /* of the tensor_class in `tensor` */
    TYPE_LIST,
    TYPE_TUPLE,
    TYPE_NAMED_TUPLE, /* `fields` is the tuple of names */
    TYPE_DICT,
    TYPE_DEQUE,     /* `fields` is the class collections.deque */
    TYPE_DATACLASS, /* `fields` is the dict by name */
};

struct type_info {
    PyTypeObject *type;  /* borrowed: `reference` shows whether it is alive */
    PyObject *reference; /* owned: a weak reference to it */
    enum type_kind kind;
    enum tensor_class tensor;
    bool is_module;          /* a torch.nn.Module */
    bool is_final;           /* stays valid when more modules are imported */
    Py_ssize_t module_count; /* in sys.modules when the type was examined */
    PyObject *name;   /* owned: bytes, UTF-8; the qualified name with its module */
    PyObject *fields; /* owned; may be NULL */
};

#define TYPE_CACHE_BITS 9
#define TYPE_CACHE_SIZE (1 << TYPE_CACHE_BITS)

struct type_cache {
    struct tensor_access *access; /* borrowed */
    PyObject *modules;            /* owned: sys.modules */
    PyObject *get_mro, *get_dict, *get_name,
        *get_module;     /* owned: descriptors of `type` */
    PyTypeObject *deque; /* owned: collections.deque; NULL: not found yet */
    struct type_info entries[TYPE_CACHE_SIZE];
};

/* 0, or -1 with an exception set. */
int type_cache_init(struct type_cache *cache, struct tensor_access *access);
void type_cache_release(struct type_cache *cache);

/* Never NULL; valid until the next call. */
const struct type_info *type_cache_get(struct type_cache *cache, PyTypeObject *type);

struct slice type_info_name(const struct type_info *info);

/* The value of that name in the type or the first of its bases that has it; a new reference, or
 * NULL without an exception. */
PyObject *type_cache_find(struct type_cache *cache, PyTypeObject *type, PyObject *name);

/* Whether values of the type are tensors of torch or another library, or arrays, whether or not
 * they can be read here. */
bool type_is_tensor(struct type_cache *cache, PyTypeObject *type);

#endif
