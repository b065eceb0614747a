/* CRC-32, by carry-less multiplication if the processor supports it. */
#include "runtime/base/hash/crc32.h"

#include <stddef.h>
#include <stdint.h>

static size_t crc32_fold(uint32_t *sum, const unsigned char *bytes, size_t size);

/* CRC-32 by folding. A state of 128 bytes is multiplied, as polynomials without carries, by
 * remainders of powers of x modulo the checksum's polynomial, and added to the next 128 bytes.
 * This shortens the message and keeps its remainder. Gopal et al., "Fast CRC Computation for
 * Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009; the constants are the paper's,
 * for reflected bits. */

#if defined(__x86_64__) && defined(__GNUC__)

    #include <immintrin.h>

    #define FOLDS __attribute__((target("avx,pclmul")))
    #define LANES 8 /* enough to hide the latency of a multiplication */
    #define STEP  (16 * LANES)

    /* The powers that shift a state by 128 bits. */
    #define POWERS_128 _mm_set_epi64x(0x00ccaa009e, 0x01751997d0)

    /* Loops over lanes are unrolled, so that all lanes stay in registers. */
    #ifdef __clang__
        #define UNROLLED _Pragma("clang loop unroll(full)")
    #else
        #define UNROLLED _Pragma("GCC unroll 8")
    #endif

FOLDS static inline __m128i load(const unsigned char *bytes)
{
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* Shifts `state` by the number of bits that `powers` stand for, and adds `next`. */
FOLDS static inline __m128i fold(__m128i state, __m128i powers, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(state, powers, 0x00);
    __m128i high = _mm_clmulepi64_si128(state, powers, 0x11);

    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* Reduces 128 bits to the checksum's 32. */
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

/* Folds the remaining words of 128 bits into `sum`, and reduces it. */
FOLDS static uint32_t
finish(__m128i sum, const unsigned char *bytes, const unsigned char *end)
{
    const __m128i powers = POWERS_128;

    for (; bytes < end; bytes += 16) {
        sum = fold(sum, powers, load(bytes));
    }
    return reduce(sum, powers);
}

/* Folds consecutive words into one. */
FOLDS static __m128i join(const __m128i *state, int count)
{
    const __m128i powers = POWERS_128;
    __m128i sum = state[0];

    for (int i = 1; i < count; i++) {
        sum = fold(sum, powers, state[i]);
    }
    return sum;
}

/* `size` is a multiple of 16 and at least 16. */
FOLDS static uint32_t fold_few(uint32_t sum, const unsigned char *bytes, size_t size)
{
    __m128i first = _mm_xor_si128(load(bytes), _mm_cvtsi32_si128((int)sum));

    return finish(first, bytes + 16, bytes + size);
}

/* `size` is a multiple of 16 and at least STEP. */
FOLDS static uint32_t fold_all(uint32_t sum, const unsigned char *bytes, size_t size)
{
    const __m128i powers =
        _mm_set_epi64x(0x014a7fe880, 0x01e88ef372); /* a shift by 1024 bits */
    const unsigned char *end = bytes + size;
    __m128i state[LANES];

    UNROLLED
    for (int i = 0; i < LANES; i++) {
        state[i] = load(bytes + 16 * i);
    }
    state[0] = _mm_xor_si128(state[0], _mm_cvtsi32_si128((int)sum));
    for (bytes += STEP; end - bytes >= STEP; bytes += STEP) {
        UNROLLED
        for (int i = 0; i < LANES; i++) {
            state[i] = fold(state[i], powers, load(bytes + 16 * i));
        }
    }
    return finish(join(state, LANES), bytes, end);
}

    /* The same with vectors of 512 bits, four of them at a time. */
    #define FOLDS_WIDE __attribute__((target("avx512f,vpclmulqdq,pclmul")))
    #define WIDE       64
    #define WIDE_STEP  (4 * WIDE)

FOLDS_WIDE static inline __m512i load_wide(const unsigned char *bytes)
{
    return _mm512_loadu_si512(bytes);
}

FOLDS_WIDE static inline __m512i fold_wide(__m512i state, __m512i powers, __m512i next)
{
    __m512i low = _mm512_clmulepi64_epi128(state, powers, 0x00);
    __m512i high = _mm512_clmulepi64_epi128(state, powers, 0x11);

    return _mm512_xor_si512(_mm512_xor_si512(low, high), next);
}

/* `size` is a multiple of 16 and at least WIDE_STEP. */
FOLDS_WIDE static uint32_t
fold_all_wide(uint32_t sum, const unsigned char *bytes, size_t size)
{
    const __m512i powers_2048 =
        _mm512_broadcast_i32x4(_mm_set_epi64x(0x01322d1430, 0x011542778a));
    const __m512i powers_512 =
        _mm512_broadcast_i32x4(_mm_set_epi64x(0x01c6e41596, 0x0154442bd4));
    const unsigned char *end = bytes + size;
    __m512i state[4], first = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)sum));
    __m128i parts[4];

    UNROLLED
    for (int i = 0; i < 4; i++) {
        state[i] = load_wide(bytes + WIDE * i);
    }
    state[0] = _mm512_xor_si512(state[0], first);
    for (bytes += WIDE_STEP; end - bytes >= WIDE_STEP; bytes += WIDE_STEP) {
        UNROLLED
        for (int i = 0; i < 4; i++) {
            state[i] = fold_wide(state[i], powers_2048, load_wide(bytes + WIDE * i));
        }
    }
    for (int i = 1; i < 4; i++) {
        state[0] = fold_wide(state[0], powers_512, state[i]);
    }
    for (; end - bytes >= WIDE; bytes += WIDE) {
        state[0] = fold_wide(state[0], powers_512, load_wide(bytes));
    }
    _mm512_storeu_si512(parts, state[0]);
    return finish(join(parts, 4), bytes, end);
}

