/* The parts of a picture other than its boxes: groups, edges, head, legend, pages. */
#ifndef MONITORCH_VIEW_PICTURE_PARTS_H
#define MONITORCH_VIEW_PICTURE_PARTS_H

#include "runtime/view/layout/layout.h"
#include "runtime/view/picture/box/box.h"
#include "runtime/view/picture/sheet.h"

/* ---- groups.c ---- */

/* The title of a group, measured before the layout, drawn after it. */
struct group_title {
    struct slice name;   /* the module's path, or the function */
    struct slice detail; /* `Attention.forward  model.py:31` */
    struct pill times;
    bool is_code;
    unsigned depth; /* 0: outermost */
    double width;
};

struct group_options {
    bool has_files;   /* the graph's nodes are in several files */
    bool has_threads; /* the graph has several threads */
};

void group_measure(struct group_title *title,
                   struct layout_group *place,
                   struct sheet *sheet,
                   const struct flow_group *group,
                   const struct group_options *options);
/* The fill of a group, by its depth. */
uint32_t group_color(const struct picture_palette *palette, unsigned depth);

void group_draw(struct sheet *sheet,
                const struct flow_group *group,
                const struct group_title *title,
                const struct layout_group *place,
                double x,
                double y);

/* ---- edges.c ---- */

enum edge_line {
    EDGE_VALUE,
    EDGE_SAME,
    EDGE_WRITE,
    EDGE_ALIAS,
    EDGE_CARRIED,
    EDGE_SHAPE,
    EDGE_LINE_COUNT
};

enum edge_line edge_line_of(const struct flow_edge *edge);
/* Sets colour, thickness and dash of an edge. */
void edge_style(const struct sheet *sheet,
                enum edge_line style,
                uint64_t count,
                struct picture_item *item);
void edge_draw(struct sheet *sheet,
               const struct flow_graph *graph,
               const struct flow_edge *edge,
               const struct layout_point *route,
               size_t point_count,
               double x,
               double y);
/* Shortens the curve that was added last, to make room for its arrow's head. */
void edge_finish(struct sheet *sheet, struct picture_item *curve);

/* ---- head.c: title, file, counts, what was left out ---- */

struct head {
    struct slice title;
    struct slice verdict[8]; /* lines of the verdict */
    uint32_t verdict_count;
    uint32_t first_count; /* the lines of its first sentence */
    struct slice lines[16];
    uint32_t line_count;
    double width;
    double height;
};

/* Free space at the lower end of the head, and at the upper end of the legend. */
#define HEAD_GAP   12.0
#define LEGEND_GAP 16.0

/* Prepares the head, with lines broken at `width`. */
void head_prepare(struct head *head,
                  struct sheet *sheet,
                  const struct flow_graph *graph,
                  const struct picture_options *options,
                  enum box_detail detail,
                  double width);
void head_draw(const struct head *head, struct sheet *sheet, double x, double y);

/* ---- legend.c: explains what occurs in the picture ---- */

#define LEGEND_MAX 32

struct legend_entry {
    int kind; /* enum legend_kind of legend.c */
    int which;
    struct slice text;
    double width;
};

struct legend {
    struct legend_entry entries[LEGEND_MAX];
    uint32_t count;
    double wrap; /* lines are broken here */
    double width;
    double height;
};

void legend_prepare(struct legend *legend,
                    struct sheet *sheet,
                    const struct flow_graph *graph,
                    enum box_detail detail,
                    double width);
void legend_draw(const struct legend *legend, struct sheet *sheet, double x, double y);

/* ---- pages.c ---- */

/* The least scales of the picture on a page. SCALE_LEAST is used if boxes allow it, SCALE_WHOLE
 * if the picture then is no wider than a page. */
#define PAGE_SCALE_LEAST 0.62
#define PAGE_SCALE_WHOLE 0.45

/* A rectangle that no cut may cross. */
struct page_part {
    double x, y, width, height;
    bool is_title; /* title of a group: a page of titles alone is not made */
};

/* Cuts the picture into pages. Reorders `parts`. Returns false if memory runs out. */
bool pages_cut(struct picture *picture,
               struct page_part *parts,
               size_t part_count,
               const struct picture_options *options);

#endif
