/* Kernels for AVX2 with FMA and F16C: vectors of 8 floats or 4 doubles. */
#include "runtime/array/statistics/kernels.h"

#ifdef KERNELS_X86

    #include "runtime/array/number.h"

    #include <cpuid.h>
    #include <immintrin.h>

    #define TARGET __attribute__((target("avx2,fma,f16c")))
    #define INLINE static inline TARGET __attribute__((always_inline))

    #define FLOAT_LANES   8
    #define DOUBLE_LANES  4
    #define FLOATS        __m256
    #define DOUBLES       __m256d
    #define FLOAT_COUNTS  __m256i
    #define DOUBLE_COUNTS __m256i

INLINE __m256i load_256(const unsigned char *bytes)
{
    return _mm256_loadu_si256((const __m256i_u *)bytes);
}

INLINE __m128i load_128(const unsigned char *bytes)
{
    return _mm_loadu_si128((const __m128i_u *)bytes);
}

INLINE __m128i load_64(const unsigned char *bytes)
{
    return _mm_loadl_epi64((const __m128i_u *)bytes);
}

INLINE FLOATS floats_all(float value)
{
    return _mm256_set1_ps(value);
}

INLINE FLOATS floats_load(const unsigned char *bytes)
{
    return _mm256_castsi256_ps(load_256(bytes));
}

INLINE FLOATS floats_load_float16(const unsigned char *bytes)
{
    return _mm256_cvtph_ps(load_128(bytes));
}

INLINE FLOATS floats_load_bfloat16(const unsigned char *bytes)
{
    __m256i wide = _mm256_cvtepu16_epi32(load_128(bytes));

    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

INLINE FLOATS floats_load_bool(const unsigned char *bytes)
{
    __m128i ones = _mm_min_epu8(load_64(bytes), _mm_set1_epi8(1));

    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(ones));
}

INLINE FLOATS floats_load_uint8(const unsigned char *bytes)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load_64(bytes)));
}

INLINE FLOATS floats_load_int8(const unsigned char *bytes)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load_64(bytes)));
}

INLINE FLOATS floats_load_uint16(const unsigned char *bytes)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(load_128(bytes)));
}

INLINE FLOATS floats_load_int16(const unsigned char *bytes)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(load_128(bytes)));
}

INLINE DOUBLES floats_low(FLOATS values)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(values));
}

INLINE DOUBLES floats_high(FLOATS values)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(values, 1));
}

INLINE FLOATS floats_min(FLOATS a, FLOATS b)
{
    return _mm256_min_ps(a, b);
}

INLINE FLOATS floats_max(FLOATS a, FLOATS b)
{
    return _mm256_max_ps(a, b);
}

INLINE float floats_lowest(FLOATS values)
{
    __m128 four =
        _mm_min_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
    __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));

    return _mm_cvtss_f32(_mm_min_ss(two, _mm_movehdup_ps(two)));
}

INLINE float floats_highest(FLOATS values)
{
    __m128 four =
        _mm_max_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));

    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

INLINE FLOATS floats_if_finite(FLOATS values, FLOATS otherwise)
{
    FLOATS size = _mm256_andnot_ps(floats_all(-0.0f), values);
    FLOATS is_finite = _mm256_cmp_ps(size, floats_all(INFINITY), _CMP_LT_OQ);

    return _mm256_blendv_ps(otherwise, values, is_finite);
}

INLINE FLOAT_COUNTS float_counts_none(void)
{
    return _mm256_setzero_si256();
}

/* A lane of a comparison is -1 if it is true. */
INLINE FLOAT_COUNTS float_counts_add(FLOAT_COUNTS counts, FLOATS where)
{
    return _mm256_sub_epi32(counts, _mm256_castps_si256(where));
}

INLINE FLOAT_COUNTS floats_count(FLOAT_COUNTS counts, FLOATS values, FLOATS wanted)
{
    return float_counts_add(counts, _mm256_cmp_ps(values, wanted, _CMP_EQ_OQ));
}

INLINE FLOAT_COUNTS floats_count_nans(FLOAT_COUNTS counts, FLOATS values)
{
    return float_counts_add(counts, _mm256_cmp_ps(values, values, _CMP_UNORD_Q));
}

INLINE uint64_t float_counts_total(FLOAT_COUNTS counts)
{
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(counts),
                                 _mm256_extracti128_si256(counts, 1));
    __m128i two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));

    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(two, _mm_srli_epi64(two, 32)));
}

