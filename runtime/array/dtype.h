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
    DTYPE_CLASS_OPAQUE, /* the bytes can be hashed, but the values are not measured */
    DTYPE_CLASS_UNSIGNED,
    DTYPE_CLASS_SIGNED,
    DTYPE_CLASS_FLOATING,
    DTYPE_CLASS_COMPLEX,
};

const char *dtype_text(enum dtype dtype);
/* Finds a dtype by its text, with or without a leading "torch.". DTYPE_OTHER if there is none. */
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

/* One value as a number. dtype_read reads it from `bytes`, which need not be aligned. Integers
 * are exact, in `integer` or `natural` by the dtype's class. Floats and both parts of complex
 * numbers are in `real` and `imaginary`. */
struct dtype_value {
    enum dtype_class class;
    int64_t integer;  /* SIGNED */
    uint64_t natural; /* UNSIGNED */
    double real;      /* FLOATING, COMPLEX */
    double imaginary; /* COMPLEX */
};
struct dtype_value dtype_read(enum dtype dtype, const void *bytes);

/* The value as a double, also for integers; for a complex number, its real part. */
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
