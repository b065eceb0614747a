/* Properties of the layout, on random graphs and at the extremes. */
#include "runtime/base/memory.h"
#include "tests/unit/check.h"
#include "tests/view/layout/layout_graphs.h"

#include <time.h>

#define RANDOM_GRAPH_COUNT 500

static bool compute(struct layout *layout)
{
    struct error error = ERROR_INIT;
    bool is_done = layout_compute(layout, &error);

    if (!is_done) {
        printf("  %s\n", error.text);
    }
    return is_done;
}

static void test_random_graphs(void)
{
    for (uint64_t seed = 0; seed < RANDOM_GRAPH_COUNT; seed++) {
        enum graph_kind kind = (enum graph_kind)(seed % GRAPH_KIND_COUNT);
        struct layout layout;
        const char *wrong;

        graph_make(&layout, kind, 1 + (uint32_t)(seed * 13 % 61), seed);
        wrong = compute(&layout) ? layout_check_places(&layout) : "the layout is done";
        if (wrong == NULL) {
            wrong = layout_check_routes(&layout);
        }
        if (!CHECK(wrong == NULL)) {
            printf("  kind %d, seed %d: %s\n", (int)kind, (int)seed, wrong);
        }
        graph_release(&layout);
    }
}

/* Without the edges that go back there is no cycle: each box can be taken after all before
 * it. */
static bool has_no_cycle(const struct layout *layout)
{
    uint32_t *waiting = calloc(layout->box_count + 1, sizeof *waiting);
    size_t left = layout->box_count;
    size_t left_before = left + 1;

    for (size_t i = 0; i < layout->edge_count; i++) {
        const struct layout_edge *edge = &layout->edges[i];

        waiting[edge->target] += !edge->is_back && edge->source != edge->target;
    }
    while (left < left_before) {
        left_before = left;
        for (uint32_t i = 0; i < layout->box_count; i++) {
            if (waiting[i] != 0) {
                continue;
            }
            waiting[i] = UINT32_MAX;
            left--;
            for (size_t k = 0; k < layout->edge_count; k++) {
                const struct layout_edge *edge = &layout->edges[k];

                if (edge->source == i && !edge->is_back && edge->target != i) {
                    waiting[edge->target]--;
                }
            }
        }
    }
    free(waiting);
    return left == 0;
}

static bool edges_point_down(const struct layout *layout)
{
    for (size_t i = 0; i < layout->edge_count; i++) {
        const struct layout_edge *edge = &layout->edges[i];
        const struct layout_box *upper =
            &layout->boxes[edge->is_back ? edge->target : edge->source];
        const struct layout_box *lower =
            &layout->boxes[edge->is_back ? edge->source : edge->target];

        if (upper != lower && upper->y + upper->height >= lower->y) {
            return false;
        }
    }
    return true;
}

static void test_directions(void)
{
    for (uint64_t seed = 0; seed < 80; seed++) {
        struct layout layout;
        bool has_back = false;

        graph_make(&layout, seed % 2 == 0 ? GRAPH_CYCLIC : GRAPH_SPARSE, 40, seed);
        layout.group_count = 0;
        for (size_t i = 0; i < layout.box_count; i++) {
            layout.boxes[i].group = LAYOUT_NONE;
        }
        layout.options.proportion = 0.0;
        CHECK(compute(&layout));
        CHECK(edges_point_down(&layout));
        CHECK(has_no_cycle(&layout));
        for (size_t i = 0; i < layout.edge_count; i++) {
            has_back |= layout.edges[i].is_back;
        }
        CHECK(seed % 2 == 0 || !has_back);
        graph_release(&layout);
    }
}

static void test_same_again(void)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct layout a;
        struct layout b;

        graph_make(&a, (enum graph_kind)(seed % GRAPH_KIND_COUNT), 50, seed);
        graph_make(&b, (enum graph_kind)(seed % GRAPH_KIND_COUNT), 50, seed);
        CHECK(compute(&a) && compute(&b) && compute(&b));
        CHECK(memcmp(a.boxes, b.boxes, a.box_count * sizeof *a.boxes) == 0);
        CHECK(memcmp(a.groups, b.groups, a.group_count * sizeof *a.groups) == 0);
        CHECK(memcmp(a.edges, b.edges, a.edge_count * sizeof *a.edges) == 0);
        CHECK(a.point_count == b.point_count &&
              memcmp(a.points, b.points, a.point_count * sizeof *a.points) == 0);
        graph_release(&a);
        graph_release(&b);
    }
}

