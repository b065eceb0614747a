/* Paints a picture with cairo. */
#include "runtime/view/picture/paint/cairo/painter.h"

#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/base/utf8.h"
#include "runtime/view/picture/paint/cairo/library.h"
#include "runtime/view/picture/paint/cairo/png.h"
#include "runtime/view/picture/picture.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Only the start of a longer text is shown. */
#define PLAIN_LETTERS_SIZE 1024

/* ---- Text reduced to ASCII ---- */

/* The nearest ASCII text for a letter outside ASCII. */
static const char *plain_letter(uint32_t code)
{
    switch (code) {
    case 0xA0:
        return " ";
    case 0xD7: /* × */
        return "x";
    case 0xB7: /* · */
    case 0x2022:
        return ".";
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2212: /* − */
        return "-";
    case 0x2018:
    case 0x2019:
        return "'";
    case 0x201C:
    case 0x201D:
        return "\"";
    case 0x2026:
        return "...";
    case 0x2190:
        return "<-";
    case 0x2192:
        return "->";
    case 0x221E:
        return "inf";
    case 0xB1:
        return "+-";
    case 0xB5:
    case 0x3BC:
        return "u";
    case 0x3C3:
        return "std";
    default:
        return "?";
    }
}

/* Replaces letters outside ASCII by the nearest ASCII text, and ends the result with a zero
 * byte. */
static void plain_letters_write(char plain[PLAIN_LETTERS_SIZE], struct slice shown)
{
    size_t size = 0;

    for (size_t i = 0; i < shown.size;) {
        uint32_t code = 0;
        size_t step = utf8_read(shown, i, &code);
        char ascii[2] = {(char)code, '\0'};
        const char *letter = code < 0x80 ? ascii : plain_letter(code);
        size_t letter_size = strlen(letter);

        if (step == 0 || size + letter_size >= PLAIN_LETTERS_SIZE) {
            break;
        }
        memcpy(plain + size, letter, letter_size);
        size += letter_size;
        i += step;
    }
    plain[size] = '\0';
}

struct cairo_text {
    const struct cairo_library *library; /* borrowed */
    cairo_t *context;                    /* borrowed */
    bool has_outlines;
    PangoLayout *layout; /* owned; NULL where there are no fonts */
    PangoFontDescription *fonts[PICTURE_FACE_COUNT]; /* owned; may be NULL */
    PangoFont *loaded[PICTURE_FACE_COUNT];           /* owned; may be NULL */
    enum picture_face face; /* the layout's present face, together with `size` */
    double size;            /* 0: none yet */
};

/* ---- The texts of a picture, for cairo ---- */

/* The first font of the list that the machine has is used. text_width.h has the widths of DejaVu
 * Sans. */
#define SANS_FAMILY "DejaVu Sans,Verdana,Noto Sans,sans-serif"
#define MONO_FAMILY "DejaVu Sans Mono,Menlo,Noto Sans Mono,monospace"
/* Limit of a text in ASCII, which every font has. Longer texts are drawn like any other text. */
#define ASCII_SIZE 256
/* No ligatures and no kerning, so that letters have the widths of text_width.h. */
#define FONT_FEATURES "liga=0, clig=0, kern=0"
/* A text up to this much wider than measured counts as having the built-in widths. */
#define ROUNDING 1.005
/* No text of a picture is that long; pango counts in int. */
#define TEXT_LIMIT (1 << 20)

static bool is_bold(enum picture_face face)
{
    return face == PICTURE_SANS_BOLD || face == PICTURE_MONO_BOLD;
}

static bool is_mono(enum picture_face face)
{
    return face == PICTURE_MONO || face == PICTURE_MONO_BOLD;
}

/* Turns off hinting, so that a text has the same proportions at each resolution. */
static bool set_font_options(struct cairo_text *text)
{
    const struct cairo_library *library = text->library;
    cairo_font_options_t *options = library->cairo_font_options_create();
    bool is_done = library->cairo_font_options_status(options) == CAIRO_STATUS_SUCCESS;

    library->cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    library->cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    library->cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    library->cairo_set_font_options(text->context, options);
    if (text->layout != NULL) {
        library->pango_cairo_context_set_font_options(
            library->pango_layout_get_context(text->layout), options);
    }
    library->cairo_font_options_destroy(options);
    return is_done;
}

