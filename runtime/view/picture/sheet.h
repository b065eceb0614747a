/* The sheet on which all parts of a picture are drawn: items, texts and colours. Callers need
 * not check each call: a failed allocation sets has_failed, which is reported at the end. */
#ifndef MONITORCH_VIEW_PICTURE_SHEET_H
#define MONITORCH_VIEW_PICTURE_SHEET_H

#include "runtime/base/buffer.h"
#include "runtime/view/picture/picture.h"

/* Colours, 0xRRGGBBAA. Signs, roles and kinds of edges differ in lightness as well as in hue,
 * and also in words or line styles. */
struct picture_palette {
    uint32_t background;
    uint32_t card;
    uint32_t border;
    uint32_t text;
    uint32_t faint;
    uint32_t code;
    uint32_t code_fill;
    uint32_t group_tint; /* mixed into the background, more at greater depth */
    uint32_t group_border;
    uint32_t cell_border;
    uint32_t positive; /* tint of the largest value in a table */
    uint32_t negative;
    uint32_t alarm;
    uint32_t on_alarm; /* text on `alarm` */
    uint32_t value;    /* roles of boxes */
    uint32_t source;
    uint32_t argument;
    uint32_t result;
    uint32_t in_place;
    uint32_t alias;
    uint32_t guess;
    uint32_t guess_card;
    uint32_t on_guess;
    uint32_t edge; /* of values; writes and aliases have the colours of their roles */
    uint32_t edge_same;
    uint32_t edge_carried;
    uint32_t loud; /* marks */
    uint32_t loud_card;
    uint32_t on_loud;
    uint32_t inherited;
    uint32_t inherited_card;
    uint32_t only;
    uint32_t only_card;
    uint32_t gradient; /* also of nodes that write gradients or parameters */
    uint32_t gradient_card;
};

const struct picture_palette *picture_palette(enum picture_theme theme);

/* The same colour with the opacity `alpha` (0 to 255). */
uint32_t color_fade(uint32_t color, unsigned alpha);
/* A mix of two opaque colours: 0 gives `from`, 1 `to`. */
uint32_t color_mix(uint32_t from, uint32_t to, double part);

struct text_style {
    enum picture_face face;
    double size;
    uint32_t color;
};

struct sheet {
    struct picture *picture;               /* borrowed */
    const struct picture_palette *palette; /* borrowed */
    struct buffer scratch;                 /* owned: texts are built here */
    struct picture_item spare; /* returned for drawing when memory has run out */
    bool has_failed;
};

void sheet_init(struct sheet *sheet, struct picture *picture, enum picture_theme theme);
void sheet_release(struct sheet *sheet);
bool sheet_has_failed(const struct sheet *sheet);

/* Adds an item that is all zero except for its kind. Valid until the next one is added. */
struct picture_item *sheet_add(struct sheet *sheet, enum picture_item_kind kind);
struct picture_item *
sheet_rectangle(struct sheet *sheet, double x, double y, double width, double height);
/* Draws the text at its left end and baseline. Returns its width. */
double sheet_text(struct sheet *sheet,
                  struct text_style style,
                  double x,
                  double baseline,
                  struct slice text);
double style_width(struct text_style style, struct slice text);
void sheet_point(struct sheet *sheet, double x, double y);

/* `class` is a constant; `title` must be cleaned. */
void sheet_begin(struct sheet *sheet, const char *class, struct slice title);
void sheet_end(struct sheet *sheet);

/* ---- texts ---- */

/* The text in drawable form: UTF-8, printable only, of bounded length. */
struct slice sheet_clean(struct sheet *sheet, struct slice text);
/* Keeps the text of `scratch`, cleaned, and empties `scratch`. */
struct slice sheet_keep(struct sheet *sheet);

enum shorten_where { SHORTEN_START, SHORTEN_MIDDLE, SHORTEN_END };

/* The text, shortened to `width` with an ellipsis if it is wider. */
struct slice sheet_shorten(struct sheet *sheet,
                           struct text_style style,
                           struct slice text,
                           double width,
                           enum shorten_where where);

/* Breaks a cleaned text between words into at most `limit` lines of that width, and shortens the
 * last if there is more. Returns the number of lines. */
uint32_t sheet_wrap(struct sheet *sheet,
                    struct text_style style,
                    struct slice text,
                    double width,
                    struct slice *lines,
                    uint32_t limit);

/* The last part of a path. */
struct slice path_last_part(struct slice path);

/* Moves the first `count` items to the end: they are drawn last, on top of the others. */
void sheet_raise(struct sheet *sheet, size_t count);

#endif
