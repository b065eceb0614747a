/* The hash with AVX-512's vectors. */
#include "runtime/base/hash/kinds.h"

#ifdef HASH_X86

    /* The headers that xxhash.h includes must precede the pragma that sets the functions'
     * target. */
    #include <immintrin.h>
    #include <stdlib.h>
    #include <string.h>

    #ifdef __clang__
        #pragma clang attribute push(__attribute__((target("avx512f"))),               \
                                     apply_to = function)
    #else
        #pragma GCC push_options
        #pragma GCC target("avx512f")
    #endif

    #define XXH_INLINE_ALL
    #define XXH_VECTOR XXH_AVX512
    #include "xxhash.h"

uint64_t hash_64_avx512(struct slice data)
{
    return XXH3_64bits(data.bytes, data.size);
}

void hash_stream_add_avx512(struct hash_stream *stream, struct slice data)
{
    XXH3_64bits_update((XXH3_state_t *)stream, data.bytes, data.size);
}

    #ifdef __clang__
        #pragma clang attribute pop
    #else
        #pragma GCC pop_options
    #endif

#endif
