/* Where a tensor object keeps whether autograd follows it: looked for as the rest of the layout is
 * (layout.c), with tensors that autograd follows, for themselves or by a function. */
#include "runtime/python/tensor/samples.h"

#define META_SIZE    192 /* bytes of autograd's part that are looked at */
#define FOLLOWED_MAX 6

struct followed {
    PyObject *tensor;        /* owned */
    uint64_t function;       /* the address of the one that made it; 0: none */
    bool is_followed_itself; /* else by its function, if there is one */
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

/* The address of the tensor's `grad_fn`, which is what Python's object begins with; 0: it has none. */
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

/* `tensor` is taken; NULL: it could not be made. */
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

/* Whether the place of a tensor that is followed and not, in turn, says what libtorch does. */
static bool is_told(const struct search *search, const struct tensor_layout *layout)
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
            return is_told(grad->search, layout);
        }
    }
    return false;
}

void grad_search(const struct search *search, struct tensor_layout *layout)
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
