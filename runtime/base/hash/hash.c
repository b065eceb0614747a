#include "runtime/base/hash/hash.h"

#include "runtime/base/hash/kinds.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

/* Up to this size XXH3 uses no vectors, so there is nothing to choose. */
#define SHORT_SIZE 240

_Static_assert(sizeof(struct hash_stream) >= sizeof(XXH3_state_t),
               "a stream is too small");
_Static_assert(alignof(struct hash_stream) >= 64, "a stream's address may be any");

uint64_t hash_64(struct slice data)
{
#ifdef HASH_X86
    if (data.size > SHORT_SIZE) {
        if (__builtin_cpu_supports("avx512f")) {
            return hash_64_avx512(data);
        }
        if (__builtin_cpu_supports("avx2")) {
            return hash_64_avx2(data);
        }
    }
#endif
    return XXH3_64bits(data.bytes, data.size);
}

void hash_128(struct slice data, uint64_t result[2])
{
    XXH128_hash_t hash = XXH3_128bits(data.bytes, data.size);

    result[0] = hash.low64;
    result[1] = hash.high64;
}

void hash_stream_init(struct hash_stream *stream)
{
    XXH3_INITSTATE((XXH3_state_t *)stream);
    XXH3_64bits_reset((XXH3_state_t *)stream);
}

void hash_stream_add(struct hash_stream *stream, struct slice data)
{
    if (data.size == 0) {
        return; /* the pointer may be null */
    }
#ifdef HASH_X86
    if (__builtin_cpu_supports("avx512f")) {
        hash_stream_add_avx512(stream, data);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        hash_stream_add_avx2(stream, data);
        return;
    }
#endif
    XXH3_64bits_update((XXH3_state_t *)stream, data.bytes, data.size);
}

uint64_t hash_stream_finish(const struct hash_stream *stream)
{
    return XXH3_64bits_digest((const XXH3_state_t *)stream);
}
