/* Any bytes as a text to strip, to look into for its table, and for code that should not be
 * committed: no crash, and stripping what was stripped changes nothing. */
#include "instrument/instrument.h"

#include <stdlib.h>

#define TEXT_SIZE_LIMIT ((size_t)64 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find_debug_code(struct slice text)
{
    struct error error = ERROR_INIT;
    struct arena arena;
    struct note *notes;
    size_t note_count;

    arena_init(&arena);
    if (instrument_find_debug_code(text, "fuzz.py", &arena, &notes, &note_count,
                                   &error)) {
        for (size_t i = 0; i < note_count; i++) {
            if (notes[i].line == 0 || notes[i].column == 0) {
                abort();
            }
        }
    }
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = {(const char *)data, size};
    struct error error = ERROR_INIT;
    struct buffer once = BUFFER_INIT;
    struct buffer twice = BUFFER_INIT;
    struct slice table;
    bool is_exact;

    if (size == 0 || size > TEXT_SIZE_LIMIT) {
        return -1;
    }
    find_debug_code(text);
    if (instrument_find_table(text, &table) &&
        (table.bytes < text.bytes ||
         table.bytes + table.size > text.bytes + text.size)) {
        abort();
    }
    if (instrument_strip(text, "fuzz.py", &once, &is_exact, &error)) {
        if (once.size > size) {
            abort();
        }
        /* What was hidden by damage may show once the rest is gone, but it only gets less. */
        if (instrument_strip(buffer_slice(&once), "fuzz.py", &twice, &is_exact,
                             &error) &&
            twice.size > once.size) {
            abort();
        }
    }
    buffer_release(&once);
    buffer_release(&twice);
    return 0;
}
