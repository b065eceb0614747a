/* Segments: cuts links into segments, with lanes in the layers that they pass. Links of a net
 * share their lanes, and so do long links from many nets to one node. The number of lanes
 * determines the time of all later stages. If there would still be too many, the longest links
 * share one bundle of lanes. */
#include "runtime/view/layout/sheet.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NO_LANE UINT32_MAX

/* The limit of all lanes: LANE_LIMIT, plus LANE_SHARE for each node and link. */
#define LANE_LIMIT 4096.0
#define LANE_SHARE 4.0
/* From this number on, long links to one node share their lanes. */
#define SHARED_FROM 4

/* A run of lanes, one in each layer of a range. */
struct run {
    uint32_t first_layer;
    uint32_t end_layer;
    uint32_t first_lane;   /* NO_LANE: none made yet */
    uint32_t last_segment; /* into the shared target; NO_LANE: none made yet */
};

struct net {
    struct run run; /* the layers that the net passes */
    struct run
        *shared; /* the run with its lanes: its own, its target's or the bundle */
    uint32_t long_count;    /* number of its long links */
    uint32_t long_target;   /* target of the last long link */
    uint32_t first_segment; /* from the upper end into the lanes */
    bool has_entered;
};

struct lanes {
    struct sheet *sheet;
    struct net *nets;
    struct run *targets; /* by node: the run shared by links from many nets to it */
    struct run bundle;
    uint32_t lane_count;
};

static void lanes_measure(struct lanes *lanes)
{
    struct sheet *sheet = lanes->sheet;

    for (uint32_t i = 0; i < sheet->net_count; i++) {
        lanes->nets[i] = (struct net){.run = {0, 0, NO_LANE, NO_LANE}};
    }
    for (uint32_t i = 0; i < sheet->link_count; i++) {
        struct sheet_link *link = &sheet->links[i];
        struct net *net = &lanes->nets[link->net];
        uint32_t end = sheet->nodes[link->lower].layer;

        net->run.first_layer = sheet->nodes[link->upper].layer + 1;
        net->run.end_layer = end > net->run.end_layer ? end : net->run.end_layer;
        link->lane_count = end - net->run.first_layer;
        if (link->lane_count > 0) {
            net->long_count++;
            net->long_target = link->lower;
        }
    }
}

static void run_widen(struct run *run, const struct run *other)
{
    if (run->first_layer == run->end_layer) {
        run->first_layer = other->first_layer;
        run->end_layer = other->end_layer;
        return;
    }
    run->first_layer =
        other->first_layer < run->first_layer ? other->first_layer : run->first_layer;
    run->end_layer =
        other->end_layer > run->end_layer ? other->end_layer : run->end_layer;
}

/* Makes long links to one node share a run, if each of them is the only long link of its net.
 * Returns false if memory runs out. */
static bool lanes_share_targets(struct lanes *lanes)
{
    struct sheet *sheet = lanes->sheet;
    uint32_t *counts = arena_allocate(sheet->arena, sheet->item_count, sizeof *counts);

    lanes->targets =
        arena_allocate(sheet->arena, sheet->item_count, sizeof *lanes->targets);
    if (counts == NULL || lanes->targets == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        counts[i] = 0;
        lanes->targets[i] = (struct run){0, 0, NO_LANE, NO_LANE};
    }
    for (uint32_t i = 0; i < sheet->net_count; i++) {
        counts[lanes->nets[i].long_target] += lanes->nets[i].long_count == 1;
    }
    for (uint32_t i = 0; i < sheet->net_count; i++) {
        struct net *net = &lanes->nets[i];

        net->shared = &net->run;
        if (net->long_count == 1 && counts[net->long_target] >= SHARED_FROM &&
            sheet->nodes[net->long_target].kind == SHEET_BOX) {
            net->shared = &lanes->targets[net->long_target];
            run_widen(net->shared, &net->run);
        }
    }
    return true;
}

static uint32_t run_length(const struct run *run)
{
    return run->end_layer - run->first_layer;
}

/* Finds the longest run that is allowed, so that all lanes together stay within the limit.
 * Returns false if memory runs out. */
static bool lanes_find_limit(const struct lanes *lanes, uint32_t *limit)
{
    const struct sheet *sheet = lanes->sheet;
    double size = (double)sheet->item_count + (double)sheet->link_count;
    double budget = LANE_LIMIT + LANE_SHARE * size;
    uint64_t *lane_counts =
        arena_allocate(sheet->arena, sheet->layer_count + 1, sizeof *lane_counts);

    if (lane_counts == NULL) {
        return false;
    }
    memset(lane_counts, 0, (sheet->layer_count + 1) * sizeof *lane_counts);
    for (uint32_t i = 0; i < sheet->net_count; i++) {
        if (lanes->nets[i].shared == &lanes->nets[i].run) {
            lane_counts[run_length(&lanes->nets[i].run)] +=
                run_length(&lanes->nets[i].run);
        }
    }
    for (uint32_t i = 0; i < sheet->item_count; i++) {
        lane_counts[run_length(&lanes->targets[i])] += run_length(&lanes->targets[i]);
    }
    for (*limit = 0; *limit < sheet->layer_count; ++*limit) {
        budget -= (double)lane_counts[*limit + 1];
        if (budget < 0.0) {
            break;
        }
    }
    return true;
}

