/* The box of a node: its contents and their places. */
#ifndef MONITORCH_VIEW_PICTURE_BOX_BOX_H
#define MONITORCH_VIEW_PICTURE_BOX_BOX_H

#include "runtime/view/picture/box/table.h"
#include "runtime/view/picture/sheet.h"

/* The amount of detail in each box. Pictures of very many boxes have less. */
enum box_detail {
    BOX_FULL,
    BOX_WITHOUT_TABLE,
    BOX_SHORT, /* name and form only */
    BOX_CHIP,  /* one line: another box shows the value */
};

struct box_options {
    enum box_detail detail;
    bool has_files; /* the nodes are in several files */
    bool is_dense;  /* no figures; pills only for marks and guesses */
    struct table_limits limits;
};

struct box {
    double width;
    double height;
    size_t
        first_item; /* index in the picture; the items are drawn as if the box were at (0, 0) */
    size_t item_count;
};

/* Appends the box's items to the picture, drawn at (0, 0). box_move moves them to their place. */
void box_draw(struct box *box,
              struct sheet *sheet,
              const struct flow_node *node,
              const struct box_options *options);

void box_move(const struct box *box, struct picture *picture, double x, double y);

/* ---- card.c; the legend uses it too ---- */

enum box_role {
    ROLE_VALUE,
    ROLE_SOURCE,
    ROLE_ARGUMENT,
    ROLE_RESULT,
    ROLE_IN_PLACE,
    ROLE_ALIAS,
    ROLE_GUESS,
    ROLE_CALL,
    ROLE_UPDATE,
    ROLE_COUNT
};

enum box_role role_of(const struct flow_node *node);

struct card {
    enum box_role role;
    enum flow_mark mark;
    bool is_alarming;
};

/* Draws the card without contents: its border and the bar at its left. */
void card_draw(struct sheet *sheet,
               const struct card *card,
               double x,
               double y,
               double width,
               double height);

/* ---- box.c: pills, the small words in a box's head ---- */

#define PILL_HEIGHT 10.5
#define PILL_GAP    3.0
#define PILL_MAX    12

struct pill {
    struct slice text;
    uint32_t color;
    uint32_t text_color; /* 0: `color`, on a faint fill of the same colour */
    double width;
};

struct pills {
    struct pill pills[PILL_MAX];
    uint32_t count;
};

void pill_add(struct pills *pills,
              struct sheet *sheet,
              struct slice text,
              uint32_t color,
              uint32_t text_color);
void pill_draw(struct sheet *sheet, const struct pill *pill, double x, double y);

/* ---- view/picture/marks.c: the remark of a marked node, in a few lines ---- */

#define REMARK_LINE_MAX 4

struct remark {
    struct slice lines[REMARK_LINE_MAX];
    uint32_t line_count;
    bool is_loud;
};

void remark_prepare(struct remark *remark,
                    struct sheet *sheet,
                    const struct flow_node *node,
                    double width);
double remark_width(const struct remark *remark, const struct sheet *sheet);
double remark_height(const struct remark *remark);
void remark_draw(const struct remark *remark, struct sheet *sheet, double x, double y);

/* ---- box.c: the statistics below a table ---- */

#define FIGURE_MAX 4

struct figures {
    uint32_t count;
    uint32_t across;
    struct slice labels[FIGURE_MAX];
    struct slice values[FIGURE_MAX];
    double widths[FIGURE_MAX]; /* of each column */
    double width;
    double height;
};

#endif
