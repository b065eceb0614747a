/* A picture as SVG. Attributes that equal those of the root are left out, and numbers have at
 * most two digits after the point. Each text has its measured width, so that it stays in its box
 * even if the viewer has other fonts. */
#include "runtime/view/picture/paint/svg_text.h"

#include "runtime/view/words/markup_text.h"

#include <math.h>

#define SANS_FAMILY "DejaVu Sans,Verdana,Helvetica,Arial,sans-serif"
#define MONO_FAMILY "DejaVu Sans Mono,Menlo,Consolas,monospace"
/* Coordinates are below this; larger ones and NaN are written as 0. */
#define NUMBER_MAX 1e9

/* ---- numbers, colours ---- */

static void number_add(struct buffer *text, double number)
{
    int64_t hundredths = fabs(number) < NUMBER_MAX ? (int64_t)llround(number * 100) : 0;
    uint64_t magnitude = (uint64_t)(hundredths < 0 ? -hundredths : hundredths);
    uint64_t part = magnitude % 100;

    if (hundredths < 0) {
        buffer_add_byte(text, '-');
    }
    if (magnitude >= 100 || part == 0) {
        buffer_add_number(text, magnitude / 100);
    }
    if (part > 0) {
        buffer_add_byte(text, '.');
        buffer_add_byte(text, (char)('0' + part / 10));
        if (part % 10 > 0) {
            buffer_add_byte(text, (char)('0' + part % 10));
        }
    }
}

static void attribute_add(struct buffer *text, struct slice name, double value)
{
    buffer_add_byte(text, ' ');
    buffer_add(text, name);
    buffer_add(text, SLICE("=\""));
    number_add(text, value);
    buffer_add_byte(text, '"');
}

/* Adds `name="#rrggbb"`, and `name-opacity` if the colour is transparent; `none` for 0. */
static void color_add(struct buffer *text, struct slice name, uint32_t color)
{
    unsigned alpha = color & 0xFF;

    buffer_add_byte(text, ' ');
    buffer_add(text, name);
    buffer_add(text, SLICE("=\""));
    if (color == 0) {
        buffer_add(text, SLICE("none\""));
        return;
    }
    buffer_add_byte(text, '#');
    buffer_add_hex(text, color >> 8, 6);
    buffer_add_byte(text, '"');
    if (alpha < 0xFF) {
        buffer_add_byte(text, ' ');
        buffer_add(text, name);
        buffer_add(text, SLICE("-opacity=\""));
        number_add(text, alpha / 255.0);
        buffer_add_byte(text, '"');
    }
}

/* ---- items ---- */

static void stroke_add(struct buffer *text, const struct picture_item *item)
{
    if (item->stroke == 0 || item->stroke_width <= 0) {
        return;
    }
    color_add(text, SLICE("stroke"), item->stroke);
    attribute_add(text, SLICE("stroke-width"), item->stroke_width);
    if (item->dash > 0) {
        attribute_add(text, SLICE("stroke-dasharray"), item->dash);
    }
}

static void rectangle_add(struct buffer *text, const struct picture_item *item)
{
    buffer_add(text, SLICE("<rect"));
    attribute_add(text, SLICE("x"), item->x);
    attribute_add(text, SLICE("y"), item->y);
    attribute_add(text, SLICE("width"), item->width);
    attribute_add(text, SLICE("height"), item->height);
    if (item->radius > 0) {
        attribute_add(text, SLICE("rx"), item->radius);
    }
    color_add(text, SLICE("fill"), item->fill);
    stroke_add(text, item);
    buffer_add(text, SLICE("/>\n"));
}

static void text_add(struct buffer *text, const struct picture_item *item)
{
    bool is_mono = item->face == PICTURE_MONO || item->face == PICTURE_MONO_BOLD;

    buffer_add(text, SLICE("<text"));
    attribute_add(text, SLICE("x"), item->x);
    attribute_add(text, SLICE("y"), item->y);
    attribute_add(text, SLICE("font-size"), item->size);
    if (is_mono) {
        buffer_add(text, SLICE(" font-family=\"" MONO_FAMILY "\""));
    }
    if (item->face == PICTURE_SANS_BOLD || item->face == PICTURE_MONO_BOLD) {
        buffer_add(text, SLICE(" font-weight=\"bold\""));
    }
    color_add(text, SLICE("fill"), item->fill);
    if (item->is_right_to_left) {
        /* A right-to-left text ends at its left side, so x is its end. */
        buffer_add(text, SLICE(" direction=\"rtl\" unicode-bidi=\"embed\" "
                               "text-anchor=\"end\""));
    }
    if (item->width > 0) {
        attribute_add(text, SLICE("textLength"), item->width);
        buffer_add(text, SLICE(" lengthAdjust=\"spacingAndGlyphs\""));
    }
    buffer_add_byte(text, '>');
    markup_text_add(text, item->text);
    buffer_add(text, SLICE("</text>\n"));
}

