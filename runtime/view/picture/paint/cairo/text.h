/* The texts of a picture, for cairo: by pango, or, on a machine without fonts, with the letters
 * that cairo itself draws. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_TEXT_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_TEXT_H

#include "runtime/base/error.h"
#include "runtime/view/picture/paint/cairo/library.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>

struct cairo_text {
    const struct cairo_library *library; /* borrowed */
    cairo_t *context;                    /* borrowed */
    bool has_outlines;
    PangoLayout *layout; /* owned; NULL where there are no fonts */
    PangoFontDescription *fonts[PICTURE_FACE_COUNT]; /* owned; may be NULL */
    PangoFont *loaded[PICTURE_FACE_COUNT];           /* owned; may be NULL */
    enum picture_face face; /* that the layout has now, with `size` */
    double size;            /* 0: none yet */
};

/* For what is drawn by `context`, which has to outlive it. For pixels, letters are filled as
 * outlines: as glyphs, cairo puts each on a whole pixel, which spaces small ones unevenly. Fails
 * where memory runs out; to be released in any case. */
bool cairo_text_init(struct cairo_text *text,
                     const struct cairo_library *library,
                     cairo_t *context,
                     bool has_outlines,
                     struct error *error);
void cairo_text_release(struct cairo_text *text);

/* Draws the item, which is a TEXT, in the colour that the context has. */
void cairo_text_draw(struct cairo_text *text, const struct picture_item *item);

#endif