/* A box more at the end of a residual network: the others stay. */
static void test_stability(void)
{
    for (uint32_t size = 8; size < 120; size++) {
        struct layout before;
        struct layout after;
        size_t moved = 0;

        graph_init(&before, size, 0, (size_t)size * 2);
        graph_init(&after, size + 1, 0, (size_t)size * 2);
        before.options.proportion = 0.0;
        after.options.proportion = 0.0;
        graph_connect_random(&before, GRAPH_RESIDUAL, &(uint64_t){0});
        graph_connect_random(&after, GRAPH_RESIDUAL, &(uint64_t){0});
        CHECK(compute(&before) && compute(&after));
        for (uint32_t i = 0; i < size; i++) {
            moved += before.boxes[i].x != after.boxes[i].x ||
                     before.boxes[i].y != after.boxes[i].y;
        }
        if (!CHECK(moved == 0)) {
            printf("  %zu of %u moved\n", moved, size);
        }
        graph_release(&before);
        graph_release(&after);
    }
}

/* Where columns are cut depends on the page's shape, which changes in steps. */
static void test_stability_of_columns(void)
{
    struct layout before;
    uint32_t kept_count = 0;

    graph_init(&before, 40, 0, 80);
    graph_connect_random(&before, GRAPH_RESIDUAL, &(uint64_t){0});
    CHECK(compute(&before));
    for (uint32_t size = 41; size < 80; size++) {
        struct layout after;
        bool is_kept = true;

        graph_init(&after, size, 0, (size_t)size * 2);
        graph_connect_random(&after, GRAPH_RESIDUAL, &(uint64_t){0});
        CHECK(compute(&after));
        for (uint32_t i = 0; i + 8 < before.box_count; i++) {
            is_kept &= before.boxes[i].x == after.boxes[i].x;
        }
        kept_count += is_kept;
        graph_release(&before);
        before = after;
    }
    CHECK(kept_count >= 30);
    graph_release(&before);
}

static void test_columns(void)
{
    struct layout layout;

    graph_init(&layout, 200, 0, 400);
    graph_connect_random(&layout, GRAPH_RESIDUAL, &(uint64_t){0});
    CHECK(compute(&layout));
    CHECK(layout.height < 2.0 * layout.width && layout.width < 2.0 * layout.height);
    CHECK(layout_check_places(&layout) == NULL);
    CHECK(layout_check_routes(&layout) == NULL);
    layout.options.proportion = 0.0;
    CHECK(compute(&layout));
    CHECK(layout.height > 20.0 * layout.width);
    graph_release(&layout);
}

static void test_rows(void)
{
    struct layout layout;

    graph_init(&layout, 100, 0, 99);
    for (uint32_t i = 1; i < 100; i++) {
        graph_connect(&layout, i % 2 == 0 ? 0 : i, i % 2 == 0 ? i : 0);
    }
    CHECK(compute(&layout));
    CHECK(layout.height < 3.0 * layout.width && layout.width < 3.0 * layout.height);
    CHECK(layout_check_places(&layout) == NULL);
    CHECK(layout_check_routes(&layout) == NULL);
    graph_release(&layout);
}

static void test_straight_chain(void)
{
    struct layout layout;

    graph_init(&layout, 71, 0, 142);
    layout.options.proportion = 0.0;
    graph_connect_random(&layout, GRAPH_RESIDUAL, &(uint64_t){0});
    CHECK(compute(&layout));
    for (size_t i = 1; i < layout.box_count; i++) {
        CHECK(layout.boxes[i].x == layout.boxes[0].x);
    }
    graph_release(&layout);
}

static void test_shared_routes(void)
{
    struct layout layout;
    const struct layout_point *a;

    graph_init(&layout, 3, 0, 4);
    graph_connect(&layout, 0, 1);
    graph_connect(&layout, 1, 2);
    graph_connect(&layout, 0, 2);
    graph_connect(&layout, 0, 2);
    CHECK(compute(&layout));
    a = layout_route(&layout, &layout.edges[2]);
    CHECK(layout.edges[2].point_count == layout.edges[3].point_count);
    CHECK(memcmp(a, layout_route(&layout, &layout.edges[3]),
                 layout.edges[2].point_count * sizeof *a) == 0);
    graph_release(&layout);
}