size_t crc32_fold(uint32_t *sum, const unsigned char *bytes, size_t size)
{
    size_t folded = size & ~(size_t)15;

    if (size < 2 * 16 || !__builtin_cpu_supports("pclmul") ||
        !__builtin_cpu_supports("avx")) {
        return 0;
    }
    if (size >= 2 * WIDE_STEP && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("vpclmulqdq")) {
        *sum = fold_all_wide(*sum, bytes, folded);
    } else if (size >= STEP) {
        *sum = fold_all(*sum, bytes, folded);
    } else {
        *sum = fold_few(*sum, bytes, folded);
    }
    return folded;
}

#else

/* Adds as many of the bytes as this processor can add at once to the checksum, whose bits are
 * not inverted here. Returns their number; 0: not supported. */
static size_t crc32_fold(uint32_t *sum, const unsigned char *bytes, size_t size)
{
    (void)sum;
    (void)bytes;
    (void)size;
    return 0;
}

#endif

/* CRC-32 is linear: the checksum of a byte is the sum of the checksums of its bits. */
#define BIT(i, bit, sum) ((i) >> (bit)&1 ? (sum) : 0u)
#define ENTRY(i)                                                                       \
    (BIT(i, 0, 0x77073096u) ^ BIT(i, 1, 0xee0e612cu) ^ BIT(i, 2, 0x076dc419u) ^        \
     BIT(i, 3, 0x0edb8832u) ^ BIT(i, 4, 0x1db71064u) ^ BIT(i, 5, 0x3b6e20c8u) ^        \
     BIT(i, 6, 0x76dc4190u) ^ BIT(i, 7, 0xedb88320u))
#define ENTRIES_4(i) ENTRY(i), ENTRY((i) + 1), ENTRY((i) + 2), ENTRY((i) + 3)
#define ENTRIES_16(i)                                                                  \
    ENTRIES_4(i), ENTRIES_4((i) + 4), ENTRIES_4((i) + 8), ENTRIES_4((i) + 12)
#define ENTRIES_64(i)                                                                  \
    ENTRIES_16(i), ENTRIES_16((i) + 16), ENTRIES_16((i) + 32), ENTRIES_16((i) + 48)

static const uint32_t sums_of_bytes[256] = {
    ENTRIES_64(0),
    ENTRIES_64(64),
    ENTRIES_64(128),
    ENTRIES_64(192),
};

/* The checksum's bits are not inverted here. */
static uint32_t add_bytes(uint32_t sum, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sum = sums_of_bytes[(sum ^ bytes[i]) & 0xff] ^ sum >> 8;
    }
    return sum;
}

uint32_t crc32_update(uint32_t crc, const void *bytes, size_t size)
{
    const unsigned char *next = bytes;
    uint32_t sum = ~crc;
    size_t folded = crc32_fold(&sum, next, size);

    if (folded < size) {
        sum = add_bytes(sum, next + folded, size - folded);
    }
    return ~sum;
}
