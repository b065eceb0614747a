/* Template of the kernels, in terms of vectors that the including file defines: the types
 * FLOATS, DOUBLES (half as many lanes), FLOAT_COUNTS and DOUBLE_COUNTS (one counter in each
 * lane), and the operations on them. No include guard: each kernels_*.c includes it once.
 *
 * Elements that fit into a float are read as floats and summed as doubles; the others are read
 * as doubles. Addresses need not be aligned. A careful step counts elements that are not finite
 * and excludes them from all else. The last vector is padded with NaNs, which are subtracted
 * from the count. */

/* Prefetches the next block, which arrives while this one is hashed. As measured, large arrays
 * are then read at the speed of a plain sum. The address may be past the end: a prefetch of
 * unmapped memory does nothing. */
INLINE void kernel_prefetch(const unsigned char *bytes)
{
    __builtin_prefetch((const void *)((uintptr_t)bytes + KERNEL_BLOCK_SIZE), 0, 3);
}

struct narrow {
    DOUBLES low_sum;
    DOUBLES high_sum;
    DOUBLES low_square_sum;
    DOUBLES high_square_sum;
    FLOATS min;
    FLOATS max;
    FLOAT_COUNTS zeros;
    FLOAT_COUNTS nans;
    FLOAT_COUNTS posinfs;
    FLOAT_COUNTS neginfs;
};

INLINE void narrow_init(struct narrow *narrow)
{
    narrow->low_sum = doubles_all(0);
    narrow->high_sum = doubles_all(0);
    narrow->low_square_sum = doubles_all(0);
    narrow->high_square_sum = doubles_all(0);
    narrow->min = floats_all(INFINITY);
    narrow->max = floats_all(-INFINITY);
    narrow->zeros = float_counts_none();
    narrow->nans = float_counts_none();
    narrow->posinfs = float_counts_none();
    narrow->neginfs = float_counts_none();
}

INLINE void
narrow_add(struct narrow *narrow, FLOATS values, DOUBLES shift, bool is_careful)
{
    DOUBLES low = doubles_subtract(floats_low(values), shift);
    DOUBLES high = doubles_subtract(floats_high(values), shift);
    FLOATS lowest = values;
    FLOATS highest = values;

    if (is_careful) {
        low = doubles_if_finite(low, doubles_all(0));
        high = doubles_if_finite(high, doubles_all(0));
        lowest = floats_if_finite(values, floats_all(INFINITY));
        highest = floats_if_finite(values, floats_all(-INFINITY));
        narrow->nans = floats_count_nans(narrow->nans, values);
        narrow->posinfs = floats_count(narrow->posinfs, values, floats_all(INFINITY));
        narrow->neginfs = floats_count(narrow->neginfs, values, floats_all(-INFINITY));
    }
    narrow->zeros = floats_count(narrow->zeros, values, floats_all(0));
    narrow->min = floats_min(narrow->min, lowest);
    narrow->max = floats_max(narrow->max, highest);
    narrow->low_sum = doubles_add(narrow->low_sum, low);
    narrow->high_sum = doubles_add(narrow->high_sum, high);
    narrow->low_square_sum = doubles_add_square(narrow->low_square_sum, low);
    narrow->high_square_sum = doubles_add_square(narrow->high_square_sum, high);
}

INLINE void
narrow_finish(const struct narrow *narrow, size_t padding, struct block_sums *sums)
{
    sums->sum = doubles_total(doubles_add(narrow->low_sum, narrow->high_sum));
    sums->square_sum =
        doubles_total(doubles_add(narrow->low_square_sum, narrow->high_square_sum));
    sums->min = floats_lowest(narrow->min);
    sums->max = floats_highest(narrow->max);
    sums->zero_count = float_counts_total(narrow->zeros);
    sums->nan_count = float_counts_total(narrow->nans) - padding;
    sums->posinf_count = float_counts_total(narrow->posinfs);
    sums->neginf_count = float_counts_total(narrow->neginfs);
}

/* Both load functions are constants where this is inlined, so they are inlined too. */
INLINE void narrow_sums(FLOATS (*load)(const unsigned char *),
                        float (*load_one)(const unsigned char *),
                        size_t size,
                        const void *data,
                        size_t count,
                        double shift,
                        bool is_careful,
                        struct block_sums *sums)
{
    const unsigned char *bytes = data;
    size_t tail_count = count % FLOAT_LANES;
    const unsigned char *tail = bytes + (count - tail_count) * size;
    DOUBLES shifts = doubles_all(shift);
    struct narrow narrow;
    float last[FLOAT_LANES];

