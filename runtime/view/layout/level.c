/* Lays out one level: each connected piece as a sheet of its own, the sheets set in rows. */
#include "runtime/view/layout/level.h"

#include "runtime/view/layout/plan.h"

#include <math.h>
#include <stdlib.h>

static bool level_init(struct level *level, struct layout_plan *plan, uint32_t number)
{
    const uint32_t *things = plan->level_things.starts;
    const uint32_t *ports = plan->level_ports.starts;
    const uint32_t *links = plan->level_links.starts;
    uint32_t item_count = things[number + 1] - things[number];

    *level = (struct level){.plan = plan, .number = number};
    level->group = number == 0 ? NULL : &plan->layout->groups[number - 1];
    level->thing_count = item_count + ports[number + 1] - ports[number];
    level->links = plan->level_links.items + links[number];
    level->link_count = links[number + 1] - links[number];
    level->things =
        arena_allocate(&plan->level_arena, level->thing_count, sizeof *level->things);
    level->numbers =
        arena_allocate(&plan->level_arena, level->thing_count, sizeof *level->numbers);
    if (level->things == NULL || level->numbers == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < level->thing_count; i++) {
        uint32_t thing =
            i < item_count
                ? plan->sorted_things[plan->level_things.items[things[number] + i]]
                : layout_plan_port_thing(
                      plan, plan->level_ports.items[ports[number] + i - item_count]);

        level->things[i] = thing;
        plan->local[thing] = i;
    }
    return true;
}

/* The thing of this level that an end of a link belongs to: a port of an inner group is a
 * place on that group. */
static uint32_t level_local(const struct level *level, uint32_t thing)
{
    const struct layout_plan *plan = level->plan;
    const struct plan_port *port = layout_plan_port(plan, thing);

    if (port != NULL && group_level(port->group) != level->number) {
        thing = layout_plan_group_thing(plan, port->group);
    }
    return plan->local[thing];
}

/* Pieces ----------------------------------------------------------------------------- */

static uint32_t find_first(uint32_t *firsts, uint32_t i)
{
    while (firsts[i] != i) {
        firsts[i] = firsts[firsts[i]];
        i = firsts[i];
    }
    return i;
}

/* Joins what is linked: the first of each piece becomes its name. */
static void level_join(const struct level *level, uint32_t *firsts)
{
    for (uint32_t i = 0; i < level->thing_count; i++) {
        firsts[i] = i;
    }
    for (uint32_t i = 0; i < level->link_count; i++) {
        const struct plan_link *link = &level->plan->links[level->links[i]];
        uint32_t a = find_first(firsts, level_local(level, link->upper));
        uint32_t b = find_first(firsts, level_local(level, link->lower));

        if (a < b) {
            firsts[b] = a;
        } else {
            firsts[a] = b;
        }
    }
}

static bool level_split(struct level *level)
{
    struct arena *arena = &level->plan->level_arena;
    uint32_t *firsts = arena_allocate(arena, level->thing_count, sizeof *firsts);
    uint32_t *pieces = arena_allocate(arena, level->thing_count, sizeof *pieces);
    uint32_t *link_pieces =
        arena_allocate(arena, level->link_count, sizeof *link_pieces);

    if (firsts == NULL || pieces == NULL || link_pieces == NULL) {
        return false;
    }
    level_join(level, firsts);
    for (uint32_t i = 0; i < level->thing_count; i++) {
        uint32_t first = find_first(firsts, i);

        pieces[i] = first == i ? level->piece_count++ : pieces[first];
    }
    for (uint32_t i = 0; i < level->link_count; i++) {
        const struct plan_link *link = &level->plan->links[level->links[i]];

        link_pieces[i] = pieces[level_local(level, link->upper)];
    }
    level->pieces = arena_allocate(arena, level->piece_count, sizeof *level->pieces);
    return level->pieces != NULL &&
           sheet_lists_make(&level->piece_things, arena, pieces, 1, level->thing_count,
                            level->piece_count) &&
           sheet_lists_make(&level->piece_links, arena, link_pieces, 1,
                            level->link_count, level->piece_count);
}

/* Sheets ----------------------------------------------------------------------------- */

static struct sheet_node level_box_node(const struct layout_plan *plan, uint32_t box)
{
    const struct layout *layout = plan->layout;
    double margin = plan->has_loop[box] ? layout->options.edge_gap * LOOP_GAPS : 0.0;

    return (struct sheet_node){.kind = SHEET_BOX,
                               .width = layout->boxes[box].width + 2.0 * margin,
                               .margin = margin,
                               .height = layout->boxes[box].height};
}

