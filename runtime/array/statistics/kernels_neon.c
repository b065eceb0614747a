/* Kernels for NEON, which every ARM64 processor has: vectors of 4 floats or 2 doubles. */
#include "runtime/array/statistics/kernels.h"

#ifdef KERNELS_NEON

    #include "runtime/array/number.h"

    #include <arm_neon.h>

    #define TARGET
    #define INLINE static inline __attribute__((always_inline))

    #define FLOAT_LANES   4
    #define DOUBLE_LANES  2
    #define FLOATS        float32x4_t
    #define DOUBLES       float64x2_t
    #define FLOAT_COUNTS  uint32x4_t
    #define DOUBLE_COUNTS uint64x2_t

INLINE FLOATS floats_all(float value)
{
    return vdupq_n_f32(value);
}

INLINE FLOATS floats_load(const unsigned char *bytes)
{
    return vreinterpretq_f32_u8(vld1q_u8(bytes));
}

/* Loads four bytes into the low half of a vector of eight. */
INLINE uint8x8_t load_32(const unsigned char *bytes)
{
    uint32_t four;

    memcpy(&four, bytes, sizeof(four));
    return vcreate_u8(four);
}

INLINE FLOATS floats_load_float16(const unsigned char *bytes)
{
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(bytes)));
}

INLINE FLOATS floats_load_bfloat16(const unsigned char *bytes)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(bytes)), 16));
}

INLINE FLOATS floats_load_uint8(const unsigned char *bytes)
{
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(load_32(bytes)))));
}

INLINE FLOATS floats_load_bool(const unsigned char *bytes)
{
    uint8x8_t ones = vmin_u8(load_32(bytes), vdup_n_u8(1));

    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(ones))));
}

INLINE FLOATS floats_load_int8(const unsigned char *bytes)
{
    int8x8_t values = vreinterpret_s8_u8(load_32(bytes));

    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(values))));
}

INLINE FLOATS floats_load_uint16(const unsigned char *bytes)
{
    return vcvtq_f32_u32(vmovl_u16(vreinterpret_u16_u8(vld1_u8(bytes))));
}

INLINE FLOATS floats_load_int16(const unsigned char *bytes)
{
    return vcvtq_f32_s32(vmovl_s16(vreinterpret_s16_u8(vld1_u8(bytes))));
}

INLINE DOUBLES floats_low(FLOATS values)
{
    return vcvt_f64_f32(vget_low_f32(values));
}

INLINE DOUBLES floats_high(FLOATS values)
{
    return vcvt_high_f64_f32(values);
}

INLINE FLOATS floats_min(FLOATS a, FLOATS b)
{
    return vminq_f32(a, b);
}

INLINE FLOATS floats_max(FLOATS a, FLOATS b)
{
    return vmaxq_f32(a, b);
}

INLINE float floats_lowest(FLOATS values)
{
    return vminvq_f32(values);
}

INLINE float floats_highest(FLOATS values)
{
    return vmaxvq_f32(values);
}

INLINE FLOATS floats_if_finite(FLOATS values, FLOATS otherwise)
{
    return vbslq_f32(vcaltq_f32(values, floats_all(INFINITY)), values, otherwise);
}

INLINE FLOAT_COUNTS float_counts_none(void)
{
    return vdupq_n_u32(0);
}

/* A lane of a comparison is -1 if it is true. */
INLINE FLOAT_COUNTS floats_count(FLOAT_COUNTS counts, FLOATS values, FLOATS wanted)
{
    return vsubq_u32(counts, vceqq_f32(values, wanted));
}

INLINE FLOAT_COUNTS floats_count_nans(FLOAT_COUNTS counts, FLOATS values)
{
    return vsubq_u32(counts, vmvnq_u32(vceqq_f32(values, values)));
}

INLINE uint64_t float_counts_total(FLOAT_COUNTS counts)
{
    return vaddlvq_u32(counts);
}

INLINE DOUBLES doubles_all(double value)
{
    return vdupq_n_f64(value);
}

INLINE DOUBLES doubles_load(const unsigned char *bytes)
{
    return vreinterpretq_f64_u8(vld1q_u8(bytes));
}

INLINE DOUBLES doubles_load_uint32(const unsigned char *bytes)
{
    return vcvtq_f64_u64(vmovl_u32(vreinterpret_u32_u8(vld1_u8(bytes))));
}

INLINE DOUBLES doubles_load_int32(const unsigned char *bytes)
{
    return vcvtq_f64_s64(vmovl_s32(vreinterpret_s32_u8(vld1_u8(bytes))));
}

INLINE DOUBLES doubles_load_uint64(const unsigned char *bytes)
{
    return vcvtq_f64_u64(vreinterpretq_u64_u8(vld1q_u8(bytes)));
}

INLINE DOUBLES doubles_load_int64(const unsigned char *bytes)
{
    return vcvtq_f64_s64(vreinterpretq_s64_u8(vld1q_u8(bytes)));
}

INLINE DOUBLES doubles_add(DOUBLES a, DOUBLES b)
{
    return vaddq_f64(a, b);
}

INLINE DOUBLES doubles_subtract(DOUBLES a, DOUBLES b)
{
    return vsubq_f64(a, b);
}

