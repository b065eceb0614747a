/* Interfaces between the files of this folder. All functions are called with the GIL held. */
#ifndef MONITORCH_PYTHON_TENSOR_PRIVATE_H
#define MONITORCH_PYTHON_TENSOR_PRIVATE_H

#include "runtime/python/tensor/tensor.h"
#include "runtime/trace/format.h"

#include <stdbool.h>
#include <string.h>

/* ---- tensor.c: Python objects, without running code of the user's ---- */

/* Values in the dictionaries of modules, types and instances, without calling `__getattr__`, a
 * metaclass or a property. Borrowed; NULL where there is none. No exception is set. */
PyObject *lookup_in_module(const char *module, const char *name);
PyTypeObject *lookup_type(const char *module, const char *name);
PyObject *lookup_in_instance(PyObject *object, const char *name);

/* The descriptors of `type` itself, which read any class without running code of the class. */
struct type_access {
    PyObject *mro; /* owned */
    PyObject *dict;
    PyObject *name;
};

/* Calls `descriptor` (of the class in which it was found) for `object`. New reference, or NULL
 * with an exception set. */
PyObject *descriptor_get(PyObject *descriptor, PyObject *object);
/* The first value of `name` in the dictionaries of the classes of `type`'s mro. Borrowed; NULL
 * without an exception where there is none. */
PyObject *
type_find(const struct type_access *access, PyTypeObject *type, const char *name);

/* Texts that live as long as the access. */
#define TEXT_BUCKET_COUNT 64
struct text_set {
    struct text_entry *buckets[TEXT_BUCKET_COUNT]; /* owned chains */
    size_t count;
};
/* Above this number of texts, numbers in notes are left out. */
#define TEXT_COUNT_MAX 1024
/* "?" where memory ran out. */
const char *text_set_add(struct text_set *set, const char *text);
/* str(object) without the prefix "torch."; "?" on failure. The type of `object` must be
 * implemented in C. */
const char *text_set_add_object(struct text_set *set, PyObject *object);

/* ---- layout.c: where a tensor object keeps what has no fast getter ---- */

enum layout_state {
    LAYOUT_UNKNOWN,  /* not found yet; to be searched again */
    LAYOUT_SEARCHED, /* a search is running, and made this call */
    LAYOUT_KNOWN,
    LAYOUT_REFUSED, /* a place did not fit: the public getters are used */
};

/* Offsets in bytes. */
struct tensor_layout {
    enum layout_state state;
    unsigned search_count; /* searches that found nothing */
    uint16_t impl;         /* in the PyObject: the pointer to the TensorImpl */
    uint16_t keys;         /* in the TensorImpl: the dispatch key set, 64 bits */
    uint16_t
        counter; /* in the TensorImpl: the pointer to the version counter, may be null */
    uint16_t version; /* in the version counter: 32 bits */
    uint16_t
        sizes; /* in the TensorImpl: how many dimensions, then the sizes or, for more than
                       LAYOUT_INLINE_DIMENSIONS, a pointer to them */
    uint16_t strides; /* in the TensorImpl, where the sizes are there; 0: not known */
    /* All four, or none: then `storage` is 0. */
    uint16_t dtype;   /* in the TensorImpl: the number of the dtype, 16 bits */
    uint16_t offset;  /* in the TensorImpl: of the first element in its storage */
    uint16_t storage; /* in the TensorImpl: the pointer to the storage … */
    uint16_t storage_data,
        storage_size; /* … and in that, its memory and that memory's size */
    /* All three, or none: then `grad` is 0. */
    uint16_t
        grad; /* in the TensorImpl: the pointer to autograd's part, may be null … */
    uint16_t grad_itself, grad_function; /* … and in that, a byte and a pointer */
};
#define LAYOUT_INLINE_DIMENSIONS 5

static inline uint64_t layout_word(const void *start, size_t offset)
{
    uint64_t word;

    memcpy(&word, (const char *)start + offset, sizeof word);
    return word;
}

/* The TensorImpl; NULL: the garbage collector has cleared the object. */
static inline void *layout_impl(const struct tensor_layout *layout,
                                const PyObject *object)
{
    return (void *)(uintptr_t)layout_word(object, layout->impl);
}

