/* Tensors made in order to see where tensor objects keep things: by layout.c and
 * storage.c alone. */
#ifndef MONITORCH_PYTHON_TENSOR_SAMPLES_H
#define MONITORCH_PYTHON_TENSOR_SAMPLES_H

#include "runtime/base/peek.h"
#include "runtime/python/tensor/private.h"

#define SAMPLE_MAX 12
#define IMPL_MAX   384 /* bytes of a TensorImpl that are looked at; it has about 200 */

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

/* Makes them; false with an exception set. The caller gives up `tensor` of each. */
bool samples_make(struct search *search);
/* Asks torch about each, and reads what lies at its TensorImpl. */
bool samples_ask(struct search *search);

PyObject *samples_make_zeros(const struct search *search,
                             PyObject *shape, /* stolen */
                             const char *dtype,
                             const char *device,
                             bool requires_grad);
uint64_t samples_natural(PyObject *answer /* stolen */);

/* grad.c: finds `grad` and what follows it in the layout, or leaves it 0. No exception is left. */
void grad_search(const struct search *search, struct tensor_layout *layout);

/* storage.c: finds `dtype` and what follows it in the layout, or leaves `storage` 0. */
void storage_search(const struct search *search, struct tensor_layout *layout);

static inline uint64_t word_of(const char *bytes, size_t offset)
{
    uint64_t word;

    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

#endif
