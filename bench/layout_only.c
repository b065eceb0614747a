/* Lays out one graph as often as asked and does nothing else, for bench_layout.py.
 *
 * Reads from standard input: `boxes groups edges proportion repeats`; for each box `width height
 * group`, for each group `parent title_width title_height padding`, for each edge `source target`;
 * -1 is no group. Writes the seconds of the fastest run, the page, then boxes, groups and routes. */
#include "runtime/view/layout/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool read_boxes(struct layout *layout)
{
    for (size_t i = 0; i < layout->box_count; i++) {
        struct layout_box *box = &layout->boxes[i];
        int group;

        if (scanf("%lf %lf %d", &box->width, &box->height, &group) != 3) {
            return false;
        }
        box->group = (uint32_t)group;
    }
    return true;
}

static bool read_groups(struct layout *layout)
{
    for (size_t i = 0; i < layout->group_count; i++) {
        struct layout_group *group = &layout->groups[i];
        int parent;

        if (scanf("%d %lf %lf %lf", &parent, &group->title_width, &group->title_height,
                  &group->padding) != 4) {
            return false;
        }
        group->parent = (uint32_t)parent;
    }
    return true;
}

static bool read_graph(struct layout *layout, int *repeats)
{
    if (scanf("%zu %zu %zu %lf %d", &layout->box_count, &layout->group_count,
              &layout->edge_count, &layout->options.proportion, repeats) != 5) {
        return false;
    }
    layout->boxes = calloc(layout->box_count + 1, sizeof *layout->boxes);
    layout->groups = calloc(layout->group_count + 1, sizeof *layout->groups);
    layout->edges = calloc(layout->edge_count + 1, sizeof *layout->edges);
    if (layout->boxes == NULL || layout->groups == NULL || layout->edges == NULL ||
        !read_boxes(layout) || !read_groups(layout)) {
        return false;
    }
    for (size_t i = 0; i < layout->edge_count; i++) {
        struct layout_edge *edge = &layout->edges[i];

        if (scanf("%u %u", &edge->source, &edge->target) != 2) {
            return false;
        }
    }
    return true;
}

static void write_places(const struct layout *layout)
{
    for (size_t i = 0; i < layout->box_count; i++) {
        printf("box %.17g %.17g\n", layout->boxes[i].x, layout->boxes[i].y);
    }
    for (size_t i = 0; i < layout->group_count; i++) {
        const struct layout_group *group = &layout->groups[i];

        printf("group %.17g %.17g %.17g %.17g\n", group->x, group->y, group->width,
               group->height);
    }
    for (size_t i = 0; i < layout->edge_count; i++) {
        const struct layout_point *points = layout_route(layout, &layout->edges[i]);

        printf("edge %d", layout->edges[i].is_back);
        for (size_t k = 0; k < layout->edges[i].point_count; k++) {
            printf(" %.17g %.17g", points[k].x, points[k].y);
        }
        printf("\n");
    }
}

int main(void)
{
    struct layout layout;
    struct error error;
    double best = 1e9;
    int repeats;

    layout_init(&layout);
    if (!read_graph(&layout, &repeats)) {
        fprintf(stderr, "layout_only: the graph cannot be read\n");
        return 1;
    }
    for (int i = 0; i < repeats; i++) {
        double started = now();

        if (!layout_compute(&layout, &error)) {
            fprintf(stderr, "layout_only: %s\n", error.text);
            return 1;
        }
        if (now() - started < best) {
            best = now() - started;
        }
    }
    printf("seconds %.9f\npage %.17g %.17g\n", best, layout.width, layout.height);
    write_places(&layout);
    free(layout.boxes);
    free(layout.groups);
    free(layout.edges);
    layout_release(&layout);
    return 0;
}