static inline uint32_t layout_version(const struct tensor_layout *layout,
                                      const void *impl)
{
    const void *counter = (const void *)(uintptr_t)layout_word(impl, layout->counter);
    uint32_t version = 0;

    if (counter != NULL) { /* tensors of inference mode have none */
        memcpy(&version, (const char *)counter + layout->version, sizeof version);
    }
    return version;
}

/* Whether autograd follows the tensor, as a leaf or as a function's result. `grad` must be
 * known. */
static inline bool layout_requires_grad(const struct tensor_layout *layout,
                                        const void *impl)
{
    const char *meta = (const char *)(uintptr_t)layout_word(impl, layout->grad);

    return meta != NULL && (meta[layout->grad_itself] != 0 ||
                            layout_word(meta, layout->grad_function) != 0);
}

/* Where the values of a tensor start. */
struct layout_memory {
    int64_t size;   /* of the storage, in bytes */
    int64_t offset; /* of the first element in it, in elements … */
    int64_t start;  /* … and in bytes */
    const char *data;
};

/* Returns false if the memory is not known, a number is symbolic, or torch must be asked. */
static inline bool layout_find_memory(const struct tensor_layout *layout,
                                      const void *impl,
                                      size_t item_size,
                                      struct layout_memory *memory)
{
    const void *storage;

    if (layout->state != LAYOUT_KNOWN || layout->storage == 0) {
        return false;
    }
    storage = (const void *)(uintptr_t)layout_word(impl, layout->storage);
    if (storage == NULL) {
        return false;
    }
    memory->size = (int64_t)layout_word(storage, layout->storage_size);
    memory->offset = (int64_t)layout_word(impl, layout->offset);
    memory->data = (const char *)(uintptr_t)layout_word(storage, layout->storage_data);
    if (memory->size < 0 || memory->data == NULL || memory->offset < 0 ||
        __builtin_mul_overflow(memory->offset, (int64_t)item_size, &memory->start)) {
        return false;
    }
    memory->data += memory->start;
    return true;
}

/* ---- torch.c ---- */

/* Functions of libtorch's C interface, found in the library that the program has loaded. A
 * handle is the address of a pointer to the TensorImpl. They return 0 where all is well. */
struct torch_functions {
    bool (*requires_grad)(const void *impl); /* of the tensor itself */
    int (*get_dimension_count)(void *handle, int64_t *count);
    int (*get_sizes)(void *handle, int64_t **sizes);
    int (*get_strides)(void *handle, int64_t **strides);
    int (*get_dtype)(void *handle, int32_t *dtype);
    int (*get_data)(void *handle, const void **data);
    int (*get_storage_offset)(void *handle, int64_t *offset);
    int (*get_storage_size)(void *handle, int64_t *size);
    int (*get_device_type)(void *handle, int32_t *type);
    int (*get_device_index)(void *handle, int32_t *index);
};

/* Bits of dispatch key sets; 0 where this torch has no such key. */
struct torch_keys {
    uint64_t plain; /* a tensor with no other bits is strided and in plain memory … */
    uint64_t dense; /* … if it has this one */
    uint64_t cpu;
    uint64_t conjugate;
    uint64_t negative;
    uint64_t accelerator; /* memory of devices whose addresses torch gives */
    uint64_t meta;
    uint64_t python;
    uint64_t batched;
    uint64_t grad_wrapper;
    uint64_t functional;
    uint64_t nested;
    uint64_t sparse;
    uint64_t quantized;
    uint64_t mkldnn;
    uint64_t zero;
    uint64_t
        quiet; /* set in each call of a thread in which no mode, transform, tracer or profiler is active */
};

/* Descriptors of torch._C.TensorBase and functions of torch._C: owned, NULL where missing. */
struct torch_objects {
    PyObject *cdata, *shape, *dtype, *device, *layout, *version, *requires_grad;
    PyObject *stride, *storage_offset, *data_ptr, *untyped_storage, *stored_count;
    PyObject *zeros, *narrow, *as_strided, *conj, *negative_view, *zero_in_place;
    PyObject *dispatch_keys, *included_keys, *dispatch_stack_length,
        *transform_stack_top, *tracing_state;
    PyObject *profiler_enabled, *get_unwrapped;
    PyObject *disable_function, *inference_mode; /* context managers */
    PyObject *disabled_dispatch;
};

