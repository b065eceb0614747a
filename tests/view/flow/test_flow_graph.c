/* The graph of a trace: what leads to what, and what is folded, of one small program whose
 * values these tests make up. In the words of flow_graph_write: `=` the same value, `!` written in
 * place, `~` written through another name, `^` from one turn to the next. */
#include "runtime/view/flow/flow.h"

#include "runtime/base/memory.h"
#include "runtime/view/picture/dot/dot.h"
#include "tests/view/flow/flow_program.h"

#include <time.h>

/* ---- running ---- */

static void check_words(const struct flow_trace *trace,
                        const struct flow_options *options,
                        const char *wanted)
{
    struct error error = ERROR_INIT;
    struct buffer text = BUFFER_INIT;
    struct flow_graph graph;

    if (CHECK(flow_graph_of(&graph, trace, options, &error))) {
        flow_graph_write(&graph, &text);
        CHECK_TEXT(buffer_slice(&text), wanted);
    }
    buffer_release(&text);
    flow_graph_release(&graph);
}

static const struct flow_options unfolded = {.fold = FLOW_FOLD_NONE};
static const struct flow_options automatic = {.fold = FLOW_FOLD_AUTO};

/* ---- names and identity ---- */

static void test_calls(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);

    loop(&trace, &begun, 1, false);
    flow_trace_end(&trace);
    check_words(&trace, &unfolded,
                "[0 in -1: Net.forward  x1]\n"
                "0 w x1 in -1:\n"
                "1 a x1 in -1:\n"
                "2 x x1 in 0 argument: =1\n"
                "3 y x1 in 0: 0 2\n"
                "4 y x1 in 0 in place: !3\n"
                "5 return x1 in 0 result: =4\n"
                "6 a x1 in -1: =5\n");
    flow_trace_remove(&trace);
}

static void test_containers_and_targets(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct flow_value value = {.call = begun.module, .address = 0x200};

    value.site = FLOW_SITE_BC;
    value.origin = begun.a;
    value.origin = flow_trace_add(&trace, &value);
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_BC,
                                                .call = begun.module,
                                                .write = 1,
                                                .address = 0x300});
    flow_trace_add_other(&trace, FLOW_SITE_D, begun.module, 0, 0, VALUE_CONTAINER);
    value.site = FLOW_SITE_D;
    value.path = "['k']";
    value.origin = flow_trace_add(&trace, &value);
    value.site = FLOW_SITE_E;
    value.path = NULL;
    flow_trace_add(&trace, &value);
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_G,
                                                .call = begun.module,
                                                .address = 0x400});
    flow_trace_end(&trace);
    check_words(&trace, &unfolded,
                "0 w x1 in -1:\n"
                "1 a x1 in -1:\n"
                "2 b x1 in -1: =1\n"
                "3 c x1 in -1: 0 1\n"
                "4 d['k'] x1 in -1: =2\n"
                "5 e x1 in -1: =4\n"
                "6 g x1 in -1: 3 5\n");
    flow_trace_remove(&trace);
}

/* d and v are one container where they have one address: what was put in by v is read by d. */
static void check_two_names(uint64_t second, const char *wanted)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct flow_value list = {.call = begun.module, .change = CHANGE_NEW};

    list.site = FLOW_SITE_D;
    list.address = 0x9000;
    flow_trace_add_container(&trace, &list, 1);
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_D,
                                                .call = begun.module,
                                                .path = "['k']",
                                                .address = 0x300});
    list.site = FLOW_SITE_V;
    list.address = second;
    flow_trace_add_container(&trace, &list, 1);
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_V,
                                                .call = begun.module,
                                                .path = "['k']",
                                                .address = 0x400});
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_E,
                                                .call = begun.module,
                                                .address = 0x500});
    flow_trace_end(&trace);
    check_words(&trace, &unfolded, wanted);
    flow_trace_remove(&trace);
}

static void test_one_container_under_two_names(void)
{
    check_two_names(0x9000, "0 w x1 in -1:\n"
                            "1 a x1 in -1:\n"
                            "2 d['k'] x1 in -1:\n"
                            "3 v['k'] x1 in -1: 1\n"
                            "4 e x1 in -1: 3\n");
    check_two_names(0xa000, "0 w x1 in -1:\n"
                            "1 a x1 in -1:\n"
                            "2 d['k'] x1 in -1:\n"
                            "3 v['k'] x1 in -1: 1\n"
                            "4 e x1 in -1: 2\n");
}

