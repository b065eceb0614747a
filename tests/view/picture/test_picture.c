/* Pictures of graphs made by hand: what must hold of all of them, and what each part shows. */
#include "runtime/base/memory.h"
#include "runtime/view/picture/picture.h"
#include "tests/unit/check.h"
#include "tests/view/picture/picture_checks.h"
#include "tests/view/picture/picture_graphs.h"

#define RANDOM_GRAPH_COUNT 300

static bool draw(struct picture *picture,
                 const struct flow_graph *graph,
                 const struct picture_options *options)
{
    struct error error = ERROR_INIT;
    const char *wrong;

    picture_init(picture);
    if (!CHECK(picture_draw(picture, graph, options, &error))) {
        printf("  %s\n", error.text);
        return false;
    }
    wrong = picture_check(picture);
    if (!CHECK(wrong == NULL)) {
        printf("  %s\n", wrong);
    }
    return true;
}

static bool
has_text(const struct picture *picture, const char *class, const char *wanted)
{
    bool is_inside = false;

    for (size_t i = 0; i < picture->item_count; i++) {
        const struct picture_item *item = &picture->items[i];

        if (item->kind == PICTURE_GROUP_BEGIN) {
            is_inside = slice_equal(item->text, slice_of(class));
        } else if (item->kind == PICTURE_TEXT && is_inside &&
                   slice_equal(item->text, slice_of(wanted))) {
            return true;
        }
    }
    return false;
}

static size_t count_texts(const struct picture *picture, const char *class)
{
    bool is_inside = false;
    size_t count = 0;

    for (size_t i = 0; i < picture->item_count; i++) {
        const struct picture_item *item = &picture->items[i];

        if (item->kind == PICTURE_GROUP_BEGIN) {
            is_inside = slice_equal(item->text, slice_of(class));
        }
        count += item->kind == PICTURE_TEXT && is_inside;
    }
    return count;
}

static void test_everything(void)
{
    struct flow_graph graph;
    struct picture picture;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;

    hand_graph_fill(&graph);
    for (int theme = 0; theme < 2; theme++) {
        options.theme = (enum picture_theme)theme;
        if (!draw(&picture, &graph, &options)) {
            continue;
        }
        CHECK_TEXT(picture.title, "model.py");
        CHECK(has_text(&picture, "head", "model.py"));
        CHECK(has_text(&picture, "node", "guess: 0.1"));
        CHECK(has_text(&picture, "node", "(source)"));
        CHECK(has_text(&picture, "node", "argument"));
        CHECK(has_text(&picture, "node", "in place"));
        CHECK(has_text(&picture, "node", "rebound: shape, dtype"));
        CHECK(has_text(&picture, "node", "alias, written at model.py:17 by y"));
        CHECK(has_text(&picture, "node", "1 NaN, 1 +Inf, 1 -Inf"));
        CHECK(has_text(&picture, "node", "NaN"));
        CHECK(has_text(&picture, "node", "+Inf"));
        CHECK(has_text(&picture, "node", "-Inf"));
        CHECK(has_text(&picture, "node", "-2.3 \xE2\x80\xA6 -2.1"));
        CHECK(has_text(&picture, "node", "\xC3\x97 12"));
        CHECK(has_text(&picture, "node", "bool [0, 8]  cuda:0"));
        CHECK(has_text(&picture, "node", "empty: no values"));
        CHECK(has_text(&picture, "node", "8 of 768 rows, 8 of 768 columns"));
        CHECK(has_text(&picture, "node", "[0,5]"));
        CHECK(has_text(&picture, "group call", "blocks.0-11.attention"));
        CHECK(has_text(&picture, "group call", "Attention.forward  line 31"));
        CHECK(has_text(&picture, "group loop", "for t in range(50):"));
        CHECK(has_text(&picture, "group loop", "\xC3\x97 50"));
        picture_release(&picture);
    }
    hand_graph_release(&graph);
}

/* ---- the head ---- */

