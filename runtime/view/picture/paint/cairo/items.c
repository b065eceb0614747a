/* Paints the items of a picture with cairo. */
#include "runtime/view/picture/paint/cairo/items.h"

#include "runtime/base/utf8.h"
#include "runtime/view/picture/paint/cairo/library.h"
#include "runtime/view/picture/paint/cairo/painter.h"
#include "runtime/view/picture/paint/cairo/png.h"
#include "runtime/view/picture/paint/cairo/text.h"

#include <math.h>
#include <string.h>

void painter_set_colour(const struct painter *painter, uint32_t colour)
{
    painter->library->cairo_set_source_rgba(
        painter->context, (colour >> 24 & 0xFF) / 255.0, (colour >> 16 & 0xFF) / 255.0,
        (colour >> 8 & 0xFF) / 255.0, (colour & 0xFF) / 255.0);
}

static bool is_visible(uint32_t colour)
{
    return (colour & 0xFF) != 0;
}

static void outline(const struct painter *painter, const struct picture_item *item)
{
    const struct cairo_library *library = painter->library;
    cairo_t *context = painter->context;
    double right = item->x + item->width;
    double bottom = item->y + item->height;
    double radius = fmin(item->radius, fmin(item->width, item->height) / 2);

    if (!(radius > 0)) {
        library->cairo_rectangle(context, item->x, item->y, item->width, item->height);
        return;
    }
    library->cairo_new_sub_path(context);
    library->cairo_arc(context, right - radius, item->y + radius, radius, -M_PI / 2, 0);
    library->cairo_arc(context, right - radius, bottom - radius, radius, 0, M_PI / 2);
    library->cairo_arc(context, item->x + radius, bottom - radius, radius, M_PI / 2,
                       M_PI);
    library->cairo_arc(context, item->x + radius, item->y + radius, radius, M_PI,
                       3 * M_PI / 2);
    library->cairo_close_path(context);
}

/* Draws along the present path. */
static void stroke(const struct painter *painter, const struct picture_item *item)
{
    const struct cairo_library *library = painter->library;

    painter_set_colour(painter, item->stroke);
    library->cairo_set_line_width(painter->context, item->stroke_width);
    library->cairo_set_dash(painter->context, &item->dash, item->dash > 0 ? 1 : 0, 0);
    library->cairo_stroke(painter->context);
}

static void paint_rectangle(const struct painter *painter,
                            const struct picture_item *item)
{
    painter->library->cairo_new_path(painter->context);
    outline(painter, item);
    if (is_visible(item->fill)) {
        painter_set_colour(painter, item->fill);
        painter->library->cairo_fill_preserve(painter->context);
    }
    if (is_visible(item->stroke) && item->stroke_width > 0) {
        stroke(painter, item);
    }
}

static void paint_head(const struct painter *painter, const struct picture_item *item)
{
    const struct cairo_library *library = painter->library;
    struct picture_point corners[3];

    picture_arrow(painter->picture, item, corners);
    painter_set_colour(painter, item->fill);
    library->cairo_new_path(painter->context);
    library->cairo_move_to(painter->context, corners[0].x, corners[0].y);
    library->cairo_line_to(painter->context, corners[1].x, corners[1].y);
    library->cairo_line_to(painter->context, corners[2].x, corners[2].y);
    library->cairo_close_path(painter->context);
    library->cairo_fill(painter->context);
}

static void paint_curve(const struct painter *painter, const struct picture_item *item)
{
    const struct cairo_library *library = painter->library;
    const struct picture_point *points;

    if (item->point_count < 4) {
        return;
    }
    points = painter->picture->points + item->first_point;
    library->cairo_new_path(painter->context);
    library->cairo_move_to(painter->context, points[0].x, points[0].y);
    for (size_t i = 1; i + 2 < item->point_count; i += 3) {
        library->cairo_curve_to(painter->context, points[i].x, points[i].y,
                                points[i + 1].x, points[i + 1].y, points[i + 2].x,
                                points[i + 2].y);
    }
    if (is_visible(item->stroke) && item->stroke_width > 0) {
        stroke(painter, item);
    }
    if (item->has_arrow) {
        paint_head(painter, item);
    }
}

static void paint_polyline(const struct painter *painter,
                           const struct picture_item *item)
{
    const struct cairo_library *library = painter->library;
    const struct picture_point *points = painter->picture->points + item->first_point;

    if (item->point_count < 2 || !is_visible(item->stroke) ||
        !(item->stroke_width > 0)) {
        return;
    }
    library->cairo_new_path(painter->context);
    for (size_t i = 0; i < item->point_count; i++) {
        library->cairo_line_to(painter->context, points[i].x, points[i].y);
    }
    library->cairo_set_line_join(painter->context, CAIRO_LINE_JOIN_ROUND);
    library->cairo_set_line_cap(painter->context, CAIRO_LINE_CAP_ROUND);
    stroke(painter, item);
    library->cairo_set_line_join(painter->context, CAIRO_LINE_JOIN_MITER);
    library->cairo_set_line_cap(painter->context, CAIRO_LINE_CAP_BUTT);
}

/* Whether anything of the item may fall on the page. */
static bool is_on_page(const struct painter *painter,
                       const struct picture_item *item,
                       const struct picture_page *page)
{
    double left = item->x, right = item->x + item->width;
    double top = item->y, bottom = item->y + item->height;
    double margin = item->stroke_width;

    if (item->kind == PICTURE_TEXT) {
        top -= item->size * 1.5;
        bottom = item->y + item->size;
    } else if (item->kind == PICTURE_CURVE || item->kind == PICTURE_POLYLINE) {
        left = top = INFINITY;
        right = bottom = -INFINITY;
        margin += 20; /* the arrow's head */
        for (size_t i = 0; i < item->point_count; i++) {
            struct picture_point point =
                painter->picture->points[item->first_point + i];

            left = fmin(left, point.x);
            right = fmax(right, point.x);
            top = fmin(top, point.y);
            bottom = fmax(bottom, point.y);
        }
    }
    return left - margin <= page->x + page->width && right + margin >= page->x &&
           top - margin <= page->y + page->height && bottom + margin >= page->y;
}

static void paint_item(struct painter *painter, const struct picture_item *item)
{
    switch (item->kind) {
    case PICTURE_RECTANGLE:
        paint_rectangle(painter, item);
        break;
    case PICTURE_TEXT:
        painter_set_colour(painter, item->fill);
        cairo_text_draw(&painter->text, item);
        break;
    case PICTURE_CURVE:
        paint_curve(painter, item);
        break;
    case PICTURE_POLYLINE:
        paint_polyline(painter, item);
        break;
    default: /* groups are for those who read the file */
        break;
    }
}

void painter_paint_page(struct painter *painter, const struct picture_page *page)
{
    const struct picture *picture = painter->picture;

    for (size_t i = 0; i < picture->item_count; i++) {
        if (is_on_page(painter, &picture->items[i], page)) {
            paint_item(painter, &picture->items[i]);
        }
    }
}
