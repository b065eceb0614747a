/* The checksum of zip archives, against the rule of its polynomial, bit by bit. */
#include "runtime/base/hash/crc32.h"
#include "tests/unit/check.h"

#include <stdlib.h>

#define SIZE 5000

static uint32_t crc_by_bits(uint32_t crc, const unsigned char *bytes, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 1) != 0 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
        }
    }
    return ~crc;
}

static void fill(unsigned char *bytes, size_t size)
{
    uint32_t state = 12345;

    for (size_t i = 0; i < size; i++) {
        state = state * 1103515245u + 12345u;
        bytes[i] = (unsigned char)(state >> 16);
    }
}

/* Every size up to where the widest step was taken a few times, at every alignment. */
static void test_sizes(const unsigned char *bytes)
{
    size_t wrong = 0;

    for (size_t size = 0; size < 1600; size++) {
        const unsigned char *start = bytes + size % 67;
        uint32_t crc = (uint32_t)size * 2654435761u;
        wrong += crc32_update(crc, start, size) != crc_by_bits(crc, start, size);
    }
    CHECK(wrong == 0);
}

static void test_pieces(const unsigned char *bytes)
{
    uint32_t whole = crc32_update(0, bytes, SIZE);
    size_t wrong = 0;

    for (size_t cut = 0; cut <= SIZE; cut += 13) {
        uint32_t crc = crc32_update(0, bytes, cut);
        wrong += crc32_update(crc, bytes + cut, SIZE - cut) != whole;
    }
    CHECK(wrong == 0);
}

int main(void)
{
    unsigned char *bytes = malloc(SIZE);

    fill(bytes, SIZE);
    CHECK(crc32_update(0, "123456789", 9) == 0xcbf43926u);
    CHECK(crc32_update(0, NULL, 0) == 0);
    test_sizes(bytes);
    test_pieces(bytes);
    free(bytes);
    return check_finish();
}
