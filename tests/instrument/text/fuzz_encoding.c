/* Any bytes as a Python source: refused, or decoded to UTF-8 that encodes to the same bytes. */
#include "instrument/text/encoding.h"
#include "runtime/base/utf8.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice source = {(const char *)data, size};
    struct buffer again = BUFFER_INIT;
    struct error error = ERROR_INIT;
    struct decoded decoded;
    struct arena arena;

    arena_init(&arena);
    if (encoding_decode(source, "fuzz.py", &arena, &decoded, &error)) {
        if (utf8_find_invalid(decoded.utf8) < decoded.utf8.size ||
            !encoding_encode(&decoded, decoded.utf8, &again, &error) ||
            !slice_equal(buffer_slice(&again), source)) {
            abort();
        }
    } else if (!slice_starts(slice_of(error.text), SLICE("fuzz.py:"))) {
        abort();
    }
    buffer_release(&again);
    arena_release(&arena);
    return 0;
}
