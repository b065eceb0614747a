/* What a tensor or array is, found out without running any code of the user's: its type, its
 * shape, where its data lies. PyTorch and NumPy are used where the program has loaded them
 * and never imported. Nothing here raises, leaves an exception set, or changes the tensor.
 *
 * MONITORCH_TEST_TENSORS=getters in the environment makes torch be asked by its public getters
 * alone, as where libtorch's C interface is not there. */
#ifndef MONITORCH_PYTHON_TENSOR_TENSOR_H
#define MONITORCH_PYTHON_TENSOR_TENSOR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/array/array.h"
#include "runtime/array/statistics/statistics.h"

/* What a type is, as far as tensors go: looked up once for a type and kept by the caller. */
enum tensor_class {
    TENSOR_CLASS_NONE,  /* no tensor, no array */
    TENSOR_CLASS_EXACT, /* torch.Tensor, torch.nn.Parameter, or a subclass that changes
                               nothing (torch.nn.Buffer …) */
    TENSOR_CLASS_SUBCLASS, /* another subclass whose data is its own */
    TENSOR_CLASS_WRAPPER, /* a subclass with a __torch_dispatch__: FakeTensor, DTensor */
    TENSOR_CLASS_NUMPY,   /* numpy.ndarray or a subclass, numpy.generic scalars */
};

struct tensor_access; /* what is known of the torch and the NumPy in this process */

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
    /* Texts, NUL-terminated, valid as long as the access: "" where there is none. */
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

/* Describes `object`, whose type is of class `class`. -1: it is no tensor after all. Where 0
 * is returned, tensor_release must follow once the array is no longer read; until then the caller
 * keeps `object` alive and the GIL held: other threads replace a tensor's memory (`x.data = y`),
 * or resize its storage. Memory of 64 KB or more is held until then, because torch runs `set_`
 * without the GIL. */
int tensor_describe(struct tensor_access *access,
                    PyObject *object,
                    enum tensor_class class,
                    struct tensor *tensor);
void tensor_release(struct tensor *tensor);

#define TENSOR_BLOCK_DIMENSIONS 5

/* What values are that follow each other in memory, in some order of their dimensions. */
struct block_form {
    uint8_t dtype; /* enum dtype */
    uint8_t item_size, dimension_count;
    bool is_in_order;     /* row-major: as a new tensor has them */
    uint16_t torch_dtype; /* its number there */
    size_t size;          /* in bytes; a tensor's is more than none */
    int64_t shape[TENSOR_BLOCK_DIMENSIONS];
    int64_t strides[TENSOR_BLOCK_DIMENSIONS]; /* in elements */
};

#define BLOCK_FORM_NO_TENSOR UINT16_MAX /* for `torch_dtype`: no tensor has that form */

/* Such values of a tensor. What it points to is the tensor's, but for the form. */
struct tensor_block {
    const struct block_form *form;
    const void *data;
    uint32_t version;
    bool requires_grad, is_parameter;
    struct block_form new_form; /* where it has no other */
};

/* block.c: the same of most tensors, sooner. */
enum tensor_block_answer {
    TENSOR_BLOCK_FOREIGN, /* it is none of TENSOR_CLASS_EXACT, as far as is known yet */
    TENSOR_BLOCK_NONE, /* it is empty, or has gaps, or something has to be asked for: it is to be described */
    TENSOR_BLOCK_FOUND,
};
/* `known`: the form that it may have again, NULL: none; that is found sooner. */
enum tensor_block_answer tensor_find_block(const struct tensor_access *access,
                                           PyObject *object,
                                           const struct block_form *known,
                                           struct tensor_block *block);

/* A torch tensor's version counter alone; 0 where there is none. */
uint32_t tensor_version(struct tensor_access *access, PyObject *object);

/* While entered, torch's getters call no __torch_function__ and no collection runs. */
struct torch_guard {
    PyObject *function; /* owned */
    bool had_collector;
};
/* false, and nothing to leave, where this torch cannot be asked so. */
bool tensor_guard_enter(const struct tensor_access *access, struct torch_guard *guard);
void tensor_guard_leave(struct torch_guard *guard);

/* The identity of a function of autograd, whichever Python object represents it: the function's
 * address, with which the object begins. It is compared, and never followed. */
uint64_t tensor_function_address(PyObject *function);

/* The storage of a torch tensor: a new reference, which keeps its memory alive where another thread
 * gives the tensor another storage. The memory itself can still be freed by resizing the storage,
 * which needs the GIL. NULL, with no exception, where there is none. */
PyObject *tensor_hold(struct tensor_access *access, PyObject *object);

#endif
