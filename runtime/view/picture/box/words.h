/* What is written in the box of a node. Used by box.c alone. */
#ifndef MONITORCH_VIEW_PICTURE_BOX_WORDS_H
#define MONITORCH_VIEW_PICTURE_BOX_WORDS_H

#include "runtime/view/picture/marks.h"

/* Texts are the sheet's. Where there is nothing to say they are empty, or as wide as 0. */

/* `model.py:31`, `line 31` */
struct slice box_place(struct sheet *sheet,
                       const struct flow_node *node,
                       const struct box_options *options);
/* `Parameter  float32 [8, 8]  cuda:0  grad` */
struct slice box_form(struct sheet *sheet, const struct flow_node *node);
/* What else is known of it, in words. */
struct slice box_note(struct sheet *sheet, const struct flow_node *node);
/* `3 NaN, 1 +Inf` */
struct pill box_alarm(struct sheet *sheet, const struct flow_node *node);
/* `x 50` */
struct pill box_times(struct sheet *sheet, uint64_t count);

/* How each of them is written. */
enum style_kind { STYLE_NAME, STYLE_PLACE, STYLE_FORM, STYLE_NOTE, STYLE_CODE };
struct text_style box_style(const struct sheet *sheet, enum style_kind kind);

#endif
