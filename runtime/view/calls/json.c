/* A call tree as JSON. */
#include "runtime/view/calls/tree.h"
#include "runtime/view/words/paint.h"

#define INDENT 2
/* Deeper nodes are not indented further. */
#define INDENT_MAX 200

static void start_line(struct buffer *text, uint32_t depth)
{
    buffer_add_byte(text, '\n');
    text_add_blanks(text, INDENT * (size_t)(depth < INDENT_MAX ? depth : INDENT_MAX));
}

/* Appends a node up to the bracket that its children follow. */
static void open_node(struct buffer *text, const struct call_node *node, uint32_t depth)
{
    buffer_add(text, SLICE("{"));
    start_line(text, depth + 1);
    buffer_add(text, SLICE("\"name\": \""));
    text_add_json(text, node->name);
    buffer_add(text, SLICE("\","));
    start_line(text, depth + 1);
    buffer_add(text, SLICE("\"count\": "));
    buffer_add_number(text, node->count);
    buffer_add(text, SLICE(","));
    start_line(text, depth + 1);
    buffer_add(text, SLICE("\"indices\": ["));
    for (uint32_t i = 0; i < node->index_count; i++) {
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        buffer_add_number(text, node->indices[i]);
    }
    buffer_add(text, SLICE("],"));
    start_line(text, depth + 1);
    buffer_add(text, SLICE("\"children\": ["));
}

static void
close_node(struct buffer *text, const struct call_node *node, uint32_t depth)
{
    if (node->first_child != CALL_NODE_NONE) {
        start_line(text, depth + 1);
    }
    buffer_add(text, SLICE("]"));
    start_line(text, depth);
    buffer_add(text, SLICE("}"));
}

bool call_tree_add_json(const struct call_tree *tree, struct buffer *text)
{
    uint32_t node = 0;
    uint32_t depth = 0; /* number of open brackets: two for each level of the tree */

    open_node(text, &tree->nodes[0], 0);
    for (;;) {
        uint32_t next = tree->nodes[node].first_child;

        if (next != CALL_NODE_NONE) {
            depth += 2;
        } else {
            while (node != 0 && tree->nodes[node].next == CALL_NODE_NONE) {
                close_node(text, &tree->nodes[node], depth);
                node = tree->nodes[node].parent;
                depth -= 2;
            }
            close_node(text, &tree->nodes[node], depth);
            if (node == 0) {
                break;
            }
            next = tree->nodes[node].next;
            buffer_add(text, SLICE(","));
        }
        node = next;
        start_line(text, depth);
        open_node(text, &tree->nodes[node], depth);
    }
    buffer_add(text, SLICE("\n"));
    return !text->has_failed;
}
