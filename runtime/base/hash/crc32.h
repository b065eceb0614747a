/* CRC-32, the checksum of zip archives, with the polynomial of IEEE 802.3. */
#ifndef MONITORCH_BASE_HASH_CRC32_H
#define MONITORCH_BASE_HASH_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Updates the checksum `crc`, 0 at first, with further bytes. */
uint32_t crc32_update(uint32_t crc, const void *bytes, size_t size);

#endif
