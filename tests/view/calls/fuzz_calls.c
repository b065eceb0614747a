/* Any bytes as a list of module paths, or as a trace (short_trace.h says how): what is made of
 * them keeps what its headers promise. The first byte chooses. */
#include "runtime/view/calls/graph.h"
#include "runtime/view/calls/trace.h"
#include "runtime/view/picture/paint/svg_text.h"
#include "tests/fuzz/claim.h"
#include "tests/fuzz/short_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tree(const struct call_tree *tree)
{
    uint64_t call_count = 0;

    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct call_node *node = &tree->nodes[i];
        uint32_t last = i;

        claim(i == 0 ? node->parent == CALL_NODE_NONE : node->parent < i);
        claim(node->count >= node->call_count);
        for (uint32_t k = 1; k < node->index_count; k++) {
            claim(node->indices[k - 1] < node->indices[k]);
        }
        for (uint32_t k = node->first_child; k != CALL_NODE_NONE;
             k = tree->nodes[k].next) {
            claim(k > last && k < tree->node_count && tree->nodes[k].parent == i);
            last = k;
        }
        call_count += node->call_count;
    }
    claim(call_count == tree->nodes[0].count);
}

static void check_graph(const struct call_graph *graph)
{
    uint32_t drawn_count = 0;

    for (uint32_t i = 0; i < graph->tree->node_count; i++) {
        drawn_count += graph->is_drawn[i];
    }
    claim(drawn_count == graph->drawn_count);
    for (size_t i = 0; i < graph->edge_count; i++) {
        claim(graph->edges[i].source < graph->tree->node_count &&
              graph->edges[i].target < graph->tree->node_count);
        claim(graph->is_drawn[graph->edges[i].source] &&
              graph->is_drawn[graph->edges[i].target]);
    }
}

/* Lines of what may be printed. */
static void check_lines(const struct buffer *text)
{
    for (size_t i = 0; i < text->size; i++) {
        unsigned char byte = (unsigned char)text->bytes[i];

        claim(byte == '\n' || (byte >= ' ' && byte != 0x7F));
    }
}

static void draw(const struct call_tree *tree, uint8_t flags)
{
    const struct call_graph_options options = {(flags & 2) != 0, (flags & 4) != 0,
                                               (flags & 8) != 0, (flags & 16) != 0};
    const struct call_picture_options inspect = {.title = SLICE("calls")};
    struct error error = ERROR_INIT;
    struct call_graph graph;
    struct buffer text = BUFFER_INIT;
    struct picture picture;

    call_graph_init(&graph);
    picture_init(&picture);
    claim(call_graph_build(&graph, tree, &options, &error));
    check_graph(&graph);
    claim(call_graph_add_dot(&graph, NULL, 0, &text));
    claim(options.merges_names || call_graph_add_text(&graph, false, &text));
    check_lines(&text);
    if (graph.drawn_count < 300) {
        claim(call_graph_draw(&graph, &inspect, &picture, &error));
        claim(svg_text_add(&text, &picture));
    }
    picture_release(&picture);
    buffer_release(&text);
    call_graph_release(&graph);
}

static void use(const struct call_trace *trace, uint8_t flags)
{
    struct error error = ERROR_INIT;
    struct buffer text = BUFFER_INIT;
    struct call_tree tree;
    struct call_tree squashed;

    call_tree_init(&tree);
    call_tree_init(&squashed);
    claim(call_tree_build(&tree, trace->paths, trace->count, &error));
    check_tree(&tree);
    claim(call_tree_squash(&squashed, &tree, &error));
    claim(squashed.node_count == tree.node_count);
    claim(call_tree_add_json(&tree, &text));
    check_lines(&text);
    buffer_release(&text);
    draw(&tree, flags);
    call_tree_release(&squashed);
    call_tree_release(&tree);
}

static void use_trace(const uint8_t *data, size_t size, uint8_t flags)
{
    char path[SHORT_TRACE_PATH_SIZE];
    int file = short_trace_file(path);
    struct error error = ERROR_INIT;
    struct call_trace trace;

    short_trace_put(file, data, size);
    call_trace_init(&trace);
    if (call_trace_read(&trace, path, &error)) {
        use(&trace, flags);
    } else {
        claim(error.kind != ERROR_NONE);
    }
    call_trace_release(&trace);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct call_trace trace;

    if (size < 1) {
        return 0;
    }
    if ((data[0] & 1) != 0) {
        use_trace(data + 1, size - 1, data[0]);
        return 0;
    }
    call_trace_init(&trace);
    claim(
        call_trace_read_text(&trace, (struct slice){(const char *)data + 1, size - 1}));
    use(&trace, data[0]);
    call_trace_release(&trace);
    return 0;
}
