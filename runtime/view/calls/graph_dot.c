/* A call graph as DOT text. */
#include "runtime/view/calls/graph.h"

#include "runtime/view/words/paint.h"

#include <strings.h>

#define NAME_LIMIT  120 /* bytes that are shown */
#define SHAPE_LIMIT 200

void call_label_add(const struct call_graph *graph, uint32_t node, struct buffer *text)
{
    const struct call_node *shown = &graph->tree->nodes[node];

    buffer_add(text, shown->name);
    if (graph->options.has_repetition && shown->index_count > 1) {
        buffer_add(text, SLICE(" x "));
        buffer_add_number(text, shown->index_count);
    }
}

/* ---- words of DOT ---- */

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Whole numbers and plain words need no quotes; `edge` and the like would be keywords. */
static bool needs_no_quotes(struct slice word)
{
    static const char *const keywords[] = {"node",     "edge",   "graph", "digraph",
                                           "subgraph", "strict", NULL};
    bool is_number = word.size > 0;

    for (size_t i = 0; i < word.size; i++) {
        if (!is_letter(word.bytes[i]) && !is_digit(word.bytes[i])) {
            return false;
        }
        is_number = is_number && is_digit(word.bytes[i]);
    }
    for (int i = 0; keywords[i] != NULL; i++) {
        if (strncasecmp(word.bytes, keywords[i], word.size) == 0 &&
            strlen(keywords[i]) == word.size) {
            return false;
        }
    }
    return is_number || (word.size > 0 && is_letter(word.bytes[0]));
}

/* What stands between quotes. A backslash of ours begins an escape, one of theirs is one. */
static void add_quoted(struct buffer *text, struct slice word, size_t limit)
{
    struct buffer plain = BUFFER_INIT;

    text_add_shortened(&plain, word, limit);
    for (size_t i = 0; i < plain.size; i++) {
        if (plain.bytes[i] == '"' || plain.bytes[i] == '\\') {
            buffer_add_byte(text, '\\');
        }
        buffer_add_byte(text, plain.bytes[i]);
    }
    text->has_failed |= plain.has_failed;
    buffer_release(&plain);
}

static void add_word(struct buffer *text, struct slice word)
{
    if (needs_no_quotes(word)) {
        buffer_add(text, word);
        return;
    }
    buffer_add_byte(text, '"');
    add_quoted(text, word, SIZE_MAX);
    buffer_add_byte(text, '"');
}

/* ---- the graph ---- */

static void add_attribute(struct buffer *text, const struct call_attribute *attribute)
{
    buffer_add(text, SLICE("    "));
    buffer_add(text, attribute->kind);
    buffer_add(text, SLICE(" ["));
    add_word(text, attribute->name);
    buffer_add_byte(text, '=');
    add_word(text, attribute->value);
    buffer_add(text, SLICE("];\n"));
}

static void add_node(struct buffer *text, const struct call_graph *graph, uint32_t node)
{
    const struct call_node *shown = call_graph_told(graph, node);
    struct buffer label = BUFFER_INIT;

    buffer_add_format(text, "    n%lu [label=\"", (unsigned long)node);
    call_label_add(graph, node, &label);
    add_quoted(text, buffer_slice(&label), NAME_LIMIT);
    if (graph->options.has_shapes && shown->shape.size > 0) {
        buffer_add(text, SLICE("\\n"));
        add_quoted(text, shown->shape, SHAPE_LIMIT);
    }
    buffer_add(text, SLICE("\"];\n"));
    text->has_failed |= label.has_failed;
    buffer_release(&label);
}

bool call_graph_add_dot(const struct call_graph *graph,
                        const struct call_attribute *attributes,
                        size_t attribute_count,
                        struct buffer *text)
{
    buffer_add(
        text,
        SLICE("digraph calls {\n"
              "    graph [rankdir=TB];\n"
              "    node [shape=box style=\"rounded,filled\" fillcolor=\"#eef1f4\" "
              "color=\"#8d99a8\" fontname=\"DejaVu Sans,Helvetica,sans-serif\"];\n"
              "    edge [color=\"#55616f\"];\n"));
    for (size_t i = 0; i < attribute_count; i++) {
        add_attribute(text, &attributes[i]);
    }
    for (uint32_t i = 0; i < graph->tree->node_count; i++) {
        if (graph->is_drawn[i]) {
            add_node(text, graph, i);
        }
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        buffer_add_format(text, "    n%lu -> n%lu;\n",
                          (unsigned long)graph->edges[i].source,
                          (unsigned long)graph->edges[i].target);
    }
    buffer_add(text, SLICE("}\n"));
    return !text->has_failed;
}