INLINE DOUBLES doubles_all(double value)
{
    return _mm256_set1_pd(value);
}

INLINE DOUBLES doubles_load(const unsigned char *bytes)
{
    return _mm256_castsi256_pd(load_256(bytes));
}

INLINE DOUBLES doubles_load_int32(const unsigned char *bytes)
{
    return _mm256_cvtepi32_pd(load_128(bytes));
}

INLINE DOUBLES doubles_subtract(DOUBLES a, DOUBLES b)
{
    return _mm256_sub_pd(a, b);
}

INLINE DOUBLES doubles_add(DOUBLES a, DOUBLES b)
{
    return _mm256_add_pd(a, b);
}

/* With the bits of 2^52 added, an integer of 32 bits is the low part of a double's fraction. */
INLINE DOUBLES doubles_load_uint32(const unsigned char *bytes)
{
    DOUBLES base = doubles_all(0x1p52);
    __m256i wide = _mm256_cvtepu32_epi64(load_128(bytes));

    return doubles_subtract(_mm256_or_pd(_mm256_castsi256_pd(wide), base), base);
}

/* The high halves are added to 2^84 and the low ones to 2^52; their sum is rounded once. */
INLINE DOUBLES doubles_load_uint64(const unsigned char *bytes)
{
    __m256i values = load_256(bytes);
    __m256i high = _mm256_or_si256(_mm256_srli_epi64(values, 32),
                                   _mm256_castpd_si256(doubles_all(0x1p84)));
    __m256i low =
        _mm256_blend_epi32(values, _mm256_castpd_si256(doubles_all(0x1p52)), 0xaa);
    DOUBLES upper =
        doubles_subtract(_mm256_castsi256_pd(high), doubles_all(0x1p84 + 0x1p52));

    return doubles_add(upper, _mm256_castsi256_pd(low));
}

/* The same with the sign bit flipped, which adds 2^63; the subtraction of the constants removes
 * it. */
INLINE DOUBLES doubles_load_int64(const unsigned char *bytes)
{
    __m256i values = load_256(bytes);
    __m256i turned = _mm256_xor_si256(values, _mm256_set1_epi64x(INT64_MIN));
    __m256i high = _mm256_or_si256(_mm256_srli_epi64(turned, 32),
                                   _mm256_castpd_si256(doubles_all(0x1p84)));
    __m256i low =
        _mm256_blend_epi32(values, _mm256_castpd_si256(doubles_all(0x1p52)), 0xaa);
    DOUBLES upper = doubles_subtract(_mm256_castsi256_pd(high),
                                     doubles_all(0x1p84 + 0x1p63 + 0x1p52));

    return doubles_add(upper, _mm256_castsi256_pd(low));
}

INLINE DOUBLES doubles_add_square(DOUBLES sum, DOUBLES value)
{
    return _mm256_fmadd_pd(value, value, sum);
}

INLINE DOUBLES doubles_min(DOUBLES a, DOUBLES b)
{
    return _mm256_min_pd(a, b);
}

INLINE DOUBLES doubles_max(DOUBLES a, DOUBLES b)
{
    return _mm256_max_pd(a, b);
}