static void test_small(void)
{
    struct layout layout;

    graph_init(&layout, 0, 0, 0);
    CHECK(compute(&layout));
    CHECK(layout.width == 0.0 && layout.height == 0.0 && layout.point_count == 0);
    graph_release(&layout);

    graph_init(&layout, 1, 0, 0);
    CHECK(compute(&layout));
    CHECK(layout.boxes[0].x == 0.0 && layout.boxes[0].y == 0.0);
    CHECK(layout.width == 80.0 && layout.height == 30.0);
    graph_release(&layout);

    graph_init(&layout, 1, 2, 1);
    layout.groups[0] = (struct layout_group){LAYOUT_NONE, 200.0, 10.0, 5.0, 0, 0, 0, 0};
    layout.groups[1] = (struct layout_group){0, 20.0, 10.0, 5.0, 0, 0, 0, 0};
    graph_connect(&layout, 0, 0);
    CHECK(compute(&layout));
    CHECK(layout_check_places(&layout) == NULL);
    CHECK(layout_check_routes(&layout) == NULL);
    CHECK(layout.groups[0].width == 210.0);
    graph_release(&layout);

    graph_init(&layout, 2, 0, 1);
    layout.boxes[0].width = layout.boxes[0].height = 0.0;
    graph_connect(&layout, 0, 1);
    CHECK(compute(&layout));
    CHECK(layout_check_places(&layout) == NULL);
    graph_release(&layout);
}

static void check_refused(struct layout *layout, const char *wanted)
{
    struct error error = ERROR_INIT;

    CHECK(!layout_compute(layout, &error));
    CHECK(error.kind == ERROR_USAGE);
    CHECK_TEXT(slice_of(error.text), wanted);
}

static void test_refused(void)
{
    struct layout layout;

    graph_init(&layout, 2, 2, 1);
    layout.groups[0].parent = layout.groups[1].parent = LAYOUT_NONE;
    graph_connect(&layout, 0, 2);
    check_refused(&layout, "layout: edge 0 runs from box 0 to box 2 of 2");
    layout.edges[0].target = 1;
    layout.boxes[1].group = 2;
    check_refused(&layout, "layout: box 1 lies in group 2 of 2");
    layout.boxes[1].group = 1;
    layout.groups[0].parent = 1;
    check_refused(&layout, "layout: group 0 is in group 1, which must precede it");
    layout.groups[0].parent = LAYOUT_NONE;
    layout.groups[1].padding = -1.0;
    check_refused(&layout, "layout: group 1 has no sensible title or padding");
    layout.groups[1].padding = 0.0;
    layout.boxes[0].width = NAN;
    check_refused(&layout, "layout: box 0 has no sensible size");
    layout.boxes[0].width = 1e300;
    check_refused(&layout, "layout: box 0 has no sensible size");
    layout.boxes[0].width = 1.0;
    layout.options.edge_gap = INFINITY;
    check_refused(&layout, "layout: an option is not a sensible number");
    layout.options.edge_gap = 0.0;
    CHECK(compute(&layout));
    graph_release(&layout);
}

/* What this process has computed for, in seconds: others may be busy too. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

enum { LARGE = 100000 };

static void check_large(struct layout *layout, const char *name)
{
    double started = now();

    CHECK(compute(layout));
    printf("%s: %.2f s, %.0f x %.0f\n", name, now() - started, layout->width,
           layout->height);
    /* Generous: sanitizers are slow. What grows with the square takes hours. */
    CHECK(now() - started < 60.0 * layout->box_count / LARGE);
    for (size_t i = 0; i < layout->edge_count; i++) {
        if (layout->edges[i].point_count < 4) {
            CHECK(layout->edges[i].point_count >= 4);
            break;
        }
    }
    graph_release(layout);
}

