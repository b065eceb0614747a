/* A picture: rectangles, lines and texts at their places, for a painter that need not know what
 * they mean. A point is 1/72 inch at 100 %; x grows to the right, y downwards. Texts are
 * measured with built-in widths (text_width.h), so the same graph gives the same picture on
 * every machine. A painter whose font is wider narrows the text to the item's width. */
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
    PICTURE_POLYLINE, /* straight lines with rounded corners */
    PICTURE_GROUP_BEGIN, /* starts a group of items for SVG; `text` is its class ("node y") */
    PICTURE_GROUP_END, /* ends it */
};

struct picture_item {
    enum picture_item_kind kind;
    double x, y; /* RECTANGLE: upper left corner; TEXT: left end of its baseline */
    double width, height; /* TEXT: width is the measured one, height is unused */
    double radius;        /* RECTANGLE: radius of its corners */
    uint32_t
        fill; /* 0xRRGGBBAA, 0: none. TEXT: of the letters; CURVE: of the arrow's head */
    uint32_t stroke;
    double stroke_width;
    double dash; /* length of dashes and gaps; 0: solid */
    enum picture_face face;
    double size;           /* TEXT: font size */
    bool has_arrow;        /* CURVE: has a head beyond its end, see picture_arrow */
    bool is_right_to_left; /* TEXT: starts at its right end */
    struct slice text;     /* UTF-8, printable only. GROUP_BEGIN: its class */
    struct slice title;    /* GROUP_BEGIN: the tooltip; "" */
    size_t first_point;    /* CURVE, POLYLINE */
    size_t point_count;
};

struct picture_point {
    double x;
    double y;
};

/* The part of the picture that is on one page. */
struct picture_page {
    double x, y, width, height; /* in the picture's coordinates */
};

enum picture_theme {
    PICTURE_LIGHT,
    PICTURE_DARK,
};

/* The boxes that show a table of values. */
enum picture_tables {
    PICTURE_TABLES_ALL,
    PICTURE_TABLES_ENDS, /* nodes without incoming or without outgoing edges */
    PICTURE_TABLES_NONE,
};

struct picture_options {
    enum picture_theme theme;
    struct slice title; /* "": the file's name */
    const struct slice
        *verdict; /* borrowed; printed below the title, each on its own lines */
    size_t verdict_count;
    double proportion; /* height / width of the page; 0: one column */
    bool has_pages;    /* cut into pages of page_width x page_height; no box is cut */
    double page_width;
    double page_height;
    /* The most values of a sample that a table shows. */
    enum picture_tables tables;
    /* A box that holds the same value as another one under another name is one line. */
    bool has_chips;
    bool is_dense;    /* boxes without figures, closer together */
    double scale;     /* the file's scale; 0: 1 */
    struct slice how; /* printed in the head: how to see folded parts; "" */
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
    struct arena arena; /* owns the pages, and the texts except the graph's */
};

void picture_init(struct picture *picture);
void picture_release(struct picture *picture);

/* Draws the graph, which must outlive the picture. Returns false if memory runs out. */
bool picture_draw(struct picture *picture,
                  const struct flow_graph *graph,
                  const struct picture_options *options,
                  struct error *error);

/* The head of a curve's arrow: a triangle, starting with its tip, which touches the box. The
 * curve itself ends inside the head. */
void picture_arrow(const struct picture *picture,
                   const struct picture_item *curve,
                   struct picture_point corners[3]);

#endif
