/* Marks on a graph's nodes, a part of a graph, and how both are drawn. */
#include "runtime/base/memory.h"

#include "runtime/view/flow/flow.h"
#include "runtime/view/picture/dot/dot.h"
#include "runtime/view/picture/paint/svg_text.h"
#include "runtime/view/picture/picture.h"
#include "tests/view/flow/flow_program.h"
#include "tests/view/picture/picture_checks.h"
#include "tests/view/picture/picture_graphs.h"

/* A mark for each event, the last one for all further ones, as digits. */
static enum flow_mark mark_of(void *mark_context, uint64_t event)
{
    static const enum flow_mark marks[] = {
        FLOW_MARK_NONE, FLOW_MARK_EQUAL, FLOW_MARK_PASSED,   FLOW_MARK_INHERITED,
        FLOW_MARK_ONLY, FLOW_MARK_OWN,   FLOW_MARK_PRODUCER,
    };
    const char *digits = mark_context;
    size_t count = strlen(digits);

    return marks[digits[event < count ? event : count - 1] - '0'];
}

static struct slice remark_of(void *mark_context, uint64_t event)
{
    return mark_of(mark_context, event) == FLOW_MARK_OWN ? SLICE("0.5 in A, 1 in B")
                                                         : SLICE("");
}

static struct flow_options marked(enum flow_fold fold, const char *digits)
{
    return (struct flow_options){.fold = fold,
                                 .mark = mark_of,
                                 .remark = remark_of,
                                 .mark_context = (void *)digits};
}

static bool is_there(struct slice text, const char *wanted)
{
    return slice_find(text, slice_of(wanted), 0) < text.size;
}

/* ---- marks ---- */

/* Events: w, net, a; each turn has i, self, x, y, y, return, a. */
static void make_trace(struct flow_trace *trace, uint32_t turns)
{
    struct begun begun = begin(trace);

    loop(trace, &begun, turns, true);
    flow_trace_end(trace);
}

/* `own` in the third of five turns, all before it equal, all after it inherited. */
static const char third_turn[] =
    "1111111111111111111" /* w, net, a, two turns, i, self */
    "3453333333333333";

