/* The checksum of zip archives, by carry-less multiplication where the processor has it. */
#include "runtime/base/hash/crc32.h"

#include "runtime/base/hash/crc32_fold.h"

/* The checksums are linear: that of a byte is made of those of its bits. */
#define BIT(i, bit, sum) ((i) >> (bit)&1 ? (sum) : 0u)
#define ENTRY(i)                                                                       \
    (BIT(i, 0, 0x77073096u) ^ BIT(i, 1, 0xee0e612cu) ^ BIT(i, 2, 0x076dc419u) ^        \
     BIT(i, 3, 0x0edb8832u) ^ BIT(i, 4, 0x1db71064u) ^ BIT(i, 5, 0x3b6e20c8u) ^        \
     BIT(i, 6, 0x76dc4190u) ^ BIT(i, 7, 0xedb88320u))
#define ENTRIES_4(i) ENTRY(i), ENTRY((i) + 1), ENTRY((i) + 2), ENTRY((i) + 3)
#define ENTRIES_16(i)                                                                  \
    ENTRIES_4(i), ENTRIES_4((i) + 4), ENTRIES_4((i) + 8), ENTRIES_4((i) + 12)
#define ENTRIES_64(i)                                                                  \
    ENTRIES_16(i), ENTRIES_16((i) + 16), ENTRIES_16((i) + 32), ENTRIES_16((i) + 48)

static const uint32_t sums_of_bytes[256] = {
    ENTRIES_64(0),
    ENTRIES_64(64),
    ENTRIES_64(128),
    ENTRIES_64(192),
};

/* Here the checksum's bits are not inverted. */
static uint32_t add_bytes(uint32_t sum, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sum = sums_of_bytes[(sum ^ bytes[i]) & 0xff] ^ sum >> 8;
    }
    return sum;
}

uint32_t crc32_update(uint32_t crc, const void *bytes, size_t size)
{
    const unsigned char *next = bytes;
    uint32_t sum = ~crc;
    size_t folded = crc32_fold(&sum, next, size);

    if (folded < size) {
        sum = add_bytes(sum, next + folded, size - folded);
    }
    return ~sum;
}
