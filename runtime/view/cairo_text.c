/* The texts of a picture, for cairo. */
#include "runtime/view/cairo_text.h"

#include "runtime/base/utf8.h"

#include <stdint.h>
#include <string.h>

/* The first that the machine has; text_width.h has the widths of DejaVu's. */
#define SANS_FAMILY "DejaVu Sans,Verdana,Noto Sans,sans-serif"
#define MONO_FAMILY "DejaVu Sans Mono,Menlo,Noto Sans Mono,monospace"
/* Of a longer text, cairo's own letters show the beginning. */
#define PLAIN_SIZE 1024
/* What is wider by less than that has no other widths than those that are built in. */
#define ROUNDING 1.005
/* No text on a picture is that long; pango counts in int. */
#define TEXT_LIMIT (1 << 20)

static bool is_bold(enum picture_face face)
{
    return face == PICTURE_SANS_BOLD || face == PICTURE_MONO_BOLD;
}

static bool is_mono(enum picture_face face)
{
    return face == PICTURE_MONO || face == PICTURE_MONO_BOLD;
}

/* Glyphs as they are designed, so that a text has the same proportions at each resolution. */
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

bool cairo_text_init(struct cairo_text *text,
                     const struct cairo_library *library,
                     cairo_t *context,
                     bool has_outlines,
                     struct error *error)
{
    *text = (struct cairo_text){
        .library = library, .context = context, .has_outlines = has_outlines};
    if (library->has_fonts) {
        text->layout = library->pango_cairo_create_layout(context);
    }
    if ((library->has_fonts && text->layout == NULL) || !set_font_options(text)) {
        error_set_memory(error);
        return false;
    }
    if (!library->has_fonts) {
        return true;
    }
    library->pango_layout_set_single_paragraph_mode(text->layout, TRUE);
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

void cairo_text_release(struct cairo_text *text)
{
    for (int face = 0; face < PICTURE_FACE_COUNT; face++) {
        if (text->fonts[face] != NULL) {
            text->library->pango_font_description_free(text->fonts[face]);
        }
    }
    if (text->layout != NULL) {
        text->library->g_object_unref(text->layout);
    }
    *text = (struct cairo_text){0};
}

/* What may be given to pango: whole characters, no NUL. */
static struct slice drawable(struct slice text)
{
    const char *end = text.size == 0 ? NULL : memchr(text.bytes, '\0', text.size);

    if (end != NULL) {
        text.size = (size_t)(end - text.bytes);
    }
    text.size = utf8_find_invalid(text);
    return text;
}

/* Goes to the left end of the baseline, where `width` is what the text takes by itself: where
 * that is more than its place, all is made narrower. */
static void
place(const struct cairo_text *text, const struct picture_item *item, double width)
{
    double x = item->x;

    if (item->is_right_to_left && width < item->width) {
        x += item->width - width;
    }
    text->library->cairo_translate(text->context, x, item->y);
    if (width > item->width * ROUNDING && item->width > 0) {
        text->library->cairo_scale(text->context, item->width / width, 1);
    }
    text->library->cairo_move_to(text->context, 0, 0);
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

static void draw_by_pango(struct cairo_text *text,
                          const struct picture_item *item,
                          struct slice shown)
{
    const struct cairo_library *library = text->library;
    PangoLayoutLine *line;
    PangoRectangle extents;

    set_font(text, item->face, item->size);
    library->pango_layout_set_text(text->layout, shown.bytes, (int)shown.size);
    line = library->pango_layout_get_line_readonly(text->layout, 0);
    library->pango_layout_line_get_extents(line, NULL, &extents);
    library->cairo_save(text->context);
    place(text, item, (double)extents.width / PANGO_SCALE);
    if (text->has_outlines) {
        library->cairo_new_path(text->context);
        library->cairo_move_to(text->context, 0, 0);
        /* Half the time, and of small letters nobody sees the difference. */
        library->cairo_set_antialias(text->context, CAIRO_ANTIALIAS_FAST);
        library->pango_cairo_layout_line_path(text->context, line);
        library->cairo_fill(text->context);
    } else {
        library->pango_cairo_show_layout_line(text->context, line);
    }
    library->cairo_restore(text->context);
}

/* cairo's own letters are those of ASCII: others become what is nearest. */
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

static void plain_text(char plain[PLAIN_SIZE], struct slice shown)
{
    size_t size = 0;

    for (size_t i = 0; i < shown.size;) {
        uint32_t code = 0;
        size_t step = utf8_read(shown, i, &code);
        char ascii[2] = {(char)code, '\0'};
        const char *letter = code < 0x80 ? ascii : plain_letter(code);
        size_t letter_size = strlen(letter);

        if (step == 0 || size + letter_size >= PLAIN_SIZE) {
            break;
        }
        memcpy(plain + size, letter, letter_size);
        size += letter_size;
        i += step;
    }
    plain[size] = '\0';
}

static void draw_plainly(struct cairo_text *text,
                         const struct picture_item *item,
                         struct slice shown)
{
    const struct cairo_library *library = text->library;
    cairo_text_extents_t extents;
    char plain[PLAIN_SIZE];

    plain_text(plain, shown);
    library->cairo_save(text->context);
    library->cairo_select_font_face(
        text->context,
        is_mono(item->face) ? "@cairo:monospace" : "@cairo:", CAIRO_FONT_SLANT_NORMAL,
        is_bold(item->face) ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    library->cairo_set_font_size(text->context, item->size);
    library->cairo_text_extents(text->context, plain, &extents);
    place(text, item, extents.x_advance);
    library->cairo_show_text(text->context, plain);
    library->cairo_restore(text->context);
}

void cairo_text_draw(struct cairo_text *text, const struct picture_item *item)
{
    struct slice shown = drawable(item->text);

    if (shown.size == 0 || shown.size > TEXT_LIMIT || !(item->size > 0)) {
        return;
    }
    if (text->layout != NULL) {
        draw_by_pango(text, item, shown);
    } else {
        draw_plainly(text, item, shown);
    }
}