static bool lanes_bundle(struct lanes *lanes)
{
    uint32_t limit;

    lanes->bundle = (struct run){0, 0, NO_LANE, NO_LANE};
    lanes->lane_count = 0;
    if (!lanes_find_limit(lanes, &limit)) {
        return false;
    }
    for (uint32_t i = 0; i < lanes->sheet->net_count; i++) {
        struct net *net = &lanes->nets[i];

        if (run_length(net->shared) > limit) {
            net->shared = &lanes->bundle;
            run_widen(&lanes->bundle, &net->run);
        } else if (net->shared == &net->run) {
            lanes->lane_count += run_length(&net->run);
        }
    }
    for (uint32_t i = 0; i < lanes->sheet->item_count; i++) {
        if (run_length(&lanes->targets[i]) <= limit) {
            lanes->lane_count += run_length(&lanes->targets[i]);
        }
    }
    lanes->lane_count += run_length(&lanes->bundle);
    return true;
}

static bool lanes_make_room(struct lanes *lanes)
{
    struct sheet *sheet = lanes->sheet;
    size_t node_count = (size_t)sheet->item_count + lanes->lane_count;
    struct sheet_node *nodes = arena_allocate(sheet->arena, node_count, sizeof *nodes);
    struct sheet_segment *segments =
        arena_allocate(sheet->arena, (size_t)sheet->link_count * 2 + lanes->lane_count,
                       sizeof *segments);

    if (nodes == NULL || segments == NULL) {
        return false;
    }
    memcpy(nodes, sheet->nodes, sheet->item_count * sizeof *nodes);
    sheet->nodes = nodes;
    sheet->node_count = sheet->item_count;
    sheet->segments = segments;
    sheet->segment_count = 0;
    return true;
}

static uint32_t segment_add(struct sheet *sheet,
                            uint32_t upper,
                            uint32_t lower,
                            double upper_offset,
                            double lower_offset)
{
    sheet->segments[sheet->segment_count] =
        (struct sheet_segment){.upper = upper,
                               .lower = lower,
                               .upper_offset = upper_offset,
                               .lower_offset = lower_offset};
    return sheet->segment_count++;
}

static void run_add_lanes(struct sheet *sheet, struct run *run)
{
    run->first_lane = sheet->node_count;
    for (uint32_t layer = run->first_layer; layer < run->end_layer; layer++) {
        sheet->nodes[sheet->node_count] =
            (struct sheet_node){.kind = SHEET_LANE, .layer = layer};
        if (layer > run->first_layer) {
            segment_add(sheet, sheet->node_count - 1, sheet->node_count, 0.0, 0.0);
        }
        sheet->node_count++;
    }
}

/* Adds the segment from the link's upper end into its lanes. The first link of a net makes it,
 * and the others share it. */
static void lanes_enter(struct lanes *lanes, struct sheet_link *link)
{
    struct net *net = &lanes->nets[link->net];
    struct run *run = net->shared;

    if (run->first_lane == NO_LANE) {
        run_add_lanes(lanes->sheet, run);
    }
    link->first_lane = run->first_lane + (net->run.first_layer - run->first_layer);
    if (!net->has_entered) {
        net->has_entered = true;
        net->first_segment = segment_add(lanes->sheet, link->upper, link->first_lane,
                                         link->upper_offset, 0.0);
    }
    link->first_segment = net->first_segment;
}

/* Adds the segment from the lanes to the link's lower end, and returns it. Links that share
 * their lanes to one node also share this segment. */
static uint32_t lanes_leave(struct lanes *lanes, const struct sheet_link *link)
{
    uint32_t last_lane = link->first_lane + link->lane_count - 1;
    struct run *target = &lanes->targets[link->lower];
    bool is_shared = lanes->nets[link->net].shared == target;

    if (!is_shared) {
        return segment_add(lanes->sheet, last_lane, link->lower, 0.0,
                           link->lower_offset);
    }
    if (target->last_segment == NO_LANE) {
        target->last_segment =
            segment_add(lanes->sheet, last_lane, link->lower, 0.0, link->lower_offset);
    }
    return target->last_segment;
}

static void lanes_add_link(struct lanes *lanes, struct sheet_link *link)
{
    struct sheet *sheet = lanes->sheet;

    if (link->lane_count == 0) {
        link->first_segment = segment_add(sheet, link->upper, link->lower,
                                          link->upper_offset, link->lower_offset);
        link->last_segment = link->first_segment;
        return;
    }
    lanes_enter(lanes, link);
    link->last_segment = lanes_leave(lanes, link);
}

