/* Kernels for AVX-512 (F, DQ, BW, VL): vectors of 16 floats or 8 doubles. */
#include "runtime/array/statistics/kernels.h"

#ifdef KERNELS_X86

    #include "runtime/array/number.h"

    #include <immintrin.h>

    #define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
    #define INLINE static inline TARGET __attribute__((always_inline))

    #define FLOAT_LANES   16
    #define DOUBLE_LANES  8
    #define FLOATS        __m512
    #define DOUBLES       __m512d
    #define FLOAT_COUNTS  __m512i
    #define DOUBLE_COUNTS __m512i

INLINE FLOATS floats_all(float value)
{
    return _mm512_set1_ps(value);
}

INLINE FLOATS floats_load(const unsigned char *bytes)
{
    return _mm512_loadu_ps(bytes);
}

INLINE FLOATS floats_load_float16(const unsigned char *bytes)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i_u *)bytes));
}

INLINE FLOATS floats_load_bfloat16(const unsigned char *bytes)
{
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i_u *)bytes));

    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

INLINE FLOATS floats_load_bool(const unsigned char *bytes)
{
    __m128i ones =
        _mm_min_epu8(_mm_loadu_si128((const __m128i_u *)bytes), _mm_set1_epi8(1));

    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(ones));
}

INLINE FLOATS floats_load_uint8(const unsigned char *bytes)
{
    return _mm512_cvtepi32_ps(
        _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i_u *)bytes)));
}

INLINE FLOATS floats_load_int8(const unsigned char *bytes)
{
    return _mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i_u *)bytes)));
}

INLINE FLOATS floats_load_uint16(const unsigned char *bytes)
{
    return _mm512_cvtepi32_ps(
        _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i_u *)bytes)));
}

INLINE FLOATS floats_load_int16(const unsigned char *bytes)
{
    return _mm512_cvtepi32_ps(
        _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i_u *)bytes)));
}

INLINE DOUBLES floats_low(FLOATS values)
{
    return _mm512_cvtps_pd(_mm512_castps512_ps256(values));
}

INLINE DOUBLES floats_high(FLOATS values)
{
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(values, 1));
}

INLINE FLOATS floats_min(FLOATS a, FLOATS b)
{
    return _mm512_min_ps(a, b);
}

INLINE FLOATS floats_max(FLOATS a, FLOATS b)
{
    return _mm512_max_ps(a, b);
}

INLINE float floats_lowest(FLOATS values)
{
    return _mm512_reduce_min_ps(values);
}

INLINE float floats_highest(FLOATS values)
{
    return _mm512_reduce_max_ps(values);
}

INLINE FLOATS floats_if_finite(FLOATS values, FLOATS otherwise)
{
    __mmask16 is_finite =
        _mm512_cmp_ps_mask(_mm512_abs_ps(values), floats_all(INFINITY), _CMP_LT_OQ);

    return _mm512_mask_mov_ps(otherwise, is_finite, values);
}

INLINE FLOAT_COUNTS float_counts_none(void)
{
    return _mm512_setzero_si512();
}

INLINE FLOAT_COUNTS float_counts_add(FLOAT_COUNTS counts, __mmask16 where)
{
    return _mm512_mask_sub_epi32(counts, where, counts, _mm512_set1_epi32(-1));
}

INLINE FLOAT_COUNTS floats_count(FLOAT_COUNTS counts, FLOATS values, FLOATS wanted)
{
    return float_counts_add(counts, _mm512_cmp_ps_mask(values, wanted, _CMP_EQ_OQ));
}

INLINE FLOAT_COUNTS floats_count_nans(FLOAT_COUNTS counts, FLOATS values)
{
    return float_counts_add(counts, _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q));
}

INLINE uint64_t float_counts_total(FLOAT_COUNTS counts)
{
    return (uint32_t)_mm512_reduce_add_epi32(counts);
}

INLINE DOUBLES doubles_all(double value)
{
    return _mm512_set1_pd(value);
}

INLINE DOUBLES doubles_load(const unsigned char *bytes)
{
    return _mm512_loadu_pd(bytes);
}

INLINE DOUBLES doubles_load_uint32(const unsigned char *bytes)
{
    return _mm512_cvtepu32_pd(_mm256_loadu_si256((const __m256i_u *)bytes));
}

INLINE DOUBLES doubles_load_int32(const unsigned char *bytes)
{
    return _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i_u *)bytes));
}

INLINE DOUBLES doubles_load_uint64(const unsigned char *bytes)
{
    return _mm512_cvtepu64_pd(_mm512_loadu_si512(bytes));
}

INLINE DOUBLES doubles_load_int64(const unsigned char *bytes)
{
    return _mm512_cvtepi64_pd(_mm512_loadu_si512(bytes));
}

INLINE DOUBLES doubles_add(DOUBLES a, DOUBLES b)
{
    return _mm512_add_pd(a, b);
}

INLINE DOUBLES doubles_subtract(DOUBLES a, DOUBLES b)
{
    return _mm512_sub_pd(a, b);
}

INLINE DOUBLES doubles_add_square(DOUBLES sum, DOUBLES value)
{
    return _mm512_fmadd_pd(value, value, sum);
}

INLINE DOUBLES doubles_min(DOUBLES a, DOUBLES b)
{
    return _mm512_min_pd(a, b);
}

