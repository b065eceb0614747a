/* The layout of tensor objects: where they keep their dispatch keys, version, sizes, dtype, storage
 * and gradient. No header says it for all releases, so it is found in tensors made for that. */
#include "runtime/base/peek.h"
#include "runtime/python/tensor/private.h"

#define SAMPLE_MAX 12
#define IMPL_MAX   384 /* bytes of a TensorImpl that are searched; it has about 200 */

/* A tensor made for the search, with torch's own answers. */
struct sample {
    PyObject *tensor; /* owned */
    uint64_t impl;
    uint64_t keys;
    uint32_t version;
    uint32_t dimension_count;
    int64_t sizes[6];
    int64_t offset;
    uint64_t data;
    char bytes[IMPL_MAX]; /* of the TensorImpl, as far as they could be read */
};

struct search {
    const struct torch_access *torch;
    struct sample samples[SAMPLE_MAX];
    size_t count;
    size_t impl_size; /* how many bytes of each TensorImpl were read */
    struct peek peek;
};

static inline uint64_t word_of(const char *bytes, size_t offset)
{
    uint64_t word;

    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

/* Where a tensor object keeps its dtype, its place in its storage, and the storage its memory:
 * found as the rest of the layout is (layout.c). */

#define STORAGE_SIZE 128 /* bytes of a storage that are searched */

/* A sample's storage, as far as a place holds it. */
struct storage {
    char bytes[STORAGE_SIZE];
    size_t size; /* that could be read */
};

/* What the C interface says of a sample. */
struct answers {
    int32_t dtype;
    int64_t size;   /* of the storage */
    uint64_t start; /* of its memory; 0: there is none */
};

static bool ask(const struct search *search, size_t i, struct answers *answers)
{
    const struct torch_functions *functions = &search->torch->functions;
    const struct sample *sample = &search->samples[i];
    void *impl = (void *)(uintptr_t)sample->impl;
    int64_t item;

    if (functions->get_dtype(&impl, &answers->dtype) != 0 ||
        functions->get_storage_size(&impl, &answers->size) != 0) {
        return false;
    }
    item = (int64_t)dtype_size(torch_find_dtype(answers->dtype));
    answers->start = (sample->keys & search->torch->keys.meta) != 0
                         ? 0
                         : sample->data - (uint64_t)(sample->offset * item);
    return true;
}

static bool
find_dtype(const struct search *search, const struct answers *answers, uint16_t *found)
{
    for (uint16_t offset = 0; offset + sizeof(uint16_t) <= search->impl_size;
         offset += sizeof(uint16_t)) {
        size_t fitting = 0;
        uint16_t number;

        while (fitting < search->count) {
            memcpy(&number, search->samples[fitting].bytes + offset, sizeof number);
            if (number != answers[fitting].dtype) {
                break;
            }
            fitting++;
        }
        if (fitting == search->count) {
            *found = offset;
            return true;
        }
    }
    return false;
}

static bool find_offset(const struct search *search, uint16_t *found)
{
    for (uint16_t offset = 0; offset + sizeof(uint64_t) <= search->impl_size;
         offset += sizeof(uint64_t)) {
        size_t fitting = 0;

        while (fitting < search->count &&
               word_of(search->samples[fitting].bytes, offset) ==
                   (uint64_t)search->samples[fitting].offset) {
            fitting++;
        }
        if (fitting == search->count) {
            *found = offset;
            return true;
        }
    }
    return false;
}

/* Where all storages hold what is wanted of theirs, of those that have memory. */
static bool find_in_storages(const struct search *search,
                             const struct storage *storages,
                             const struct answers *answers,
                             bool is_size,
                             uint16_t *found)
{
    for (uint16_t offset = 0; offset + sizeof(uint64_t) <= STORAGE_SIZE;
         offset += sizeof(uint64_t)) {
        size_t fitting = 0;

        while (fitting < search->count &&
               (answers[fitting].start == 0 ||
                (offset + sizeof(uint64_t) <= storages[fitting].size &&
                 word_of(storages[fitting].bytes, offset) ==
                     (is_size ? (uint64_t)answers[fitting].size
                              : answers[fitting].start)))) {
            fitting++;
        }
        if (fitting == search->count) {
            *found = offset;
            return true;
        }
    }
    return false;
}

static void read_storages(const struct search *search,
                          size_t offset,
                          struct storage storages[SAMPLE_MAX])
{
    for (size_t i = 0; i < search->count; i++) {
        uint64_t address = word_of(search->samples[i].bytes, offset);

        storages[i].size =
            address == 0 || address % sizeof(void *) != 0
                ? 0
                : peek_read(&search->peek, address, storages[i].bytes, STORAGE_SIZE);
    }
}

/* layout.c: finds `dtype` and what follows it in the layout, or leaves `storage` 0. */
static void storage_search(const struct search *search, struct tensor_layout *layout)
{
    struct answers answers[SAMPLE_MAX];
    struct storage storages[SAMPLE_MAX];

    layout->storage = 0;
    for (size_t i = 0; i < search->count; i++) {
        if (!ask(search, i, &answers[i])) {
            return;
        }
    }
    if (!find_dtype(search, answers, &layout->dtype) ||
        !find_offset(search, &layout->offset)) {
        return;
    }
    for (uint16_t offset = sizeof(uint64_t);
         offset + sizeof(uint64_t) <= search->impl_size; offset += sizeof(uint64_t)) {
        read_storages(search, offset, storages);
        if (find_in_storages(search, storages, answers, false, &layout->storage_data) &&
            find_in_storages(search, storages, answers, true, &layout->storage_size)) {
            layout->storage = offset;
            return;
        }
    }
}

static void grad_search(const struct search *search, struct tensor_layout *layout);

static bool sample_add(struct search *search, PyObject *tensor)
{
    if (tensor == NULL || search->count == SAMPLE_MAX) {
        Py_XDECREF(tensor);
        return false;
    }
    search->samples[search->count++].tensor = tensor;
    return true;
}

static PyObject *samples_make_zeros(const struct search *search,
                                    PyObject *shape, /* stolen */
                                    const char *dtype,
                                    const char *device,
                                    bool requires_grad)
{
    PyObject *type = lookup_in_module("torch", dtype);
    PyObject *arguments =
        shape == NULL || type == NULL ? NULL : Py_BuildValue("(O)", shape);
    PyObject *options =
        type == NULL
            ? NULL
            : Py_BuildValue("{sOsssO}", "dtype", type, "device", device,
                            "requires_grad", requires_grad ? Py_True : Py_False);
    PyObject *made =
        arguments == NULL || options == NULL
            ? NULL
            : PyObject_Call(search->torch->objects.zeros, arguments, options);

    Py_XDECREF(options);
    Py_XDECREF(arguments);
    Py_XDECREF(shape);
    return made;
}

/* `tensor` after `count` writes in place. */
static PyObject *written(const struct search *search, PyObject *tensor, int count)
{
    for (int i = 0; i < count && tensor != NULL; i++) {
        PyObject *same = PyObject_CallFunctionObjArgs(
            search->torch->objects.zero_in_place, tensor, NULL);
        if (same == NULL) {
            Py_CLEAR(tensor);
        }
        Py_XDECREF(same);
    }
    return tensor;
}

/* A view of a tensor that nobody else keeps. */
static PyObject *view_of(PyObject *method, PyObject *tensor)
{
    PyObject *view =
        tensor == NULL ? NULL : PyObject_CallFunctionObjArgs(method, tensor, NULL);

    Py_XDECREF(tensor);
    return view;
}

/* Makes them; false with an exception set. The caller gives up `tensor` of each. */
static bool samples_make(struct search *search)
{
    const struct torch_objects *objects = &search->torch->objects;
    const char *real = "float32", *cpu = "cpu";

    return sample_add(search,
                      samples_make_zeros(search, Py_BuildValue("(iiii)", 3, 5, 7, 11),
                                         real, cpu, false)) &&
           sample_add(search,
                      written(search,
                              samples_make_zeros(search, Py_BuildValue("(i)", 1031),
                                                 real, cpu, false),
                              3)) &&
           sample_add(search,
                      written(search,
                              samples_make_zeros(search, Py_BuildValue("(ii)", 2, 13),
                                                 "int64", cpu, false),
                              7)) &&
           sample_add(search,
                      PyObject_CallFunction(objects->narrow, "Oiii",
                                            search->samples[1].tensor, 0, 17, 19)) &&
           sample_add(search,
                      view_of(objects->conj,
                              samples_make_zeros(search, Py_BuildValue("(i)", 4),
                                                 "complex64", cpu, false))) &&
           sample_add(search,
                      view_of(objects->negative_view,
                              samples_make_zeros(search, Py_BuildValue("(ii)", 6, 1),
                                                 real, cpu, false))) &&
           sample_add(search, samples_make_zeros(search, Py_BuildValue("(i)", 9), real,
                                                 "meta", false)) &&
           sample_add(search,
                      samples_make_zeros(search, Py_BuildValue("(iii)", 2, 3, 4), real,
                                         cpu, true)) &&
           sample_add(search, samples_make_zeros(
                                  search, Py_BuildValue("(iiiiii)", 1, 2, 3, 4, 5, 6),
                                  "uint8", cpu, false)) &&
           sample_add(search,
                      samples_make_zeros(search, PyTuple_New(0), real, cpu, false)) &&
           sample_add(search, PyObject_CallFunction(objects->as_strided, "O(ii)(ii)i",
                                                    search->samples[1].tensor, 5, 3, 1,
                                                    7, 23)) &&
           sample_add(search, samples_make_zeros(
                                  search, Py_BuildValue("(iiiii)", 2, 1, 3, 1, 8),
                                  "float64", cpu, false));
}

static uint64_t samples_natural(PyObject *answer /* stolen */)
{
    uint64_t number = answer == NULL ? 0 : PyLong_AsUnsignedLongLong(answer);

    Py_XDECREF(answer);
    return number;
}

/* Asks torch; errors are seen at the end by PyErr_Occurred. */
static void sample_ask(const struct torch_access *torch, struct sample *sample)
{
    const struct torch_objects *objects = &torch->objects;
    PyObject *tensor = sample->tensor;
    PyObject *shape = descriptor_get(objects->shape, tensor);

    sample->impl = samples_natural(descriptor_get(objects->cdata, tensor));
    sample->version =
        (uint32_t)samples_natural(descriptor_get(objects->version, tensor));
    sample->offset = (int64_t)samples_natural(
        PyObject_CallFunctionObjArgs(objects->storage_offset, tensor, NULL));
    sample->data =
        samples_natural(PyObject_CallFunctionObjArgs(objects->data_ptr, tensor, NULL));
    if (shape != NULL && PyTuple_Check(shape) && PyTuple_Size(shape) <= 6) {
        sample->dimension_count = (uint32_t)PyTuple_Size(shape);
        for (uint32_t i = 0; i < sample->dimension_count; i++) {
            sample->sizes[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
        }
    }
    Py_XDECREF(shape);
}

/* Asks torch about each, and reads what lies at its TensorImpl. */
static bool samples_ask(struct search *search)
{
    search->impl_size = IMPL_MAX;
    for (size_t i = 0; i < search->count; i++) {
        struct sample *sample = &search->samples[i];
        sample_ask(search->torch, sample);
        if (PyErr_Occurred() || sample->impl == 0 ||
            !torch_ask_keys(search->torch, sample->tensor, &sample->keys)) {
            return false;
        }
        size_t size = peek_read(&search->peek, sample->impl, sample->bytes, IMPL_MAX);
        search->impl_size = size < search->impl_size ? size : search->impl_size;
    }
    return search->impl_size >= 64;
}

/* Where a tensor object keeps its dispatch keys, version and sizes. No header says it for all
 * releases, so it is searched: tensors are made whose answers to torch's public functions are known
 * and differ, and a place counts only if it holds the right answer for each of them. Memory is read
 * in a way that cannot fault. What does not fit leaves the public functions in use. */

#define COUNTER_MAX  64 /* bytes of a version counter that are searched; it has 24 */
#define OBJECT_WORDS 8  /* of a Python object, at most */
#define NOT_FOUND    UINT16_MAX
/* A search that could not read memory is repeated this often. */
#define SEARCH_MAX 3

/* ---- the places ---- */

static uint16_t find_impl(const struct search *search)
{
    PyObject *answer =
        PyObject_GetAttrString((PyObject *)search->torch->base_type, "__basicsize__");
    size_t size = (size_t)samples_natural(answer);

    for (uint16_t offset = 2 * sizeof(void *);
         offset + sizeof(uint64_t) <= size && offset < OBJECT_WORDS * sizeof(uint64_t);
         offset += sizeof(uint64_t)) {
        size_t fitting = 0;
        while (fitting < search->count &&
               word_of((const char *)search->samples[fitting].tensor, offset) ==
                   search->samples[fitting].impl) {
            fitting++;
        }
        if (fitting == search->count) {
            return offset;
        }
    }
    return NOT_FOUND;
}

static uint16_t find_keys(const struct search *search)
{
    for (uint16_t offset = 0; offset + sizeof(uint64_t) <= search->impl_size;
         offset += sizeof(uint64_t)) {
        size_t fitting = 0;
        while (fitting < search->count &&
               word_of(search->samples[fitting].bytes, offset) ==
                   search->samples[fitting].keys) {
            fitting++;
        }
        if (fitting == search->count) {
            return offset;
        }
    }
    return NOT_FOUND;
}

static bool
sizes_fit(const struct search *search, const struct sample *sample, size_t offset)
{
    const char *values = sample->bytes + offset + sizeof(uint64_t);
    int64_t outside[6];

    if (word_of(sample->bytes, offset) != sample->dimension_count) {
        return false;
    }
    if (sample->dimension_count > LAYOUT_INLINE_DIMENSIONS) {
        if (peek_read(&search->peek, word_of(values, 0), outside, sizeof outside) !=
            sizeof outside) {
            return false;
        }
        values = (const char *)outside;
    }
    return memcmp(values, sample->sizes,
                  sample->dimension_count * sizeof *sample->sizes) == 0;
}

static uint16_t find_sizes(const struct search *search)
{
    size_t span = (1 + LAYOUT_INLINE_DIMENSIONS) * sizeof(uint64_t);

    for (uint16_t offset = 0; offset + span <= search->impl_size;
         offset += sizeof(uint64_t)) {
        size_t fitting = 0;
        while (fitting < search->count &&
               sizes_fit(search, &search->samples[fitting], offset)) {
            fitting++;
        }
        if (fitting == search->count) {
            return offset;
        }
    }
    return NOT_FOUND;
}

/* Reads what the pointers at `offset` point to, for all samples. Returns false if one of them
 * points to no readable memory. */
static bool peek_counters(const struct search *search,
                          size_t offset,
                          char counters[SAMPLE_MAX][COUNTER_MAX],
                          size_t *size)
{
    *size = COUNTER_MAX;
    for (size_t i = 0; i < search->count; i++) {
        uint64_t address = word_of(search->samples[i].bytes, offset);
        size_t got = address == 0 || address % sizeof(void *) != 0
                         ? 0
                         : peek_read(&search->peek, address, counters[i], COUNTER_MAX);
        *size = got < *size ? got : *size;
    }
    return *size >= sizeof(uint32_t);
}

static bool
find_version(const struct search *search, uint16_t *counter, uint16_t *version)
{
    char counters[SAMPLE_MAX][COUNTER_MAX];
    size_t size;

    for (uint16_t offset = 0; offset + sizeof(uint64_t) <= search->impl_size;
         offset += sizeof(uint64_t)) {
        if (!peek_counters(search, offset, counters, &size)) {
            continue;
        }
        for (uint16_t inner = 0; inner + sizeof(uint32_t) <= size;
             inner += sizeof(uint32_t)) {
            size_t fitting = 0;
            while (fitting < search->count &&
                   memcmp(counters[fitting] + inner, &search->samples[fitting].version,
                          sizeof(uint32_t)) == 0) {
                fitting++;
            }
            if (fitting == search->count) {
                *counter = offset;
                *version = inner;
                return true;
            }
        }
    }
    return false;
}

/* Strides follow the room for sizes in the object; 0 where that does not hold for all samples. */
static uint16_t find_strides(const struct search *search, uint16_t sizes)
{
    uint16_t offset = sizes + (1 + LAYOUT_INLINE_DIMENSIONS) * sizeof(int64_t);

    for (size_t i = 0; i < search->count; i++) {
        const struct sample *sample = &search->samples[i];
        void *impl = (void *)(uintptr_t)sample->impl;
        size_t size = sample->dimension_count * sizeof(int64_t);
        int64_t *strides;

        if (sample->dimension_count <= LAYOUT_INLINE_DIMENSIONS &&
            (offset + size > search->impl_size ||
             search->torch->functions.get_strides(&impl, &strides) != 0 ||
             memcmp(sample->bytes + offset, strides, size) != 0)) {
            return 0;
        }
    }
    return offset;
}

/* Tensors of inference mode have no version counter: the pointer is null. */
static bool inference_fits(struct search *search, size_t counter)
{
    PyObject *mode =
        PyObject_CallFunction(search->torch->objects.inference_mode, "O", Py_True);
    PyObject *entered =
        mode == NULL ? NULL : PyObject_CallMethod(mode, "__enter__", NULL);
    bool is_null = false;

    if (entered != NULL) {
        PyObject *tensor = samples_make_zeros(search, Py_BuildValue("(i)", 3),
                                              "float32", "cpu", false);
        uint64_t impl =
            tensor == NULL
                ? 0
                : samples_natural(descriptor_get(search->torch->objects.cdata, tensor));
        uint64_t word = 1;
        is_null = impl != 0 &&
                  peek_read(&search->peek, impl + counter, &word, sizeof word) ==
                      sizeof word &&
                  word == 0;
        Py_XDECREF(tensor);
        Py_XDECREF(
            PyObject_CallMethod(mode, "__exit__", "OOO", Py_None, Py_None, Py_None));
    }
    Py_XDECREF(entered);
    Py_XDECREF(mode);
    return is_null;
}

/* libtorch's C interface must return for each sample what the public functions return. */
static bool functions_fit(const struct search *search)
{
    const struct torch_functions *functions = &search->torch->functions;

    for (size_t i = 0; i < search->count; i++) {
        const struct sample *sample = &search->samples[i];
        void *impl = (void *)(uintptr_t)sample->impl;
        int64_t count, offset, *sizes, *strides;
        const void *data;

        if (functions->get_dimension_count(&impl, &count) != 0 ||
            functions->get_sizes(&impl, &sizes) != 0 ||
            functions->get_strides(&impl, &strides) != 0 ||
            functions->get_storage_offset(&impl, &offset) != 0 ||
            count != (int64_t)sample->dimension_count ||
            memcmp(sizes, sample->sizes, (size_t)count * sizeof *sizes) != 0 ||
            offset != sample->offset) {
            return false;
        }
        /* There is no data behind a tensor of the device "meta". */
        if ((sample->keys & search->torch->keys.meta) == 0 &&
            (functions->get_data(&impl, &data) != 0 ||
             (uint64_t)(uintptr_t)data != sample->data)) {
            return false;
        }
        PyObject *requires_grad =
            descriptor_get(search->torch->objects.requires_grad, sample->tensor);
        Py_XDECREF(requires_grad); /* one of two objects that are never deleted */
        if (functions->requires_grad(impl) != (requires_grad == Py_True)) {
            return false;
        }
    }
    return true;
}

/* ---- the search ---- */

static bool objects_are_there(const struct torch_objects *objects)
{
    return objects->cdata && objects->shape && objects->version && objects->dtype &&
           objects->device && objects->layout && objects->requires_grad &&
           objects->stride && objects->storage_offset && objects->data_ptr &&
           objects->zeros && objects->narrow && objects->as_strided && objects->conj &&
           objects->negative_view && objects->zero_in_place && objects->dispatch_keys &&
           objects->disable_function && objects->inference_mode;
}

static bool search_places(struct search *search, struct tensor_layout *layout)
{
    if (!samples_make(search) || !samples_ask(search)) {
        return false;
    }
    layout->impl = find_impl(search);
    layout->keys = find_keys(search);
    layout->sizes = find_sizes(search);
    if (layout->impl == NOT_FOUND || layout->keys == NOT_FOUND ||
        layout->sizes == NOT_FOUND ||
        !find_version(search, &layout->counter, &layout->version) ||
        !inference_fits(search, layout->counter) || !functions_fit(search)) {
        return false;
    }
    layout->strides = find_strides(search, layout->sizes);
    storage_search(search, layout);
    grad_search(search, layout);
    return true;
}

/* Runs inside guards: a program may use torch.device(...) or inference mode for its whole run. */
static bool search_guarded(struct search *search, struct tensor_layout *layout)
{
    struct torch_guard guard;
    bool is_found = false;

    if (!torch_guard_enter(search->torch, &guard)) {
        return false;
    }
    PyObject *mode =
        PyObject_CallFunction(search->torch->objects.inference_mode, "O", Py_False);
    PyObject *entered =
        mode == NULL ? NULL : PyObject_CallMethod(mode, "__enter__", NULL);
    if (entered != NULL) {
        is_found = search_places(search, layout);
        PyErr_Clear();
        for (size_t i = 0; i < search->count; i++) {
            Py_CLEAR(search->samples[i].tensor);
        }
        Py_XDECREF(
            PyObject_CallMethod(mode, "__exit__", "OOO", Py_None, Py_None, Py_None));
    }
    PyErr_Clear();
    Py_XDECREF(entered);
    Py_XDECREF(mode);
    torch_guard_leave(&guard);
    return is_found;
}

void layout_search(struct torch_access *torch)
{
    struct tensor_layout layout = {.state = LAYOUT_KNOWN};
    struct search search = {.torch = torch};

    if (!objects_are_there(&torch->objects)) {
        torch->layout.state = LAYOUT_REFUSED;
        return;
    }
    if (!torch_is_quiet(torch)) {
        return; /* to be tried again */
    }
    torch->layout.state = LAYOUT_SEARCHED;
    if (peek_init(&search.peek)) {
        bool is_found = search_guarded(&search, &layout);
        peek_release(&search.peek);
        if (is_found) {
            torch->layout = layout;
            return;
        }
    }
    torch->layout.state =
        ++torch->layout.search_count < SEARCH_MAX ? LAYOUT_UNKNOWN : LAYOUT_REFUSED;
}

/* Where a tensor object keeps whether autograd follows it: found as the rest of the layout is
 * (layout.c), with tensors that autograd follows, for themselves or by a function. */

#define META_SIZE    192 /* bytes of autograd's part that are searched */
#define FOLLOWED_MAX 6

struct followed {
    PyObject *tensor;  /* owned */
    uint64_t function; /* address of the function that made it; 0: none */
    bool
        is_followed_itself; /* without `function`: whether autograd follows it as a leaf */
    char impl[IMPL_MAX];
    char meta[META_SIZE];
};

struct grad_search {
    const struct search *search;
    struct followed followed[FOLLOWED_MAX];
    size_t count;
    size_t meta_size; /* how many bytes of each could be read */
};

/* ---- the tensors ---- */

static uint64_t find_address(const struct search *search, PyObject *tensor)
{
    return samples_natural(descriptor_get(search->torch->objects.cdata, tensor));
}

/* The address of the tensor's `grad_fn`, which is the first field of Python's object. 0: the
 * tensor has none. */
static bool
find_function(const struct search *search, PyObject *tensor, uint64_t *function)
{
    PyObject *object = PyObject_GetAttrString(tensor, "grad_fn");
    bool is_good = object != NULL;

    *function = 0;
    if (is_good && object != Py_None) {
        is_good =
            peek_read(&search->peek, (uint64_t)(uintptr_t)((PyObject *)object + 1),
                      function, sizeof *function) == sizeof *function &&
            *function != 0;
    }
    Py_XDECREF(object);
    return is_good;
}

/* Adds a sample. Steals the reference to `tensor`; NULL means that it could not be made. */
static bool add(struct grad_search *grad, PyObject *tensor, bool is_followed_itself)
{
    struct followed *followed = &grad->followed[grad->count];
    uint64_t impl;

    if (tensor == NULL) {
        return false;
    }
    grad->count++;
    followed->tensor = tensor;
    followed->is_followed_itself = is_followed_itself;
    impl = find_address(grad->search, tensor);
    return impl != 0 && find_function(grad->search, tensor, &followed->function) &&
           peek_read(&grad->search->peek, impl, followed->impl, IMPL_MAX) >=
               grad->search->impl_size;
}

static PyObject *make_leaf(const struct search *search, int size)
{
    return samples_make_zeros(search, Py_BuildValue("(i)", size), "float32", "cpu",
                              true);
}

/* Calls tensor.requires_grad_(is_wanted). */
static bool follow(PyObject *tensor, bool is_wanted)
{
    PyObject *same = PyObject_CallMethod(tensor, "requires_grad_", "O",
                                         is_wanted ? Py_True : Py_False);

    Py_XDECREF(same);
    return same != NULL;
}

static bool retain(PyObject *tensor)
{
    PyObject *none = PyObject_CallMethod(tensor, "retain_grad", NULL);

    Py_XDECREF(none);
    return none != NULL;
}

static bool make_followed(struct grad_search *grad)
{
    const struct search *search = grad->search;
    PyObject *leaf = make_leaf(search, 23);

    if (!add(grad, leaf, true) || !add(grad, make_leaf(search, 2), true) ||
        !add(
            grad,
            PyObject_CallFunction(search->torch->objects.narrow, "Oiii", leaf, 0, 1, 5),
            false) ||
        !add(grad, PyObject_CallMethod(leaf, "clone", NULL), false) ||
        !add(grad, PyObject_CallMethod(leaf, "abs", NULL), false) ||
        !add(grad, make_leaf(search, 3), false)) {
        return false;
    }
    /* Such that others of autograd's facts differ: one has its gradient kept, one is not followed any
     * longer. */
    return retain(grad->followed[grad->count - 2].tensor) &&
           follow(grad->followed[grad->count - 1].tensor, false);
}

/* ---- the places ---- */

/* Autograd's parts, as the words at `offset` point to them; a tensor that it has never followed has none. */
static bool read_metas(struct grad_search *grad, size_t offset)
{
    if (word_of(grad->search->samples[0].bytes, offset) != 0) {
        return false;
    }
    grad->meta_size = META_SIZE;
    for (size_t i = 0; i < grad->count; i++) {
        uint64_t address = word_of(grad->followed[i].impl, offset);
        size_t got = address == 0 || address % sizeof(void *) != 0
                         ? 0
                         : peek_read(&grad->search->peek, address,
                                     grad->followed[i].meta, META_SIZE);

        grad->meta_size = got < grad->meta_size ? got : grad->meta_size;
    }
    return grad->meta_size > 0;
}

static bool
find_place(const struct grad_search *grad, bool is_function, uint16_t *found)
{
    size_t size = is_function ? sizeof(uint64_t) : 1;

    for (uint16_t offset = 0; offset + size <= grad->meta_size;
         offset += (uint16_t)size) {
        size_t fitting = 0;

        while (fitting < grad->count &&
               (is_function ? word_of(grad->followed[fitting].meta, offset) ==
                                  grad->followed[fitting].function
                            : grad->followed[fitting].meta[offset] ==
                                  grad->followed[fitting].is_followed_itself)) {
            fitting++;
        }
        if (fitting == grad->count) {
            *found = offset;
            return true;
        }
    }
    return false;
}

/* Whether the byte at that place changes with requires_grad_ in the same way as libtorch's
 * answer. */
static bool is_reported(const struct search *search, const struct tensor_layout *layout)
{
    PyObject *tensor = make_leaf(search, 4);
    bool is_good = tensor != NULL;

    for (int i = 0; is_good && i < 4; i++) {
        const void *impl = (const void *)(uintptr_t)find_address(search, tensor);

        is_good = impl != NULL && layout_requires_grad(layout, impl) == (i % 2 == 0) &&
                  search->torch->functions.requires_grad(impl) == (i % 2 == 0) &&
                  follow(tensor, i % 2 != 0);
    }
    Py_XDECREF(tensor);
    return is_good;
}

static bool find_places(struct grad_search *grad, struct tensor_layout *layout)
{
    for (uint16_t offset = sizeof(uint64_t);
         offset + sizeof(uint64_t) <= grad->search->impl_size;
         offset += sizeof(uint64_t)) {
        if (read_metas(grad, offset) &&
            find_place(grad, true, &layout->grad_function) &&
            find_place(grad, false, &layout->grad_itself)) {
            layout->grad = offset;
            return is_reported(grad->search, layout);
        }
    }
    return false;
}

/* Finds `grad` and the two fields after it, or leaves `grad` 0. Leaves no exception set. */
static void grad_search(const struct search *search, struct tensor_layout *layout)
{
    struct grad_search grad = {.search = search};

    if (!make_followed(&grad) || !find_places(&grad, layout)) {
        layout->grad = 0;
    }
    PyErr_Clear();
    for (size_t i = 0; i < grad.count; i++) {
        Py_DECREF(grad.followed[i].tensor);
    }
}
