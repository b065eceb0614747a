/* The sheet on which all parts of a picture are drawn. */
#include "runtime/view/picture/sheet.h"

#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"
#include "runtime/view/words/text_width.h"

#include <math.h>

/* Longer texts are cut first: no box is that wide. */
#define TEXT_LIMIT 1000
/* The most combining marks on one letter. More would extend beyond the box. */
#define MARK_LIMIT  3
#define ELLIPSIS    SLICE("\xE2\x80\xA6")
#define REPLACEMENT SLICE("\xEF\xBF\xBD")

void sheet_init(struct sheet *sheet, struct picture *picture, enum picture_theme theme)
{
    *sheet = (struct sheet){
        .picture = picture, .palette = picture_palette(theme), .scratch = BUFFER_INIT};
}

void sheet_release(struct sheet *sheet)
{
    buffer_release(&sheet->scratch);
}

bool sheet_has_failed(const struct sheet *sheet)
{
    return sheet->has_failed || sheet->scratch.has_failed ||
           sheet->picture->arena.has_failed;
}

/* ---- items ---- */

struct picture_item *sheet_add(struct sheet *sheet, enum picture_item_kind kind)
{
    struct picture *picture = sheet->picture;
    void *items = picture->items;
    struct picture_item *item = &sheet->spare;

    if (memory_grow(&items, &picture->item_capacity, picture->item_count + 1,
                    sizeof *picture->items)) {
        picture->items = items;
        item = &picture->items[picture->item_count++];
    } else {
        sheet->has_failed = true;
    }
    *item = (struct picture_item){.kind = kind};
    return item;
}

struct picture_item *
sheet_rectangle(struct sheet *sheet, double x, double y, double width, double height)
{
    struct picture_item *item = sheet_add(sheet, PICTURE_RECTANGLE);

    item->x = x;
    item->y = y;
    item->width = width;
    item->height = height;
    return item;
}

double style_width(struct text_style style, struct slice text)
{
    return text_width(style.face, style.size, text);
}

double sheet_text(struct sheet *sheet,
                  struct text_style style,
                  double x,
                  double baseline,
                  struct slice text)
{
    struct picture_item *item;
    double width = style_width(style, text);

    if (text.size == 0) {
        return 0;
    }
    item = sheet_add(sheet, PICTURE_TEXT);
    item->x = x;
    item->y = baseline;
    item->width = width;
    item->face = style.face;
    item->size = style.size;
    item->fill = style.color;
    item->text = text;
    /* Code is written from left to right, whatever the script of its names. */
    item->is_right_to_left = style.face != PICTURE_MONO &&
                             style.face != PICTURE_MONO_BOLD &&
                             text_is_right_to_left(text);
    return width;
}

void sheet_point(struct sheet *sheet, double x, double y)
{
    struct picture *picture = sheet->picture;
    void *points = picture->points;

    if (!memory_grow(&points, &picture->point_capacity, picture->point_count + 1,
                     sizeof *picture->points)) {
        sheet->has_failed = true;
        return;
    }
    picture->points = points;
    picture->points[picture->point_count++] = (struct picture_point){x, y};
}

void sheet_begin(struct sheet *sheet, const char *class, struct slice title)
{
    struct picture_item *item = sheet_add(sheet, PICTURE_GROUP_BEGIN);

    item->text = slice_of(class);
    item->title = title;
}

void sheet_end(struct sheet *sheet)
{
    sheet_add(sheet, PICTURE_GROUP_END);
}

/* ---- texts ---- */

static bool is_plain(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < ' ' || text.bytes[i] >= 0x7F) {
            return false;
        }
    }
    return true;
}

static bool is_drawable(uint32_t code)
{
    return utf8_is_printable(code) && (code & 0xFFFE) != 0xFFFE &&
           !(code >= 0xFDD0 && code <= 0xFDEF);
}

/* Writes the cleaned text to `cleaned`, which has room for three times the text's size. */
static size_t clean(struct slice text, char *cleaned)
{
    size_t size = 0;
    size_t step;
    int marks = 0;

    for (size_t i = 0; i < text.size; i += step) {
        struct slice added = REPLACEMENT;
        uint32_t code = 0;

        step = utf8_read(text, i, &code);
        if (step == 0) {
            step = 1;
            marks = 0;
        } else if (code == '\t' || code == '\n') {
            added = SLICE(" ");
        } else if (!is_drawable(code)) {
            added = SLICE("?");
            marks = 0;
        } else {
            marks = text_advance(PICTURE_SANS, code) == 0 ? marks + 1 : 0;
            added = slice_part(text, i, i + step);
        }
        if (marks <= MARK_LIMIT) {
            memcpy(cleaned + size, added.bytes, added.size);
            size += added.size;
        }
    }
    return size;
}

