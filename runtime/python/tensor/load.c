/* What of PyTorch the program has loaded: its types, functions and symbols. */
#include "runtime/python/tensor/device/calls.h"
#include "runtime/python/tensor/private.h"

#include <dlfcn.h>
#include <stdlib.h>

static PyObject *keep(PyObject *borrowed)
{
    return borrowed == NULL ? NULL : Py_NewRef(borrowed);
}

/* `holder.name`, where the holder is one of torch's own types or functions. */
static PyObject *attribute_find(PyObject *holder, const char *name)
{
    PyObject *value = holder == NULL ? NULL : PyObject_GetAttrString(holder, name);

    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

static void objects_find(const struct type_access *types,
                         PyTypeObject *base,
                         struct torch_objects *objects)
{
    const struct {
        PyObject **place;
        const char *name;
    } members[] = {
        {&objects->cdata, "_cdata"},
        {&objects->shape, "shape"},
        {&objects->dtype, "dtype"},
        {&objects->device, "device"},
        {&objects->layout, "layout"},
        {&objects->version, "_version"},
        {&objects->requires_grad, "requires_grad"},
        {&objects->stride, "stride"},
        {&objects->storage_offset, "storage_offset"},
        {&objects->data_ptr, "data_ptr"},
        {&objects->untyped_storage, "untyped_storage"},
        {&objects->stored_count, "_nnz"},
        {&objects->narrow, "narrow"},
        {&objects->as_strided, "as_strided"},
        {&objects->conj, "conj"},
        {&objects->negative_view, "_neg_view"},
        {&objects->zero_in_place, "zero_"},
    };
    const struct {
        PyObject **place;
        const char *module;
        const char *name;
    } functions[] = {
        {&objects->dispatch_keys, "torch._C", "_dispatch_keys"},
        {&objects->included_keys, "torch._C", "_dispatch_tls_local_include_set"},
        {&objects->dispatch_stack_length, "torch._C", "_len_torch_dispatch_stack"},
        {&objects->transform_stack_top, "torch._C._functorch",
         "peek_interpreter_stack"},
        {&objects->get_unwrapped, "torch._C._functorch", "get_unwrapped"},
        {&objects->tracing_state, "torch._C", "_get_tracing_state"},
        {&objects->profiler_enabled, "torch._C._autograd", "_profiler_enabled"},
        {&objects->disable_function, "torch._C", "DisableTorchFunction"},
        {&objects->inference_mode, "torch._C", "_InferenceMode"},
        {&objects->disabled_dispatch, "torch._C", "_disabled_torch_dispatch_impl"},
    };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        *members[i].place = keep(type_find(types, base, members[i].name));
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        *functions[i].place =
            keep(lookup_in_module(functions[i].module, functions[i].name));
    }
    objects->zeros =
        attribute_find(lookup_in_module("torch._C", "_VariableFunctions"), "zeros");
}

static void objects_release(struct torch_objects *objects)
{
    PyObject **places = (PyObject **)objects;

    for (size_t i = 0; i < sizeof *objects / sizeof *places; i++) {
        Py_CLEAR(places[i]);
    }
}

void *torch_symbol_find(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    void *symbol = dlsym(handle == NULL ? RTLD_DEFAULT : handle, name);

    if (handle != NULL) {
        dlclose(handle); /* the count of its users is as before */
    }
    return symbol;
}

#ifdef __APPLE__
    #define LIBRARY_SUFFIX ".dylib"
#else
    #define LIBRARY_SUFFIX ".so"
#endif

static bool functions_find(struct torch_functions *functions)
{
    const char *torch = TORCH_LIBRARY;
    const struct {
        void *place;
        const char *library;
        const char *name;
    } wanted[] = {
        {&functions->get_dimension_count, torch, "aoti_torch_get_dim"},
        {&functions->get_sizes, torch, "aoti_torch_get_sizes"},
        {&functions->get_strides, torch, "aoti_torch_get_strides"},
        {&functions->get_dtype, torch, "aoti_torch_get_dtype"},
        {&functions->get_storage_offset, torch, "aoti_torch_get_storage_offset"},
        {&functions->get_storage_size, torch, "aoti_torch_get_storage_size"},
        {&functions->get_device_type, torch, "aoti_torch_get_device_type"},
        {&functions->get_device_index, torch, "aoti_torch_get_device_index"},
        {&functions->requires_grad, "libc10" LIBRARY_SUFFIX,
         "_ZNK3c1010TensorImpl13requires_gradEv"},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = torch_symbol_find(wanted[i].library, wanted[i].name);
        if (symbol == NULL) {
            return false;
        }
        memcpy(wanted[i].place, &symbol, sizeof symbol);
    }
    /* The first does not make a copy-on-write tensor its own copy, but came with 2.10. */
    void *get_data = torch_symbol_find(torch, "torch_get_const_data_ptr");
    if (get_data == NULL) {
        get_data = torch_symbol_find(torch, "aoti_torch_get_data_ptr");
    }
    memcpy(&functions->get_data, &get_data, sizeof get_data);
    return get_data != NULL;
}

static bool device_is_possible(void)
{
    struct device_functions functions;

    return device_functions_find(&functions);
}

static void type_refresh(PyTypeObject **type, const char *module, const char *name)
{
    if (*type == NULL) {
        *type = (PyTypeObject *)keep((PyObject *)lookup_type(module, name));
    }
}

bool torch_refresh(struct tensor_access *access)
{
    struct torch_access *torch = &access->torch;

    if (torch->is_complete) {
        return true;
    }
    type_refresh(&torch->base_type, "torch._C", "TensorBase");
    type_refresh(&torch->base_type, "torch._C", "_TensorBase"); /* torch < 2.1 */
    if (torch->base_type == NULL) {
        return false;
    }
    type_refresh(&torch->tensor_type, "torch", "Tensor");
    type_refresh(&torch->parameter_type, "torch.nn.parameter", "Parameter");
    type_refresh(&torch->uninitialized_type, "torch.nn.parameter",
                 "UninitializedTensorMixin");
    /* torch.Tensor comes after all of torch._C. */
    if (torch->tensor_type != NULL && !torch->is_ready) {
        const char *tensors = getenv("MONITORCH_TEST_TENSORS");
        const char *device = getenv("MONITORCH_TEST_DEVICE");
        objects_find(&access->types, torch->base_type, &torch->objects);
        torch_keys_find(torch);
        if ((tensors != NULL && strcmp(tensors, "getters") == 0) ||
            !functions_find(&torch->functions)) {
            torch->layout.state = LAYOUT_REFUSED;
        }
        torch->measures_devices = device_is_possible();
        torch->tests_devices =
            torch->measures_devices && device != NULL && strcmp(device, "1") == 0;
        torch->is_ready = true;
    }
    torch->is_complete = torch->is_ready && torch->parameter_type != NULL &&
                         torch->uninitialized_type != NULL;
    return true;
}

void torch_release(struct torch_access *torch)
{
    Py_CLEAR(torch->base_type);
    Py_CLEAR(torch->tensor_type);
    Py_CLEAR(torch->parameter_type);
    Py_CLEAR(torch->uninitialized_type);
    objects_release(&torch->objects);
}
