/* Paints the items of a picture with cairo. Used by painter.c alone. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_ITEMS_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_ITEMS_H

#include "runtime/view/picture/paint/cairo/library.h"
#include "runtime/view/picture/paint/cairo/text.h"
#include "runtime/view/picture/picture.h"

struct painter {
    const struct cairo_library *library; /* borrowed */
    const struct picture *picture;       /* borrowed */
    cairo_t *context;                    /* borrowed */
    struct cairo_text text;              /* owned */
};

/* 0xRRGGBBAA, for what is painted next. */
void painter_set_colour(const struct painter *painter, uint32_t colour);

/* The items that a page shows. */
void painter_paint_page(struct painter *painter, const struct picture_page *page);

#endif
