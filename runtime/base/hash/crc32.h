/* The checksum of zip archives: CRC-32 with the polynomial of IEEE 802.3. */
#ifndef MONITORCH_BASE_HASH_CRC32_H
#define MONITORCH_BASE_HASH_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Of `bytes` behind those whose checksum is `crc`; 0 at the beginning. */
uint32_t crc32_update(uint32_t crc, const void *bytes, size_t size);

#endif