INLINE DOUBLES doubles_add_square(DOUBLES sum, DOUBLES value)
{
    return vfmaq_f64(sum, value, value);
}

INLINE DOUBLES doubles_min(DOUBLES a, DOUBLES b)
{
    return vminq_f64(a, b);
}

INLINE DOUBLES doubles_max(DOUBLES a, DOUBLES b)
{
    return vmaxq_f64(a, b);
}

INLINE double doubles_total(DOUBLES values)
{
    return vaddvq_f64(values);
}

INLINE double doubles_lowest(DOUBLES values)
{
    return vminvq_f64(values);
}

INLINE double doubles_highest(DOUBLES values)
{
    return vmaxvq_f64(values);
}

INLINE DOUBLES doubles_if_finite(DOUBLES values, DOUBLES otherwise)
{
    return vbslq_f64(vcaltq_f64(values, doubles_all((double)INFINITY)), values,
                     otherwise);
}

INLINE DOUBLES doubles_root(DOUBLES values)
{
    return vsqrtq_f64(values);
}

INLINE DOUBLES doubles_evens(DOUBLES a, DOUBLES b)
{
    return vuzp1q_f64(a, b);
}

INLINE DOUBLES doubles_odds(DOUBLES a, DOUBLES b)
{
    return vuzp2q_f64(a, b);
}

INLINE DOUBLES doubles_or_infinite(DOUBLES values, DOUBLES a, DOUBLES b)
{
    DOUBLES infinity = doubles_all((double)INFINITY);
    uint64x2_t is_infinite =
        vorrq_u64(vceqq_f64(vabsq_f64(a), infinity), vceqq_f64(vabsq_f64(b), infinity));

    return vbslq_f64(is_infinite, infinity, values);
}

INLINE void doubles_store(double *out, DOUBLES values)
{
    vst1q_f64(out, values);
}

INLINE DOUBLE_COUNTS double_counts_none(void)
{
    return vdupq_n_u64(0);
}

INLINE DOUBLE_COUNTS doubles_count(DOUBLE_COUNTS counts, DOUBLES values, DOUBLES wanted)
{
    return vsubq_u64(counts, vceqq_f64(values, wanted));
}

INLINE DOUBLE_COUNTS doubles_count_nans(DOUBLE_COUNTS counts, DOUBLES values)
{
    uint64x2_t is_number = vceqq_f64(values, values);

    return vsubq_u64(counts, veorq_u64(is_number, vdupq_n_u64(UINT64_MAX)));
}

INLINE uint64_t double_counts_total(DOUBLE_COUNTS counts)
{
    return vaddvq_u64(counts);
}

    #include "runtime/array/statistics/kernels_template.h"

static void signed_bounds(const void *data, size_t count, int64_t *min, int64_t *max)
{
    const unsigned char *bytes = data;
    int64x2_t lowest = vdupq_n_s64(*min);
    int64x2_t highest = vdupq_n_s64(*max);
    int64_t lanes[4];

    for (; count >= 2; count -= 2, bytes += 16) {
        int64x2_t values = vreinterpretq_s64_u8(vld1q_u8(bytes));

        lowest = vbslq_s64(vcltq_s64(values, lowest), values, lowest);
        highest = vbslq_s64(vcgtq_s64(values, highest), values, highest);
    }
    if (count > 0) {
        int64x2_t values = vdupq_n_s64(number_integer(bytes));

        lowest = vbslq_s64(vcltq_s64(values, lowest), values, lowest);
        highest = vbslq_s64(vcgtq_s64(values, highest), values, highest);
    }
    vst1q_s64(lanes, lowest);
    vst1q_s64(lanes + 2, highest);
    *min = lanes[0] < lanes[1] ? lanes[0] : lanes[1];
    *max = lanes[2] > lanes[3] ? lanes[2] : lanes[3];
}

static void
unsigned_bounds(const void *data, size_t count, uint64_t *min, uint64_t *max)
{
    const unsigned char *bytes = data;
    uint64x2_t lowest = vdupq_n_u64(*min);
    uint64x2_t highest = vdupq_n_u64(*max);
    uint64_t lanes[4];

    for (; count >= 2; count -= 2, bytes += 16) {
        uint64x2_t values = vreinterpretq_u64_u8(vld1q_u8(bytes));

        lowest = vbslq_u64(vcltq_u64(values, lowest), values, lowest);
        highest = vbslq_u64(vcgtq_u64(values, highest), values, highest);
    }
    if (count > 0) {
        uint64x2_t values = vdupq_n_u64(number_natural(bytes));

        lowest = vbslq_u64(vcltq_u64(values, lowest), values, lowest);
        highest = vbslq_u64(vcgtq_u64(values, highest), values, highest);
    }
    vst1q_u64(lanes, lowest);
    vst1q_u64(lanes + 2, highest);
    *min = lanes[0] < lanes[1] ? lanes[0] : lanes[1];
    *max = lanes[2] > lanes[3] ? lanes[2] : lanes[3];
}

static bool is_supported(void)
{
    return true;
}

const struct kernels kernels_neon = {
    .name = "neon",
    .is_supported = is_supported,
    .sums = KERNELS_SUMS,
    .magnitudes = KERNELS_MAGNITUDES,
    .signed_bounds = signed_bounds,
    .unsigned_bounds = unsigned_bounds,
};

#endif