static void set_font_features(struct cairo_text *text)
{
    const struct cairo_library *library = text->library;
    PangoAttrList *attributes = library->pango_attr_list_new();

    library->pango_attr_list_insert(
        attributes, library->pango_attr_font_features_new(FONT_FEATURES));
    library->pango_layout_set_attributes(text->layout, attributes);
    library->pango_attr_list_unref(attributes);
}

/* Makes the font map anew in a forked process. In newer versions of pango the map of each thread
 * has a helper thread, which does not exist after a fork; a request to it would wait for ever. */
static void renew_font_map(const struct cairo_library *library)
{
    static _Thread_local pid_t
        map_process; /* the process in which this thread's map was made; 0: no map yet */
    pid_t process = getpid();

    if (map_process != 0 && map_process != process) {
        library->pango_cairo_font_map_set_default(NULL);
    }
    map_process = process;
}

/* Prepares texts for `context`, which must outlive it. On pixels, letters are filled as
 * outlines: cairo places each glyph on a whole pixel, which spaces small letters unevenly.
 * Returns false if memory runs out; release it in any case. */
static bool cairo_text_init(struct cairo_text *text,
                            const struct cairo_library *library,
                            cairo_t *context,
                            bool has_outlines,
                            struct error *error)
{
    *text = (struct cairo_text){
        .library = library, .context = context, .has_outlines = has_outlines};
    if (library->has_fonts) {
        renew_font_map(library);
        text->layout = library->pango_cairo_create_layout(context);
    }
    if ((library->has_fonts && text->layout == NULL) || !set_font_options(text)) {
        return error_set_memory(error);
    }
    if (!library->has_fonts) {
        return true;
    }
    library->pango_layout_set_single_paragraph_mode(text->layout, TRUE);
    set_font_features(text);
    for (int face = 0; face < PICTURE_FACE_COUNT; face++) {
        PangoFontDescription *font = library->pango_font_description_new();

        library->pango_font_description_set_family(font, is_mono(face) ? MONO_FAMILY
                                                                       : SANS_FAMILY);
        library->pango_font_description_set_weight(
            font, is_bold(face) ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
        text->fonts[face] = font;
    }
    return true;
}

static void cairo_text_release(struct cairo_text *text)
{
    for (int face = 0; face < PICTURE_FACE_COUNT; face++) {
        if (text->fonts[face] != NULL) {
            text->library->pango_font_description_free(text->fonts[face]);
        }
        if (text->loaded[face] != NULL) {
            text->library->g_object_unref(text->loaded[face]);
        }
    }
    if (text->layout != NULL) {
        text->library->g_object_unref(text->layout);
    }
    *text = (struct cairo_text){0};
}

/* The part of the text that pango accepts: whole characters, no NUL. */
static struct slice drawable(struct slice text)
{
    const char *end = text.size == 0 ? NULL : memchr(text.bytes, '\0', text.size);

    if (end != NULL) {
        text.size = (size_t)(end - text.bytes);
    }
    text.size = utf8_find_invalid(text);
    return text;
}

/* Moves to the left end of the baseline of a text whose natural width is `width`. Returns the
 * factor by which the text must be narrowed. */
static double
place(const struct cairo_text *text, const struct picture_item *item, double width)
{
    double x = item->x;

    if (item->is_right_to_left && width < item->width) {
        x += item->width - width;
    }
    text->library->cairo_translate(text->context, x, item->y);
    text->library->cairo_move_to(text->context, 0, 0);
    return width > item->width * ROUNDING && item->width > 0 ? item->width / width : 1;
}

static void set_font(struct cairo_text *text, enum picture_face face, double size)
{
    if (text->size == size && text->face == face) {
        return;
    }
    text->library->pango_font_description_set_absolute_size(text->fonts[face],
                                                            size * PANGO_SCALE);
    text->library->pango_layout_set_font_description(text->layout, text->fonts[face]);
    text->size = size;
    text->face = face;
}

/* Fills the path with fast antialiasing. It takes half the time of the best quality, and small
 * letters look the same. */
static void fill_letters(struct cairo_text *text)
{
    text->library->cairo_set_antialias(text->context, CAIRO_ANTIALIAS_FAST);
    text->library->cairo_fill(text->context);
    text->library->cairo_set_antialias(text->context, CAIRO_ANTIALIAS_DEFAULT);
}

/* Fills the line's outlines, narrowed by `factor`. The outlines are computed before they are
 * narrowed. A narrowed context would need one font per factor, and cairo confuses such fonts
 * between texts. */
static void fill_line(struct cairo_text *text, PangoLayoutLine *line, double factor)
{
    const struct cairo_library *library = text->library;
    cairo_path_t *path;

    library->cairo_new_path(text->context);
    library->cairo_move_to(text->context, 0, 0);
    library->pango_cairo_layout_line_path(text->context, line);
    if (factor < 1) {
        path = library->cairo_copy_path(text->context);
        library->cairo_new_path(text->context);
        library->cairo_scale(text->context, factor, 1);
        library->cairo_append_path(text->context, path);
        library->cairo_path_destroy(path);
    }
    fill_letters(text);
}

static void draw_by_pango(struct cairo_text *text,
                          const struct picture_item *item,
                          struct slice shown)
{
    const struct cairo_library *library = text->library;
    PangoLayoutLine *line;
    PangoRectangle extents;
    double factor;