static void test_left_out(void)
{
    struct flow_graph graph;
    struct picture picture;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;

    hand_graph_init(&graph, 2, 1, 1);
    hand_node(&graph, "x", 1, "x = 4", FLOW_NONE);
    options.title = SLICE("A title");
    if (draw(&picture, &graph, &options)) {
        CHECK_TEXT(picture.title, "A title");
        CHECK(has_text(&picture, "head", "demo/model.py  \xC2\xB7  1 value"));
        picture_release(&picture);
    }
    graph.left_out = (struct flow_left_out){
        .older_nodes = 1, .scalars = 2, .filtered = 3, .lost_events = 4};
    graph.event_count = 30;
    if (draw(&picture, &graph, &options)) {
        CHECK(has_text(&picture, "head",
                       "demo/model.py  \xC2\xB7  1 box for 30 values  \xC2\xB7  "
                       "1 older value is not shown"));
        CHECK(has_text(&picture, "head",
                       "2 values that are no tensors are not shown  \xC2\xB7  "
                       "3 values were filtered out"));
        CHECK(has_text(&picture, "head", "4 values were not kept in the trace"));
        picture_release(&picture);
    }
    hand_graph_release(&graph);
}

/* ---- the legend: what occurs, and nothing else ---- */

static void check_legend(const struct flow_graph *graph, const char *const *wanted)
{
    struct picture picture;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    size_t count = 0;

    if (!draw(&picture, graph, &options)) {
        return;
    }
    for (; wanted[count] != NULL; count++) {
        if (!CHECK(has_text(&picture, "legend", wanted[count]))) {
            printf("  %s\n", wanted[count]);
        }
    }
    CHECK(count_texts(&picture, "legend") == count);
    picture_release(&picture);
}

static void test_legend(void)
{
    struct flow_graph graph;
    struct flow_node *node;

    hand_graph_init(&graph, 8, 8, 1);
    hand_node(&graph, "a", 1, "a = 1", FLOW_NONE);
    check_legend(&graph, (const char *[]){"made here", NULL});
    node = hand_node(&graph, "b", 2, "b = x", FLOW_NONE);
    node->flags = FLOW_NODE_SOURCE;
    hand_edge(&graph, GRAPH_VALUE, 1, 0);
    check_legend(&graph, (const char *[]){"made here", "source: was there before",
                                          "was made from", NULL});
    graph.edges[0].kind = GRAPH_WRITE;
    graph.edges[0].count = 3;
    node->flags = FLOW_NODE_IN_PLACE;
    check_legend(&graph,
                 (const char *[]){"made here", "written in place",
                                  "was written in place", "several times", NULL});
    graph.edges[0] = (struct flow_edge){.kind = GRAPH_ALIAS, .count = 1};
    graph.edges[0].target = 1;
    node->flags = FLOW_NODE_ALIAS;
    check_legend(&graph, (const char *[]){"made here", "changed through another name",
                                          "changed through shared memory", NULL});
    graph.edges[0].kind = GRAPH_SAME;
    node->flags = FLOW_NODE_RESULT;
    check_legend(&graph,
                 (const char *[]){"made here", "returned", "is the same value", NULL});
    graph.edges[0].is_carried = true;
    node->flags = FLOW_NODE_ARGUMENT;
    check_legend(&graph, (const char *[]){"made here", "argument",
                                          "continues in the next turn", NULL});
    node->flags |= FLOW_NODE_GUESSED;
    node->guess = SLICE("randn(8, 8)");
    check_legend(&graph, (const char *[]){"made here", "argument guessed by monitorch",
                                          "continues in the next turn", NULL});
    hand_graph_release(&graph);
}

