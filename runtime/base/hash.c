/* Hashes of bytes: XXH3, the same on every machine. Not for keeping secrets. */
#include "runtime/base/hash.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

uint64_t hash_64(struct slice data)
{
    return XXH3_64bits(data.bytes, data.size);
}

void hash_128(struct slice data, uint64_t result[2])
{
    XXH128_hash_t hash = XXH3_128bits(data.bytes, data.size);

    result[0] = hash.low64;
    result[1] = hash.high64;
}
