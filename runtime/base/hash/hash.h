/* Hashes of bytes: XXH3, the same on every machine. Not cryptographic. */
#ifndef MONITORCH_BASE_HASH_HASH_H
#define MONITORCH_BASE_HASH_HASH_H

#include "runtime/base/slice.h"

#include <stdalign.h>
#include <stdint.h>

uint64_t hash_64(struct slice data);

/* result[0] is the low half. */
void hash_128(struct slice data, uint64_t result[2]);

/* hash_64 of bytes that are added in parts. It owns no memory, so it needs no release. */
struct hash_stream {
    alignas(64) unsigned char state[576];
};

void hash_stream_init(struct hash_stream *stream);
void hash_stream_add(struct hash_stream *stream, struct slice data);
uint64_t hash_stream_finish(const struct hash_stream *stream);

#endif
