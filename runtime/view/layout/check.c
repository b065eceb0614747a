/* Whether what is to be placed makes sense. */
#include "runtime/view/layout/check.h"

/* Indices are 32 bits wide, and a few times as many things are made of the input. */
#define COUNT_LIMIT ((size_t)1 << 28)

/* Sizes so large that sums of them are no longer exact are a mistake too. */
static bool is_length(double length)
{
    return length >= 0.0 && length <= 1e12;
}

static bool check_boxes(const struct layout *layout, struct error *error)
{
    for (size_t i = 0; i < layout->box_count; i++) {
        const struct layout_box *box = &layout->boxes[i];

        if (!is_length(box->width) || !is_length(box->height)) {
            error_set(error, ERROR_USAGE, "layout: box %zu has no sensible size", i);
            return false;
        }
        if (box->group != LAYOUT_NONE && box->group >= layout->group_count) {
            error_set(error, ERROR_USAGE, "layout: box %zu lies in group %u of %zu", i,
                      box->group, layout->group_count);
            return false;
        }
    }
    return true;
}

static bool check_groups(const struct layout *layout, struct error *error)
{
    for (size_t i = 0; i < layout->group_count; i++) {
        const struct layout_group *group = &layout->groups[i];

        if (!is_length(group->title_width) || !is_length(group->title_height) ||
            !is_length(group->padding)) {
            error_set(error, ERROR_USAGE,
                      "layout: group %zu has no sensible title or padding", i);
            return false;
        }
        if (group->parent != LAYOUT_NONE && group->parent >= i) {
            error_set(error, ERROR_USAGE,
                      "layout: group %zu is in group %u, which must precede it", i,
                      group->parent);
            return false;
        }
    }
    return true;
}

bool layout_check(const struct layout *layout, struct error *error)
{
    const struct layout_options *options = &layout->options;

    if (layout->box_count > COUNT_LIMIT || layout->group_count > COUNT_LIMIT ||
        layout->edge_count > COUNT_LIMIT) {
        error_set(error, ERROR_USAGE, "layout: more than %zu boxes, groups or edges",
                  COUNT_LIMIT);
        return false;
    }
    if (!is_length(options->box_gap) || !is_length(options->layer_gap) ||
        !is_length(options->edge_gap) || !is_length(options->proportion)) {
        error_set(error, ERROR_USAGE, "layout: an option is not a sensible number");
        return false;
    }
    for (size_t i = 0; i < layout->edge_count; i++) {
        const struct layout_edge *edge = &layout->edges[i];

        if (edge->source >= layout->box_count || edge->target >= layout->box_count) {
            error_set(error, ERROR_USAGE,
                      "layout: edge %zu runs from box %u to box %u of %zu", i,
                      edge->source, edge->target, layout->box_count);
            return false;
        }
    }
    return check_boxes(layout, error) && check_groups(layout, error);
}