static struct sheet_node level_node(const struct level *level, uint32_t thing)
{
    const struct layout_plan *plan = level->plan;
    const struct layout *layout = plan->layout;
    const struct plan_port *port = layout_plan_port(plan, thing);

    if (port != NULL) {
        return (struct sheet_node){.kind = port->is_entry ? SHEET_ENTRY : SHEET_EXIT};
    }
    if (layout_plan_is_group(plan, thing)) {
        const struct layout_group *group = &layout->groups[thing - layout->box_count];

        return (struct sheet_node){
            .kind = SHEET_GROUP, .width = group->width, .height = group->height};
    }
    return level_box_node(plan, thing);
}

/* Where on a thing, from its middle, a link ends. */
static double level_offset(const struct level *level, uint32_t thing)
{
    const struct layout_plan *plan = level->plan;
    const struct plan_port *port = layout_plan_port(plan, thing);

    if (port == NULL || group_level(port->group) == level->number) {
        return 0.0;
    }
    return port->x - plan->layout->groups[port->group].width / 2.0;
}

static bool sheet_fill(struct sheet *sheet, struct level *level, uint32_t piece)
{
    struct layout_plan *plan = level->plan;
    const uint32_t *things =
        level->piece_things.items + level->piece_things.starts[piece];
    const uint32_t *links = level->piece_links.items + level->piece_links.starts[piece];
    uint32_t last_net = 0;

    sheet->item_count =
        level->piece_things.starts[piece + 1] - level->piece_things.starts[piece];
    sheet->link_count =
        level->piece_links.starts[piece + 1] - level->piece_links.starts[piece];
    sheet->nodes =
        arena_allocate(sheet->arena, sheet->item_count, sizeof *sheet->nodes);
    sheet->links =
        arena_allocate(sheet->arena, sheet->link_count, sizeof *sheet->links);
    if (sheet->nodes == NULL || sheet->links == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        uint32_t thing = level->things[things[i]];

        sheet->nodes[i] = level_node(level, thing);
        level->pieces[piece].has_ports |= layout_plan_port(plan, thing) != NULL;
        level->numbers[things[i]] = i;
    }
    for (uint32_t i = 0; i < sheet->link_count; i++) {
        const struct plan_link *link = &plan->links[level->links[links[i]]];

        sheet->net_count += link->net != last_net;
        last_net = link->net;
        sheet->links[i] = (struct sheet_link){
            .upper = level->numbers[level_local(level, link->upper)],
            .lower = level->numbers[level_local(level, link->lower)],
            .net = sheet->net_count - 1,
            .upper_offset = level_offset(level, link->upper),
            .lower_offset = level_offset(level, link->lower)};
    }
    return true;
}

/* Takes places and routes over from a sheet that is done. */
static void level_keep(struct level *level, uint32_t piece, const struct sheet *sheet)
{
    struct layout_plan *plan = level->plan;
    const uint32_t *things =
        level->piece_things.items + level->piece_things.starts[piece];
    const uint32_t *links = level->piece_links.items + level->piece_links.starts[piece];

    for (uint32_t i = 0; i < sheet->item_count; i++) {
        const struct sheet_node *node = &sheet->nodes[i];

        plan->places[level->things[things[i]]] =
            (struct layout_point){node->x - node->width / 2.0 + node->margin, node->y};
    }
    for (uint32_t i = 0; i < sheet->link_count; i++) {
        struct plan_link *link = &plan->links[level->links[links[i]]];

        link->first_point = plan->path.count;
        sheet_route(sheet, &sheet->links[i], &plan->path);
        link->point_count = plan->path.count - link->first_point;
    }
    level->pieces[piece].width = sheet->width;
    level->pieces[piece].height = sheet->height;
}

static bool level_lay_out_piece(struct level *level, uint32_t piece)
{
    struct layout_plan *plan = level->plan;
    struct sheet sheet = {.options = &plan->layout->options,
                          .arena = &plan->sheet_arena,
                          .column_height = plan->column_height,
                          .row_width = plan->row_width};

    arena_reset(&plan->sheet_arena);
    level->pieces[piece] = (struct piece){0};
    if (!sheet_fill(&sheet, level, piece) || !sheet_make_layers(&sheet) ||
        !sheet_make_segments(&sheet) || !sheet_order(&sheet) || !sheet_place(&sheet) ||
        !sheet_stack(&sheet) || !sheet_find_straight(&sheet) ||
        !sheet_spread_ends(&sheet)) {
        return false;
    }
    level_keep(level, piece, &sheet);
    return !plan->path.has_failed;
}

