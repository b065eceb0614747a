/* Paints a picture with cairo. */
#include "runtime/view/cairo_painter.h"

#include "runtime/base/utf8.h"
#include "runtime/view/cairo_library.h"
#include "runtime/view/cairo_png.h"
#include "runtime/view/cairo_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POINTS_PER_INCH 72.0
/* cairo counts in 16 bits. */
#define SIDE_LIMIT 32767
/* 4 bytes for each, while it is painted. */
#define PIXEL_LIMIT 200e6
/* The longest side of a page, in points, that Acrobat opens. */
#define PAGE_LIMIT 14400.0
/* Smaller, nothing is left of a picture on such a page. */
#define PAGE_SCALE_LIMIT 0.01
/* How long PDF's title may be. */
#define TITLE_SIZE 512

struct painter {
    const struct cairo_library *library; /* borrowed */
    const struct picture *picture;       /* borrowed */
    cairo_t *context;                    /* borrowed */
    struct cairo_text text;              /* owned */
};

/* ---- items ---- */

static void set_colour(const struct painter *painter, uint32_t colour)
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

    set_colour(painter, item->stroke);
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
        set_colour(painter, item->fill);
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
    set_colour(painter, item->fill);
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
        set_colour(painter, item->fill);
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

static void paint_page(struct painter *painter, const struct picture_page *page)
{
    const struct picture *picture = painter->picture;

    for (size_t i = 0; i < picture->item_count; i++) {
        if (is_on_page(painter, &picture->items[i], page)) {
            paint_item(painter, &picture->items[i]);
        }
    }
}

/* ---- failures ---- */

static bool
refuse(const struct cairo_library *library, cairo_status_t status, struct error *error)
{
    if (status == CAIRO_STATUS_NO_MEMORY) {
        error_set_memory(error);
    } else {
        error_set(error, ERROR_SYSTEM, "cairo cannot paint the picture: %s",
                  library->cairo_status_to_string(status));
    }
    return false;
}

double cairo_png_dpi_most(const struct picture *picture)
{
    double width = fmax(picture->width, 1) / POINTS_PER_INCH;
    double height = fmax(picture->height, 1) / POINTS_PER_INCH;

    return floor(
        fmin(SIDE_LIMIT / fmax(width, height), sqrt(PIXEL_LIMIT / width / height)));
}

static bool refuse_size(double width, double height, double dpi, struct error *error)
{
    double fits =
        fmin(SIDE_LIMIT / fmax(width, height), sqrt(PIXEL_LIMIT / width / height));
    char advice[64] = "";

    if (dpi * fits >= 24) { /* less is not read by anyone */
        snprintf(advice, sizeof advice, "a smaller --dpi (%.0f would do), ",
                 floor(dpi * fits));
    }
    error_set(error, ERROR_USAGE,
              "the picture is too large for a PNG: %.0f x %.0f pixels at %g dpi; use "
              "%sa smaller --max-nodes, or write .svg or .pdf",
              width, height, dpi, advice);
    return false;
}

static cairo_status_t
take_bytes(void *buffer, const unsigned char *bytes, unsigned int size)
{
    buffer_add_bytes(buffer, (const char *)bytes, size);
    return ((struct buffer *)buffer)->has_failed ? CAIRO_STATUS_NO_MEMORY
                                                 : CAIRO_STATUS_SUCCESS;
}

/* ---- what is painted on ---- */

/* Where a page of the picture comes to lie, in the surface's units. */
struct sheet_place {
    double x;
    double y;
    double scale;
    bool is_raster;
};

/* Paints the part of the picture that the page is. */
static bool paint_part(const struct cairo_library *library,
                       const struct picture *picture,
                       const struct picture_page *page,
                       cairo_surface_t *surface,
                       struct sheet_place place,
                       struct error *error)
{
    cairo_t *context = library->cairo_create(surface);
    struct painter painter = {
        .library = library, .picture = picture, .context = context};
    cairo_status_t status = library->cairo_status(context);
    bool is_ready = false;

    if (status == CAIRO_STATUS_SUCCESS) {
        /* Before anything is cut off: a picture may end within a pixel. */
        set_colour(&painter, picture->background);
        library->cairo_paint(context);
        library->cairo_translate(context, place.x, place.y);
        library->cairo_scale(context, place.scale, place.scale);
        library->cairo_rectangle(context, 0, 0, page->width, page->height);
        library->cairo_clip(context);
        library->cairo_translate(context, -page->x, -page->y);
        is_ready =
            cairo_text_init(&painter.text, library, context, place.is_raster, error);
        if (is_ready) {
            paint_page(&painter, page);
        }
        cairo_text_release(&painter.text);
        status = library->cairo_status(context);
    }
    library->cairo_destroy(context);
    if (status != CAIRO_STATUS_SUCCESS) {
        return refuse(library, status, error);
    }
    return is_ready;
}

