/* Text for a terminal: colours, and texts from a trace, which are not trusted. */
#include "runtime/view/words/paint.h"

#include "runtime/base/utf8.h"

#define ELLIPSIS "\xE2\x80\xA6"

static const char *const paint_codes[PAINT_COUNT] = {
    [PAINT_CALL] = "\033[1m",    [PAINT_MODULE] = "\033[36m",
    [PAINT_PLACE] = "\033[2m",   [PAINT_FORM] = "\033[32m",
    [PAINT_CHANGE] = "\033[33m", [PAINT_ALARM] = "\033[1;31m",
    [PAINT_FAINT] = "\033[2m",
};

void paint_start(struct buffer *text, bool has_color, enum paint paint)
{
    if (has_color) {
        buffer_add(text, slice_of(paint_codes[paint]));
    }
}

void paint_end(struct buffer *text, bool has_color)
{
    if (has_color) {
        buffer_add(text, SLICE("\033[0m"));
    }
}

void paint_strip(struct buffer *text, struct slice painted)
{
    size_t start = 0;

    while (start < painted.size) {
        size_t end = slice_find(painted, SLICE("\033["), start);

        buffer_add(text, slice_part(painted, start, end));
        end = slice_find(painted, SLICE("m"), end);
        start = end < painted.size ? end + 1 : end;
    }
}

/* The size of the part at the start that can be copied unchanged. For most texts it is the whole
 * text. */
static size_t plain_size(struct slice text)
{
    size_t i = 0;

    while (i < text.size && text.bytes[i] >= ' ' && text.bytes[i] < 0x7F &&
           text.bytes[i] != '"' && text.bytes[i] != '\\') {
        i++;
    }
    return i;
}

static void add_printable(struct buffer *text, struct slice added)
{
    if (plain_size(added) == added.size) {
        buffer_add(text, added);
    } else {
        buffer_add_printable(text, added);
    }
}

/* The start of the last `limit` bytes, moved to a character boundary. */
static size_t end_start(struct slice text, size_t limit)
{
    size_t start = text.size - limit;

    while (start < text.size && ((unsigned char)text.bytes[start] & 0xC0) == 0x80) {
        start++;
    }
    return start;
}

void text_add_shortened(struct buffer *text, struct slice added, size_t limit)
{
    size_t end = limit / 4;

    if (added.size <= limit) {
        add_printable(text, added);
        return;
    }
    add_printable(text, slice_part(added, 0, utf8_cut(added, limit - end)));
    buffer_add(text, SLICE(ELLIPSIS));
    add_printable(text, slice_part(added, end_start(added, end), added.size));
}

void text_add_path(struct buffer *text, struct slice path, size_t limit)
{
    if (path.size <= limit) {
        add_printable(text, path);
        return;
    }
    buffer_add(text, SLICE(ELLIPSIS));
    add_printable(text, slice_part(path, end_start(path, limit), path.size));
}

void text_add_json(struct buffer *text, struct slice added)
{
    size_t size = plain_size(added);

    buffer_add_bytes(text, added.bytes, size);
    if (size < added.size) {
        buffer_add_json(text, slice_part(added, size, added.size));
    }
}

void text_trim(struct buffer *text)
{
    while (text->size > 0 && text->bytes[text->size - 1] == ' ') {
        text->size--;
    }
}

void text_end_line(struct buffer *text)
{
    text_trim(text);
    buffer_add_byte(text, '\n');
}

void text_add_blanks(struct buffer *text, size_t count)
{
    static const char blanks[] = "                                                ";

    while (count > 0) {
        size_t size = count < sizeof blanks - 1 ? count : sizeof blanks - 1;

        buffer_add_bytes(text, blanks, size);
        count -= size;
    }
}

void text_add_number_right(struct buffer *text, uint64_t number, int width)
{
    int digits = 1;

    for (uint64_t rest = number; rest >= 10; rest /= 10) {
        digits++;
    }
    if (digits < width) {
        text_add_blanks(text, (size_t)(width - digits));
    }
    buffer_add_number(text, number);
}