INLINE DOUBLES doubles_max(DOUBLES a, DOUBLES b)
{
    return _mm512_max_pd(a, b);
}

INLINE double doubles_total(DOUBLES values)
{
    return _mm512_reduce_add_pd(values);
}

INLINE double doubles_lowest(DOUBLES values)
{
    return _mm512_reduce_min_pd(values);
}

INLINE double doubles_highest(DOUBLES values)
{
    return _mm512_reduce_max_pd(values);
}

INLINE DOUBLES doubles_if_finite(DOUBLES values, DOUBLES otherwise)
{
    __mmask8 is_finite = _mm512_cmp_pd_mask(_mm512_abs_pd(values),
                                            doubles_all((double)INFINITY), _CMP_LT_OQ);

    return _mm512_mask_mov_pd(otherwise, is_finite, values);
}

INLINE DOUBLES doubles_root(DOUBLES values)
{
    return _mm512_sqrt_pd(values);
}

INLINE DOUBLES doubles_evens(DOUBLES a, DOUBLES b)
{
    return _mm512_unpacklo_pd(a, b);
}

INLINE DOUBLES doubles_odds(DOUBLES a, DOUBLES b)
{
    return _mm512_unpackhi_pd(a, b);
}

INLINE DOUBLES doubles_or_infinite(DOUBLES values, DOUBLES a, DOUBLES b)
{
    DOUBLES infinity = doubles_all((double)INFINITY);
    __mmask8 is_infinite = _mm512_cmp_pd_mask(_mm512_abs_pd(a), infinity, _CMP_EQ_OQ) |
                           _mm512_cmp_pd_mask(_mm512_abs_pd(b), infinity, _CMP_EQ_OQ);

    return _mm512_mask_mov_pd(values, is_infinite, infinity);
}

INLINE void doubles_store(double *out, DOUBLES values)
{
    _mm512_storeu_pd(out, values);
}

INLINE DOUBLE_COUNTS double_counts_none(void)
{
    return _mm512_setzero_si512();
}

INLINE DOUBLE_COUNTS double_counts_add(DOUBLE_COUNTS counts, __mmask8 where)
{
    return _mm512_mask_sub_epi64(counts, where, counts, _mm512_set1_epi64(-1));
}

INLINE DOUBLE_COUNTS doubles_count(DOUBLE_COUNTS counts, DOUBLES values, DOUBLES wanted)
{
    return double_counts_add(counts, _mm512_cmp_pd_mask(values, wanted, _CMP_EQ_OQ));
}

INLINE DOUBLE_COUNTS doubles_count_nans(DOUBLE_COUNTS counts, DOUBLES values)
{
    return double_counts_add(counts, _mm512_cmp_pd_mask(values, values, _CMP_UNORD_Q));
}

INLINE uint64_t double_counts_total(DOUBLE_COUNTS counts)
{
    return (uint64_t)_mm512_reduce_add_epi64(counts);
}

    #include "runtime/array/statistics/kernels_template.h"

static TARGET void
signed_bounds(const void *data, size_t count, int64_t *min, int64_t *max)
{
    const unsigned char *bytes = data;
    __m512i lowest = _mm512_set1_epi64(*min);
    __m512i highest = _mm512_set1_epi64(*max);

    for (; count >= 8; count -= 8, bytes += 64) {
        __m512i values = _mm512_loadu_si512(bytes);

        lowest = _mm512_min_epi64(lowest, values);
        highest = _mm512_max_epi64(highest, values);
    }
    if (count > 0) {
        __mmask8 rest = (__mmask8)((1u << count) - 1);
        __m512i values = _mm512_maskz_loadu_epi64(rest, bytes);

        lowest = _mm512_mask_min_epi64(lowest, rest, lowest, values);
        highest = _mm512_mask_max_epi64(highest, rest, highest, values);
    }
    *min = _mm512_reduce_min_epi64(lowest);
    *max = _mm512_reduce_max_epi64(highest);
}

static TARGET void
unsigned_bounds(const void *data, size_t count, uint64_t *min, uint64_t *max)
{
    const unsigned char *bytes = data;
    __m512i lowest = _mm512_set1_epi64((long long)*min);
    __m512i highest = _mm512_set1_epi64((long long)*max);

    for (; count >= 8; count -= 8, bytes += 64) {
        __m512i values = _mm512_loadu_si512(bytes);

        lowest = _mm512_min_epu64(lowest, values);
        highest = _mm512_max_epu64(highest, values);
    }
    if (count > 0) {
        __mmask8 rest = (__mmask8)((1u << count) - 1);
        __m512i values = _mm512_maskz_loadu_epi64(rest, bytes);

        lowest = _mm512_mask_min_epu64(lowest, rest, lowest, values);
        highest = _mm512_mask_max_epu64(highest, rest, highest, values);
    }
    *min = _mm512_reduce_min_epu64(lowest);
    *max = _mm512_reduce_max_epu64(highest);
}

static bool is_supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

const struct kernels kernels_avx512 = {
    .name = "avx512",
    .is_supported = is_supported,
    .sums = KERNELS_SUMS,
    .magnitudes = KERNELS_MAGNITUDES,
    .signed_bounds = signed_bounds,
    .unsigned_bounds = unsigned_bounds,
};

#endif