static struct slice clean_copy(struct sheet *sheet, struct slice text)
{
    char *bytes;

    if (is_plain(text)) {
        return arena_copy(&sheet->picture->arena, text);
    }
    bytes = arena_allocate(&sheet->picture->arena, text.size, 3);
    return bytes == NULL ? SLICE("") : (struct slice){bytes, clean(text, bytes)};
}

struct slice sheet_clean(struct sheet *sheet, struct slice text)
{
    if (text.size > TEXT_LIMIT) {
        sheet->scratch.size = 0;
        buffer_add(&sheet->scratch, slice_part(text, 0, utf8_cut(text, TEXT_LIMIT)));
        buffer_add(&sheet->scratch, ELLIPSIS);
        return sheet_keep(sheet);
    }
    return is_plain(text) ? text : clean_copy(sheet, text);
}

struct slice sheet_keep(struct sheet *sheet)
{
    struct slice kept = clean_copy(sheet, buffer_slice(&sheet->scratch));

    sheet->scratch.size = 0;
    return kept.bytes == NULL ? SLICE("") : kept;
}

struct slice sheet_shorten(struct sheet *sheet,
                           struct text_style style,
                           struct slice text,
                           double width,
                           enum shorten_where where)
{
    double room = width - style_width(style, ELLIPSIS);
    size_t start = 0;
    size_t end = text.size;

    if (style_width(style, text) <= width) {
        return text;
    }
    room = room > 0 ? room : 0;
    if (where == SHORTEN_END) {
        start = text_fit_start(style.face, style.size, text, room);
    } else if (where == SHORTEN_START) {
        end = text_fit_end(style.face, style.size, text, room);
    } else {
        start = text_fit_start(style.face, style.size, text, room * 0.68);
        end = text_fit_end(style.face, style.size, text, room * 0.32);
    }
    sheet->scratch.size = 0;
    buffer_add(&sheet->scratch, slice_part(text, 0, start));
    buffer_add(&sheet->scratch, ELLIPSIS);
    buffer_add(&sheet->scratch, slice_part(text, end, text.size));
    return sheet_keep(sheet);
}

/* The end of the line that starts at `start`: after the last word that fits, or inside the first
 * word if that alone does not fit. */
static size_t
line_end(struct text_style style, struct slice text, size_t start, double width)
{
    struct slice rest = slice_part(text, start, text.size);
    size_t fits = text_fit_start(style.face, style.size, rest, width);
    size_t end = fits;

    if (fits == rest.size) {
        return text.size;
    }
    while (end > 0 && rest.bytes[end] != ' ') {
        end--;
    }
    if (end == 0) {
        end = fits > 0 ? fits : utf8_cut(rest, 4);
    }
    return start + end;
}

uint32_t sheet_wrap(struct sheet *sheet,
                    struct text_style style,
                    struct slice text,
                    double width,
                    struct slice *lines,
                    uint32_t limit)
{
    uint32_t count = 0;
    size_t start = 0;

    while (start < text.size && count < limit) {
        size_t end =
            count + 1 == limit ? text.size : line_end(style, text, start, width);

        lines[count++] = sheet_shorten(sheet, style, slice_part(text, start, end),
                                       width, SHORTEN_END);
        start = end;
        while (start < text.size && text.bytes[start] == ' ') {
            start++;
        }
    }
    return count;
}

struct slice path_last_part(struct slice path)
{
    size_t start = path.size;

    while (start > 0 && path.bytes[start - 1] != '/' && path.bytes[start - 1] != '\\') {
        start--;
    }
    return slice_part(path, start, path.size);
}

/* ---- colours ---- */

uint32_t color_fade(uint32_t color, unsigned alpha)
{
    return (color & 0xFFFFFF00u) | alpha;
}

uint32_t color_mix(uint32_t from, uint32_t to, double part)
{
    uint32_t mixed = 0xFF;

    for (unsigned shift = 8; shift < 32; shift += 8) {
        double low = (double)(from >> shift & 0xFF);
        double high = (double)(to >> shift & 0xFF);

        mixed |= (uint32_t)lround(low + (high - low) * part) << shift;
    }
    return mixed;
}

static void items_reverse(struct picture_item *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct picture_item kept = items[i];

        items[i] = items[count - 1 - i];
        items[count - 1 - i] = kept;
    }
}

void sheet_raise(struct sheet *sheet, size_t count)
{
    struct picture *picture = sheet->picture;

    items_reverse(picture->items, count);
    items_reverse(picture->items + count, picture->item_count - count);
    items_reverse(picture->items, picture->item_count);
}
