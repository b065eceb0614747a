/* Hashes of bytes: XXH3, the same on every machine. Not for keeping secrets. */
#ifndef MONITORCH_BASE_HASH_HASH_H
#define MONITORCH_BASE_HASH_HASH_H

#include "runtime/base/slice.h"

#include <stdalign.h>
#include <stdint.h>

uint64_t hash_64(struct slice data);

/* The low half is first. */
void hash_128(struct slice data, uint64_t result[2]);

/* hash_64 of bytes that are added in pieces. It holds no memory, and may just be dropped. */
struct hash_stream {
    alignas(64) unsigned char state[576];
};

void hash_stream_init(struct hash_stream *stream);
void hash_stream_add(struct hash_stream *stream, struct slice data);
uint64_t hash_stream_finish(const struct hash_stream *stream);

#endif
