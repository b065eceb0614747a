/* Any bytes as a source, any selection: refused with a place, or rewritten so that stripping
 * gives the same bytes, a second rewriting gives the same text, and the table reads back.
 *
 * The first byte chooses the selection; the rest is the source. A source that begins with `#`
 * keeps it, so that files can serve as seeds: everything is selected then. */
#include "instrument/instrument.h"

#include <stdio.h>
#include <stdlib.h>

/* Larger inputs only cost time. */
#define SOURCE_SIZE_LIMIT ((size_t)64 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct slice FUNCTIONS[] = {{"*f*", 3}, {"A.*", 3}};
static const struct slice SPY_NAMES[] = {{"*", 1}};
static const struct line_range LINES[] = {{2, 9}, {14, 14}};

static struct selection selection_of(unsigned choice)
{
    struct selection selection = {0};

    selection.everything = choice % 2 == 1;
    selection.forward = choice & 2;
    if (choice & 4) {
        selection.functions = FUNCTIONS;
        selection.function_count = 2;
    }
    if (choice & 8) {
        selection.lines = LINES;
        selection.line_count = 2;
    }
    if (choice & 16) {
        selection.spy_names = SPY_NAMES;
        selection.spy_count = 1;
    }
    return selection;
}

static void check(bool is_right, const char *claim)
{
    if (!is_right) {
        fprintf(stderr, "not so: %s\n", claim);
        abort();
    }
}

static void check_strip(struct slice source, struct slice text)
{
    struct error error = ERROR_INIT;
    struct buffer original = BUFFER_INIT;
    bool is_exact = false;

    check(instrument_strip(text, "fuzz.py", &original, &is_exact, &error),
          "strip succeeds");
    check(slice_equal(buffer_slice(&original), source), "strip gives the source back");
    check(is_exact, "strip knows that it is exact");
    buffer_release(&original);
}

static void check_table(const struct instrumented *result)
{
    struct error error = ERROR_INIT;
    struct site_table table;
    struct arena arena;
    struct slice text;

    if (!instrument_find_table(buffer_slice(&result->text), &text)) {
        /* Visible spy_save calls need no table. */
        for (uint32_t i = 0; result->is_changed && i < result->table.site_count; i++) {
            check(result->table.sites[i].kind == SITE_SPY, "sites come with a table");
        }
        return;
    }
    arena_init(&arena);
    check(site_table_read(&table, text, &arena, &error), "the table reads back");
    check(table.site_count == result->table.site_count, "no site is lost");
    check(table.function_count == result->table.function_count, "no function is lost");
    arena_release(&arena);
}

static size_t count_lines(struct slice text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        bool is_pair =
            text.bytes[i] == '\r' && i + 1 < text.size && text.bytes[i + 1] == '\n';
        count += (text.bytes[i] == '\n' || text.bytes[i] == '\r') && !is_pair;
    }
    return count;
}

static void check_result(struct slice source, const struct instrumented *result)
{
    size_t position = 0;

    check(count_lines(source) == count_lines(buffer_slice(&result->text)),
          "the lines are as many");
    for (size_t i = 0; i < result->insertion_count; i++) {
        check(result->insertions[i].offset >= position, "insertions are in order");
        position = result->insertions[i].offset;
        check(result->insertions[i].anchor_start <= result->insertions[i].anchor_end,
              "anchors are in order");
    }
    for (size_t i = 0; i < result->note_count; i++) {
        check(result->notes[i].line >= 1 && result->notes[i].column >= 1,
              "notes have a place");
    }
    /* A source's own visible calls look as --spy writes them: without a table, strip takes them. */
    if (result->is_changed || slice_find(source, SLICE("spy_save"), 0) == source.size) {
        check_strip(source, buffer_slice(&result->text));
    }
    check_table(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice source = {(const char *)data, size};
    struct error error = ERROR_INIT;
    struct selection selection = {.everything = true};
    struct instrumented result, again;

    if (size > SOURCE_SIZE_LIMIT) {
        return -1;
    }
    if (size == 0) {
        return -1;
    }
    if (data[0] != '#') {
        selection = selection_of(data[0]);
        source = slice_part(source, 1, size);
    }
    if (source.size == 0) {
        return -1;
    }
    instrumented_init(&result);
    instrumented_init(&again);
    if (instrument(source, "fuzz.py", &selection, &result, &error)) {
        check_result(source, &result);
        check(instrument(source, "fuzz.py", &selection, &again, &error),
              "a second run succeeds");
        check(slice_equal(buffer_slice(&result.text), buffer_slice(&again.text)),
              "a second run gives the same");
    } else {
        check(error.kind == ERROR_INPUT, "a refusal is about the input");
        check(slice_starts(slice_of(error.text), SLICE("fuzz.py:")),
              "a refusal names its place");
    }
    instrumented_release(&result);
    instrumented_release(&again);
    return 0;
}