    set_font(text, item->face, item->size);
    library->pango_layout_set_text(text->layout, shown.bytes, (int)shown.size);
    line = library->pango_layout_get_line_readonly(text->layout, 0);
    library->pango_layout_line_get_extents(line, NULL, &extents);
    library->cairo_save(text->context);
    factor = place(text, item, (double)extents.width / PANGO_SCALE);
    if (text->has_outlines) {
        fill_line(text, line, factor);
    } else {
        library->cairo_scale(text->context, factor, 1);
        library->pango_cairo_show_layout_line(text->context, line);
    }
    library->cairo_restore(text->context);
}

/* ---- plain letters on pixels: most texts, in a third of the time ---- */

/* Sets the context's font. Returns false if pango has none. */
static bool set_plain_font(struct cairo_text *text, enum picture_face face, double size)
{
    const struct cairo_library *library = text->library;
    cairo_scaled_font_t *scaled;

    if (text->loaded[face] == NULL) {
        library->pango_font_description_set_absolute_size(text->fonts[face],
                                                          size * PANGO_SCALE);
        text->loaded[face] = library->pango_context_load_font(
            library->pango_layout_get_context(text->layout), text->fonts[face]);
        text->size = 0; /* the layout's font must be set again */
    }
    if (text->loaded[face] == NULL) {
        return false;
    }
    scaled =
        library->pango_cairo_font_get_scaled_font((PangoCairoFont *)text->loaded[face]);
    if (scaled == NULL) {
        return false;
    }
    library->cairo_set_font_face(text->context,
                                 library->cairo_scaled_font_get_font_face(scaled));
    library->cairo_set_font_size(text->context, size);
    return true;
}

static bool is_ascii(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < ' ' || text.bytes[i] > '~') {
            return false;
        }
    }
    return true;
}

/* Fills the glyphs. Returns false, and draws nothing, if a letter has no glyph or the text is
 * wider than its place. */
static bool fill_glyphs(struct cairo_text *text,
                        const struct picture_item *item,
                        const cairo_glyph_t *glyphs,
                        int count)
{
    const struct cairo_library *library = text->library;

    for (int i = 0; i <= count; i++) {
        if (glyphs[i].index == 0) {
            return false;
        }
    }
    if (glyphs[count].x - item->x > item->width * ROUNDING) {
        return false;
    }
    library->cairo_new_path(text->context);
    library->cairo_glyph_path(text->context, glyphs, count);
    fill_letters(text);
    return true;
}

/* Draws a short ASCII text. Returns false, and draws nothing, if the text needs pango. */
static bool
draw_ascii(struct cairo_text *text, const struct picture_item *item, struct slice shown)
{
    const struct cairo_library *library = text->library;
    cairo_glyph_t room[ASCII_SIZE + 1];
    cairo_glyph_t *glyphs = room;
    char spaced[ASCII_SIZE + 1];
    int count = ASCII_SIZE + 1;
    int size = (int)shown.size;
    bool is_drawn;

    if (shown.size > ASCII_SIZE || !is_ascii(shown) ||
        !set_plain_font(text, item->face, item->size)) {
        return false;
    }
    /* The position of the blank after the text is the width of the text. */
    memcpy(spaced, shown.bytes, shown.size);
    spaced[size] = ' ';
    if (library->cairo_scaled_font_text_to_glyphs(
            library->cairo_get_scaled_font(text->context), item->x, item->y, spaced,
            size + 1, &glyphs, &count, NULL, NULL, NULL) != CAIRO_STATUS_SUCCESS) {
        return false;
    }
    is_drawn = count == size + 1 && fill_glyphs(text, item, glyphs, size);
    if (glyphs != room) {
        library->cairo_glyph_free(glyphs);
    }
    return is_drawn;
}