static void test_legend_of_cells(void)
{
    struct flow_graph graph;
    struct flow_node *node;
    float *values;

    hand_graph_init(&graph, 2, 1, 1);
    node = hand_node(&graph, "x", 1, "x = y", FLOW_NONE);
    values = hand_tensor(&graph, node, 1, (int64_t[]){3});
    values[0] = 1;
    values[1] = 2;
    values[2] = 3;
    hand_measure(&graph, node, values);
    check_legend(&graph,
                 (const char *[]){"made here", "zero to the table's largest", NULL});
    values[1] = -2;
    hand_measure(&graph, node, values);
    check_legend(
        &graph, (const char *[]){"made here",
                                 "negative to positive, by the table's largest", NULL});
    values[1] = NAN;
    hand_measure(&graph, node, values);
    check_legend(&graph, (const char *[]){"made here", "zero to the table's largest",
                                          "NaN", "not a number", NULL});
    values[1] = INFINITY;
    hand_measure(&graph, node, values);
    check_legend(&graph, (const char *[]){"made here", "zero to the table's largest",
                                          "+Inf", "infinite", NULL});
    hand_graph_release(&graph);
}

/* ---- random graphs, and names of any bytes ---- */

static uint32_t below(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % limit);
}

static struct slice random_text(struct flow_graph *graph, uint64_t *state, size_t most)
{
    static const char *const parts[] = {
        "x",
        "self.w",
        "\xD7\xA9\xD7\x9B",
        "\xD9\x85\xD8\xB5",
        "\xE6\xB3\xA8",
        "\xFF",
        "\xE2\x80",
        "<&\">",
        "\x1B[31m",
        "\xE2\x80\xAE",
        " ",
        "\xCC\x81",
        "\xEF\xBF\xBF",
        "\n",
        "['key']",
    };
    size_t count = below(state, (uint32_t)most + 1);
    char *bytes = arena_allocate(&graph->arena, count, 8);
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        const char *part = parts[below(state, sizeof parts / sizeof *parts)];

        memcpy(bytes + size, part, strlen(part));
        size += strlen(part);
    }
    return (struct slice){bytes, size};
}

static void random_node(struct flow_graph *graph, uint64_t *state)
{
    struct flow_node *node =
        hand_node(graph, "", below(state, 3) * 1000, "", FLOW_NONE);
    int64_t shape[5];
    uint32_t count = below(state, 6);
    float *values;
    size_t value_count = 1;

    node->name = random_text(graph, state, 12);
    node->code = random_text(graph, state, 40);
    node->flags = below(state, 128);
    node->guess = random_text(graph, state, 6);
    node->changed_by = random_text(graph, state, 30);
    node->change = (enum change)below(state, 6);
    node->difference = below(state, 128);
    node->note = random_text(graph, state, below(state, 4) == 0 ? 30 : 0);
    node->file = random_text(graph, state, 8);
    node->group = graph->group_count == 0 || below(state, 2) == 0
                      ? FLOW_NONE
                      : below(state, graph->group_count);
    node->count = below(state, 3) == 0 ? 7 : 1;
    if (below(state, 6) == 0) {
        node->text = random_text(graph, state, 60);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        shape[i] = below(state, 4) == 0 ? 20 : below(state, 6);
        value_count *= (size_t)shape[i];
    }
    values = hand_tensor(graph, node, count, shape);
    for (size_t i = 0; i < value_count && below(state, 3) == 0; i += 7) {
        values[i] = i % 2 == 0 ? NAN : -INFINITY;
    }
    for (size_t i = 0; i < value_count; i++) {
        values[i] *= node->count > 1 ? 1e-30f : 1e3f;
    }
    hand_measure(graph, node, values);
    node->mark = below(state, 2) == 0 ? FLOW_MARK_NONE
                                      : (enum flow_mark)below(state, FLOW_MARK_COUNT);
    node->remark = random_text(graph, state, below(state, 4) == 0 ? 120 : 0);
    node->device = random_text(graph, state, 2);
    node->type = random_text(graph, state, 4);
}

