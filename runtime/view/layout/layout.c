/* Placing of boxes, edges and nested groups: plans the levels, tries columns, checks the input
 * and writes the results. */
#include "runtime/view/layout/layout.h"

#include "runtime/base/error.h"
#include "runtime/view/layout/plan.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- checks of the input ---- */

/* Indices have 32 bits, and the layout makes a few times as many things as its input has. */
#define COUNT_LIMIT ((size_t)1 << 28)

/* Whether the length is valid. It must be so small that sums of lengths stay exact. */
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

/* Returns false if a length, a count or an index is invalid; `error` says which. */
static bool layout_check(const struct layout *layout, struct error *error)
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

/* ---- the plan of the input: levels, directions, links ---- */

/* An edge, seen from the innermost level that contains both of its boxes: it joins two things of
 * that level. */
struct lifted_edge {
    uint32_t source;
    uint32_t target;
};

struct planning {
    struct layout_plan *plan;
    struct lifted_edge *lifted; /* by edge; loops: source == target */
    size_t crossing_count; /* number of group borders that all edges cross together */
    uint32_t net;          /* the net whose links are being made */
    /* By group or box: the last net that made a port or link there, and that port or link. */
    uint32_t *exit_nets;
    uint32_t *exits;
    uint32_t *entry_nets;
    uint32_t *entries;
    uint32_t *target_nets;
    uint32_t *target_links;
    uint32_t *way; /* groups, from the innermost to the outermost */
};

static void layout_plan_init(struct layout_plan *plan, struct layout *layout)
{
    *plan = (struct layout_plan){.layout = layout, .path = LAYOUT_PATH_INIT};
    arena_init(&plan->arena);
    arena_init(&plan->level_arena);
    arena_init(&plan->sheet_arena);
}

static void layout_plan_release(struct layout_plan *plan)
{
    arena_release(&plan->arena);
    arena_release(&plan->level_arena);
    arena_release(&plan->sheet_arena);
    path_release(&plan->path);
}

static void *layout_plan_array(struct layout_plan *plan, size_t count, size_t size)
{
    void *array = arena_allocate(&plan->arena, count, size);

    if (array != NULL) {
        memset(array, 0, count * size);
    }
    return array;
}

/* The order of things ---------------------------------------------------------------- */

