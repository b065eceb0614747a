/* Any bytes as a location table, any insertions: refused or mapped, and what was written can
 * be read again. The position map belongs to the extension module, which is in no library. */
#include "runtime/python/compile/position_map.c"

#include <stdlib.h>

#define INSERTION_LIMIT 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input: how many insertions, four bytes for each, the text's size, the text, the table. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct insertion insertions[INSERTION_LIMIT] = {{0}};
    size_t count = size > 0 ? data[0] % INSERTION_LIMIT : 0;
    size_t header_size = 2 + 4 * count;
    if (size < header_size || size - header_size < data[header_size - 1]) {
        return 0;
    }
    size_t text_size = data[header_size - 1];
    struct slice text = {(const char *)data + header_size, text_size};
    struct slice table = {text.bytes + text_size, size - header_size - text_size};
    uint32_t offset = 0;

    for (size_t i = 0; i < count; i++) {
        const uint8_t *bytes = data + 1 + 4 * i;
        offset += bytes[0];
        if (offset > text_size) {
            return 0;
        }
        insertions[i].offset = offset;
        insertions[i].size = bytes[1];
        insertions[i].anchor_start = bytes[2] % (uint32_t)(text_size + 1);
        insertions[i].anchor_end = bytes[3] % (uint32_t)(text_size + 1);
    }
    struct position_map map;
    struct buffer once = BUFFER_INIT;
    struct buffer twice = BUFFER_INIT;
    struct error error = ERROR_INIT;

    if (position_map_init(&map, text, insertions, count, &error)) {
        if (position_map_table(&map, table, 1, &once, &error) &&
            !position_map_table(&map, buffer_slice(&once), 1, &twice, &error)) {
            abort();
        }
        position_map_release(&map);
    }
    buffer_release(&once);
    buffer_release(&twice);
    return 0;
}