static void random_graph(struct flow_graph *graph, uint64_t seed)
{
    uint64_t state = seed * 1000003u + 1;
    uint32_t count = 1 + below(&state, 24);

    hand_graph_init(graph, 32, 64, 4);
    graph->file = random_text(graph, &state, 20);
    graph->file_count = 1 + below(&state, 2);
    for (uint32_t i = below(&state, 4); i > 0; i--) {
        uint32_t parent = graph->group_count == 0 || below(&state, 2) == 0
                              ? FLOW_NONE
                              : below(&state, graph->group_count);
        struct flow_group *group =
            hand_group(graph, (enum flow_group_kind)below(&state, 2), parent);

        group->function = random_text(graph, &state, 9);
        group->path = random_text(graph, &state, 3);
        group->code = random_text(graph, &state, 60);
        group->count = 1 + below(&state, 3);
    }
    for (uint32_t i = 0; i < count; i++) {
        random_node(graph, &state);
    }
    for (uint32_t i = below(&state, 2 * count); i > 0; i--) {
        hand_edge(graph, (enum graph_kind)below(&state, 4), below(&state, count),
                  below(&state, count));
    }
    graph->left_out.scalars = below(&state, 3);
}

static void test_random_graphs(void)
{
    for (uint64_t seed = 0; seed < RANDOM_GRAPH_COUNT; seed++) {
        struct flow_graph graph;
        struct picture picture;
        struct picture_options options = PICTURE_OPTIONS_DEFAULT;
        int failed_before = check_failed_count;

        random_graph(&graph, seed);
        options.theme = (enum picture_theme)(seed % 2);
        options.has_pages = seed % 3 == 0;
        options.page_width = 300 + (double)(seed % 5) * 100;
        options.page_height = 500;
        options.proportion = seed % 4 == 0 ? 0 : 0.7;
        if (draw(&picture, &graph, &options)) {
            picture_release(&picture);
        }
        if (check_failed_count > failed_before) {
            printf("  seed %d\n", (int)seed);
        }
        hand_graph_release(&graph);
    }
}

static void test_pages(void)
{
    struct flow_graph graph;
    struct picture picture;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;

    hand_graph_fill(&graph);
    if (draw(&picture, &graph, &options)) {
        CHECK(picture.page_count == 1);
        CHECK(picture.pages[0].width == picture.width);
        picture_release(&picture);
    }
    options.has_pages = true;
    options.page_width = 400;
    options.page_height = 300;
    if (draw(&picture, &graph, &options)) {
        CHECK(picture.page_count > 3);
        picture_release(&picture);
    }
    hand_graph_release(&graph);
}

/* A chain is drawn from top to bottom, and wrapped where another proportion is asked for. */
static void test_proportion(void)
{
    struct flow_graph graph;
    struct picture picture;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;

    hand_graph_init(&graph, 20, 20, 1);
    for (uint32_t i = 0; i < 20; i++) {
        hand_node(&graph, "x", i + 1, "x = x + 1", FLOW_NONE);
        if (i > 0) {
            hand_edge(&graph, GRAPH_VALUE, i - 1, i);
        }
    }
    graph.node_count = 6;
    graph.edge_count = 5;
    if (draw(&picture, &graph, &options)) {
        CHECK(picture.height > 6 * 60 && picture.width < 500);
        picture_release(&picture);
    }
    graph.node_count = 20;
    graph.edge_count = 19;
    for (options.proportion = 0.4; options.proportion < 2; options.proportion *= 2) {
        if (draw(&picture, &graph, &options)) {
            double proportion = picture.height / picture.width;

            CHECK(proportion > options.proportion / 2);
            CHECK(proportion < options.proportion * 2);
            picture_release(&picture);
        }
    }
    hand_graph_release(&graph);
}