/* Items that are not recorded again stay, up to the container's new length. */
static void test_container_goes_on(void)
{
    static const char *const paths[] = {"[0]", "[1]", "[2]"};
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct flow_value list = {.site = FLOW_SITE_D,
                              .call = begun.module,
                              .change = CHANGE_NEW,
                              .address = 0x9000};

    flow_trace_add_container(&trace, &list, 3);
    for (uint64_t i = 0; i < 3; i++) {
        flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_D,
                                                    .call = begun.module,
                                                    .path = paths[i],
                                                    .address = 0x300 + 0x100 * i});
    }
    list.visit = 1;
    list.change = CHANGE_MUTATED;
    list.flags = LOG_EVENT_CONTINUED;
    flow_trace_add_container(&trace, &list, 2);
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_D,
                                                .call = begun.module,
                                                .visit = 1,
                                                .path = "[0]",
                                                .change = CHANGE_REBOUND,
                                                .address = 0x700});
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_E,
                                                .call = begun.module,
                                                .address = 0x500});
    flow_trace_end(&trace);
    check_words(&trace, &unfolded,
                "0 w x1 in -1:\n"
                "1 a x1 in -1:\n"
                "2 d[0] x1 in -1:\n"
                "3 d[1] x1 in -1:\n"
                "4 d[2] x1 in -1:\n"
                "5 d[0] x1 in -1:\n"
                "6 e x1 in -1: 3 5\n");
    flow_trace_remove(&trace);
}

/* v = a; v.zero_(): who reads a then reads what was written, and nothing of what was there. */
static void test_memory_written_over(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct flow_value v = {
        .site = FLOW_SITE_V, .call = begun.module, .address = 0x280, .data = 0x200};

    v.origin = flow_trace_add(&trace, &v);
    v.site = FLOW_SITE_ZERO;
    v.change = CHANGE_MUTATED;
    v.version = 1;
    flow_trace_add(&trace, &v);
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_BC,
                                                .call = begun.module,
                                                .write = 1,
                                                .address = 0x300});
    flow_trace_end(&trace);
    check_words(&trace, &unfolded,
                "0 w x1 in -1:\n"
                "1 a x1 in -1:\n"
                "2 v x1 in -1: 1\n"
                "3 v x1 in -1 in place: !2\n"
                "4 c x1 in -1: 0 3\n");
    flow_trace_remove(&trace);
}

/* v = a[0]; v.zero_(): then a is seen to have changed by it. */
static void test_memory(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct flow_value v = {
        .site = FLOW_SITE_V, .call = begun.module, .address = 0x280, .data = 0x200};
    struct error error = ERROR_INIT;
    struct flow_graph graph;

    v.origin = flow_trace_add(&trace, &v);
    v.site = FLOW_SITE_ZERO;
    v.change = CHANGE_MUTATED;
    v.version = 1;
    flow_trace_add(&trace, &v);
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_A,
                                                .call = begun.module,
                                                .visit = 1,
                                                .address = 0x200,
                                                .version = 1,
                                                .change = CHANGE_ALIASED,
                                                .alias_site = FLOW_SITE_ZERO});
    flow_trace_end(&trace);
    check_words(&trace, &unfolded,
                "0 w x1 in -1:\n"
                "1 a x1 in -1:\n"
                "2 v x1 in -1: 1\n"
                "3 v x1 in -1 in place: !2\n"
                "4 a x1 in -1 alias: !1 ~3\n");
    if (CHECK(flow_graph_of(&graph, &trace, &unfolded, &error))) {
        CHECK_TEXT(graph.nodes[4].changed_by, "unit.py:12 by v");
        CHECK_TEXT(graph.nodes[3].code, "v.zero_()");
    }
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

