/* Selections as text: the part of the command line that a traced file's table records. */
#include "instrument/select/selection.h"

#include "runtime/base/memory.h"

#include <stdint.h>

/* ---- writing ---- */

static void add_glob(struct buffer *text, struct slice glob, bool is_in_list)
{
    for (size_t i = 0; i < glob.size; i++) {
        unsigned char byte = (unsigned char)glob.bytes[i];

        if (byte <= ' ' || byte == '%' || byte == 0x7F || (byte == ',' && is_in_list)) {
            buffer_add_byte(text, '%');
            buffer_add_hex(text, byte, 2);
        } else {
            buffer_add_byte(text, (char)byte);
        }
    }
}

static void start_word(struct buffer *text, size_t start, struct slice word)
{
    if (text->size > start) {
        buffer_add_byte(text, ' ');
    }
    buffer_add(text, word);
}

static void add_lines(struct buffer *text, size_t start, struct line_range range)
{
    start_word(text, start, SLICE("--lines="));
    buffer_add_number(text, range.first);
    if (range.last != range.first) {
        buffer_add_byte(text, '-');
    }
    if (range.last != range.first && range.last != SIZE_MAX) {
        buffer_add_number(text, range.last);
    }
}

void selection_write(const struct selection *selection, struct buffer *text)
{
    size_t start = text->size;

    if (selection->everything) {
        start_word(text, start, SLICE("--all"));
    }
    if (selection->forward) {
        start_word(text, start, SLICE("--forward"));
    }
    if (selection->every_line) {
        start_word(text, start, SLICE("--every-line"));
    }
    for (size_t i = 0; i < selection->function_count; i++) {
        start_word(text, start, SLICE("--function="));
        add_glob(text, selection->functions[i], false);
    }
    for (size_t i = 0; i < selection->line_count; i++) {
        add_lines(text, start, selection->lines[i]);
    }
    for (size_t i = 0; i < selection->spy_count; i++) {
        if (i == 0) {
            start_word(text, start, SLICE("--spy="));
        } else {
            buffer_add_byte(text, ',');
        }
        add_glob(text, selection->spy_names[i], true);
    }
}

/* ---- reading ---- */

/* Appends an item to an array in an arena. The array doubles at each power of 2. */
static void *
array_add(const void *items, size_t *count, size_t item_size, struct arena *arena)
{
    char *moved = (char *)items;

    if ((*count & (*count - 1)) == 0) { /* full at 0, 1, 2, 4, 8, ... items */
        moved = arena_allocate(arena, *count == 0 ? 1 : *count * 2, item_size);
        if (moved != NULL && *count > 0) {
            memcpy(moved, items, *count * item_size);
        }
    }
    if (moved != NULL) {
        (*count)++;
    }
    return moved;
}

static bool glob_add(const struct slice **globs,
                     size_t *count,
                     struct slice glob,
                     struct arena *arena,
                     struct error *error)
{
    struct slice *moved = array_add(*globs, count, sizeof **globs, arena);

    if (moved == NULL) {
        return error_set_memory(error);
    }
    moved[*count - 1] = glob;
    *globs = moved;
    return true;
}

bool globs_add(const struct slice **globs,
               size_t *count,
               struct slice list,
               struct arena *arena,
               struct error *error)
{
    struct slice item;

    while (list_next(&list, &item)) {
        if (item.size > 0 && !glob_add(globs, count, item, arena, error)) {
            return false;
        }
    }
    return true;
}

bool function_glob_add(struct selection *selection,
                       struct slice glob,
                       struct arena *arena,
                       struct error *error)
{
    return glob_add(&selection->functions, &selection->function_count, glob, arena,
                    error);
}

bool line_range_add(struct selection *selection,
                    struct slice text,
                    struct arena *arena,
                    struct error *error)
{
    struct line_range range;
    struct line_range *moved;

    if (!line_range_read(&range, text)) {
        error_set(error, ERROR_USAGE, "--lines %.*s: expected " LINE_RANGE_EXPECTED,
                  (int)(text.size < 80 ? text.size : 80), text.bytes);
        return false;
    }
    moved = array_add(selection->lines, &selection->line_count, sizeof *moved, arena);
    if (moved == NULL) {
        return error_set_memory(error);
    }
    moved[selection->line_count - 1] = range;
    selection->lines = moved;
    return true;
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Decodes the escapes. A `%` without two digits after it is literal. */
static bool unescape(struct slice *text, struct arena *arena, struct error *error)
{
    char *bytes;
    size_t size = 0;

    if (memchr(text->bytes, '%', text->size) == NULL) {
        return true;
    }
    bytes = arena_allocate(arena, text->size, 1);
    if (bytes == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 0; i < text->size; i++) {
        bool is_escape = text->bytes[i] == '%' && text->size - i > 2 &&
                         hex_digit(text->bytes[i + 1]) >= 0 &&
                         hex_digit(text->bytes[i + 2]) >= 0;

        bytes[size] = text->bytes[i];
        if (is_escape) {
            bytes[size] = (char)(hex_digit(text->bytes[i + 1]) << 4 |
                                 hex_digit(text->bytes[i + 2]));
            i += 2;
        }
        size++;
    }
    *text = (struct slice){bytes, size};
    return true;
}

static bool read_spy(struct selection *selection,
                     struct slice list,
                     struct arena *arena,
                     struct error *error)
{
    size_t first = selection->spy_count;

    if (!globs_add(&selection->spy_names, &selection->spy_count, list, arena, error)) {
        return false;
    }
    for (size_t i = first; i < selection->spy_count; i++) {
        /* the array was made above, so it may be written to */
        if (!unescape((struct slice *)&selection->spy_names[i], arena, error)) {
            return false;
        }
    }
    return true;
}

/* Finds the text after a word's `=`. Returns false if the word does not begin with `name`. */
static bool split_value(struct slice word, struct slice name, struct slice *value)
{
    if (!slice_starts(word, name)) {
        return false;
    }
    *value = slice_part(word, name.size, word.size);
    return true;
}

static bool read_word(struct selection *selection,
                      struct slice word,
                      struct arena *arena,
                      struct error *error)
{
    struct slice value;

    if (slice_equal(word, SLICE("--all"))) {
        selection->everything = true;
        return true;
    }
    if (slice_equal(word, SLICE("--forward"))) {
        selection->forward = true;
        return true;
    }
    if (slice_equal(word, SLICE("--every-line"))) {
        selection->every_line = true;
        return true;
    }
    if (split_value(word, SLICE("--function="), &value)) {
        return unescape(&value, arena, error) &&
               function_glob_add(selection, value, arena, error);
    }
    if (split_value(word, SLICE("--lines="), &value)) {
        return line_range_add(selection, value, arena, error);
    }
    if (split_value(word, SLICE("--spy="), &value)) {
        return read_spy(selection, value, arena, error);
    }
    error_set(error, ERROR_INPUT,
              "\"%.*s\" selects nothing, expected --all, --forward, --every-line, "
              "--function=, --lines= or --spy=",
              (int)(word.size < 80 ? word.size : 80), word.bytes);
    return false;
}

bool selection_read(struct selection *selection,
                    struct slice text,
                    struct arena *arena,
                    struct error *error)
{
    struct selection result = {0};
    size_t start = 0;

    while (start < text.size) {
        size_t end = slice_find(text, SLICE(" "), start);

        if (end > start &&
            !read_word(&result, slice_part(text, start, end), arena, error)) {
            return false;
        }
        start = end + 1;
    }
    *selection = result;
    return true;
}