/* Calls of several threads say of which; what is inside them is of the same. */
static void test_threads(void)
{
    struct flow_graph graph;
    struct picture picture;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;

    hand_graph_init(&graph, 2, 1, 3);
    hand_group(&graph, FLOW_GROUP_CALL, FLOW_NONE)->function = SLICE("a");
    hand_group(&graph, FLOW_GROUP_CALL, FLOW_NONE)->function = SLICE("b");
    hand_group(&graph, FLOW_GROUP_CALL, 1)->function = SLICE("c");
    hand_node(&graph, "x", 1, "x = 1", 0);
    hand_node(&graph, "y", 1, "y = 1", 2);
    if (draw(&picture, &graph, &options)) {
        CHECK(has_text(&picture, "group call", "line 7"));
        CHECK(!has_text(&picture, "group call", "line 7  thread 0"));
        picture_release(&picture);
    }
    graph.groups[1].thread = graph.groups[2].thread = 3;
    if (draw(&picture, &graph, &options)) {
        CHECK(has_text(&picture, "group call", "line 7  thread 0"));
        CHECK(has_text(&picture, "group call", "line 7  thread 3"));
        CHECK(has_text(&picture, "group call", "line 7"));
        picture_release(&picture);
    }
    hand_graph_release(&graph);
}

static void test_same_again(void)
{
    struct flow_graph graph;
    struct picture a;
    struct picture b;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;

    hand_graph_fill(&graph);
    if (draw(&a, &graph, &options) && draw(&b, &graph, &options)) {
        CHECK(a.item_count == b.item_count && a.width == b.width &&
              a.height == b.height);
        for (size_t i = 0; i < a.item_count; i++) {
            CHECK(a.items[i].x == b.items[i].x && a.items[i].y == b.items[i].y &&
                  a.items[i].fill == b.items[i].fill &&
                  slice_equal(a.items[i].text, b.items[i].text));
        }
        CHECK(a.point_count == b.point_count &&
              memcmp(a.points, b.points, a.point_count * sizeof *a.points) == 0);
        picture_release(&b);
    }
    picture_release(&a);
    hand_graph_release(&graph);
}

/* What there are very many of tells less, and says so. */
static void test_many(void)
{
    struct flow_graph graph;
    struct picture picture;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    struct error error = ERROR_INIT;
    uint32_t count = 13000;

    hand_graph_init(&graph, count, count, 1);
    for (uint32_t i = 0; i < count; i++) {
        hand_node(&graph, "x", i, "x = x + 1", FLOW_NONE);
        if (i > 0) {
            hand_edge(&graph, GRAPH_VALUE, i - 1, i);
        }
    }
    picture_init(&picture);
    CHECK(picture_draw(&picture, &graph, &options, &error));
    CHECK(has_text(&picture, "head",
                   "demo/model.py  \xC2\xB7  13000 values  \xC2\xB7  "
                   "so many boxes show name and shape alone"));
    CHECK(!has_text(&picture, "node", "x = x + 1"));
    picture_release(&picture);
    graph.node_count = 3000;
    graph.edge_count = 2999;
    CHECK(picture_draw(&picture, &graph, &options, &error));
    CHECK(has_text(&picture, "node", "x = x + 1"));
    picture_release(&picture);
    hand_graph_release(&graph);
}

static void test_failures(void)
{
    struct flow_graph graph;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    bool is_done = false;
    size_t count = 0;

    options.has_pages = true;
    hand_graph_fill(&graph);
    for (int keep = 0; keep < 2; keep++) {
        is_done = false;
        for (count = 1; !is_done && count < 3000; count++) {
            struct picture picture;
            struct error error = ERROR_INIT;

            picture_init(&picture);
            memory_fail_after(count, keep == 1);
            is_done = picture_draw(&picture, &graph, &options, &error);
            memory_fail_after(0, false);
            CHECK(is_done || error.kind == ERROR_MEMORY);
            CHECK(!is_done || picture_check(&picture) == NULL);
            CHECK(is_done || picture.items == NULL);
            picture_release(&picture);
        }
        CHECK(is_done && count > 10);
    }
    hand_graph_release(&graph);
}

int main(void)
{
    test_everything();
    test_left_out();
    test_legend();
    test_legend_of_cells();
    test_random_graphs();
    test_pages();
    test_proportion();
    test_threads();
    test_same_again();
    test_many();
    test_failures();
    return check_finish();
}
