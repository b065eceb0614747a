/* The hash with AVX2's vectors. */
#include "runtime/base/hash/kinds.h"

#ifdef HASH_X86

    /* The headers that xxhash.h includes must precede the pragma that sets the functions'
     * target. */
    #include <immintrin.h>
    #include <stdlib.h>
    #include <string.h>

    #ifdef __clang__
        #pragma clang attribute push(__attribute__((target("avx2"))),                  \
                                     apply_to = function)
    #else
        #pragma GCC push_options
        #pragma GCC target("avx2")
    #endif

    #define XXH_INLINE_ALL
    #define XXH_VECTOR XXH_AVX2
    #include "xxhash.h"

uint64_t hash_64_avx2(struct slice data)
{
    return XXH3_64bits(data.bytes, data.size);
}

void hash_stream_add_avx2(struct hash_stream *stream, struct slice data)
{
    XXH3_64bits_update((XXH3_state_t *)stream, data.bytes, data.size);
}

    #ifdef __clang__
        #pragma clang attribute pop
    #else
        #pragma GCC pop_options
    #endif

#endif
