/* The card of a box: its shape and colours show the role of the value. */
#include "runtime/view/picture/marks.h"

#include <math.h>

#define BAR_WIDTH 3.0
#define BEHIND    2.5

enum box_role role_of(const struct flow_node *node)
{
    static const struct {
        unsigned flag;
        enum box_role role;
    } roles[] = {
        {FLOW_NODE_UPDATE, ROLE_UPDATE},     {FLOW_NODE_CALL, ROLE_CALL},
        {FLOW_NODE_GUESSED, ROLE_GUESS},     {FLOW_NODE_IN_PLACE, ROLE_IN_PLACE},
        {FLOW_NODE_ALIAS, ROLE_ALIAS},       {FLOW_NODE_RESULT, ROLE_RESULT},
        {FLOW_NODE_ARGUMENT, ROLE_ARGUMENT}, {FLOW_NODE_SOURCE, ROLE_SOURCE},
    };

    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if ((node->flags & roles[i].flag) != 0) {
            return roles[i].role;
        }
    }
    return ROLE_VALUE;
}

static uint32_t role_color(const struct picture_palette *palette, enum box_role role)
{
    const uint32_t colors[ROLE_COUNT] = {
        [ROLE_VALUE] = palette->value,       [ROLE_SOURCE] = palette->source,
        [ROLE_ARGUMENT] = palette->argument, [ROLE_RESULT] = palette->result,
        [ROLE_IN_PLACE] = palette->in_place, [ROLE_ALIAS] = palette->alias,
        [ROLE_GUESS] = palette->guess,       [ROLE_CALL] = palette->result,
        [ROLE_UPDATE] = palette->gradient,
    };

    return colors[role];
}

static void style_card(const struct picture_palette *palette,
                       const struct card *card,
                       struct picture_item *item)
{
    if (card->role == ROLE_UPDATE) {
        item->fill = palette->gradient_card;
        item->stroke = palette->gradient;
    }
    if (card->role == ROLE_GUESS) {
        item->fill = palette->guess_card;
        item->stroke = palette->guess;
        item->stroke_width = 1.2;
        item->dash = 4.0;
    }
    if (card->is_alarming) {
        item->stroke = palette->alarm;
        item->stroke_width = 1.6;
    }
    if (card->mark > FLOW_MARK_EQUAL) {
        struct mark_style style = mark_style_of(palette, card->mark);

        item->fill = style.card;
        item->stroke = style.color;
        item->stroke_width = style.stroke_width;
        item->dash = style.dash;
    }
}

void card_draw(struct sheet *sheet,
               const struct card *card,
               double x,
               double y,
               double width,
               double height)
{
    const struct picture_palette *palette = sheet->palette;
    struct picture_item *item = sheet_rectangle(sheet, x, y, width, height);
    bool comes_from_outside = card->role == ROLE_SOURCE || card->role == ROLE_ARGUMENT;
    double inset = comes_from_outside ? 7.0 : 4.0;

    if (card->role == ROLE_CALL) { /* a second card under it: the call can be opened */
        struct picture_item behind = *item;

        item->x += BEHIND;
        item->y += BEHIND;
        item->radius = 3.5;
        item->fill = palette->code_fill;
        item->stroke = palette->border;
        item->stroke_width = 0.75;
        item = sheet_rectangle(sheet, behind.x, behind.y, behind.width, behind.height);
    }

    /* Values from outside the picture have rounder corners than values made in it. */
    item->radius = comes_from_outside ? 9.0 : 3.5;
    item->fill = palette->card;
    item->stroke = palette->border;
    item->stroke_width = 0.75;
    style_card(palette, card, item);
    inset = fmin(inset, height / 4);
    item = sheet_rectangle(sheet, x + 3.5, y + inset, BAR_WIDTH, height - 2 * inset);
    item->radius = BAR_WIDTH / 2;
    item->fill = role_color(palette, card->role);
}
