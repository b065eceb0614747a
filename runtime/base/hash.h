/* Hashes of bytes: XXH3, the same on every machine. Not for keeping secrets. */
#ifndef MONITORCH_BASE_HASH_H
#define MONITORCH_BASE_HASH_H

#include "runtime/base/slice.h"

#include <stdint.h>

uint64_t hash_64(struct slice data);

/* The low half comes first. */
void hash_128(struct slice data, uint64_t result[2]);

#endif
