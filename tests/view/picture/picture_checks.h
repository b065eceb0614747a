/* What must hold of every picture: nothing overlaps, nothing leaves its box or the picture. */
#ifndef MONITORCH_TESTS_UNIT_PICTURE_CHECKS_H
#define MONITORCH_TESTS_UNIT_PICTURE_CHECKS_H

#include "runtime/base/utf8.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>
#include <stddef.h>

/* Rounding of widths. */
#define SLACK 0.02

struct extent {
    double left, top, right, bottom;
};

/* A text's letters: from the height of capitals down to a short descender. */
static inline struct extent extent_of(const struct picture_item *item)
{
    if (item->kind == PICTURE_TEXT) {
        return (struct extent){item->x, item->y - item->size * 0.73,
                               item->x + item->width, item->y + item->size * 0.05};
    }
    return (struct extent){item->x, item->y, item->x + item->width,
                           item->y + item->height};
}

static inline bool extent_holds(struct extent outer, struct extent inner)
{
    return inner.left >= outer.left - SLACK && inner.top >= outer.top - SLACK &&
           inner.right <= outer.right + SLACK && inner.bottom <= outer.bottom + SLACK;
}

static inline bool extents_overlap(struct extent a, struct extent b)
{
    return a.left < b.right - SLACK && b.left < a.right - SLACK &&
           a.top < b.bottom - SLACK && b.top < a.bottom - SLACK;
}

static inline bool text_is_drawable(struct slice text)
{
    size_t step;

    for (size_t i = 0; i < text.size; i += step) {
        uint32_t code = 0;

        step = utf8_read(text, i, &code);
        if (step == 0 || !utf8_is_printable(code)) {
            return false;
        }
    }
    return true;
}

/* From a GROUP_BEGIN to behind its end. */
static inline size_t group_end(const struct picture *picture, size_t begin)
{
    size_t i = begin + 1;

    while (i < picture->item_count && picture->items[i].kind != PICTURE_GROUP_END) {
        i++;
    }
    return i + 1;
}

/* Within a node's group: all lies in its card, which comes first; no two texts overlap; and
 * a text overlaps a small rectangle (a cell, a pill, code) only where it stands in it. */
static inline const char *
check_node(const struct picture *picture, size_t begin, size_t end)
{
    const struct picture_item *items = picture->items;
    struct extent card = extent_of(&items[begin + 1]);

    if (items[begin + 1].kind != PICTURE_RECTANGLE) {
        return "a node begins with its card";
    }
    for (size_t i = begin + 2; i < end - 1; i++) {
        struct extent extent = extent_of(&items[i]);

        if (!extent_holds(card, extent)) {
            return "all of a node lies in its card";
        }
        for (size_t k = begin + 2; k < end - 1 && items[i].kind == PICTURE_TEXT; k++) {
            struct extent other = extent_of(&items[k]);
            /* A border drawn inside a cell may touch its text. */
            bool is_cell =
                items[k].kind == PICTURE_RECTANGLE && items[k].stroke_width > 1.0;

            if (k == i || is_cell || !extents_overlap(extent, other)) {
                continue;
            }
            if (items[k].kind == PICTURE_TEXT) {
                return "two texts overlap";
            }
            if (!extent_holds(other, extent)) {
                return "a text stands half in a rectangle";
            }
        }
    }
    return NULL;
}

static inline const char *
check_cards(const struct picture *picture, const struct extent *cards, size_t count)
{
    struct extent whole = {0, 0, picture->width, picture->height};

    for (size_t i = 0; i < count; i++) {
        if (!extent_holds(whole, cards[i])) {
            return "a card lies outside the picture";
        }
        for (size_t k = 0; k < i; k++) {
            if (extents_overlap(cards[i], cards[k])) {
                return "two cards overlap";
            }
        }
    }
    return NULL;
}

/* Each card on exactly one page, and whole. */
static inline const char *
check_pages(const struct picture *picture, const struct extent *cards, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t whole = 0;
        size_t touched = 0;

        for (size_t k = 0; k < picture->page_count; k++) {
            const struct picture_page *page = &picture->pages[k];
            struct extent extent = {page->x, page->y, page->x + page->width,
                                    page->y + page->height};

            whole += extent_holds(extent, cards[i]);
            touched += extents_overlap(extent, cards[i]);
        }
        if (whole != 1 || touched != 1) {
            return "a card is not whole on exactly one page";
        }
    }
    return NULL;
}

#define CARD_MAX 512

/* NULL where all holds, else what does not. */
static inline const char *picture_check(const struct picture *picture)
{
    struct extent whole = {0, 0, picture->width, picture->height};
    struct extent cards[CARD_MAX];
    size_t card_count = 0;
    int depth = 0;
    const char *wrong = NULL;

    if (picture->page_count == 0) {
        return "there is a page";
    }
    for (size_t i = 0; i < picture->item_count && wrong == NULL; i++) {
        const struct picture_item *item = &picture->items[i];

        depth += item->kind == PICTURE_GROUP_BEGIN;
        depth -= item->kind == PICTURE_GROUP_END;
        if (depth < 0 || depth > 1) {
            wrong = "groups are not nested";
        }
        if (!text_is_drawable(item->text) || !text_is_drawable(item->title)) {
            wrong = "a text cannot be drawn";
        }
        if ((item->kind == PICTURE_RECTANGLE || item->kind == PICTURE_TEXT) &&
            !extent_holds(whole, extent_of(item))) {
            wrong = "an item lies outside the picture";
        }
        if (item->kind == PICTURE_GROUP_BEGIN &&
            slice_equal(item->text, SLICE("node")) && card_count < CARD_MAX) {
            wrong = check_node(picture, i, group_end(picture, i));
            cards[card_count++] = extent_of(&picture->items[i + 1]);
        }
    }
    if (wrong == NULL && depth != 0) {
        wrong = "a group has no end";
    }
    wrong = wrong == NULL ? check_cards(picture, cards, card_count) : wrong;
    return wrong == NULL ? check_pages(picture, cards, card_count) : wrong;
}

#endif