    narrow_init(&narrow);
    if (is_careful) {
        for (; bytes < tail; bytes += FLOAT_LANES * size) {
            narrow_add(&narrow, load(bytes), shifts, true);
        }
    } else {
        for (; bytes < tail; bytes += FLOAT_LANES * size) {
            kernel_prefetch(bytes);
            narrow_add(&narrow, load(bytes), shifts, false);
        }
    }
    if (tail_count == 0) {
        narrow_finish(&narrow, 0, sums);
        return;
    }
    for (size_t i = 0; i < FLOAT_LANES; i++) {
        last[i] = i < tail_count ? load_one(tail + i * size) : NAN;
    }
    narrow_add(&narrow, floats_load((const unsigned char *)last), shifts, true);
    narrow_finish(&narrow, FLOAT_LANES - tail_count, sums);
}

/* The same with doubles. */
struct wide {
    DOUBLES sum;
    DOUBLES square_sum;
    DOUBLES min;
    DOUBLES max;
    DOUBLE_COUNTS zeros;
    DOUBLE_COUNTS nans;
    DOUBLE_COUNTS posinfs;
    DOUBLE_COUNTS neginfs;
};

INLINE void wide_init(struct wide *wide)
{
    wide->sum = doubles_all(0);
    wide->square_sum = doubles_all(0);
    wide->min = doubles_all((double)INFINITY);
    wide->max = doubles_all(-(double)INFINITY);
    wide->zeros = double_counts_none();
    wide->nans = double_counts_none();
    wide->posinfs = double_counts_none();
    wide->neginfs = double_counts_none();
}

INLINE void wide_add(struct wide *wide, DOUBLES values, DOUBLES shift, bool is_careful)
{
    DOUBLES posinf = doubles_all((double)INFINITY);
    DOUBLES neginf = doubles_all(-(double)INFINITY);
    DOUBLES finite = values;
    DOUBLES lowest = values;
    DOUBLES highest = values;
    DOUBLES difference;

    if (is_careful) {
        finite = doubles_if_finite(values, shift);
        lowest = doubles_if_finite(values, posinf);
        highest = doubles_if_finite(values, neginf);
        wide->nans = doubles_count_nans(wide->nans, values);
        wide->posinfs = doubles_count(wide->posinfs, values, posinf);
        wide->neginfs = doubles_count(wide->neginfs, values, neginf);
    }
    difference = doubles_subtract(finite, shift);
    wide->zeros = doubles_count(wide->zeros, values, doubles_all(0));
    wide->min = doubles_min(wide->min, lowest);
    wide->max = doubles_max(wide->max, highest);
    wide->sum = doubles_add(wide->sum, difference);
    wide->square_sum = doubles_add_square(wide->square_sum, difference);
}

INLINE void
wide_finish(const struct wide *wide, size_t padding, struct block_sums *sums)
{
    sums->sum = doubles_total(wide->sum);
    sums->square_sum = doubles_total(wide->square_sum);
    sums->min = doubles_lowest(wide->min);
    sums->max = doubles_highest(wide->max);
    sums->zero_count = double_counts_total(wide->zeros);
    sums->nan_count = double_counts_total(wide->nans) - padding;
    sums->posinf_count = double_counts_total(wide->posinfs);
    sums->neginf_count = double_counts_total(wide->neginfs);
}

INLINE void wide_sums(DOUBLES (*load)(const unsigned char *),
                      double (*load_one)(const unsigned char *),
                      size_t size,
                      const void *data,
                      size_t count,
                      double shift,
                      bool is_careful,
                      struct block_sums *sums)
{
    const unsigned char *bytes = data;
    size_t tail_count = count % DOUBLE_LANES;
    const unsigned char *tail = bytes + (count - tail_count) * size;
    DOUBLES shifts = doubles_all(shift);
    struct wide wide;
    double last[DOUBLE_LANES];

    wide_init(&wide);
    if (is_careful) {
        for (; bytes < tail; bytes += DOUBLE_LANES * size) {
            wide_add(&wide, load(bytes), shifts, true);
        }
    } else {
        for (; bytes < tail; bytes += DOUBLE_LANES * size) {
            kernel_prefetch(bytes);
            wide_add(&wide, load(bytes), shifts, false);
        }
    }
    if (tail_count == 0) {
        wide_finish(&wide, 0, sums);
        return;
    }
    for (size_t i = 0; i < DOUBLE_LANES; i++) {
        last[i] = i < tail_count ? load_one(tail + i * size) : (double)NAN;
    }
    wide_add(&wide, doubles_load((const unsigned char *)last), shifts, true);
    wide_finish(&wide, DOUBLE_LANES - tail_count, sums);
}

