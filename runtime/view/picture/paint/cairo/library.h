/* Access to cairo and pango, which are loaded when a picture is first painted. Commands that
 * only read traces start 2 ms sooner for it, and run on machines without these libraries. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_LIBRARY_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_LIBRARY_H

#include "runtime/base/error.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h> /* includes fontconfig's header */
#include <zlib.h>

#include <stdbool.h>

struct cairo_library {
#define LIBRARY_FUNCTION(name) __typeof__(name) *name;
#include "runtime/view/picture/paint/cairo/library.def"
#undef LIBRARY_FUNCTION
    bool has_fonts; /* pango has a usable font; without one it would end the process */
};

/* Loads the libraries once for the process, from any thread. Returns NULL if the machine lacks
 * them; `error` says what to do about it. */
const struct cairo_library *cairo_library_get(struct error *error);

#endif
