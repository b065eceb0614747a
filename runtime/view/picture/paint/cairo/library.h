/* cairo and pango, loaded when something is first painted: what only reads traces starts 2 ms
 * sooner, and runs on machines that do not have them. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_LIBRARY_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_LIBRARY_H

#include "runtime/base/error.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h> /* brings fontconfig's own header */
#include <zlib.h>

#include <stdbool.h>

struct cairo_library {
#define LIBRARY_FUNCTION(name) __typeof__(name) *name;
#include "runtime/view/picture/paint/cairo/library.def"
#undef LIBRARY_FUNCTION
    bool has_fonts; /* that pango can use: without one, it ends the process */
};

/* Loads them once for the process; any thread may ask. Fails, with what to do about it, where
 * they are not on the machine. */
const struct cairo_library *cairo_library_get(struct error *error);

#endif