/* The sort key of each thing. A group has the key of its first box; empty groups are last. */
static void layout_plan_find_keys(const struct layout_plan *plan, uint32_t *keys)
{
    const struct layout *layout = plan->layout;
    uint32_t box_count = (uint32_t)layout->box_count;

    for (uint32_t i = 0; i < layout->group_count; i++) {
        keys[box_count + i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < box_count; i++) {
        uint32_t group = layout->boxes[i].group;

        keys[i] = i;
        if (group != LAYOUT_NONE && keys[box_count + group] > i) {
            keys[box_count + group] = i;
        }
    }
    for (uint32_t i = (uint32_t)layout->group_count; i-- > 0;) {
        uint32_t parent = layout->groups[i].parent;
        uint32_t key = keys[box_count + i];

        if (key == UINT32_MAX) {
            keys[box_count + i] = box_count + i;
        } else if (parent != LAYOUT_NONE && keys[box_count + parent] > key) {
            keys[box_count + parent] = key;
        }
    }
}

static bool layout_plan_sort_things(struct layout_plan *plan)
{
    const struct layout *layout = plan->layout;
    size_t count = layout->box_count + layout->group_count;
    uint32_t *keys = layout_plan_array(plan, count, sizeof *keys);
    uint32_t *levels = layout_plan_array(plan, count, sizeof *levels);
    struct sheet_lists by_key;

    plan->depths =
        layout_plan_array(plan, layout->group_count + 1, sizeof *plan->depths);
    if (keys == NULL || levels == NULL || plan->depths == NULL) {
        return false;
    }
    layout_plan_find_keys(plan, keys);
    if (!sheet_lists_make(&by_key, &plan->arena, keys, 1, count, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t thing = by_key.items[i];

        levels[i] = group_level(thing < layout->box_count
                                    ? layout->boxes[thing].group
                                    : layout->groups[thing - layout->box_count].parent);
    }
    for (size_t i = 0; i < layout->group_count; i++) {
        plan->depths[i + 1] = plan->depths[group_level(layout->groups[i].parent)] + 1;
    }
    plan->sorted_things = by_key.items;
    return sheet_lists_make(&plan->level_things, &plan->arena, levels, 1, count,
                            layout->group_count + 1);
}

/* Back edges ------------------------------------------------------------------------- */

static struct lifted_edge planning_lift(struct planning *planning,
                                        const struct layout_edge *edge)
{
    const struct layout_plan *plan = planning->plan;
    const struct layout *layout = plan->layout;
    uint32_t group_a = layout->boxes[edge->source].group;
    uint32_t group_b = layout->boxes[edge->target].group;
    struct lifted_edge lifted = {edge->source, edge->target};

    while (group_a != group_b) {
        planning->crossing_count++;
        if (plan->depths[group_level(group_a)] >= plan->depths[group_level(group_b)]) {
            lifted.source = layout_plan_group_thing(plan, group_a);
            group_a = layout->groups[group_a].parent;
        } else {
            lifted.target = layout_plan_group_thing(plan, group_b);
            group_b = layout->groups[group_b].parent;
        }
    }
    return lifted;
}

struct walk {
    struct sheet_lists out; /* edges by thing */
    uint32_t *stack;
    uint32_t *next; /* by thing: the next edge to visit */
    enum { WALK_NEW, WALK_OPEN, WALK_DONE } * states;
};

static bool walk_init(struct walk *walk, const struct planning *planning)
{
    struct layout_plan *plan = planning->plan;
    size_t count = plan->layout->box_count + plan->layout->group_count;

    walk->stack = layout_plan_array(plan, count, sizeof *walk->stack);
    walk->next = layout_plan_array(plan, count, sizeof *walk->next);
    walk->states = layout_plan_array(plan, count, sizeof *walk->states);
    return walk->stack != NULL && walk->next != NULL && walk->states != NULL &&
           sheet_lists_make(&walk->out, &plan->arena, &planning->lifted->source, 2,
                            plan->layout->edge_count, count);
}

/* Visits everything that can be reached from a thing, depth first. An edge to a thing that is
 * still open closes a cycle: it is a back edge. */
static void
walk_from(struct walk *walk, const struct planning *planning, uint32_t thing)
{
    struct layout_edge *edges = planning->plan->layout->edges;
    uint32_t depth = 0;

    walk->stack[depth++] = thing;
    walk->states[thing] = WALK_OPEN;
    walk->next[thing] = walk->out.starts[thing];
    while (depth > 0) {
        uint32_t at = walk->stack[depth - 1];
        uint32_t edge;
        uint32_t target;

        if (walk->next[at] == walk->out.starts[at + 1]) {
            walk->states[at] = WALK_DONE;
            depth--;
            continue;
        }
        edge = walk->out.items[walk->next[at]++];
        target = planning->lifted[edge].target;
        edges[edge].is_back = walk->states[target] == WALK_OPEN && target != at;
        if (walk->states[target] == WALK_NEW) {
            walk->states[target] = WALK_OPEN;
            walk->next[target] = walk->out.starts[target];
            walk->stack[depth++] = target;
        }
    }
}

static bool planning_direct(struct planning *planning)
{
    struct layout_plan *plan = planning->plan;
    const struct layout *layout = plan->layout;
    struct walk walk;

    planning->lifted =
        layout_plan_array(plan, layout->edge_count, sizeof *planning->lifted);
    plan->has_loop = layout_plan_array(plan, layout->box_count, sizeof *plan->has_loop);
    if (planning->lifted == NULL || plan->has_loop == NULL) {
        return false;
    }
    for (size_t i = 0; i < layout->edge_count; i++) {
        planning->lifted[i] = planning_lift(planning, &layout->edges[i]);
        plan->has_loop[layout->edges[i].source] |=
            layout->edges[i].source == layout->edges[i].target;
    }
    if (!walk_init(&walk, planning)) {
        return false;
    }
    for (size_t i = 0; i < layout->box_count + layout->group_count; i++) {
        if (walk.states[plan->sorted_things[i]] == WALK_NEW) {
            walk_from(&walk, planning, plan->sorted_things[i]);
        }
    }
    return true;
}

/* Links ------------------------------------------------------------------------------ */

static uint32_t planning_add_link(struct planning *planning,
                                  uint32_t level,
                                  uint32_t upper,
                                  uint32_t lower)
{
    struct layout_plan *plan = planning->plan;

    plan->links[plan->link_count] = (struct plan_link){
        .level = level, .upper = upper, .lower = lower, .net = planning->net};
    return plan->link_count++;
}

/* The port at which the net leaves the group (`thing` is its upper end inside the group) or
 * enters it (`thing` is its upper end outside). Makes the port if the net has none there yet. */
static const struct plan_port *
planning_port(struct planning *planning, uint32_t group, uint32_t thing, bool is_entry)
{
    struct layout_plan *plan = planning->plan;
    uint32_t *nets = is_entry ? planning->entry_nets : planning->exit_nets;
    uint32_t *ports = is_entry ? planning->entries : planning->exits;
    uint32_t level = group_level(is_entry ? plan->layout->groups[group].parent : group);

    assert(group < plan->layout->group_count);
    if (nets[group] != planning->net) {
        nets[group] = planning->net;
        ports[group] = plan->port_count++;
        plan->ports[ports[group]] = (struct plan_port){
            .group = group,
            .is_entry = is_entry,
            .link = planning_add_link(planning, level, thing,
                                      layout_plan_port_thing(plan, ports[group]))};
    }
    return &plan->ports[ports[group]];
}

/* Makes the links of an edge: out of the groups of the upper box and into those of the lower
 * one. Writes them to `links` and returns their number. */
static uint32_t planning_link_edge(struct planning *planning,
                                   const struct layout_edge *edge,
                                   uint32_t *links)
{
    struct layout_plan *plan = planning->plan;
    const struct layout *layout = plan->layout;
    uint32_t thing = edge->is_back ? edge->target : edge->source;
    uint32_t lower = edge->is_back ? edge->source : edge->target;
    uint32_t group = layout->boxes[thing].group;
    uint32_t lower_group = layout->boxes[lower].group;
    uint32_t way_length = 0;
    uint32_t count = 0;

    while (group != lower_group) {
        const struct plan_port *port;

        if (plan->depths[group_level(group)] < plan->depths[group_level(lower_group)]) {
            planning->way[way_length++] = lower_group;
            lower_group = layout->groups[lower_group].parent;
            continue;
        }
        port = planning_port(planning, group, thing, false);
        links[count++] = port->link;
        thing = layout_plan_port_thing(plan, (uint32_t)(port - plan->ports));
        group = layout->groups[group].parent;
    }
    while (way_length > 0) {
        const struct plan_port *port =
            planning_port(planning, planning->way[--way_length], thing, true);

        links[count++] = port->link;
        thing = layout_plan_port_thing(plan, (uint32_t)(port - plan->ports));
    }
    if (planning->target_nets[lower] != planning->net) {
        planning->target_nets[lower] = planning->net;
        planning->target_links[lower] = planning_add_link(
            planning, group_level(layout->boxes[lower].group), thing, lower);
    }
    links[count++] = planning->target_links[lower];
    return count;
}

static bool planning_make_room(struct planning *planning)
{
    struct layout_plan *plan = planning->plan;
    const struct layout *layout = plan->layout;
    size_t link_limit = layout->edge_count + planning->crossing_count;

    planning->exit_nets =
        layout_plan_array(plan, layout->group_count, sizeof(uint32_t));
    planning->exits = layout_plan_array(plan, layout->group_count, sizeof(uint32_t));
    planning->entry_nets =
        layout_plan_array(plan, layout->group_count, sizeof(uint32_t));
    planning->entries = layout_plan_array(plan, layout->group_count, sizeof(uint32_t));
    planning->way = layout_plan_array(plan, layout->group_count, sizeof(uint32_t));
    planning->target_nets =
        layout_plan_array(plan, layout->box_count, sizeof(uint32_t));
    planning->target_links =
        layout_plan_array(plan, layout->box_count, sizeof(uint32_t));
    plan->ports =
        layout_plan_array(plan, planning->crossing_count, sizeof *plan->ports);
    plan->links = layout_plan_array(plan, link_limit, sizeof *plan->links);
    plan->edge_links = layout_plan_array(plan, link_limit, sizeof *plan->edge_links);
    plan->edge_link_starts =
        layout_plan_array(plan, layout->edge_count + 1, sizeof(uint32_t));
    return !plan->arena.has_failed;
}

/* Makes all links. The edges that leave one box in the same direction are a net. Nets are
 * processed one after another, so the links of each level are sorted by net; each edge's own
 * links are listed with its start and count. Returns false if memory runs out. */
static bool planning_link(struct planning *planning)
{
    struct layout_plan *plan = planning->plan;
    const struct layout *layout = plan->layout;
    uint32_t *keys = layout_plan_array(plan, layout->edge_count, sizeof *keys);
    uint32_t filled = 0;
    struct sheet_lists by_net;

    if (keys == NULL || !planning_make_room(planning)) {
        return false;
    }
    for (size_t i = 0; i < layout->edge_count; i++) {
        const struct layout_edge *edge = &layout->edges[i];

        keys[i] = edge->is_back ? edge->target * 2 + 1 : edge->source * 2;
    }
    if (!sheet_lists_make(&by_net, &plan->arena, keys, 1, layout->edge_count,
                          layout->box_count * 2)) {
        return false;
    }
    for (size_t i = 0; i < layout->edge_count; i++) {
        uint32_t edge = by_net.items[i];

        plan->edge_link_starts[edge] = filled;
        planning->net = keys[edge] + 1;
        if (layout->edges[edge].source != layout->edges[edge].target) {
            filled += planning_link_edge(planning, &layout->edges[edge],
                                         plan->edge_links + filled);
        }
        keys[edge] = filled - plan->edge_link_starts[edge];
    }
    plan->edge_link_counts = keys;
    return true;
}

static bool layout_plan_list(struct layout_plan *plan)
{
    size_t level_count = plan->layout->group_count + 1;
    uint32_t *port_levels =
        layout_plan_array(plan, plan->port_count, sizeof *port_levels);
    uint32_t *link_levels =
        layout_plan_array(plan, plan->link_count, sizeof *link_levels);
    size_t thing_count = layout_plan_thing_count(plan);

    plan->places = layout_plan_array(plan, thing_count, sizeof *plan->places);
    plan->local = layout_plan_array(plan, thing_count, sizeof *plan->local);
    if (plan->arena.has_failed) {
        return false;
    }
    for (uint32_t i = 0; i < plan->port_count; i++) {
        port_levels[i] = group_level(plan->ports[i].group);
    }
    for (uint32_t i = 0; i < plan->link_count; i++) {
        link_levels[i] = plan->links[i].level;
    }
    return sheet_lists_make(&plan->level_ports, &plan->arena, port_levels, 1,
                            plan->port_count, level_count) &&
           sheet_lists_make(&plan->level_links, &plan->arena, link_levels, 1,
                            plan->link_count, level_count);
}

/* Fills the plan and is_back of each edge. Returns false if memory runs out. */
static bool layout_plan_make(struct layout_plan *plan)
{
    struct planning planning = {.plan = plan};

    return layout_plan_sort_things(plan) && planning_direct(&planning) &&
           planning_link(&planning) && layout_plan_list(plan);
}

/* A page is kept if its proportion differs from the wanted one by less than this factor. */
#define SHAPE_TOLERANCE 1.6
#define TRY_COUNT       4
/* Limit of the points of all routes with columns: POINT_LIMIT, plus POINT_SHARE for each box and
 * edge. */
#define POINT_LIMIT ((size_t)1 << 20)
#define POINT_SHARE ((size_t)64)

void layout_init(struct layout *layout)
{
    *layout = (struct layout){.options = LAYOUT_OPTIONS_DEFAULT};
    arena_init(&layout->arena);
}

void layout_release(struct layout *layout)
{
    arena_release(&layout->arena);
    layout->points = NULL;
    layout->point_count = 0;
}

/* The shape of the page -------------------------------------------------------------- */

/* Lays out all levels, innermost first, and writes the page's size to the layout. */
static bool layout_plan_run(struct layout_plan *plan)
{
    struct layout *layout = plan->layout;
    struct layout_point size;

    plan->path.count = 0;
    for (uint32_t level = (uint32_t)layout->group_count; level > 0; level--) {
        if (!layout_plan_lay_out_level(plan, level, &size)) {
            return false;
        }
        layout->groups[level - 1].width = size.x;
        layout->groups[level - 1].height = size.y;
    }
    if (!layout_plan_lay_out_level(plan, 0, &size)) {
        return false;
    }
    layout->width = size.x;
    layout->height = size.y;
    return true;
}

/* The distance of the page from the wanted proportion: 0 is exact, above 0 too high, below 0 too
 * wide. */
static double layout_plan_shape(const struct layout_plan *plan)
{
    const struct layout *layout = plan->layout;

    if (layout->width <= 0.0 || layout->height <= 0.0) {
        return 0.0;
    }
    return log(layout->height / layout->width / layout->options.proportion);
}

/* The length rounded to coarse steps, so that a small change of the page does not move every
 * cut. */
static double rounded_length(double length)
{
    return exp2(round(log2(length) * 4.0) / 4.0);
}

/* Lays out the page with columns of this height or rows of this width. Sets `is_good` to false
 * if edges are cut so often that drawing them would dominate the cost. Returns false if memory
 * runs out. */
static bool
layout_plan_try(struct layout_plan *plan, double *limit, double length, bool *is_good)
{
    const struct layout *layout = plan->layout;
    bool is_done;

    *limit = length;
    plan->path.limit =
        POINT_LIMIT + POINT_SHARE * (layout->box_count + layout->edge_count);
    is_done = layout_plan_run(plan);
    *is_good = is_done;
    if (plan->path.is_full) {
        plan->path.is_full = false;
        plan->path.has_failed = false;
        is_done = true;
    }
    plan->path.limit = SIZE_MAX;
    return is_done;
}

/* The height of the smallest page with the wanted proportion that holds the layout. */
static double layout_plan_page_height(const struct layout_plan *plan)
{
    const struct layout *layout = plan->layout;

    return fmax(layout->height, layout->width * layout->options.proportion);
}

/* Tries columns (or rows) of several lengths: two that follow from the area of the previous try,
 * then a shorter and a longer one. Lays out the best one last. Returns false if memory runs out. */
static bool layout_plan_try_lengths(struct layout_plan *plan, double *limit)
{
    const struct layout *layout = plan->layout;
    double proportion = layout->options.proportion;
    double share = limit == &plan->column_height ? proportion : 1.0 / proportion;
    double best_height = layout_plan_page_height(plan);
    double best_length = 0.0;
    double length = 0.0;
    bool is_good = true;

    for (int attempt = 0; attempt < TRY_COUNT && is_good; attempt++) {
        double wanted = attempt < 2    ? sqrt(layout->width * layout->height * share)
                        : attempt == 2 ? length * exp2(-0.25)
                                       : length * exp2(0.25);

        wanted = rounded_length(wanted);
        if (attempt < 2) {
            length = wanted;
        }
        if (wanted == *limit) {
            continue;
        }
        if (!layout_plan_try(plan, limit, wanted, &is_good)) {
            return false;
        }
        if (is_good && layout_plan_page_height(plan) < best_height) {
            best_height = layout_plan_page_height(plan);
            best_length = wanted;
        }
    }
    if (*limit != best_length) {
        *limit = best_length;
        return layout_plan_run(plan);
    }
    return true;
}

/* Lays out the page. If its proportion is far from the wanted one, tries columns or rows. */
static bool layout_plan_find_shape(struct layout_plan *plan)
{
    if (!layout_plan_run(plan)) {
        return false;
    }
    if (plan->layout->options.proportion <= 0.0 ||
        fabs(layout_plan_shape(plan)) < log(SHAPE_TOLERANCE)) {
        return true;
    }
    return layout_plan_try_lengths(
        plan, layout_plan_shape(plan) > 0.0 ? &plan->column_height : &plan->row_width);
}

/* Results ---------------------------------------------------------------------------- */

static void layout_plan_write_places(const struct layout_plan *plan)
{
    struct layout *layout = plan->layout;

    for (uint32_t i = 0; i < layout->group_count; i++) {
        struct layout_group *group = &layout->groups[i];
        struct layout_point place = plan->places[layout_plan_group_thing(plan, i)];

        group->x = place.x;
        group->y = place.y;
        if (group->parent != LAYOUT_NONE) {
            group->x += layout->groups[group->parent].x;
            group->y += layout->groups[group->parent].y;
        }
    }
    for (uint32_t i = 0; i < layout->box_count; i++) {
        struct layout_box *box = &layout->boxes[i];

        box->x = plan->places[i].x;
        box->y = plan->places[i].y;
        if (box->group != LAYOUT_NONE) {
            box->x += layout->groups[box->group].x;
            box->y += layout->groups[box->group].y;
        }
    }
}

static void layout_plan_move_links(const struct layout_plan *plan)
{
    const struct layout *layout = plan->layout;

    for (uint32_t i = 0; i < plan->link_count; i++) {
        const struct plan_link *link = &plan->links[i];

        for (size_t k = 0; link->level > 0 && k < link->point_count; k++) {
            struct layout_point *point = &plan->path.points[link->first_point + k];

            point->x += layout->groups[link->level - 1].x;
            point->y += layout->groups[link->level - 1].y;
        }
    }
}

static void path_turn(struct layout_path *path)
{
    size_t last = path->count;

    for (size_t first = path->first; !path->has_failed && first + 1 < last; first++) {
        struct layout_point point = path->points[first];

        path->points[first] = path->points[--last];
        path->points[last] = point;
    }
}

/* Draws a loop: out of the box's right side and back into it. */
static void
path_loop(struct layout_path *path, const struct layout_box *box, double width)
{
    double right = box->x + box->width;
    double out = right + width * 4.0 / 3.0 * 0.9;
    const struct layout_point points[] = {{right, box->y + box->height * 0.3},
                                          {out, box->y + box->height * 0.1},
                                          {out, box->y + box->height * 0.9},
                                          {right, box->y + box->height * 0.7}};

    path_begin(path, points[0].x, points[0].y);
    path_copy(path, points + 1, 3);
}

/* Draws the part between the end of one link and the start of the next: along a group's border
 * and, if the next link is inside the group, past its title. */
static void layout_plan_pass_border(const struct layout_plan *plan,
                                    const struct plan_link *next,
                                    struct layout_point start,
                                    struct layout_path *path)
{
    struct layout_point end = path_end(path);
    const struct plan_port *port = layout_plan_port(plan, next->upper);

    if (port != NULL && port->is_entry && group_level(port->group) == next->level) {
        const struct layout_group *group = &plan->layout->groups[port->group];

        path_line(path, end.x, group->y + group->title_height);
        path_curve(path, start.x,
                   group->y + group->title_height +
                       fmax(group->padding, plan->layout->options.layer_gap / 2.0));
    }
    path_line(path, path_end(path).x, start.y);
}

/* Joins the links of an edge to one route. */
static void layout_plan_draw_edge(const struct layout_plan *plan,
                                  uint32_t index,
                                  struct layout_path *path)
{
    assert(index < plan->layout->edge_count);

    const struct layout_edge *edge = &plan->layout->edges[index];
    const uint32_t *links = plan->edge_links + plan->edge_link_starts[index];

    if (edge->source == edge->target) {
        path_loop(path, &plan->layout->boxes[edge->source],
                  plan->layout->options.edge_gap * LOOP_GAPS);
        return;
    }
    for (uint32_t i = 0; i < plan->edge_link_counts[index]; i++) {
        const struct plan_link *link = &plan->links[links[i]];
        const struct layout_point *points = plan->path.points + link->first_point;

        if (i == 0) {
            path_begin(path, points[0].x, points[0].y);
        } else {
            layout_plan_pass_border(plan, link, points[0], path);
        }
        path_copy(path, points + 1, link->point_count - 1);
    }
    if (edge->is_back) {
        path_turn(path);
    }
}

static bool layout_plan_write_routes(const struct layout_plan *plan)
{
    struct layout *layout = plan->layout;
    struct layout_path path = LAYOUT_PATH_INIT;
    struct layout_point *points = NULL;

    for (uint32_t i = 0; i < layout->edge_count && !path.has_failed; i++) {
        layout->edges[i].first_point = path.count;
        layout_plan_draw_edge(plan, i, &path);
        layout->edges[i].point_count = path.count - layout->edges[i].first_point;
    }
    if (!path.has_failed) {
        points = arena_allocate(&layout->arena, path.count, sizeof *points);
    }
    if (points != NULL) {
        if (path.count > 0) {
            memcpy(points, path.points, path.count * sizeof *points);
        }
        layout->points = points;
        layout->point_count = path.count;
    }
    path_release(&path);
    return points != NULL;
}

static bool is_within(const struct layout *layout,
                      uint32_t group,
                      double x,
                      double y,
                      struct layout_point size)
{
    struct layout_point start = {0.0, 0.0};
    struct layout_point end = {layout->width, layout->height};
    const double rounding = 1e-6 * (1.0 + layout->width + layout->height);

    if (group != LAYOUT_NONE) {
        const struct layout_group *around = &layout->groups[group];

        start = (struct layout_point){around->x, around->y};
        end = (struct layout_point){around->x + around->width,
                                    around->y + around->height};
    }
    return x >= start.x - rounding && y >= start.y - rounding &&
           x + size.x <= end.x + rounding && y + size.y <= end.y + rounding;
}

/* Whether a route starts and ends at the borders of its boxes. */
static bool has_ends(const struct layout *layout, const struct layout_edge *edge)
{
    const struct layout_point *points = layout_route(layout, edge);
    const struct layout_box *source = &layout->boxes[edge->source];
    const struct layout_box *target = &layout->boxes[edge->target];
    const struct layout_point *last = &points[edge->point_count - 1];
    const double rounding = 1e-6 * (1.0 + layout->width + layout->height);

    if (edge->source == edge->target) {
        return fabs(points->x - source->x - source->width) < rounding &&
               fabs(last->x - source->x - source->width) < rounding;
    }
    return fabs(points->y - source->y - (edge->is_back ? 0.0 : source->height)) <
               rounding &&
           points->x >= source->x - rounding &&
           points->x <= source->x + source->width + rounding &&
           fabs(last->y - target->y - (edge->is_back ? target->height : 0.0)) <
               rounding &&
           last->x >= target->x - rounding &&
           last->x <= target->x + target->width + rounding;
}

/* Whether each box and group is inside its parent, and each route joins its boxes. For asserts. */
static __attribute__((unused)) bool layout_is_sound(const struct layout *layout)
{
    for (size_t i = 0; i < layout->box_count; i++) {
        const struct layout_box *box = &layout->boxes[i];
        struct layout_point size = {box->width, box->height};

        if (!is_within(layout, box->group, box->x, box->y, size)) {
            return false;
        }
    }
    for (size_t i = 0; i < layout->group_count; i++) {
        const struct layout_group *group = &layout->groups[i];
        struct layout_point size = {group->width, group->height};

        if (!is_within(layout, group->parent, group->x, group->y, size)) {
            return false;
        }
    }
    for (size_t i = 0; i < layout->edge_count; i++) {
        const struct layout_edge *edge = &layout->edges[i];

        if (edge->point_count < 4 || edge->point_count % 3 != 1 ||
            edge->first_point + edge->point_count > layout->point_count ||
            !has_ends(layout, edge)) {
            return false;
        }
    }
    return true;
}

bool layout_compute(struct layout *layout, struct error *error)
{
    struct layout_plan plan;
    bool is_done;

    layout_release(layout);
    if (!layout_check(layout, error)) {
        return false;
    }
    layout_plan_init(&plan, layout);
    is_done = layout_plan_make(&plan) && layout_plan_find_shape(&plan);
    if (is_done) {
        layout_plan_write_places(&plan);
        layout_plan_move_links(&plan);
        is_done = layout_plan_write_routes(&plan);
        assert(!is_done || layout_is_sound(layout));
    }
    layout_plan_release(&plan);
    if (!is_done) {
        error_set_memory(error);
    }
    return is_done;
}
