/* Finds code that should not be committed. */
#include "instrument/instrument.h"
#include "instrument/output/strip.h"
#include "instrument/text/encoding.h"
#include "instrument/tree/syntax.h"

#include <assert.h>
#include <string.h>

struct finder {
    struct syntax syntax;
    struct arena *arena; /* borrowed */
    struct note *notes;  /* borrowed from the arena */
    size_t count;
    size_t capacity;
};

static bool
add_note(struct finder *finder, uint32_t row, uint32_t column, const char *text)
{
    if (finder->count == finder->capacity) {
        size_t capacity = finder->capacity == 0 ? 8 : 2 * finder->capacity;
        struct note *notes = arena_allocate(finder->arena, capacity, sizeof *notes);

        if (notes == NULL) {
            return false;
        }
        if (finder->count > 0) {
            memcpy(notes, finder->notes, finder->count * sizeof *notes);
        }
        finder->notes = notes;
        finder->capacity = capacity;
    }
    finder->notes[finder->count++] = (struct note){
        .kind = NOTE_WARNING,
        .line = row + 1,
        .column = column,
        .text = slice_of(text),
    };
    return true;
}

/* `spy_save(…)`, `spy.spy_save(…)` */
static bool is_spy_call(const struct finder *finder, uint32_t call)
{
    uint32_t callee = call + 1;
    struct slice text;

    assert(call < finder->syntax.count);
    if (callee >= finder->syntax.nodes[call].next) {
        return false;
    }
    text = syntax_text(&finder->syntax, callee);
    return slice_equal(text, SLICE("spy_save")) || slice_ends(text, SLICE(".spy_save"));
}

/* An import of monitorch.spy, or of spy_save from anywhere. */
static bool is_spy_import(const struct finder *finder, uint32_t statement)
{
    struct slice text = syntax_text(&finder->syntax, statement);

    return slice_find(text, SLICE("spy_save"), 0) < text.size ||
           slice_find(text, SLICE("monitorch.spy"), 0) < text.size;
}

static bool find_notes(struct finder *finder)
{
    for (uint32_t i = 1; i < finder->syntax.count; i++) {
        const struct syntax_node *node = &finder->syntax.nodes[i];
        bool is_done = true;

        switch (node->kind) {
        case KIND_CALL:
            if (is_spy_call(finder, i)) {
                is_done = add_note(finder, node->row, node->column, "a spy_save call");
            }
            break;
        case KIND_IMPORT_STATEMENT:
        case KIND_IMPORT_FROM_STATEMENT:
            if (is_spy_import(finder, i)) {
                is_done = add_note(finder, node->row, node->column,
                                   "an import of monitorch.spy");
            }
            break;
        default:
            break;
        }
        if (!is_done) {
            return false;
        }
    }
    return true;
}

bool instrument_find_debug_code(struct slice text,
                                const char *path,
                                struct arena *arena,
                                struct note **notes,
                                size_t *note_count,
                                struct error *error)
{
    struct finder finder = {.arena = arena};
    struct decoded decoded;
    struct slice hook;
    bool is_done = true;

    *notes = NULL;
    *note_count = 0;
    if (!encoding_decode(text, path, arena, &decoded, error)) {
        return false;
    }
    hook = strip_find_hook(decoded.utf8);
    if (hook.size == 0 &&
        slice_find(decoded.utf8, SLICE("spy_save"), 0) == decoded.utf8.size &&
        slice_find(decoded.utf8, SLICE("monitorch.spy"), 0) == decoded.utf8.size) {
        return true;
    }
    if (!syntax_parse(&finder.syntax, decoded.utf8, path, arena, error)) {
        return false;
    }
    if (hook.size > 0) {
        uint32_t offset = (uint32_t)(hook.bytes - decoded.utf8.bytes);

        is_done =
            add_note(&finder, syntax_row(&finder.syntax, offset),
                     syntax_column(&finder.syntax, offset),
                     "the file is instrumented (monitorch-instrument --strip gives "
                     "the original back)");
    }
    if (!is_done || !find_notes(&finder)) {
        return error_set_memory(error);
    }
    *notes = finder.notes;
    *note_count = finder.count;
    return true;
}
