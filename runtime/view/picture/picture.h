/* A picture: rectangles, lines and texts at their places, for a painter that need not know what
 * they mean. Points are 1/72 inch at 100 %; x to the right, y downwards. Texts are measured with
 * widths that are built in (text_width.h), so the same graph gives the same picture on every
 * machine; a painter whose font is wider squeezes the text into the width that the item has. */
#ifndef MONITORCH_VIEW_PICTURE_PICTURE_H
#define MONITORCH_VIEW_PICTURE_PICTURE_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/view/flow/flow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum picture_face {
    PICTURE_SANS,
    PICTURE_SANS_BOLD,
    PICTURE_MONO,
    PICTURE_MONO_BOLD,
    PICTURE_FACE_COUNT
};

enum picture_item_kind {
    PICTURE_RECTANGLE,
    PICTURE_TEXT,
    PICTURE_CURVE,    /* cubic Béziers: the first point, then three for each */
    PICTURE_POLYLINE, /* straight from point to point, its corners round */
    PICTURE_GROUP_BEGIN, /* what follows belongs together: `text` says what it is ("node y"), */
    PICTURE_GROUP_END, /* for SVG's structure and titles */
};

struct picture_item {
    enum picture_item_kind kind;
    double x, y;          /* RECTANGLE: its left top; TEXT: left end of its baseline */
    double width, height; /* TEXT: width is its place, measured; height is unused */
    double radius;        /* RECTANGLE: of its corners */
    uint32_t
        fill; /* 0xRRGGBBAA, 0: none. TEXT: its colour; CURVE: of the arrow's head */
    uint32_t stroke;
    double stroke_width;
    double dash; /* length of dashes and gaps; 0: a full line */
    enum picture_face face;
    double size;           /* TEXT: of the font */
    bool has_arrow;        /* CURVE: a head beyond its end, see picture_arrow */
    bool is_right_to_left; /* TEXT: begins at its right, else at its left */
    struct slice text;     /* UTF-8, nothing unprintable. GROUP_BEGIN: its class */
    struct slice title;    /* GROUP_BEGIN: what a person is told of it; "" */
    size_t first_point;    /* CURVE, POLYLINE */
    size_t point_count;
};

struct picture_point {
    double x;
    double y;
};

/* A part of the picture that goes on one page. */
struct picture_page {
    double x, y, width, height; /* of the picture */
};

enum picture_theme {
    PICTURE_LIGHT,
    PICTURE_DARK,
};

/* The boxes that show a table of values. */
enum picture_tables {
    PICTURE_TABLES_ALL,
    PICTURE_TABLES_ENDS, /* of what nothing drawn was made from, and of what nothing was made of */
    PICTURE_TABLES_NONE,
};

struct picture_options {
    enum picture_theme theme;
    struct slice title; /* "": made from the file's name */
    const struct slice
        *verdict; /* borrowed: told first, below the title, a line or more each */
    size_t verdict_count;
    double proportion; /* of the page, height by width; 0: one column */
    bool
        has_pages; /* cut into pages of page_width x page_height, no box across a cut */
    double page_width;
    double page_height;
    /* What a table shows at most, of what the sample has. */
    enum picture_tables tables;
    /* A box that holds the same value as another one, under another name, is one line. */
    bool has_chips;
    bool is_dense;    /* boxes without figures, and less room between them */
    double scale;     /* of the file, which is drawn so much smaller; 0: 1 */
    struct slice how; /* "": how to see what was folded, printed in the head */
    uint32_t max_vector;
    uint32_t max_matrix;
    uint32_t max_slices;
};

#define PICTURE_OPTIONS_DEFAULT                                                        \
    ((struct picture_options){.proportion = 0.75,                                      \
                              .page_width = 842,                                       \
                              .page_height = 595,                                      \
                              .max_vector = 32,                                        \
                              .max_matrix = 8,                                         \
                              .max_slices = 6})

struct picture {
    double width;
    double height;
    double scale; /* as in the options, never 0 */
    uint32_t background;
    struct slice title;
    struct picture_item *items; /* owned; drawn in this order */
    size_t item_count;
    struct picture_point *points; /* owned */
    size_t point_count;
    struct picture_page *pages; /* at least one */
    size_t page_count;
    size_t item_capacity;
    size_t point_capacity;
    struct arena arena; /* owns pages and texts, but those of the graph */
};

void picture_init(struct picture *picture);
void picture_release(struct picture *picture);

/* Draws the graph, which has to live as long as the picture. Fails where memory runs out. */
bool picture_draw(struct picture *picture,
                  const struct flow_graph *graph,
                  const struct picture_options *options,
                  struct error *error);

/* The head of a curve's arrow: a triangle, its tip first, where the edge meets its box. The
 * curve itself ends inside the head. */
void picture_arrow(const struct picture *picture,
                   const struct picture_item *curve,
                   struct picture_point corners[3]);

#endif
