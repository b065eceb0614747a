/* Sorting objects by what they are, and sending each to those who know its kind. */
#include "runtime/python/tensor/private.h"

#include "runtime/base/hot.h"
#include "runtime/base/memory.h"

struct tensor_access *tensor_access_new(void)
{
    struct tensor_access *access = memory_allocate_zeroed(1, sizeof *access);

    if (access == NULL) {
        return NULL;
    }
    if (!type_access_init(&access->types)) {
        memory_free(access);
        return NULL;
    }
    return access;
}

void tensor_access_free(struct tensor_access *access)
{
    if (access == NULL) {
        return;
    }
    torch_release(&access->torch);
    numpy_release(&access->numpy);
    text_set_release(&access->texts);
    type_access_release(&access->types);
    memory_free(access);
}

enum tensor_class tensor_classify(struct tensor_access *access, PyTypeObject *type)
{
    PyObject *error_type, *error, *traceback;
    enum tensor_class class = TENSOR_CLASS_NONE;

    PyErr_Fetch(&error_type, &error, &traceback);
    if (torch_refresh(access)) {
        class = torch_classify(access, type);
    }
    if (class == TENSOR_CLASS_NONE && numpy_refresh(access) &&
        numpy_has_type(access, type)) {
        class = TENSOR_CLASS_NUMPY;
    }
    PyErr_Restore(error_type, error, traceback);
    return class;
}

/* From how many bytes on memory is held while it is read: the system takes back smaller pieces of
 * freed memory seldom, and to hold one costs as much as to measure so many. */
#define HOLD_SIZE        ((uint64_t)64 * 1024)
#define HOLD_ATTEMPT_MAX 4
#define ELEMENT_SIZE_MAX 16 /* in bytes, of any dtype */

static int describe(struct tensor_access *access,
                    PyObject *object,
                    enum tensor_class class,
                    struct tensor *tensor)
{
    PyObject *error_type, *error, *traceback;
    int status = -1;

    tensor_init(tensor, object);
    if (class == TENSOR_CLASS_EXACT && torch_describe_plain(access, object, tensor)) {
        return 0;
    }
    PyErr_Fetch(&error_type, &error, &traceback);
    tensor_init(tensor, object);
    if (class == TENSOR_CLASS_NUMPY) {
        status = numpy_describe(access, object, tensor);
    } else if (class != TENSOR_CLASS_NONE) {
        status = torch_describe(access, object, class, tensor);
    }
    if (status < 0) {
        tensor_release(tensor);
    }
    PyErr_Restore(error_type, error, traceback);
    return status;
}

static inline bool is_to_be_held(const struct tensor *tensor)
{
    const struct array *array = &tensor->array;
    uint64_t count = array_count(array);

    return count >= HOLD_SIZE / ELEMENT_SIZE_MAX && array->data != NULL &&
           tensor->owner == NULL && count >= HOLD_SIZE / dtype_size(array->dtype);
}

/* The first attempt finds the tensor's memory. Another thread may have run set_ meanwhile, which
 * torch does without the GIL: then what was described is not what is held. */
static __attribute__((noinline)) int describe_large(struct tensor_access *access,
                                                    PyObject *object,
                                                    enum tensor_class class,
                                                    struct tensor *tensor)
{
    int status = 0;

    for (int i = 0; i < HOLD_ATTEMPT_MAX; i++) {
        PyObject *storage = tensor_hold(access, object);
        uint64_t data = tensor->data;

        if (storage == NULL) {
            return 0;
        }
        tensor_release(tensor);
        status = describe(access, object, class, tensor);
        if (status < 0 || tensor->owner != NULL || tensor->data == data) {
            tensor->owner = tensor->owner == NULL ? storage : tensor->owner;
            return status;
        }
        Py_DECREF(storage);
    }
    tensor->array.data = NULL;
    tensor->note = "replaced while it was read";
    return 0;
}

int tensor_describe(struct tensor_access *access,
                    PyObject *object,
                    enum tensor_class class,
                    struct tensor *tensor)
{
    int status = describe(access, object, class, tensor);

    return status == 0 && class != TENSOR_CLASS_NUMPY && is_to_be_held(tensor)
               ? describe_large(access, object, class, tensor)
               : status;
}

void tensor_init(struct tensor *tensor, PyObject *object)
{
    tensor->array = (struct array){.shape = tensor->dimensions};
    tensor->object = (uint64_t)(uintptr_t)object;
    tensor->data = 0;
    tensor->offset = 0;
    tensor->version = 0;
    tensor->flags = 0;
    tensor->type = "";
    tensor->dtype_text = "";
    tensor->device = "";
    tensor->layout = "";
    tensor->note = "";
    tensor->is_on_device = false;
    tensor->owner = NULL;
}

void tensor_release(struct tensor *tensor)
{
    Py_CLEAR(tensor->owner);
}

/* Not inlined: seldom is the layout not known. */
static __attribute__((noinline)) uint32_t ask_for_version(struct tensor_access *access,
                                                          PyObject *object)
{
    PyObject *error_type, *error, *traceback;
    uint32_t version;

    PyErr_Fetch(&error_type, &error, &traceback);
    version = torch_version(access, object);
    PyErr_Restore(error_type, error, traceback);
    return version;
}

HOT uint32_t tensor_version(struct tensor_access *access, PyObject *object)
{
    uint32_t version;

    return torch_peek_version(access, object, &version)
               ? version
               : ask_for_version(access, object);
}
