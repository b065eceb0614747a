/* Where a tensor object keeps its dispatch keys, version and sizes. No header says it for all
 * releases, so it is looked for: tensors are made whose answers to torch's public functions are
 * known and differ, and a place counts only if it holds the right answer for each of them. Memory
 * is read in a way that cannot fault. What does not fit leaves the public functions in use. */
#include "runtime/python/tensor/samples.h"

#define COUNTER_MAX  64 /* bytes of a version counter that are looked at; it has 24 */
#define OBJECT_WORDS 8  /* of a Python object, at most */
#define NOT_FOUND    UINT16_MAX
/* Where memory cannot be read for a moment, it is another time. */
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

/* What the words at `offset` point to, for all samples; false where one points nowhere. */
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

/* libtorch's C interface must say of each sample what the public functions say. */
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
        Py_XDECREF(requires_grad); /* one of two that live for ever */
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

/* Within guards: a program may run under torch.device(...) or in inference mode for good. */
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
        return; /* another time */
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
