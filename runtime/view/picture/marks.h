/* The look of marked nodes and of the edges between them. */
#ifndef MONITORCH_VIEW_PICTURE_MARKS_H
#define MONITORCH_VIEW_PICTURE_MARKS_H

#include "runtime/view/picture/box/box.h"

#include <stdbool.h>
#include <stdint.h>

struct mark_style {
    uint32_t color; /* of the border and the word */
    uint32_t card;
    double stroke_width;
    double dash;
};

struct mark_style mark_style_of(const struct picture_palette *palette,
                                enum flow_mark mark);
/* `differs here` with a sign before it. "" for no mark. */
struct slice mark_word(enum flow_mark mark);
/* The text of the legend. */
const char *mark_meaning(enum flow_mark mark);

void pill_of_mark(struct pills *pills, struct sheet *sheet, enum flow_mark mark);

/* Whether the edge leads from one difference to the next, or from one non-finite value to the
 * next. */
bool mark_is_handed_on(const struct flow_graph *graph, const struct flow_edge *edge);
/* Highlights such an edge with a loud colour and a thicker line. Keeps the dash of its kind. */
void mark_edge(const struct sheet *sheet, struct picture_item *curve);

#endif