/* Defines the kernel sums_<name>. */
#define KERNEL(kind, load, load_one, size, name)                                       \
    static TARGET void sums_##name(const void *data, size_t count, double shift,       \
                                   bool is_careful, struct block_sums *sums)           \
    {                                                                                  \
        kind##_sums(load, load_one, size, data, count, shift, is_careful, sums);       \
    }

KERNEL(narrow, floats_load, number_float32, 4, float32)
KERNEL(narrow, floats_load_float16, number_float16, 2, float16)
KERNEL(narrow, floats_load_bfloat16, number_bfloat16, 2, bfloat16)
KERNEL(narrow, floats_load_bool, number_bool, 1, bool)
KERNEL(narrow, floats_load_uint8, number_uint8, 1, uint8)
KERNEL(narrow, floats_load_int8, number_int8, 1, int8)
KERNEL(narrow, floats_load_uint16, number_uint16, 2, uint16)
KERNEL(narrow, floats_load_int16, number_int16, 2, int16)
KERNEL(wide, doubles_load, number_float64, 8, float64)
KERNEL(wide, doubles_load_uint32, number_uint32, 4, uint32)
KERNEL(wide, doubles_load_int32, number_int32, 4, int32)
KERNEL(wide, doubles_load_uint64, number_uint64, 8, uint64)
KERNEL(wide, doubles_load_int64, number_int64, 8, int64)

#undef KERNEL

/* Real and imaginary parts alternate in the two vectors. */
INLINE DOUBLES magnitudes_of(DOUBLES low, DOUBLES high)
{
    DOUBLES real = doubles_evens(low, high);
    DOUBLES imaginary = doubles_odds(low, high);
    DOUBLES squares =
        doubles_add_square(doubles_add_square(doubles_all(0), real), imaginary);

    return doubles_or_infinite(doubles_root(squares), real, imaginary);
}

INLINE void narrow_magnitudes(FLOATS (*load)(const unsigned char *),
                              float (*load_one)(const unsigned char *),
                              size_t size,
                              const void *data,
                              size_t count,
                              double *magnitudes)
{
    const unsigned char *bytes = data;
    size_t i = 0;

    for (; i + DOUBLE_LANES <= count; i += DOUBLE_LANES) {
        FLOATS values = load(bytes + i * 2 * size);

        doubles_store(magnitudes + i,
                      magnitudes_of(floats_low(values), floats_high(values)));
    }
    for (; i < count; i++) {
        const unsigned char *one = bytes + i * 2 * size;

        magnitudes[i] = hypot((double)load_one(one), (double)load_one(one + size));
    }
}

static TARGET void
magnitudes_complex32(const void *data, size_t count, double *magnitudes)
{
    narrow_magnitudes(floats_load_float16, number_float16, 2, data, count, magnitudes);
}

static TARGET void
magnitudes_complex64(const void *data, size_t count, double *magnitudes)
{
    narrow_magnitudes(floats_load, number_float32, 4, data, count, magnitudes);
}

static TARGET void
magnitudes_complex128(const void *data, size_t count, double *magnitudes)
{
    const unsigned char *bytes = data;
    size_t i = 0;

    for (; i + DOUBLE_LANES <= count; i += DOUBLE_LANES) {
        const unsigned char *pairs = bytes + i * 16;
        DOUBLES low = doubles_load(pairs);
        DOUBLES high = doubles_load(pairs + DOUBLE_LANES * 8);

        doubles_store(magnitudes + i, magnitudes_of(low, high));
    }
    for (; i < count; i++) {
        magnitudes[i] =
            hypot(number_float64(bytes + i * 16), number_float64(bytes + i * 16 + 8));
    }
}

#define KERNELS_MAGNITUDES                                                             \
    {                                                                                  \
        [DTYPE_COMPLEX32] = magnitudes_complex32,                                      \
        [DTYPE_COMPLEX64] = magnitudes_complex64,                                      \
        [DTYPE_COMPLEX128] = magnitudes_complex128,                                    \
    }

#define KERNELS_SUMS                                                                   \
    {                                                                                  \
        [DTYPE_BOOL] = sums_bool, [DTYPE_UINT8] = sums_uint8,                          \
        [DTYPE_INT8] = sums_int8, [DTYPE_UINT16] = sums_uint16,                        \
        [DTYPE_INT16] = sums_int16, [DTYPE_UINT32] = sums_uint32,                      \
        [DTYPE_INT32] = sums_int32, [DTYPE_UINT64] = sums_uint64,                      \
        [DTYPE_INT64] = sums_int64, [DTYPE_FLOAT16] = sums_float16,                    \
        [DTYPE_BFLOAT16] = sums_bfloat16, [DTYPE_FLOAT32] = sums_float32,              \
        [DTYPE_FLOAT64] = sums_float64,                                                \
    }
