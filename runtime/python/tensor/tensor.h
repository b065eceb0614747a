/* Tensors and arrays, described without running code of the program: type, shape and the place
 * of the data. PyTorch and NumPy are used if the program has loaded them, and never imported. No
 * function raises, leaves an exception set, or changes the tensor.
 *
 * MONITORCH_TEST_TENSORS=getters in the environment restricts this code to torch's public
 * getters, as where libtorch's C interface is missing. */
#ifndef MONITORCH_PYTHON_TENSOR_TENSOR_H
#define MONITORCH_PYTHON_TENSOR_TENSOR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/array/array.h"
#include "runtime/array/statistics/statistics.h"

/* The class of a type: looked up once for a type and kept by the caller. */
enum tensor_class {
    TENSOR_CLASS_NONE,  /* no tensor, no array */
    TENSOR_CLASS_EXACT, /* torch.Tensor, torch.nn.Parameter, or a subclass that changes
                               nothing (torch.nn.Buffer …) */
    TENSOR_CLASS_SUBCLASS, /* another subclass whose data is its own */
    TENSOR_CLASS_WRAPPER, /* a subclass with a __torch_dispatch__: FakeTensor, DTensor */
    TENSOR_CLASS_NUMPY,   /* numpy.ndarray or a subclass, numpy.generic scalars */
};

struct tensor_access; /* The torch and the NumPy that this process has loaded. */

struct tensor_access *tensor_access_new(void); /* NULL: out of memory */
void tensor_access_free(struct tensor_access *access);

enum tensor_class tensor_classify(struct tensor_access *access, PyTypeObject *type);

struct tensor {
    struct array
        array; /* shape and strides point into `dimensions` or into the tensor; data
                           is NULL where the values are not in this process's memory */
    uint64_t object;  /* address of the Python object */
    uint64_t data;    /* address of the first element, 0: not known */
    int64_t offset;   /* of the first element in its storage, in elements */
    uint32_t version; /* counts writes in place; 0 where there is no counter */
    unsigned flags;   /* enum log_form_flag but for the strides' */
    /* Texts, NUL-terminated, valid as long as the access. "" where a text does not apply. */
    const char *type;       /* where it is no plain tensor, parameter or ndarray */
    const char *dtype_text; /* where the dtype is DTYPE_OTHER */
    const char *device;     /* "" is the CPU */
    const char *layout;     /* "" is strided */
    const char *note;       /* why there are no values: "meta", "fake", "batched" … */
    bool
        is_on_device; /* its values can be measured on its device: tensor_measure_there */
    PyObject *owner; /* owned: keeps what the pointers need; may be NULL */
    int64_t dimensions[2 * ARRAY_DIMENSION_MAX]; /* not initialised where not used */
};

/* Describes `object`, whose type is of class `class`. Returns -1 if it is no tensor after all.
 * After 0 the caller must call tensor_release once it no longer reads the array, and until then
 * keep `object` alive and the GIL held: other threads replace a tensor's memory (`x.data = y`)
 * or resize its storage. Memory of 64 KB or more is held until then, because torch runs `set_`
 * without the GIL. */
int tensor_describe(struct tensor_access *access,
                    PyObject *object,
                    enum tensor_class class,
                    struct tensor *tensor);
void tensor_release(struct tensor *tensor);

#define TENSOR_BLOCK_DIMENSIONS 5

/* The form of values that are contiguous in memory, in some order of their dimensions. */
struct block_form {
    uint8_t dtype; /* enum dtype */
    uint8_t item_size, dimension_count;
    bool is_in_order;     /* row-major: as a new tensor has them */
    uint16_t torch_dtype; /* its number there */
    size_t size;          /* in bytes; more than 0 for a tensor */
    int64_t shape[TENSOR_BLOCK_DIMENSIONS];
    int64_t strides[TENSOR_BLOCK_DIMENSIONS]; /* in elements */
};

#define BLOCK_FORM_NO_TENSOR                                                           \
    UINT16_MAX /* a value of `torch_dtype` that no tensor has */

/* The contiguous values of a tensor. The tensor owns what the pointers point to, except
 * `new_form`. */
struct tensor_block {
    const struct block_form *form;
    const void *data;
    uint32_t version;
    bool requires_grad, is_parameter;
    struct block_form new_form; /* used if no known form fits */
};

/* The result of tensor_find_block. */
enum tensor_block_answer {
    TENSOR_BLOCK_FOREIGN, /* not of TENSOR_CLASS_EXACT, as far as is known yet */
    TENSOR_BLOCK_NONE, /* empty, or with gaps, or with a field that torch must be asked for: to be described */
    TENSOR_BLOCK_FOUND,
};

/* Finds the contiguous values of a tensor. `known` is a form that it may have again, which is
 * found sooner; NULL: none. */
enum tensor_block_answer tensor_find_block(const struct tensor_access *access,
                                           PyObject *object,
                                           const struct block_form *known,
                                           struct tensor_block *block);

/* A torch tensor's version counter alone; 0 where there is none. */
uint32_t tensor_version(struct tensor_access *access, PyObject *object);

/* While a guard is active, torch's getters call no __torch_function__ and no collection runs. */
struct torch_guard {
    PyObject *function; /* owned */
    bool had_collector;
};
/* Returns false, with nothing to leave, if this torch has no such guards. */
bool tensor_guard_enter(const struct tensor_access *access, struct torch_guard *guard);
void tensor_guard_leave(struct torch_guard *guard);

/* The identity of a function of autograd: its address, which is the first field of every Python
 * object that represents it. It is compared, and never dereferenced. */
uint64_t tensor_function_address(PyObject *function);

/* The storage of a torch tensor: a new reference, which keeps its memory alive where another thread
 * gives the tensor another storage. The memory itself can still be freed by resizing the storage,
 * which needs the GIL. NULL, with no exception, where there is none. */
PyObject *tensor_hold(struct tensor_access *access, PyObject *object);

#endif