struct offset_end {
    double offset;
    uint32_t segment;
};

static int offset_end_compare(const void *left, const void *right)
{
    const struct offset_end *a = left;
    const struct offset_end *b = right;

    if (a->offset != b->offset) {
        return a->offset < b->offset ? -1 : 1;
    }
    return a->segment < b->segment ? -1 : a->segment > b->segment;
}

/* Numbers the places along one border of a group at which segments end, from the left. Returns
 * the number of places. */
static uint32_t group_number_slots(struct sheet *sheet,
                                   const struct sheet_lists *lists,
                                   uint32_t node,
                                   bool is_bottom,
                                   struct offset_end *ends)
{
    uint32_t first = lists->starts[node];
    uint32_t count = lists->starts[node + 1] - first;
    uint32_t slot = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct sheet_segment *segment = &sheet->segments[lists->items[first + i]];

        ends[i].segment = lists->items[first + i];
        ends[i].offset = is_bottom ? segment->upper_offset : segment->lower_offset;
    }
    qsort(ends, count, sizeof *ends, offset_end_compare);
    for (uint32_t i = 0; i < count; i++) {
        struct sheet_segment *segment = &sheet->segments[ends[i].segment];

        slot += i > 0 && ends[i].offset != ends[i - 1].offset;
        *(is_bottom ? &segment->upper_slot : &segment->lower_slot) = slot;
        lists->items[first + i] = ends[i].segment;
    }
    return slot + 1;
}

/* Lists the segments of each node and numbers the places at which they end. Returns false if
 * memory runs out. */
static bool sheet_list_segments(struct sheet *sheet)
{
    const size_t stride = sizeof(struct sheet_segment) / sizeof(uint32_t);
    const struct sheet_segment *segments = sheet->segments;
    struct offset_end *ends =
        arena_allocate(sheet->arena, sheet->segment_count, sizeof *ends);

    _Static_assert(sizeof *segments % sizeof(uint32_t) == 0, "a whole stride");
    if (ends == NULL ||
        !sheet_lists_make(&sheet->above, sheet->arena, &segments->lower, stride,
                          sheet->segment_count, sheet->node_count) ||
        !sheet_lists_make(&sheet->below, sheet->arena, &segments->upper, stride,
                          sheet->segment_count, sheet->node_count)) {
        return false;
    }
    for (uint32_t i = 0; i < sheet->node_count; i++) {
        struct sheet_node *node = &sheet->nodes[i];

        node->top_slot_count = 1;
        node->bottom_slot_count = 1;
        if (node->kind == SHEET_GROUP) {
            node->top_slot_count =
                group_number_slots(sheet, &sheet->above, i, false, ends);
            node->bottom_slot_count =
                group_number_slots(sheet, &sheet->below, i, true, ends);
        }
    }
    return true;
}

/* Whether segments join neighbouring layers, and those of a link join its ends. For asserts. */
static __attribute__((unused)) bool segments_are_sound(const struct sheet *sheet)
{
    for (uint32_t i = 0; i < sheet->segment_count; i++) {
        const struct sheet_segment *segment = &sheet->segments[i];

        if (segment->upper >= sheet->node_count ||
            segment->lower >= sheet->node_count ||
            sheet->nodes[segment->upper].layer + 1 !=
                sheet->nodes[segment->lower].layer) {
            return false;
        }
    }
    for (uint32_t i = 0; i < sheet->link_count; i++) {
        const struct sheet_link *link = &sheet->links[i];

        if (link->first_segment >= sheet->segment_count ||
            link->last_segment >= sheet->segment_count ||
            sheet->segments[link->first_segment].upper != link->upper ||
            sheet->segments[link->last_segment].lower != link->lower) {
            return false;
        }
    }
    return true;
}

bool sheet_make_segments(struct sheet *sheet)
{
    struct lanes lanes = {.sheet = sheet};

    lanes.nets = arena_allocate(sheet->arena, sheet->net_count, sizeof *lanes.nets);
    if (lanes.nets == NULL) {
        return false;
    }
    lanes_measure(&lanes);
    if (!lanes_share_targets(&lanes) || !lanes_bundle(&lanes) ||
        !lanes_make_room(&lanes)) {
        return false;
    }
    for (uint32_t i = 0; i < sheet->link_count; i++) {
        lanes_add_link(&lanes, &sheet->links[i]);
    }
    if (lanes.bundle.first_lane != NO_LANE) {
        sheet->bundle_first = lanes.bundle.first_lane;
        sheet->bundle_end = sheet->bundle_first + run_length(&lanes.bundle);
    }
    assert(segments_are_sound(sheet));
    return sheet_list_segments(sheet);
}