/* A line that may write to a value, and does not: no node, but counted. */
static void test_unchanged(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct flow_value v = {.site = FLOW_SITE_V, .call = begun.module, .address = 0x280};
    struct error error = ERROR_INIT;
    struct flow_graph graph;

    v.origin = flow_trace_add(&trace, &v);
    v.site = FLOW_SITE_ZERO;
    v.change = CHANGE_SAME;
    flow_trace_add(&trace, &v);
    flow_trace_end(&trace);
    if (CHECK(flow_graph_of(&graph, &trace, &unfolded, &error))) {
        CHECK(graph.node_count == 3);
        CHECK(graph.left_out.unchanged == 1);
    }
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

/* What is told because it is read was there before. */
static void test_sources(void)
{
    struct flow_trace trace;
    uint32_t call;

    flow_trace_begin(&trace);
    call = flow_trace_call(&trace, 0, FLOW_FUNCTION_FORWARD, 0, "");
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_ENTER,
                                                .call = call,
                                                .write = 1,
                                                .address = 0x100});
    flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_Y,
                                                .call = call,
                                                .write = 1,
                                                .flags = LOG_EVENT_READ,
                                                .address = 0x200});
    flow_trace_add(&trace, &(struct flow_value){
                               .site = FLOW_SITE_Y, .call = call, .address = 0x300});
    flow_trace_end(&trace);
    check_words(&trace, &unfolded,
                "[0 in -1: Net.forward  x1]\n"
                "0 x x1 in 0 argument:\n"
                "1 w x1 in 0 source:\n"
                "2 y x1 in 0: 0 1\n");
    flow_trace_remove(&trace);
}

static void test_filter(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct event_filter filter;
    struct error error = ERROR_INIT;
    struct flow_options options = {.fold = FLOW_FOLD_NONE, .filter = &filter};
    struct flow_graph graph;

    loop(&trace, &begun, 1, false);
    flow_trace_end(&trace);
    event_filter_init(&filter);
    CHECK(event_filter_add_line(&filter, SLICE("4-5"), &error));
    /* What the lines read and did not make is a source; the rest is counted. */
    check_words(&trace, &options,
                "[0 in -1: Net.forward  x1]\n"
                "0 w x1 in -1 source:\n"
                "1 x x1 in 0 source:\n"
                "2 y x1 in 0: 0 1\n"
                "3 y x1 in 0 in place: !2\n");
    if (CHECK(flow_graph_of(&graph, &trace, &options, &error))) {
        CHECK(graph.left_out.filtered == 6);
        CHECK(graph.event_count == 4);
    }
    flow_graph_release(&graph);
    /* So is what was told before the first event that counts. */
    options = (struct flow_options){.fold = FLOW_FOLD_NONE, .first_event = 6};
    check_words(&trace, &options,
                "[0 in -1: Net.forward  x1]\n"
                "0 w x1 in -1 source:\n"
                "1 x x1 in 0 source:\n"
                "2 y x1 in 0: 0 1\n"
                "3 y x1 in 0 in place: !2\n"
                "4 return x1 in 0 result: =3\n"
                "5 a x1 in -1: =4\n");
    event_filter_release(&filter);
    flow_trace_remove(&trace);
}

