/* Folds the lines of an answer to the width of a terminal. */
#include "runtime/view/words/fold.h"

#include "runtime/view/words/paint.h"

#include <assert.h>

/* Indent of a continued line, relative to the text after the label. */
#define STEP 2

/* The end of the colour sequence that starts at `start`. Returns `start` if there is none. */
static size_t skip_color(struct slice line, size_t start)
{
    size_t end = start;

    if (line.bytes[start] != '\033') {
        return start;
    }
    while (end < line.size && line.bytes[end] != 'm') {
        end++;
    }
    return end < line.size ? end + 1 : start;
}

static size_t count_columns(struct slice line)
{
    size_t count = 0;

    for (size_t i = 0; i < line.size;) {
        size_t next = skip_color(line, i);

        if (next == i) {
            count += (line.bytes[i] & 0xc0) != 0x80;
            next = i + 1;
        }
        i = next;
    }
    return count;
}

static size_t skip_blanks(struct slice line, size_t start)
{
    while (start < line.size && line.bytes[start] == ' ') {
        start++;
    }
    return start;
}

/* Whether the line is code with its number: `  34 | y = x`. */
static bool is_code(struct slice line)
{
    size_t i = skip_blanks(line, 0);
    size_t first = i;

    while (i < line.size && line.bytes[i] >= '0' && line.bytes[i] <= '9') {
        i++;
    }
    return i > first && slice_starts(slice_part(line, i, line.size), SLICE(" |"));
}

/* The column of continued lines: after a label that starts in the third column, or after the
 * leading blanks, plus STEP. */
static size_t find_hanging(struct slice line, size_t width)
{
    size_t first = skip_blanks(line, 0);
    size_t gap = slice_find(line, SLICE("  "), first);
    size_t hanging = first;

    if (first == 2 && gap < line.size) {
        hanging = count_columns(slice_part(line, 0, skip_blanks(line, gap)));
    }
    hanging += STEP;
    return hanging <= width / 2 ? hanging : 2 * STEP;
}

/* Finds the break in the rest of a line of which `room` columns fit. Returns the offset of a
 * blank, or the size if there is no break. A pair of blanks is preferred if it is in the second
 * half of the room. */
static size_t find_break(struct slice line, size_t room)
{
    size_t found = line.size;
    size_t pair = line.size;
    size_t columns = 0;

    for (size_t i = 0; i < line.size && columns <= room;) {
        size_t next = skip_color(line, i);

        if (next != i) {
            i = next;
            continue;
        }
        if (line.bytes[i] == ' ' && columns > 0) {
            size_t next_word = skip_blanks(line, i);
            bool is_pair = next_word > i + 1;

            found = i;
            pair = is_pair && columns >= room / 2 ? i : pair;
            columns += next_word - i - 1; /* the break is before all of the blanks */
            i = next_word - 1;
        }
        columns += (line.bytes[i] & 0xc0) != 0x80;
        i++;
    }
    return pair < line.size ? pair : found;
}

static void fold_line(struct slice line, size_t width, struct buffer *folded)
{
    size_t indent = skip_blanks(line, 0);
    size_t hanging = find_hanging(line, width);

    if (!is_code(line)) {
        size_t used = indent;

        text_add_blanks(folded, indent);
        line = slice_part(line, indent, line.size);
        while (count_columns(line) > width - used) {
            size_t end = find_break(line, width - used);

            if (end == line.size) {
                break;
            }
            buffer_add(folded, slice_part(line, 0, end));
            buffer_add_byte(folded, '\n');
            text_add_blanks(folded, hanging);
            used = hanging;
            line = slice_part(line, skip_blanks(line, end), line.size);
        }
    }
    buffer_add(folded, line);
}

void text_fold(struct slice text, size_t width, struct buffer *folded)
{
    assert(width > 0);
    if (width < 8 * STEP) {
        buffer_add(folded, text);
        return;
    }
    for (size_t start = 0; start < text.size;) {
        size_t end = slice_find(text, SLICE("\n"), start);
        struct slice line = slice_part(text, start, end);

        if (skip_blanks(line, 0) < width / 2) {
            fold_line(line, width, folded);
        } else {
            buffer_add(folded, line);
        }
        if (end < text.size) {
            buffer_add_byte(folded, '\n');
        }
        start = end + 1;
    }
}
