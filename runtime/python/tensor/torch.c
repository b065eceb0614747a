/* PyTorch: the types of its tensors, and what each tensor is read by. */
#include "runtime/python/tensor/private.h"

enum tensor_class torch_classify(struct tensor_access *access, PyTypeObject *type)
{
    const struct torch_access *torch = &access->torch;

    if (type == torch->tensor_type || type == torch->parameter_type) {
        return TENSOR_CLASS_EXACT;
    }
    if (!PyType_IsSubtype(type, torch->base_type)) {
        return TENSOR_CLASS_NONE;
    }
    PyObject *dispatch = type_find(&access->types, type, "__torch_dispatch__");
    return dispatch == NULL || dispatch == torch->objects.disabled_dispatch
               ? TENSOR_CLASS_SUBCLASS
               : TENSOR_CLASS_WRAPPER;
}

/* A subclass's name, and what else its type says. */
static void
set_type(struct tensor_access *access, PyObject *object, struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    PyTypeObject *type = Py_TYPE(object);
    PyObject *name = descriptor_get(access->types.name, (PyObject *)type);

    if (name != NULL && PyUnicode_CheckExact(name)) {
        tensor->type = text_set_add_object(&access->texts, name);
    }
    Py_XDECREF(name);
    PyErr_Clear();
    /* Parameters of other types are told by a mark in the instance. */
    if ((torch->parameter_type != NULL &&
         PyType_IsSubtype(type, torch->parameter_type)) ||
        lookup_in_instance(object, "_is_param") == Py_True) {
        tensor->flags |= LOG_FORM_PARAMETER;
    }
    if (torch->uninitialized_type != NULL &&
        PyType_IsSubtype(type, torch->uninitialized_type)) {
        tensor->note = "uninitialised";
    }
}

uint32_t torch_version(struct tensor_access *access, PyObject *object)
{
    struct torch_access *torch = &access->torch;
    struct tensor tensor;
    uint32_t version;

    if (torch->is_ready && torch->layout.state == LAYOUT_UNKNOWN) {
        layout_search(torch);
    }
    if (torch_peek_version(access, object, &version)) {
        return version;
    }
    tensor_init(&tensor, object);
    torch_ask_state(access, object, &tensor);
    tensor_release(&tensor);
    return tensor.version;
}

static int describe_by_layout(struct tensor_access *access,
                              PyObject *object,
                              enum tensor_class class,
                              struct tensor *tensor)
{
    const struct torch_access *torch = &access->torch;
    const struct tensor_layout *layout = &torch->layout;
    void *impl = layout_impl(layout, object);

    if (impl == NULL) {
        return -1; /* the garbage collector has cleared it */
    }
    uint64_t keys = layout_word(impl, layout->keys);
    tensor->version = layout_version(layout, impl);
    if (torch_requires_grad(torch, impl)) {
        tensor->flags |= LOG_FORM_REQUIRES_GRAD;
    }
    if (torch_keys_are_plain(&torch->keys, keys) && class != TENSOR_CLASS_WRAPPER) {
        return torch_read_plain(access, object, impl, keys, tensor);
    }
    return torch_describe_carefully(access, object, impl, keys, class, tensor);
}

int torch_describe(struct tensor_access *access,
                   PyObject *object,
                   enum tensor_class class,
                   struct tensor *tensor)
{
    struct torch_access *torch = &access->torch;
    PyTypeObject *type = Py_TYPE(object);
    uint64_t keys;

    if (!torch->is_ready || torch->keys.dense == 0) {
        return -1; /* torch is being imported, or is none that we know */
    }
    if (torch->layout.state == LAYOUT_UNKNOWN) {
        layout_search(torch);
    }
    if (type == torch->parameter_type) {
        tensor->flags |= LOG_FORM_PARAMETER;
    } else if (type != torch->tensor_type) {
        set_type(access, object, tensor);
    }
    if (torch->layout.state == LAYOUT_KNOWN) {
        return describe_by_layout(access, object, class, tensor);
    }
    if (!torch_ask_keys(torch, object, &keys)) {
        return -1;
    }
    return torch_describe_carefully(access, object, NULL, keys, class, tensor);
}
