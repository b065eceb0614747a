/* Paints a picture with cairo. */
#include "runtime/view/picture/paint/cairo/painter.h"

#include "runtime/base/utf8.h"
#include "runtime/view/picture/paint/cairo/items.h"
#include "runtime/view/picture/paint/cairo/library.h"
#include "runtime/view/picture/paint/cairo/png.h"
#include "runtime/view/picture/paint/cairo/text.h"

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

/* ---- items ---- */

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
        painter_set_colour(&painter, picture->background);
        library->cairo_paint(context);
        library->cairo_translate(context, place.x, place.y);
        library->cairo_scale(context, place.scale, place.scale);
        library->cairo_rectangle(context, 0, 0, page->width, page->height);
        library->cairo_clip(context);
        library->cairo_translate(context, -page->x, -page->y);
        is_ready =
            cairo_text_init(&painter.text, library, context, place.is_raster, error);
        if (is_ready) {
            painter_paint_page(&painter, page);
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
