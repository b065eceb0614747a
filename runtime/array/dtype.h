/* The types that an array's elements can have. */
#ifndef MONITORCH_ARRAY_DTYPE_H
#define MONITORCH_ARRAY_DTYPE_H

#include "runtime/base/slice.h"

#include <stddef.h>
#include <stdint.h>

enum dtype {
#define DTYPE(name, text, bits, class) DTYPE_##name,
#include "runtime/array/dtype.def"
#undef DTYPE
    DTYPE_COUNT
};

enum dtype_class {
    DTYPE_CLASS_OPAQUE, /* its bytes can be hashed, its values are not measured */
    DTYPE_CLASS_UNSIGNED,
    DTYPE_CLASS_SIGNED,
    DTYPE_CLASS_FLOATING,
    DTYPE_CLASS_COMPLEX,
};

const char *dtype_text(enum dtype dtype);
/* DTYPE_OTHER where no dtype is called so. A leading "torch." is passed over. */
enum dtype dtype_find(struct slice text);

struct dtype_facts {
    const char *text;
    size_t size;
    enum dtype_class class;
};
extern const struct dtype_facts dtype_facts[DTYPE_COUNT];

/* In bytes; 0 for DTYPE_OTHER. */
static inline size_t dtype_size(enum dtype dtype)
{
    return dtype_facts[dtype].size;
}

static inline enum dtype_class dtype_class(enum dtype dtype)
{
    return dtype_facts[dtype].class;
}

/* One value as a number, read from `bytes`, which need not be aligned. Integers are kept
 * exactly: `integer` or `natural` hold them by the dtype's class; floats and the two halves
 * of complex numbers are in `real` and `imaginary`. */
struct dtype_value {
    enum dtype_class class;
    int64_t integer;  /* SIGNED */
    uint64_t natural; /* UNSIGNED */
    double real;      /* FLOATING, COMPLEX */
    double imaginary; /* COMPLEX */
};
struct dtype_value dtype_read(enum dtype dtype, const void *bytes);

/* An integer too, as a double; of a complex number its real half. */
static inline double dtype_value_real(const struct dtype_value *value)
{
    switch (value->class) {
    case DTYPE_CLASS_SIGNED:
        return (double)value->integer;
    case DTYPE_CLASS_UNSIGNED:
        return (double)value->natural;
    default:
        return value->real;
    }
}

#endif