/* Setting pieces beside each other --------------------------------------------------- */

static void level_move(struct level *level, double right, double down)
{
    struct layout_plan *plan = level->plan;

    for (uint32_t piece = 0; piece < level->piece_count; piece++) {
        double x = level->pieces[piece].x + right;
        double y = level->pieces[piece].y + down;
        const struct sheet_lists *lists = &level->piece_things;

        for (uint32_t i = lists->starts[piece]; i < lists->starts[piece + 1]; i++) {
            struct layout_point *place = &plan->places[level->things[lists->items[i]]];

            place->x += x;
            place->y += y;
        }
        lists = &level->piece_links;
        for (uint32_t i = lists->starts[piece]; i < lists->starts[piece + 1]; i++) {
            const struct plan_link *link = &plan->links[level->links[lists->items[i]]];

            for (size_t k = 0; k < link->point_count; k++) {
                plan->path.points[link->first_point + k].x += x;
                plan->path.points[link->first_point + k].y += y;
            }
        }
    }
}

/* The group around it ---------------------------------------------------------------- */

static int port_compare(const void *left, const void *right)
{
    const struct plan_port *a = *(struct plan_port *const *)left;
    const struct plan_port *b = *(struct plan_port *const *)right;

    if (a->x != b->x) {
        return a->x < b->x ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

/* Writes the group's entries from the left to `entries`, gives their number. */
static uint32_t level_sort_entries(const struct level *level,
                                   struct plan_port **entries)
{
    const struct layout_plan *plan = level->plan;
    uint32_t count = 0;

    for (uint32_t i = 0; i < level->thing_count; i++) {
        struct plan_port *port = layout_plan_port(plan, level->things[i]);

        if (port != NULL) {
            port->x = plan->places[level->things[i]].x;
        }
        if (port != NULL && port->is_entry) {
            entries[count++] = port;
        }
    }
    qsort(entries, count, sizeof *entries, port_compare);
    return count;
}

/* Moves the group's entries right of its title; gives how far right they then reach. Their
 * edges get back to where they came from between title and pieces. */
static double
level_clear_title(struct level *level, struct plan_port **entries, uint32_t entry_count)
{
    const struct layout_group *group = level->group;
    double gap = level->plan->layout->options.edge_gap;
    double least =
        group->title_height > 0.0 ? group->padding + group->title_width + gap : 0.0;

    for (uint32_t i = 0; i < entry_count; i++) {
        entries[i]->x = fmax(entries[i]->x, least);
        least = entries[i]->x + gap;
    }
    return entry_count > 0 ? entries[entry_count - 1]->x : 0.0;
}

static bool level_has_entry(const struct level *level)
{
    for (uint32_t i = 0; i < level->thing_count; i++) {
        const struct plan_port *port = layout_plan_port(level->plan, level->things[i]);

        if (port != NULL && port->is_entry) {
            return true;
        }
    }
    return false;
}

/* Puts the border around the pieces, and the ports on it. */
static bool level_frame(struct level *level, struct layout_point *size)
{
    const struct layout_group *group = level->group;
    double title_width = group->title_height > 0.0 ? group->title_width : 0.0;
    double inside = fmax(level->width, title_width);
    double top = group->padding;
    double right;
    struct plan_port **entries =
        arena_allocate(&level->plan->level_arena, level->thing_count, sizeof *entries);

    if (entries == NULL) {
        return false;
    }
    if (level_has_entry(level)) {
        top = fmax(top, level->plan->layout->options.layer_gap / 2.0);
    }
    top += group->title_height;
    level_move(level, group->padding + (inside - level->width) / 2.0, top);
    right = level_clear_title(level, entries, level_sort_entries(level, entries));
    *size = (struct layout_point){.x = fmax(inside + group->padding, right) +
                                       group->padding,
                                  .y = top + level->height + group->padding};
    return true;
}

bool layout_plan_lay_out_level(struct layout_plan *plan,
                               uint32_t number,
                               struct layout_point *size)
{
    struct level level;

    arena_reset(&plan->level_arena);
    if (!level_init(&level, plan, number) || !level_split(&level)) {
        return false;
    }
    for (uint32_t piece = 0; piece < level.piece_count; piece++) {
        if (!level_lay_out_piece(&level, piece)) {
            return false;
        }
    }
    level_set_pieces(&level);
    if (level.group != NULL) {
        return level_frame(&level, size);
    }
    level_move(&level, 0.0, 0.0);
    *size = (struct layout_point){level.width, level.height};
    return true;
}