static void point_add(struct buffer *text, struct picture_point point)
{
    number_add(text, point.x);
    buffer_add_byte(text, ' ');
    number_add(text, point.y);
}

static void curve_add(struct buffer *text,
                      const struct picture *picture,
                      const struct picture_item *item)
{
    const struct picture_point *points = picture->points + item->first_point;
    struct picture_point corners[3];

    if (item->point_count < 4) {
        return;
    }
    buffer_add(text, SLICE("<path d=\"M"));
    point_add(text, points[0]);
    for (size_t i = 1; i < item->point_count; i++) {
        buffer_add_byte(text, i == 1 ? 'C' : ' ');
        point_add(text, points[i]);
    }
    buffer_add(text, SLICE("\" fill=\"none\""));
    stroke_add(text, item);
    buffer_add(text, SLICE("/>\n"));
    if (!item->has_arrow) {
        return;
    }
    picture_arrow(picture, item, corners);
    buffer_add(text, SLICE("<path d=\"M"));
    for (int i = 0; i < 3; i++) {
        if (i > 0) {
            buffer_add_byte(text, 'L');
        }
        point_add(text, corners[i]);
    }
    buffer_add(text, SLICE("Z\""));
    color_add(text, SLICE("fill"), item->fill);
    buffer_add(text, SLICE("/>\n"));
}

static void polyline_add(struct buffer *text,
                         const struct picture *picture,
                         const struct picture_item *item)
{
    const struct picture_point *points = picture->points + item->first_point;

    if (item->point_count < 2) {
        return;
    }
    buffer_add(text, SLICE("<polyline points=\""));
    for (size_t i = 0; i < item->point_count; i++) {
        if (i > 0) {
            buffer_add_byte(text, ' ');
        }
        point_add(text, points[i]);
    }
    buffer_add(text, SLICE("\" fill=\"none\" stroke-linejoin=\"round\" "
                           "stroke-linecap=\"round\""));
    stroke_add(text, item);
    buffer_add(text, SLICE("/>\n"));
}

static void begin_add(struct buffer *text, const struct picture_item *item)
{
    buffer_add(text, SLICE("<g class=\""));
    markup_text_add(text, item->text);
    buffer_add(text, SLICE("\">"));
    if (item->title.size > 0) {
        buffer_add(text, SLICE("<title>"));
        markup_text_add(text, item->title);
        buffer_add(text, SLICE("</title>"));
    }
    buffer_add_byte(text, '\n');
}

static void item_add(struct buffer *text,
                     const struct picture *picture,
                     const struct picture_item *item)
{
    switch (item->kind) {
    case PICTURE_RECTANGLE:
        rectangle_add(text, item);
        break;
    case PICTURE_TEXT:
        text_add(text, item);
        break;
    case PICTURE_CURVE:
        curve_add(text, picture, item);
        break;
    case PICTURE_POLYLINE:
        polyline_add(text, picture, item);
        break;
    case PICTURE_GROUP_BEGIN:
        begin_add(text, item);
        break;
    case PICTURE_GROUP_END:
        buffer_add(text, SLICE("</g>\n"));
        break;
    }
}

/* A point is 1/72 inch. With `pt`, the picture has the same size in a browser as in a PDF. */
static void root_add(struct buffer *text, const struct picture *picture)
{
    buffer_add(text, SLICE("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""));
    number_add(text, picture->width * picture->scale);
    buffer_add(text, SLICE("pt\" height=\""));
    number_add(text, picture->height * picture->scale);
    buffer_add(text, SLICE("pt\" viewBox=\"0 0 "));
    number_add(text, picture->width);
    buffer_add_byte(text, ' ');
    number_add(text, picture->height);
    buffer_add(text, SLICE("\" font-family=\"" SANS_FAMILY "\" direction=\"ltr\" "
                           "xml:space=\"preserve\" role=\"img\">\n"));
    if (picture->title.size > 0) {
        buffer_add(text, SLICE("<title>"));
        markup_text_add(text, picture->title);
        buffer_add(text, SLICE("</title>\n"));
    }
}

bool svg_text_add(struct buffer *text, const struct picture *picture)
{
    root_add(text, picture);
    for (size_t i = 0; i < picture->item_count && !text->has_failed; i++) {
        item_add(text, picture, &picture->items[i]);
    }
    buffer_add(text, SLICE("</svg>\n"));
    return !text->has_failed;
}