struct torch_access {
    /* The fields that each line reads are first. */
    PyTypeObject *tensor_type; /* owned, as the other types; NULL where not there yet */
    PyTypeObject *parameter_type;
    struct tensor_layout layout;
    bool is_ready;         /* the fields below were looked up */
    bool is_complete;      /* and so were the types that torch defines later */
    bool has_key_numbers;  /* this torch gives the bits of a key set */
    bool peeks_key_sets;   /* bits of key sets are read from memory at a known place */
    bool measures_devices; /* see device.h */
    bool tests_devices;    /* the CPU is to be treated like another device */
    struct torch_keys keys;
    struct torch_functions functions;
    struct torch_objects objects;
    PyTypeObject *base_type;
    PyTypeObject *uninitialized_type;
};

struct numpy_access {
    PyTypeObject *array_type; /* owned; NULL where not there yet */
    PyTypeObject *scalar_type;
    PyObject *array_struct; /* owned: the descriptors */
    PyObject *scalar_struct;
};

struct tensor_access {
    struct type_access types;
    struct text_set texts;
    struct torch_access torch;
    struct numpy_access numpy;
};

/* Reads a tensor's version from memory. Returns false if its place is not known. */
static inline bool torch_peek_version(const struct tensor_access *access,
                                      PyObject *object,
                                      uint32_t *version)
{
    const struct tensor_layout *layout = &access->torch.layout;
    const void *impl;

    if (layout->state != LAYOUT_KNOWN) {
        return false;
    }
    impl = layout_impl(layout, object);
    *version = impl == NULL ? 0 : layout_version(layout, impl);
    return true;
}

#ifdef __APPLE__
    #define LIBRARY_SUFFIX ".dylib"
#else
    #define LIBRARY_SUFFIX ".so"
#endif
#define TORCH_LIBRARY "libtorch_cpu" LIBRARY_SUFFIX

/* ---- tensor.c ---- */

/* A symbol of a library that is loaded already; loads nothing. May be NULL. */
void *torch_symbol_find(const char *library, const char *name);

/* Looks up the parts of torch that were not loaded before. Returns false while torch is not
 * loaded. */
enum tensor_class torch_classify(struct tensor_access *access, PyTypeObject *type);
int torch_describe(struct tensor_access *access,
                   PyObject *object,
                   enum tensor_class class,
                   struct tensor *tensor);

/* Whether autograd follows the tensor. */
static inline bool torch_requires_grad(const struct torch_access *torch,
                                       const void *impl)
{
    return torch->layout.state == LAYOUT_KNOWN && torch->layout.grad != 0
               ? layout_requires_grad(&torch->layout, impl)
               : torch->functions.requires_grad(impl);
}

/* Strided, in plain memory. */
static inline bool torch_keys_are_plain(const struct torch_keys *known, uint64_t keys)
{
    return (keys & ~known->plain) == 0 && (keys & known->dense) != 0;
}

/* Describes a strided tensor in plain memory with a known type and dtype, without a call of
 * Python. Returns false if it is none, or could not be found; `tensor` is undefined then. */
bool torch_describe_plain(struct tensor_access *access,
                          PyObject *object,
                          struct tensor *tensor);

uint32_t torch_version(struct tensor_access *access, PyObject *object);
/* The dtype of a number of ScalarType. */
enum dtype torch_find_dtype(int32_t number);

/* The TensorImpl behind the object, readable outside of guards too. NULL if there is none, or if
 * its place is unknown. */
void *torch_find_impl(const struct torch_access *torch, PyObject *object);

/* Whether torch calls made now are invisible to the program: no mode, transform, tracer or
 * profiler is active. */
bool torch_is_quiet(const struct torch_access *torch);

/* ---- keys.c ---- */

void torch_keys_find(struct torch_access *torch);
/* The bits of a DispatchKeySet, whose reference is stolen. Returns false, with no exception set,
 * if it is NULL or cannot be read. */
bool torch_read_key_set(const struct torch_access *torch,
                        PyObject *set,
                        uint64_t *keys);
/* The key set of a tensor, as torch's function returns it. */
bool torch_ask_keys(const struct torch_access *torch, PyObject *object, uint64_t *keys);

bool torch_guard_enter(const struct torch_access *torch, struct torch_guard *guard);
void torch_guard_leave(struct torch_guard *guard);

/* Searches the layout with sample tensors and the answers of torch's public functions. */
void layout_search(struct torch_access *torch);

/* Sets every field but array.shape to the value of an unknown tensor. */
void tensor_init(struct tensor *tensor, PyObject *object);

#endif
