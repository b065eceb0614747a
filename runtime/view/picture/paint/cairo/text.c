/* The texts of a picture, for cairo. */
#include "runtime/view/picture/paint/cairo/text.h"

#include "runtime/base/utf8.h"
#include "runtime/view/picture/paint/cairo/plain_letters.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* The first that the machine has; text_width.h has the widths of DejaVu's. */
#define SANS_FAMILY "DejaVu Sans,Verdana,Noto Sans,sans-serif"
#define MONO_FAMILY "DejaVu Sans Mono,Menlo,Noto Sans Mono,monospace"
/* Of a text of letters that every font has; longer ones go the way of all others. */
#define ASCII_SIZE 256
/* Letters stand as wide as text_width.h has them: nothing is joined or moved together. */
#define FONT_FEATURES "liga=0, clig=0, kern=0"
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

static void set_font_features(struct cairo_text *text)
{
    const struct cairo_library *library = text->library;
    PangoAttrList *attributes = library->pango_attr_list_new();

    library->pango_attr_list_insert(
        attributes, library->pango_attr_font_features_new(FONT_FEATURES));
    library->pango_layout_set_attributes(text->layout, attributes);
    library->pango_attr_list_unref(attributes);
}

/* Newer pangos give the font map that each thread has a helper thread. In a process that was
 * forked there is none, and what asks it would wait for ever: so the map is made anew there. */
static void renew_font_map(const struct cairo_library *library)
{
    static _Thread_local pid_t
        map_process; /* that this thread's map was made in; 0: none */
    pid_t process = getpid();

    if (map_process != 0 && map_process != process) {
        library->pango_cairo_font_map_set_default(NULL);
    }
    map_process = process;
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

void cairo_text_release(struct cairo_text *text)
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

/* Goes to the left end of the baseline, for a text that takes `width` by itself. Gives back by
 * how much it has to be made narrower. */
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

/* Fills the path. This way takes half the time, and of small letters nobody sees the difference. */
static void fill_letters(struct cairo_text *text)
{
    text->library->cairo_set_antialias(text->context, CAIRO_ANTIALIAS_FAST);
    text->library->cairo_fill(text->context);
    text->library->cairo_set_antialias(text->context, CAIRO_ANTIALIAS_DEFAULT);
}

/* The outlines are found before they are made narrower: to make the context narrower would
 * make a font for each factor, and cairo confuses those of one text and the next. */
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

/* ---- plain letters in pixels: most texts, and a third of the time ---- */

/* Sets the context's font; false where pango has none. */
static bool set_plain_font(struct cairo_text *text, enum picture_face face, double size)
{
    const struct cairo_library *library = text->library;
    cairo_scaled_font_t *scaled;

    if (text->loaded[face] == NULL) {
        library->pango_font_description_set_absolute_size(text->fonts[face],
                                                          size * PANGO_SCALE);
        text->loaded[face] = library->pango_context_load_font(
            library->pango_layout_get_context(text->layout), text->fonts[face]);
        text->size = 0; /* the layout has to be told again */
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

/* Fills the glyphs where each letter has one and all fit into their place. */
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

/* false, and nothing is drawn, where this way does not do for the text. */
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
    /* Where the blank behind it stands tells how wide the text is. */
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

void cairo_text_draw(struct cairo_text *text, const struct picture_item *item)
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