static void test_turn_that_diverged_stands_alone(void)
{
    struct flow_options options = marked(
        FLOW_FOLD_AUTO, "11111111111111111111" /* w, net, a, two turns, i, self, x */
                        "5333"                 /* y, y, return, a */
                        "1133333"              /* i, self, x … */
                        "1133333");
    struct flow_trace trace;
    struct flow_graph graph;
    struct error error = ERROR_INIT;
    uint32_t own = 0;

    make_trace(&trace, 5);
    if (CHECK(flow_graph_of(&graph, &trace, &options, &error))) {
        for (uint32_t i = 0; i < graph.node_count; i++) {
            const struct flow_node *node = &graph.nodes[i];

            CHECK(node->mark >= FLOW_MARK_EQUAL);
            CHECK((node->mark == FLOW_MARK_OWN) == (node->remark.size > 0));
            if (node->mark == FLOW_MARK_OWN) {
                CHECK(node->count == 1 && node->event == 20 && node->marked == 20);
                CHECK_TEXT(node->name, "y");
                CHECK_TEXT(node->remark, "0.5 in A, 1 in B");
                own++;
            }
        }
        /* Two turns and two turns are folded, the one between them is not: five values. */
        CHECK(own == 1 && graph.node_count == 2 + 3 * 5);
    }
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

static void test_gravest_mark_counts(void)
{
    struct flow_options options = marked(FLOW_FOLD_ALL, third_turn);
    struct flow_options none = {.fold = FLOW_FOLD_AUTO};
    struct flow_trace trace;
    struct flow_graph graph;
    struct error error = ERROR_INIT;

    make_trace(&trace, 5);
    if (CHECK(flow_graph_of(&graph, &trace, &options, &error)) &&
        CHECK(graph.node_count == 7)) {
        /* x, y, y, return of the third turn: event 19 and those behind it. */
        CHECK(graph.nodes[2].mark == FLOW_MARK_INHERITED &&
              graph.nodes[2].marked == 19);
        CHECK(graph.nodes[3].mark == FLOW_MARK_ONLY && graph.nodes[3].count == 5);
        CHECK(graph.nodes[4].mark == FLOW_MARK_OWN && graph.nodes[4].marked == 21);
        CHECK(graph.nodes[4].event == 7 && graph.nodes[4].remark.size > 0);
        CHECK(graph.nodes[0].mark == FLOW_MARK_EQUAL);
    }
    flow_graph_release(&graph);
    if (CHECK(flow_graph_of(&graph, &trace, &none, &error))) {
        CHECK(graph.nodes[4].mark == FLOW_MARK_NONE && graph.nodes[4].remark.size == 0);
    }
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

/* ---- a part of a graph ---- */

static void test_keep(void)
{
    struct flow_options options = {.fold = FLOW_FOLD_AUTO};
    const bool kept[] = {true, false, false, true, true, false, false};
    const bool nothing[3] = {false};
    struct flow_trace trace;
    struct flow_graph graph;
    struct buffer text = BUFFER_INIT;
    struct error error = ERROR_INIT;

    make_trace(&trace, 3);
    if (CHECK(flow_graph_of(&graph, &trace, &options, &error)) &&
        CHECK(graph.node_count == 7) && CHECK(flow_graph_keep(&graph, kept, &error))) {
        flow_graph_write(&graph, &text);
        CHECK_TEXT(buffer_slice(&text), "[0 in -1: for i in range(3):  x3]\n"
                                        "[1 in 0: Net.forward blocks.0-2 x3]\n"
                                        "0 w x1 in -1:\n"
                                        "1 y x3 in 1: 0\n"
                                        "2 y x3 in 1 in place: !1\n");
        CHECK(graph.event_count == 7 && graph.left_out.beside == 4);
        CHECK(graph.file_count == 1);
        CHECK_TEXT(graph.file, "unit.py");
        CHECK(flow_graph_keep(&graph, nothing, &error));
        CHECK(graph.node_count == 0 && graph.edge_count == 0 && graph.group_count == 0);
        CHECK(graph.event_count == 0 && graph.left_out.beside == 7);
        CHECK(graph.file_count == 0 && graph.file.size == 0);
        CHECK(flow_graph_keep(&graph, nothing, &error));
    }
    buffer_release(&text);
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

/* Boxes that hold nothing any more are gone, those around what is left are not; of several files
 * that of the most nodes is told. */
static void test_keep_groups_and_files(void)
{
    const bool kept[] = {false, true, true, true, false};
    struct flow_graph graph;
    struct error error = ERROR_INIT;

    hand_graph_init(&graph, 5, 2, 4);
    for (uint32_t i = 0; i < 4; i++) {
        graph.groups[i] = (struct flow_group){.parent = i == 0 ? FLOW_NONE : i - 1,
                                              .count = 1,
                                              .function = SLICE("f"),
                                              .line = i};
    }
    graph.groups[3].parent = 0;
    graph.group_count = 4;
    for (uint32_t i = 0; i < 5; i++) {
        hand_node(&graph, "x", i, "", i == 3 ? 3 : i == 0 ? 1 : FLOW_NONE);
    }
    graph.nodes[1].file = SLICE("other.py");
    graph.file_count = 2;
    graph.edges[0] = (struct flow_edge){.source = 1, .target = 3, .count = 1};
    graph.edges[1] = (struct flow_edge){.source = 0, .target = 3, .count = 1};
    graph.edge_count = 2;
    if (CHECK(flow_graph_keep(&graph, kept, &error))) {
        CHECK(graph.node_count == 3 && graph.nodes[2].line == 3);
        CHECK(graph.group_count == 2 && graph.groups[1].line == 3);
        CHECK(graph.groups[0].parent == FLOW_NONE && graph.groups[1].parent == 0);
        CHECK(graph.nodes[2].group == 1 && graph.nodes[0].group == FLOW_NONE);
        CHECK(graph.edge_count == 1);
        CHECK(graph.edges[0].source == 0 && graph.edges[0].target == 2);
        CHECK(graph.file_count == 2);
        CHECK_TEXT(graph.file, "demo/model.py");
    }
    hand_graph_release(&graph);
}

static void test_keep_without_memory(void)
{
    const bool kept[] = {true, false, false, true, true, false, false};
    struct flow_options options = {.fold = FLOW_FOLD_AUTO};
    struct flow_trace trace;
    struct flow_graph graph;
    struct error error = ERROR_INIT;
    uint32_t failed = 0;
    bool is_done = false;

    make_trace(&trace, 3);
    if (CHECK(flow_graph_of(&graph, &trace, &options, &error))) {
        for (size_t i = 1; i < 100 && !is_done; i++) {
            memory_fail_after(i, i % 2 == 0);
            is_done = flow_graph_keep(&graph, kept, &error);
            memory_fail_after(0, false);
            failed += !is_done;
            CHECK(is_done || error.kind == ERROR_MEMORY);
            CHECK(is_done || (graph.node_count == 7 && graph.group_count == 2 &&
                              graph.left_out.beside == 0));
        }
        CHECK(is_done && failed > 3 && graph.node_count == 3);
    }
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

/* ---- what is near ---- */

/* 0 → 1 → 2 → 3 → 4, 1 → 5, 6 → 3: the start is 3, and 1 and 2 are equal. */
static void make_near(struct flow_graph *graph)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 3}, {6, 3}, {3, 4}, {1, 5}};

    hand_graph_init(graph, 8, 6, 0);
    for (uint32_t i = 0; i < 8; i++) {
        hand_node(graph, "x", i, "", FLOW_NONE)->mark =
            i == 3 || i == 4 ? FLOW_MARK_OWN : FLOW_MARK_EQUAL;
    }
    for (uint32_t i = 0; i < 6; i++) {
        graph->edges[i] =
            (struct flow_edge){.source = ends[i][0], .target = ends[i][1], .count = 1};
    }
    graph->edge_count = 6;
}

static void check_near(const struct flow_graph *graph,
                       uint32_t start,
                       uint32_t limit,
                       const char *wanted)
{
    struct error error = ERROR_INIT;
    bool kept[8];
    char text[9] = "";

    if (CHECK(flow_graph_near(graph, start, limit, kept, &error))) {
        for (uint32_t i = 0; i < 8; i++) {
            text[i] = kept[i] ? 'x' : '.';
        }
        CHECK_TEXT(slice_of(text), wanted);
    }
}

static void test_near(void)
{
    struct flow_graph graph;
    struct error error = ERROR_INIT;
    uint32_t failed = 0;
    bool kept[8];

    make_near(&graph);
    check_near(&graph, 3, 8,
               "xxxxx.x."); /* what else the equal 1 went into is not near */
    check_near(&graph, 3, 4, "..xxx.x.");
    check_near(&graph, 3, 1, "...x....");
    check_near(&graph, 7, 8, ".......x");
    check_near(&graph, 1, 8, "xxx..x..");
    for (size_t i = 1; i < 10; i++) {
        memory_fail_after(i, false);
        failed += !flow_graph_near(&graph, 3, 8, kept, &error);
        memory_fail_after(0, false);
    }
    CHECK(failed == 4 && error.kind == ERROR_MEMORY);
    hand_graph_release(&graph);
}

/* ---- drawing ---- */

static bool draw(const struct flow_graph *graph,
                 struct picture_options *options,
                 struct buffer *svg)
{
    struct error error = ERROR_INIT;
    struct picture picture;
    const char *wrong;
    bool is_done;

    picture_init(&picture);
    is_done =
        picture_draw(&picture, graph, options, &error) && svg_text_add(svg, &picture);
    if (is_done) {
        wrong = picture_check(&picture);
        if (!CHECK(wrong == NULL)) {
            printf("  %s\n", wrong);
        }
    }
    picture_release(&picture);
    return is_done;
}

/* One node of each mark, each made from the one before. */
static void make_marks(struct flow_graph *graph, bool has_marks)
{
    const int64_t shape[] = {3, 3};

    hand_graph_init(graph, FLOW_MARK_COUNT, FLOW_MARK_COUNT, 0);
    for (uint32_t i = 0; i < FLOW_MARK_COUNT; i++) {
        struct flow_node *node =
            hand_node(graph, "value", 10 + i, "value = f(value)", FLOW_NONE);

        hand_measure(graph, node, hand_tensor(graph, node, 2, shape));
        if (has_marks) {
            node->mark = (enum flow_mark)i;
            node->remark =
                i == FLOW_MARK_OWN ? SLICE("0.5 in A & 1 <in> B") : SLICE("");
        }
        if (i > 0) {
            graph->edges[graph->edge_count++] =
                (struct flow_edge){.source = i - 1, .target = i, .count = 1};
        }
    }
}

static const char *const words[FLOW_MARK_COUNT] = {
    [FLOW_MARK_EQUAL] = "= equal",
    [FLOW_MARK_MEANT] = "Inf by name",
    [FLOW_MARK_PASSED] = "\xE2\x86\x92 passed on",
    [FLOW_MARK_INHERITED] = "\xE2\x89\xA0 inherited",
    [FLOW_MARK_FIRST] = "! first NaN",
    [FLOW_MARK_ONLY] = "+ only in B",
    [FLOW_MARK_OWN] = "\xE2\x89\xA0 differs here",
    [FLOW_MARK_PRODUCER] = "! NaN or Inf made here",
};

static void test_marks_are_written_in_words(void)
{
    const struct slice verdict[] = {SLICE("model.py:31: first divergence: y: <values>"),
                                    SLICE("3 own, 2 inherited")};
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    struct error error = ERROR_INIT;
    struct flow_graph graph;

    options.verdict = verdict;
    options.verdict_count = 2;
    make_marks(&graph, true);
    for (int theme = 0; theme < 2; theme++) {
        struct buffer svg = BUFFER_INIT;

        options.theme = (enum picture_theme)theme;
        if (CHECK(draw(&graph, &options, &svg))) {
            for (int i = FLOW_MARK_EQUAL; i < FLOW_MARK_COUNT; i++) {
                CHECK(is_there(buffer_slice(&svg), words[i]));
            }
            CHECK(is_there(buffer_slice(&svg), "passes NaN or an infinity on"));
            CHECK(is_there(buffer_slice(&svg), "first divergence: y: &lt;values&gt;<"));
            CHECK(is_there(buffer_slice(&svg), ">3 own, 2 inherited<"));
            CHECK(is_there(buffer_slice(&svg),
                           "<title>value  line 17  \xE2\x89\xA0 differs here: "
                           "0.5 in A &amp; 1 &lt;in&gt; B</title>"));
        }
        buffer_release(&svg);
    }
    for (int i = FLOW_MARK_EQUAL; i < FLOW_MARK_COUNT; i++) {
        struct buffer dot = BUFFER_INIT;

        CHECK(dot_text_add(&graph, &options, &dot, &error));
        CHECK(is_there(buffer_slice(&dot), words[i]));
        CHECK(is_there(buffer_slice(&dot), "y: &lt;values&gt;"));
        CHECK(is_there(buffer_slice(&dot), "n4 -> n5 [color=\"#c8102e\""));
        CHECK(!is_there(buffer_slice(&dot), "n1 -> n2 [color=\"#c8102e\""));
        buffer_release(&dot);
    }
    hand_graph_release(&graph);
}

static void test_without_marks_nothing_is_written(void)
{
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    struct flow_graph graph;
    struct buffer svg = BUFFER_INIT;

    make_marks(&graph, false);
    if (CHECK(draw(&graph, &options, &svg))) {
        for (int i = FLOW_MARK_EQUAL; i < FLOW_MARK_COUNT; i++) {
            CHECK(!is_there(buffer_slice(&svg), words[i]));
        }
        CHECK(!is_there(buffer_slice(&svg), "hands "));
    }
    buffer_release(&svg);
    hand_graph_release(&graph);
}

/* What is equal is small, so that the rest is seen. */
static void test_equal_boxes_have_no_tables(void)
{
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    struct buffer quiet = BUFFER_INIT;
    struct buffer loud = BUFFER_INIT;
    struct flow_graph graph;

    make_marks(&graph, false);
    CHECK(draw(&graph, &options, &loud));
    for (uint32_t i = 0; i < graph.node_count; i++) {
        graph.nodes[i].mark = FLOW_MARK_EQUAL;
    }
    CHECK(draw(&graph, &options, &quiet));
    CHECK(is_there(buffer_slice(&loud), ">mean<"));
    CHECK(!is_there(buffer_slice(&quiet), ">mean<"));
    CHECK(!is_there(buffer_slice(&quiet), "by the table"));
    buffer_release(&quiet);
    buffer_release(&loud);
    hand_graph_release(&graph);
}

/* Words without blanks, words as wide as the box, letters that take several bytes. */
static void test_long_remarks(void)
{
    static const char wide[] = "\xE7\xB4\xA0\xE6\x95\xB0\xE7\xB4\xA0\xE6\x95\xB0"
                               "\xE7\xB4\xA0\xE6\x95\xB0\xE7\xB4\xA0\xE6\x95\xB0";
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    struct slice verdict;
    struct flow_graph graph;
    char text[1200];

    options.verdict = &verdict;
    options.verdict_count = 1;
    for (size_t step = 1; step < 60; step++) {
        struct buffer svg = BUFFER_INIT;
        size_t size = 0;

        while (size + sizeof wide + step < 1000) {
            memcpy(text + size, wide, sizeof wide - 1);
            size += sizeof wide - 1;
            memset(text + size, 'a', step);
            size += step;
            text[size++] = step % 7 == 0 ? 'b' : ' ';
        }
        make_marks(&graph, true);
        graph.nodes[FLOW_MARK_OWN].remark = (struct slice){text, size};
        verdict = graph.nodes[FLOW_MARK_OWN].remark;
        CHECK(draw(&graph, &options, &svg));
        buffer_release(&svg);
        hand_graph_release(&graph);
    }
}

int main(void)
{
    test_turn_that_diverged_stands_alone();
    test_gravest_mark_counts();
    test_keep();
    test_keep_groups_and_files();
    test_keep_without_memory();
    test_near();
    test_marks_are_written_in_words();
    test_without_marks_nothing_is_written();
    test_equal_boxes_have_no_tables();
    test_long_remarks();
    return check_finish();
}