static void test_scalars_and_guesses(void)
{
    struct flow_trace trace;
    struct flow_options options = {.fold = FLOW_FOLD_NONE};
    struct error error = ERROR_INIT;
    struct flow_graph graph;
    uint32_t call;

    flow_trace_begin(&trace);
    flow_trace_note(&trace, "r\tx\trandn(8, 8)");
    call = flow_trace_call(&trace, 0, FLOW_FUNCTION_R, 0, "");
    flow_trace_add(&trace, &(struct flow_value){
                               .site = FLOW_SITE_R_ENTER, .call = call, .address = 16});
    flow_trace_add_other(&trace, FLOW_SITE_R_Y, call, 0, 0, VALUE_INT);
    call = flow_trace_call(&trace, call, FLOW_FUNCTION_R, 18, "");
    flow_trace_add(&trace, &(struct flow_value){
                               .site = FLOW_SITE_R_ENTER, .call = call, .address = 32});
    flow_trace_end(&trace);
    if (CHECK(flow_graph_of(&graph, &trace, &options, &error))) {
        CHECK(graph.node_count == 2 && graph.left_out.scalars == 1);
        CHECK_TEXT(graph.nodes[0].guess, "randn(8, 8)");
        CHECK((graph.nodes[0].flags & FLOW_NODE_GUESSED) != 0);
        CHECK((graph.nodes[1].flags & FLOW_NODE_GUESSED) == 0);
        CHECK(graph.groups[1].is_recursive);
    }
    flow_graph_release(&graph);
    options.has_scalars = true;
    if (CHECK(flow_graph_of(&graph, &trace, &options, &error))) {
        CHECK(graph.node_count == 3 && graph.left_out.scalars == 0);
        CHECK_TEXT(graph.nodes[1].text, "1");
    }
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

/* ---- folding ---- */

static void test_loop_folds(void)
{
    static const char wanted[] = "[0 in -1: for i in range(3):  x3]\n"
                                 "[1 in 0: Net.forward blocks.0-2 x3]\n"
                                 "0 w x1 in -1:\n"
                                 "1 a x1 in -1:\n"
                                 "2 x x3 in 1 argument: =1 =6^\n"
                                 "3 y x3 in 1: 0 2\n"
                                 "4 y x3 in 1 in place: !3\n"
                                 "5 return x3 in 1 result: =4\n"
                                 "6 a x3 in 0: =5\n";
    struct flow_options all = {.fold = FLOW_FOLD_ALL};
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct error error = ERROR_INIT;
    struct flow_graph graph;

    loop(&trace, &begun, 3, true);
    flow_trace_end(&trace);
    check_words(&trace, &automatic, wanted);
    check_words(&trace, &all, wanted);
    if (CHECK(flow_graph_of(&graph, &trace, &automatic, &error))) {
        const struct flow_node *y = &graph.nodes[3];

        CHECK(graph.event_count == 17);
        CHECK(y->mean.low == 0 && y->mean.high == 2 && y->shape_varies);
        CHECK(y->shape[0] == 4 && y->statistics.mean == 2);
    }
    flow_graph_release(&graph);
    if (CHECK(flow_graph_of(&graph, &trace, &unfolded, &error))) {
        CHECK(graph.node_count == 17 && graph.group_count == 3);
    }
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

/* Levels that are alike, and the last one, which is not. */
static void test_recursion_folds(void)
{
    struct flow_trace trace;
    uint32_t calls[4];
    uint64_t origin = 0;
    uint64_t address = 0x100;

    flow_trace_begin(&trace);
    for (uint32_t i = 0; i < 4; i++) {
        calls[i] =
            flow_trace_call(&trace, i == 0 ? 0 : calls[i - 1], FLOW_FUNCTION_R, 18, "");
        flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_R_ENTER,
                                                    .call = calls[i],
                                                    .address = address,
                                                    .origin = origin});
        address += 0x100;
        origin = flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_R_Y,
                                                             .call = calls[i],
                                                             .address = address});
    }
    for (uint32_t i = 4; i-- > 0;) {
        if (i < 3) {
            origin = flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_R_Z,
                                                                 .call = calls[i],
                                                                 .address = address,
                                                                 .origin = origin});
        }
        origin = flow_trace_add(&trace, &(struct flow_value){.site = FLOW_SITE_R_RETURN,
                                                             .call = calls[i],
                                                             .address = address,
                                                             .origin = origin});
        flow_trace_leave(&trace, calls[i]);
    }
    flow_trace_end(&trace);
    check_words(&trace, &automatic,
                "[0 in -1: r  x3]\n"
                "[1 in 0: r  x1 recursive]\n"
                "0 x x3 in 0 argument: =1^\n"
                "1 y x3 in 0: 0\n"
                "2 x x1 in 1 argument: =1\n"
                "3 y x1 in 1: 2\n"
                "4 return x1 in 1 result: =3\n"
                "5 z x3 in 0: =4 =6^\n"
                "6 return x3 in 0 result: =5\n");
    flow_trace_remove(&trace);
}

/* ---- limits ---- */