INLINE double doubles_total(DOUBLES values)
{
    __m128d two =
        _mm_add_pd(_mm256_castpd256_pd128(values), _mm256_extractf128_pd(values, 1));

    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

INLINE double doubles_lowest(DOUBLES values)
{
    __m128d two =
        _mm_min_pd(_mm256_castpd256_pd128(values), _mm256_extractf128_pd(values, 1));

    return _mm_cvtsd_f64(_mm_min_sd(two, _mm_unpackhi_pd(two, two)));
}

INLINE double doubles_highest(DOUBLES values)
{
    __m128d two =
        _mm_max_pd(_mm256_castpd256_pd128(values), _mm256_extractf128_pd(values, 1));

    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
}

INLINE DOUBLES doubles_if_finite(DOUBLES values, DOUBLES otherwise)
{
    DOUBLES size = _mm256_andnot_pd(doubles_all(-0.0), values);
    DOUBLES is_finite = _mm256_cmp_pd(size, doubles_all((double)INFINITY), _CMP_LT_OQ);

    return _mm256_blendv_pd(otherwise, values, is_finite);
}

INLINE DOUBLES doubles_root(DOUBLES values)
{
    return _mm256_sqrt_pd(values);
}

INLINE DOUBLES doubles_evens(DOUBLES a, DOUBLES b)
{
    return _mm256_unpacklo_pd(a, b);
}

INLINE DOUBLES doubles_odds(DOUBLES a, DOUBLES b)
{
    return _mm256_unpackhi_pd(a, b);
}

INLINE DOUBLES doubles_or_infinite(DOUBLES values, DOUBLES a, DOUBLES b)
{
    DOUBLES sign = doubles_all(-0.0);
    DOUBLES infinity = doubles_all((double)INFINITY);
    DOUBLES is_infinite =
        _mm256_or_pd(_mm256_cmp_pd(_mm256_andnot_pd(sign, a), infinity, _CMP_EQ_OQ),
                     _mm256_cmp_pd(_mm256_andnot_pd(sign, b), infinity, _CMP_EQ_OQ));

    return _mm256_blendv_pd(values, infinity, is_infinite);
}

INLINE void doubles_store(double *out, DOUBLES values)
{
    _mm256_storeu_pd(out, values);
}

INLINE DOUBLE_COUNTS double_counts_none(void)
{
    return _mm256_setzero_si256();
}

INLINE DOUBLE_COUNTS double_counts_add(DOUBLE_COUNTS counts, DOUBLES where)
{
    return _mm256_sub_epi64(counts, _mm256_castpd_si256(where));
}

INLINE DOUBLE_COUNTS doubles_count(DOUBLE_COUNTS counts, DOUBLES values, DOUBLES wanted)
{
    return double_counts_add(counts, _mm256_cmp_pd(values, wanted, _CMP_EQ_OQ));
}

INLINE DOUBLE_COUNTS doubles_count_nans(DOUBLE_COUNTS counts, DOUBLES values)
{
    return double_counts_add(counts, _mm256_cmp_pd(values, values, _CMP_UNORD_Q));
}

INLINE uint64_t double_counts_total(DOUBLE_COUNTS counts)
{
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(counts),
                                _mm256_extracti128_si256(counts, 1));

    return (uint64_t)_mm_cvtsi128_si64(
        _mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
}

    #include "runtime/array/statistics/kernels_template.h"

/* `flip` is the sign bit for unsigned numbers, which can then be compared as signed ones. */
INLINE void bounds_64(
    const unsigned char *bytes, size_t count, uint64_t flip, int64_t *min, int64_t *max)
{
    __m256i flips = _mm256_set1_epi64x((long long)flip);
    __m256i lowest = _mm256_set1_epi64x(*min);
    __m256i highest = _mm256_set1_epi64x(*max);
    int64_t lanes[2][4];

    for (; count >= 4; count -= 4, bytes += 32) {
        __m256i values = _mm256_xor_si256(load_256(bytes), flips);
        __m256i is_lower = _mm256_cmpgt_epi64(lowest, values);
        __m256i is_higher = _mm256_cmpgt_epi64(values, highest);

        lowest = _mm256_blendv_epi8(lowest, values, is_lower);
        highest = _mm256_blendv_epi8(highest, values, is_higher);
    }
    _mm256_storeu_si256((__m256i_u *)lanes[0], lowest);
    _mm256_storeu_si256((__m256i_u *)lanes[1], highest);
    for (size_t i = 0; i < 4; i++) {
        *min = lanes[0][i] < *min ? lanes[0][i] : *min;
        *max = lanes[1][i] > *max ? lanes[1][i] : *max;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t value = (int64_t)(number_natural(bytes + 8 * i) ^ flip);

        *min = value < *min ? value : *min;
        *max = value > *max ? value : *max;
    }
}

static TARGET void
signed_bounds(const void *data, size_t count, int64_t *min, int64_t *max)
{
    bounds_64(data, count, 0, min, max);
}

static TARGET void
unsigned_bounds(const void *data, size_t count, uint64_t *min, uint64_t *max)
{
    const uint64_t flip = (uint64_t)1 << 63;
    int64_t lowest = (int64_t)(*min ^ flip);
    int64_t highest = (int64_t)(*max ^ flip);

    bounds_64(data, count, flip, &lowest, &highest);
    *min = (uint64_t)lowest ^ flip;
    *max = (uint64_t)highest ^ flip;
}

/* Some compilers' __builtin_cpu_supports does not know F16C. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

static bool is_supported(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           has_f16c();
}

const struct kernels kernels_avx2 = {
    .name = "avx2",
    .is_supported = is_supported,
    .sums = KERNELS_SUMS,
    .magnitudes = KERNELS_MAGNITUDES,
    .signed_bounds = signed_bounds,
    .unsigned_bounds = unsigned_bounds,
};

#endif
