/* Private to crc32.c: the checksum of many bytes at once. */
#ifndef MONITORCH_BASE_HASH_CRC32_FOLD_H
#define MONITORCH_BASE_HASH_CRC32_FOLD_H

#include <stddef.h>
#include <stdint.h>

/* Adds as many of the bytes as this processor can add at once to the checksum, whose bits are
 * not inverted; how many those were, 0 where it cannot. */
size_t crc32_fold(uint32_t *sum, const unsigned char *bytes, size_t size);

#endif