static bool write_png(const struct cairo_library *library,
                      cairo_surface_t *surface,
                      struct pixel_rows rows,
                      struct buffer *bytes,
                      struct error *error)
{
    library->cairo_surface_flush(surface);
    rows.bytes = library->cairo_image_surface_get_data(surface);
    rows.stride = (size_t)library->cairo_image_surface_get_stride(surface);
    return cairo_png_add(library, &rows, bytes, error);
}

bool cairo_paint_png(const struct picture *picture,
                     double dpi,
                     struct buffer *bytes,
                     struct error *error)
{
    const struct picture_page whole = {0, 0, picture->width, picture->height};
    double scale = dpi / POINTS_PER_INCH;
    double width = fmax(1, ceil(picture->width * scale - 1e-6));
    double height = fmax(1, ceil(picture->height * scale - 1e-6));
    const struct cairo_library *library;
    cairo_surface_t *surface;
    size_t start = bytes->size;
    struct pixel_rows rows = {.dpi = dpi};
    bool is_done;

    if (!(width <= SIDE_LIMIT && height <= SIDE_LIMIT &&
          width * height <= PIXEL_LIMIT)) {
        return refuse_size(width, height, dpi, error);
    }
    library = cairo_library_get(error);
    if (library == NULL) {
        return false;
    }
    surface = library->cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width,
                                                  (int)height);
    rows.width = (uint32_t)width;
    rows.height = (uint32_t)height;
    is_done = paint_part(library, picture, &whole, surface,
                         (struct sheet_place){0, 0, scale, true}, error) &&
              write_png(library, surface, rows, bytes, error);
    library->cairo_surface_destroy(surface);
    if (!is_done) {
        bytes->size = start;
    }
    return is_done;
}

static void tell_title(const struct cairo_library *library,
                       const struct picture *picture,
                       cairo_surface_t *surface)
{
    char title[TITLE_SIZE];
    size_t size = utf8_cut(picture->title, sizeof title - 1);

    size = utf8_find_invalid(slice_part(picture->title, 0, size));
    memcpy(title, picture->title.bytes, size);
    title[size] = '\0';
    library->cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title);
    library->cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR,
                                            "monitorch");
}

/* Paints a page on a sheet of its own. */
static bool paint_sheet(const struct cairo_library *library,
                        const struct picture *picture,
                        const struct picture_page *page,
                        cairo_surface_t *surface,
                        struct picture_point sheet,
                        struct error *error)
{
    struct sheet_place place = {0, 0, 1, false};

    if (sheet.x > 0 && sheet.y > 0) {
        place.scale = fmin(1, fmin(sheet.x / page->width, sheet.y / page->height));
    } else {
        place.scale = fmin(1, PAGE_LIMIT / fmax(page->width, page->height));
        sheet = (struct picture_point){page->width * place.scale,
                                       page->height * place.scale};
    }
    place.x = (sheet.x - page->width * place.scale) / 2;
    library->cairo_pdf_surface_set_size(surface, sheet.x, sheet.y);
    if (!paint_part(library, picture, page, surface, place, error)) {
        return false;
    }
    library->cairo_surface_show_page(surface);
    return true;
}

static bool refuse_page(const struct picture *picture, struct error *error)
{
    error_set(
        error, ERROR_USAGE,
        "the picture is too large for one page: %.0f x %.0f points; use --pages A4 "
        "or another SIZE, a smaller --max-nodes, or write .svg",
        picture->width, picture->height);
    return false;
}

bool cairo_paint_pdf(const struct picture *picture,
                     double sheet_width,
                     double sheet_height,
                     struct buffer *bytes,
                     struct error *error)
{
    const struct cairo_library *library = cairo_library_get(error);
    size_t start = bytes->size;
    cairo_surface_t *surface;
    cairo_status_t status;
    bool is_done = true;

    if (library == NULL) {
        return false;
    }
    if (!(sheet_width > 0 && sheet_height > 0) &&
        fmax(picture->width, picture->height) * PAGE_SCALE_LIMIT > PAGE_LIMIT) {
        return refuse_page(picture, error);
    }
    surface = library->cairo_pdf_surface_create_for_stream(take_bytes, bytes, 1, 1);
    tell_title(library, picture, surface);
    for (size_t i = 0; i < picture->page_count && is_done; i++) {
        is_done = paint_sheet(library, picture, &picture->pages[i], surface,
                              (struct picture_point){sheet_width, sheet_height}, error);
    }
    library->cairo_surface_finish(surface);
    status = library->cairo_surface_status(surface);
    library->cairo_surface_destroy(surface);
    if (is_done && bytes->has_failed) { /* cairo may forget what it was told */
        is_done = refuse(library, CAIRO_STATUS_NO_MEMORY, error);
    } else if (is_done && status != CAIRO_STATUS_SUCCESS) {
        is_done = refuse(library, status, error);
    }
    if (!is_done) {
        bytes->size = start;
    }
    return is_done;
}