static void test_newest(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct flow_options options = {.fold = FLOW_FOLD_NONE, .max_nodes = 3};
    struct error error = ERROR_INIT;
    struct flow_graph graph;

    loop(&trace, &begun, 2, false);
    flow_trace_end(&trace);
    check_words(&trace, &options,
                "[0 in -1: Net.forward  x1]\n"
                "0 y x1 in 0 in place:\n"
                "1 return x1 in 0 result: =0\n"
                "2 a x1 in -1: =1\n");
    if (CHECK(flow_graph_of(&graph, &trace, &options, &error))) {
        CHECK(graph.left_out.older_nodes == 9);
    }
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

static bool stop_at_once(void *context, uint64_t events)
{
    *(uint64_t *)context = events;
    return false;
}

/* 20,000 calls: soon done, and given up where it is asked for. */
static void test_large(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    uint64_t printed = 0;
    struct flow_options options = {.progress = stop_at_once,
                                   .progress_context = &printed};
    struct error error = ERROR_INIT;
    struct flow_graph graph;
    clock_t start;

    loop(&trace, &begun, 20000, true);
    flow_trace_end(&trace);
    start = clock();
    if (CHECK(flow_graph_of(&graph, &trace, &automatic, &error))) {
        CHECK(graph.node_count == 7);
        CHECK(graph.event_count == 100002);
        CHECK_TEXT(graph.groups[1].path, "blocks.0-19999");
        CHECK(clock() - start < 10 * CLOCKS_PER_SEC);
    }
    flow_graph_release(&graph);
    CHECK(!flow_graph_of(&graph, &trace, &options, &error));
    CHECK(error.kind == ERROR_USAGE && printed > 0 && printed < 100000);
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

static void test_nothing(void)
{
    struct flow_trace trace;
    struct error error = ERROR_INIT;
    struct flow_graph graph;

    flow_trace_begin(&trace);
    flow_trace_end(&trace);
    if (CHECK(flow_graph_of(&graph, &trace, &automatic, &error))) {
        CHECK(graph.node_count == 0 && graph.edge_count == 0 && graph.group_count == 0);
        CHECK(graph.file.size == 0);
    }
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

/* Each allocation fails once: an error that says so, or the whole graph; never half of it. */
static void test_failing_allocations(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    size_t failed = 0;
    bool is_done = false;

    loop(&trace, &begun, 3, true);
    flow_trace_note(&trace, "r\tx\tguess");
    flow_trace_end(&trace);
    for (size_t i = 1; i < 2000 && !is_done; i++) {
        struct error error = ERROR_INIT;
        struct buffer text = BUFFER_INIT;
        struct flow_graph graph;

        memory_fail_after(i, i % 2 == 0);
        is_done = flow_graph_of(&graph, &trace, &automatic, &error) &&
                  dot_text_add(&graph, &PICTURE_OPTIONS_DEFAULT, &text, &error);
        memory_fail_after(0, false);
        if (!is_done) {
            failed++;
            CHECK(error.kind == ERROR_MEMORY || error.kind == ERROR_SYSTEM);
        } else {
            CHECK(graph.node_count == 7);
        }
        buffer_release(&text);
        flow_graph_release(&graph);
    }
    CHECK(is_done && failed > 20);
    flow_trace_remove(&trace);
}

/* ---- DOT ---- */

static void test_dot(void)
{
    struct flow_trace trace;
    struct begun begun = begin(&trace);
    struct error error = ERROR_INIT;
    struct buffer text = BUFFER_INIT;
    struct flow_graph graph;
    struct picture_options options = {.title = SLICE("a <b> & \"c\"\x1b")};
    struct slice whole;

    loop(&trace, &begun, 3, true);
    flow_trace_end(&trace);
    if (CHECK(flow_graph_of(&graph, &trace, &automatic, &error)) &&
        CHECK(dot_text_add(&graph, &options, &text, &error))) {
        whole = buffer_slice(&text);
        CHECK(slice_starts(whole, SLICE("digraph monitorch {\n")));
        CHECK(slice_find(whole, SLICE("a &lt;b&gt; &amp; &quot;c&quot;?"), 0) <
              whole.size);
        CHECK(slice_find(whole, SLICE("subgraph cluster_1 {"), 0) < whole.size);
        CHECK(slice_find(whole, SLICE("n6 -> n2 ["), 0) < whole.size);
        CHECK(memchr(whole.bytes, 0x1b, whole.size) == NULL);
    }
    buffer_release(&text);
    flow_graph_release(&graph);
    flow_trace_remove(&trace);
}

int main(void)
{
    test_calls();
    test_containers_and_targets();
    test_one_container_under_two_names();
    test_container_goes_on();
    test_memory();
    test_memory_written_over();
    test_unchanged();
    test_sources();
    test_filter();
    test_scalars_and_guesses();
    test_loop_folds();
    test_recursion_folds();
    test_newest();
    test_large();
    test_nothing();
    test_failing_allocations();
    test_dot();
    return check_finish();
}
