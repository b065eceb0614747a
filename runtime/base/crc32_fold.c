/* CRC-32 by folding: 64 bytes at a time are multiplied, as polynomials without carries, by what
 * powers of x leave when divided by the checksum's polynomial, so that the remainder stays the
 * same while the message gets shorter. Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction", Intel 2009; the constants are the paper's, for bits
 * in reflected order. */
#include "runtime/base/crc32_fold.h"

#if defined(__x86_64__) && defined(__GNUC__)

    #include <immintrin.h>

    #define FOLDS __attribute__((target("pclmul,sse4.1")))
    /* Two of these make one step; less is left to the table. */
    #define STEP 64

FOLDS static inline __m128i load(const unsigned char *bytes)
{
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* `state` moved on by as many bits as `powers` says, and `next` added. */
FOLDS static inline __m128i fold(__m128i state, __m128i powers, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(state, powers, 0x00);
    __m128i high = _mm_clmulepi64_si128(state, powers, 0x11);

    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* The 32 bits that 128 leave. */
FOLDS static uint32_t reduce(__m128i state, __m128i powers)
{
    const __m128i last_power = _mm_set_epi64x(0, 0x0163cd6124);
    const __m128i polynomial = _mm_set_epi64x(0x01f7011641, 0x01db710641);
    const __m128i low_words = _mm_setr_epi32(~0, 0, ~0, 0);
    __m128i product;

    product = _mm_clmulepi64_si128(state, powers, 0x10);
    state = _mm_xor_si128(_mm_srli_si128(state, 8), product);
    product = _mm_clmulepi64_si128(_mm_and_si128(state, low_words), last_power, 0x00);
    state = _mm_xor_si128(_mm_srli_si128(state, 4), product);

    product = _mm_clmulepi64_si128(_mm_and_si128(state, low_words), polynomial, 0x10);
    product = _mm_clmulepi64_si128(_mm_and_si128(product, low_words), polynomial, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(state, product), 1);
}

/* `size` is a multiple of 16 and at least STEP. */
FOLDS static uint32_t fold_all(uint32_t sum, const unsigned char *bytes, size_t size)
{
    const __m128i powers_512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
    const __m128i powers_128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    const unsigned char *end = bytes + size;
    __m128i state[4];

    for (int i = 0; i < 4; i++) {
        state[i] = load(bytes + 16 * i);
    }
    state[0] = _mm_xor_si128(state[0], _mm_cvtsi32_si128((int)sum));
    for (bytes += STEP; end - bytes >= STEP; bytes += STEP) {
        for (int i = 0; i < 4; i++) {
            state[i] = fold(state[i], powers_512, load(bytes + 16 * i));
        }
    }
    for (int i = 1; i < 4; i++) {
        state[0] = fold(state[0], powers_128, state[i]);
    }
    for (; bytes < end; bytes += 16) {
        state[0] = fold(state[0], powers_128, load(bytes));
    }
    return reduce(state[0], powers_128);
}

size_t crc32_fold(uint32_t *sum, const unsigned char *bytes, size_t size)
{
    size_t folded = size & ~(size_t)15;

    if (size < 2 * STEP || !__builtin_cpu_supports("pclmul") ||
        !__builtin_cpu_supports("sse4.1")) {
        return 0;
    }
    *sum = fold_all(*sum, bytes, folded);
    return folded;
}

#else

size_t crc32_fold(uint32_t *sum, const unsigned char *bytes, size_t size)
{
    (void)sum;
    (void)bytes;
    (void)size;
    return 0;
}

#endif