/* ---- without fonts ---- */

static void draw_plainly(struct cairo_text *text,
                         const struct picture_item *item,
                         struct slice shown)
{
    const struct cairo_library *library = text->library;
    cairo_text_extents_t extents;
    char plain[PLAIN_LETTERS_SIZE];

    plain_letters_write(plain, shown);
    library->cairo_save(text->context);
    library->cairo_select_font_face(
        text->context,
        is_mono(item->face) ? "@cairo:monospace" : "@cairo:", CAIRO_FONT_SLANT_NORMAL,
        is_bold(item->face) ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    library->cairo_set_font_size(text->context, item->size);
    library->cairo_text_extents(text->context, plain, &extents);
    library->cairo_scale(text->context, place(text, item, extents.x_advance), 1);
    library->cairo_show_text(text->context, plain);
    library->cairo_restore(text->context);
}

/* Draws the item, which must be a TEXT, in the context's present colour. */
static void cairo_text_draw(struct cairo_text *text, const struct picture_item *item)
{
    struct slice shown = drawable(item->text);

    if (shown.size == 0 || shown.size > TEXT_LIMIT || !(item->size > 0)) {
        return;
    }
    if (text->layout == NULL) {
        draw_plainly(text, item, shown);
    } else if (!text->has_outlines || !draw_ascii(text, item, shown)) {
        draw_by_pango(text, item, shown);
    }
}

struct painter {
    const struct cairo_library *library; /* borrowed */
    const struct picture *picture;       /* borrowed */
    cairo_t *context;                    /* borrowed */
    struct cairo_text text;              /* owned */
};

/* ---- Painting the items of a picture ---- */

/* Sets the colour, 0xRRGGBBAA, of the next items. */
static void painter_set_colour(const struct painter *painter, uint32_t colour)
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

/* Strokes the present path. */
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

/* Whether a part of the item may be on the page. May be true for an item near the page. */
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
    default: /* groups are structure for SVG only */
        break;
    }
}

/* Paints the items that are on the page. */
static void painter_paint_page(struct painter *painter, const struct picture_page *page)
{
    const struct picture *picture = painter->picture;

    for (size_t i = 0; i < picture->item_count; i++) {
        if (is_on_page(painter, &picture->items[i], page)) {
            paint_item(painter, &picture->items[i]);
        }
    }
}

#define POINTS_PER_INCH 72.0
/* cairo's coordinates have 16 bits. */
#define SIDE_LIMIT 32767
/* A pixel needs 4 bytes during painting. */
#define PIXEL_LIMIT 200e6
/* The longest side of a page that Acrobat opens, in points. */
#define PAGE_LIMIT 14400.0
/* The least scale. A picture scaled further down would show nothing. */
#define PAGE_SCALE_LIMIT 0.01
/* Limit of a PDF's title, in bytes. */
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

    if (dpi * fits >= 24) { /* text below 24 dpi is unreadable */
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
append_bytes(void *buffer, const unsigned char *bytes, unsigned int size)
{
    buffer_add_bytes(buffer, (const char *)bytes, size);
    return ((struct buffer *)buffer)->has_failed ? CAIRO_STATUS_NO_MEMORY
                                                 : CAIRO_STATUS_SUCCESS;
}

/* ---- surfaces ---- */

/* The place of a page of the picture on the surface, in the surface's units. */
struct sheet_place {
    double x;
    double y;
    double scale;
    bool is_raster;
};

/* Paints one page's part of the picture. */
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
        /* The background is painted before the clip, because a picture may end within a pixel. */
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

static void write_title(const struct cairo_library *library,
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

/* Paints a page on its own sheet. */
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
    surface = library->cairo_pdf_surface_create_for_stream(append_bytes, bytes, 1, 1);
    write_title(library, picture, surface);
    for (size_t i = 0; i < picture->page_count && is_done; i++) {
        is_done = paint_sheet(library, picture, &picture->pages[i], surface,
                              (struct picture_point){sheet_width, sheet_height}, error);
    }
    library->cairo_surface_finish(surface);
    status = library->cairo_surface_status(surface);
    library->cairo_surface_destroy(surface);
    if (is_done && bytes->has_failed) { /* cairo may have dropped the write error */
        is_done = refuse(library, CAIRO_STATUS_NO_MEMORY, error);
    } else if (is_done && status != CAIRO_STATUS_SUCCESS) {
        is_done = refuse(library, status, error);
    }
    if (!is_done) {
        bytes->size = start;
    }
    return is_done;
}