static void test_large(void)
{
    /* What takes longer than all others together. */
    const uint32_t count = check_is_slow() ? LARGE : LARGE / 5;
    struct layout layout;
    uint64_t state = 1;

    graph_init(&layout, LARGE, 0, LARGE);
    for (uint32_t i = 1; i < LARGE; i++) {
        graph_connect(&layout, i - 1, i);
    }
    check_large(&layout, "chain");

    graph_init(&layout, LARGE, 0, LARGE);
    for (uint32_t i = 1; i < LARGE; i++) {
        graph_connect(&layout, 0, i);
    }
    check_large(&layout, "fan out");

    graph_init(&layout, LARGE, 0, LARGE);
    for (uint32_t i = 1; i < LARGE; i++) {
        graph_connect(&layout, i, 0);
    }
    check_large(&layout, "fan in");

    graph_init(&layout, LARGE, 0, 2 * LARGE);
    for (uint32_t i = 1; i < LARGE; i++) {
        graph_connect(&layout, i - 1, i);
        graph_connect(&layout, i - 1, LARGE - 1);
    }
    check_large(&layout, "chain, each linked with the last");

    graph_init(&layout, LARGE, 0, 0);
    check_large(&layout, "no edges");

    graph_init(&layout, count, 0, 2 * count);
    layout.options.proportion = 0.0;
    for (uint32_t i = 0; i < 2 * count; i++) {
        uint32_t source = random_below(&state, count);

        graph_connect(&layout, source, random_below(&state, count));
    }
    check_large(&layout, "random");
}

/* A call in a call in a call. */
static void test_deep(void)
{
    enum { DEPTH = 1000 };
    struct layout layout;

    graph_init(&layout, DEPTH, DEPTH, DEPTH);
    for (uint32_t i = 0; i < DEPTH; i++) {
        layout.groups[i] = (struct layout_group){.parent = i == 0 ? LAYOUT_NONE : i - 1,
                                                 .title_width = 50.0,
                                                 .title_height = 12.0,
                                                 .padding = 4.0};
        layout.boxes[i].group = i;
        if (i > 0) {
            graph_connect(&layout, i - 1, i);
        }
    }
    graph_connect(&layout, DEPTH - 1, 0);
    CHECK(compute(&layout));
    CHECK(layout.edges[DEPTH - 1].is_back);
    CHECK(layout_check_places(&layout) == NULL);
    graph_release(&layout);
}

/* Each allocation fails once, and from each one on all fail. */
static void test_out_of_memory(void)
{
    for (int keep = 0; keep < 2; keep++) {
        struct layout layout;
        struct error error = ERROR_INIT;
        size_t countdown = 0;
        bool is_done = false;

        graph_make(&layout, GRAPH_NESTED, 60, 5);
        layout.options.proportion = 1.0;
        while (!is_done) {
            memory_fail_after(++countdown, keep != 0);
            is_done = layout_compute(&layout, &error);
            memory_fail_after(0, false);
            CHECK(is_done || error.kind == ERROR_MEMORY);
            CHECK(is_done || layout.points == NULL);
        }
        CHECK(countdown > 5);
        CHECK(layout_check_routes(&layout) == NULL);
        graph_release(&layout);
    }
}

/* A column for one small box would not be worth the way round. */
static void test_small_rest(void)
{
    struct layout layout;

    graph_init(&layout, 2, 0, 1);
    layout.boxes[0].height = 900;
    layout.boxes[1].height = 200;
    graph_connect(&layout, 0, 1);
    layout.options.proportion = 0.75;
    CHECK(compute(&layout));
    CHECK(layout.boxes[1].y > 900);
    /* As high as the one before it, it is. */
    layout.boxes[1].height = 800;
    CHECK(compute(&layout));
    CHECK(layout.boxes[1].y < 900 && layout.boxes[1].x > layout.boxes[0].x);
    CHECK(layout.boxes[0].y == 0);
    graph_release(&layout);
}

/* What is not connected: low ones below each other beside a high one, in their order. */
static void test_stacks(void)
{
    struct layout layout;

    graph_init(&layout, 4, 0, 0);
    layout.boxes[0].height = 400;
    CHECK(compute(&layout));
    CHECK(layout.boxes[0].x == 0 && layout.boxes[0].y == 0);
    for (size_t i = 1; i < 4; i++) {
        CHECK(layout.boxes[i].x == layout.boxes[1].x && layout.boxes[1].x > 80);
        CHECK(i == 1 || layout.boxes[i].y > layout.boxes[i - 1].y + 30);
    }
    CHECK(layout.height == 400);
    graph_release(&layout);
}

int main(void)
{
    test_small_rest();
    test_stacks();
    test_small();
    test_refused();
    test_random_graphs();
    test_directions();
    test_same_again();
    test_stability();
    test_stability_of_columns();
    test_columns();
    test_rows();
    test_straight_chain();
    test_shared_routes();
    test_large();
    test_deep();
    test_out_of_memory();
    return check_finish();
}
