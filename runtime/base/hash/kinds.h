/* The same hash with wider vectors, for processors that support them. Private to the hash. */
#ifndef MONITORCH_BASE_HASH_KINDS_H
#define MONITORCH_BASE_HASH_KINDS_H

#include "runtime/base/hash/hash.h"

#if defined(__x86_64__) && defined(__GNUC__)
    #define HASH_X86 1

uint64_t hash_64_avx2(struct slice data);
void hash_stream_add_avx2(struct hash_stream *stream, struct slice data);

uint64_t hash_64_avx512(struct slice data);
void hash_stream_add_avx512(struct hash_stream *stream, struct slice data);
#endif

#endif
