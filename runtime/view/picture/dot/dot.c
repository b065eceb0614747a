/* A graph as DOT text. */
#include "runtime/view/picture/dot/dot.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/picture/marks.h"
#include "runtime/view/words/markup_text.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <assert.h>
#include <stdint.h>

/* Limit of a name, in bytes. */
#define DOT_NAME_LIMIT 80

#define DOT_CODE_LIMIT 70

/* ---- The box of a node in DOT: its label, which is a table, and its colours ---- */

#define DIGITS 4

/* ---- texts from the trace ---- */

/* Adds at most `limit` bytes of a text, with unprintable characters and markup escaped. */
static void dot_escaped_add(struct buffer *text, struct slice added, size_t limit)
{
    struct buffer plain = BUFFER_INIT;

    text_add_shortened(&plain, added, limit);
    markup_text_add(text, buffer_slice(&plain));
    text->has_failed |= plain.has_failed;
    buffer_release(&plain);
}

/* Adds ` × 12`; adds nothing for 1. */
static void dot_times_add(struct buffer *text, uint64_t count)
{
    if (count > 1) {
        buffer_add(text, SLICE(" \xC3\x97 "));
        buffer_add_number(text, count);
    }
}

/* ---- nodes ---- */

/* The border of a marked node, with its style. */
static const struct {
    const char *fill;
    const char *border;
} mark_styles[FLOW_MARK_COUNT] = {
    [FLOW_MARK_MEANT] = {"#ffffff", "color=\"#5f6b77\" penwidth=2"},
    [FLOW_MARK_PASSED] = {"#fff3dc", "color=\"#a85d00\" penwidth=2"},
    [FLOW_MARK_INHERITED] = {"#fff3dc", "color=\"#a85d00\" penwidth=2"},
    [FLOW_MARK_FIRST] = {"#ffe4e6", "color=\"#c8102e\" penwidth=3"},
    [FLOW_MARK_ONLY] = {"#efecfd", "color=\"#5b3fd1\" penwidth=2 "
                                   "style=\"rounded,filled,dashed\""},
    [FLOW_MARK_OWN] = {"#ffe4e6", "color=\"#c8102e\" penwidth=3"},
    [FLOW_MARK_PRODUCER] = {"#ffe4e6", "color=\"#c8102e\" penwidth=3"},
};

static const char *fill_of(const struct flow_node *node)
{
    if (node->mark > FLOW_MARK_EQUAL) {
        return mark_styles[node->mark].fill;
    }
    if ((node->flags & FLOW_NODE_NONFINITE) != 0) {
        return "#fdecea";
    }
    if ((node->flags & FLOW_NODE_SOURCE) != 0) {
        return "#eef1f4";
    }
    if ((node->flags & FLOW_NODE_IN_PLACE) != 0) {
        return "#fff4e0";
    }
    if ((node->flags & FLOW_NODE_ALIAS) != 0) {
        return "#fbeff8";
    }
    if ((node->flags & (FLOW_NODE_ARGUMENT | FLOW_NODE_RESULT)) != 0) {
        return "#eaf3fb";
    }
    return "#ffffff";
}

/* Starts a line of small print under the name. */
static void start_line(struct buffer *text)
{
    buffer_add(text, SLICE("<br/><font point-size=\"9\">"));
}

static void end_line(struct buffer *text)
{
    buffer_add(text, SLICE("</font>"));
}

static void add_marks(struct buffer *text, const struct flow_node *node)
{
    static const struct {
        unsigned flag;
        const char *text;
    } marks[] = {
        {FLOW_NODE_SOURCE, "source"},       {FLOW_NODE_ARGUMENT, "argument"},
        {FLOW_NODE_RESULT, "result"},       {FLOW_NODE_IN_PLACE, "in place"},
        {FLOW_NODE_PARAMETER, "parameter"}, {FLOW_NODE_CALL, "call"},
    };
    bool is_first = true;

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if ((node->flags & marks[i].flag) != 0) {
            buffer_add(text, is_first ? SLICE(" <i>(") : SLICE(", "));
            buffer_add(text, slice_of(marks[i].text));
            is_first = false;
        }
    }
    buffer_add(text, is_first ? SLICE("") : SLICE(")</i>"));
}

static void add_form(struct buffer *text, const struct flow_node *node)
{
    start_line(text);
    if (node->type.size > 0) {
        dot_escaped_add(text, node->type, DOT_NAME_LIMIT);
        buffer_add_byte(text, ' ');
    }
    dot_escaped_add(text, node->dtype_text, DOT_NAME_LIMIT);
    buffer_add_byte(text, ' ');
    dimensions_add(text, node->shape, node->dimension_count);
    if (node->shape_varies) {
        buffer_add(text, SLICE(" and others"));
    }
    if (node->device.size > 0 && !slice_equal(node->device, SLICE("cpu"))) {
        buffer_add_byte(text, ' ');
        dot_escaped_add(text, node->device, DOT_NAME_LIMIT);
    }
    if (node->note.size > 0) {
        buffer_add(text, SLICE(" ("));
        dot_escaped_add(text, node->note, DOT_NAME_LIMIT);
        buffer_add_byte(text, ')');
    }
    end_line(text);
}

static void
add_range(struct buffer *text, const char *what, const struct flow_range *range)
{
    buffer_add(text, slice_of(what));
    real_add_short(text, range->low, DIGITS);
    if (range->high > range->low) {
        buffer_add(text, SLICE("\xE2\x80\xA6"));
        real_add_short(text, range->high, DIGITS);
    }
}

static void add_count(struct buffer *text, const char *what, uint64_t count)
{
    if (count > 0) {
        buffer_add_byte(text, ' ');
        buffer_add_number(text, count);
        buffer_add(text, slice_of(what));
    }
}

static void add_statistics(struct buffer *text, const struct flow_node *node)
{
    if (!node->has_statistics) {
        return;
    }
    start_line(text);
    add_range(text, "min ", &node->min);
    add_range(text, " max ", &node->max);
    add_range(text, " mean ", &node->mean);
    add_range(text, " std ", &node->std);
    end_line(text);
    if ((node->flags & FLOW_NODE_NONFINITE) != 0) {
        start_line(text);
        buffer_add(text, SLICE("<b>!!"));
        add_count(text, " NaN", node->nan_count);
        add_count(text, " +Inf", node->posinf_count);
        add_count(text, " -Inf", node->neginf_count);
        buffer_add(text, SLICE("</b>"));
        end_line(text);
    }
}

static void add_text_line(struct buffer *text, const char *before, struct slice added)
{
    if (added.size > 0) {
        start_line(text);
        buffer_add(text, slice_of(before));
        dot_escaped_add(text, added, DOT_CODE_LIMIT);
        end_line(text);
    }
}

/* Adds the mark's word and the remark. */
static void add_mark(struct buffer *text, const struct flow_node *node)
{
    if (node->mark == FLOW_MARK_NONE) {
        return;
    }
    start_line(text);
    buffer_add(text, SLICE("<b>"));
    buffer_add(text, mark_word(node->mark));
    buffer_add(text, SLICE("</b>"));
    end_line(text);
    add_text_line(text, "", node->remark);
}

static void
dot_node_add(struct buffer *text, const struct flow_graph *graph, uint32_t index)
{
    assert(index < graph->node_count);

    const struct flow_node *node = &graph->nodes[index];

    buffer_add_format(text, "n%u [fillcolor=\"%s\"", index, fill_of(node));
    if (node->mark > FLOW_MARK_EQUAL) {
        buffer_add_byte(text, ' ');
        buffer_add(text, slice_of(mark_styles[node->mark].border));
    } else if ((node->flags & FLOW_NODE_NONFINITE) != 0) {
        buffer_add(text, SLICE(" color=\"#b3261e\" penwidth=2"));
    } else if ((node->flags & FLOW_NODE_SOURCE) != 0) {
        buffer_add(text, SLICE(" style=\"rounded,filled,dashed\""));
    }
    buffer_add(text, SLICE(" label=<<b>"));
    dot_escaped_add(text, node->name.size > 0 ? node->name : SLICE("?"),
                    DOT_NAME_LIMIT);
    buffer_add(text, SLICE("</b>"));
    dot_times_add(text, node->count);
    if (node->line > 0) {
        buffer_add_format(text, " <font color=\"#6b7280\">line %u</font>", node->line);
    }
    add_marks(text, node);
    add_mark(text, node);
    if (node->kind == VALUE_TENSOR) {
        add_form(text, node);
        if (node->mark != FLOW_MARK_EQUAL) {
            add_statistics(text, node);
        }
    } else {
        add_text_line(text, "", node->text);
    }
    add_text_line(text, "guessed: ", node->guess);
    add_text_line(text, "changed at ", node->changed_by);
    if (node->code.size > 0) {
        start_line(text);
        buffer_add(text, SLICE("<font face=\"monospace\" color=\"#374151\">"));
        dot_escaped_add(text, node->code, DOT_CODE_LIMIT);
        buffer_add(text, SLICE("</font>"));
        end_line(text);
    }
    buffer_add(text, SLICE(">];\n"));
}

#define VERDICT_LIMIT 160
#define INDENT_LIMIT  20

/* ---- boxes ---- */

/* The groups and nodes inside each group, as linked lists: the first of each group, and the next
 * sibling of each. */
struct nesting {
    uint32_t *first_group; /* by group; the outermost ones at group_count */
    uint32_t *next_group;
    uint32_t *first_node;
    uint32_t *next_node;
};

static uint32_t place_of(const struct flow_graph *graph, uint32_t group)
{
    return group == FLOW_NONE ? graph->group_count : group;
}

static uint32_t *
lists_new(const struct flow_graph *graph, struct nesting *nesting, struct error *error)
{
    size_t groups = (size_t)graph->group_count + 1;
    size_t count = 3 * groups + graph->node_count;
    uint32_t *room = memory_allocate(count, sizeof *room);

    if (room == NULL) {
        error_set_memory(error);
        return NULL;
    }
    memset(room, 0xff, count * sizeof *room);
    *nesting =
        (struct nesting){room, room + groups, room + 2 * groups, room + 3 * groups};
    for (uint32_t i = graph->group_count; i-- > 0;) {
        uint32_t place = place_of(graph, graph->groups[i].parent);

        nesting->next_group[i] = nesting->first_group[place];
        nesting->first_group[place] = i;
    }
    for (uint32_t i = graph->node_count; i-- > 0;) {
        uint32_t place = place_of(graph, graph->nodes[i].group);

        nesting->next_node[i] = nesting->first_node[place];
        nesting->first_node[place] = i;
    }
    return room;
}

static void add_indent(struct buffer *text, uint32_t depth)
{
    text_add_blanks(text, 4 * (size_t)(depth < INDENT_LIMIT ? depth : INDENT_LIMIT));
}

static void add_group_label(struct buffer *text, const struct flow_group *group)
{
    if (group->kind == FLOW_GROUP_LOOP) {
        dot_escaped_add(text, group->code.size > 0 ? group->code : SLICE("loop"),
                        DOT_CODE_LIMIT);
    } else {
        buffer_add(text, SLICE("<b>"));
        dot_escaped_add(text, group->path.size > 0 ? group->path : group->function,
                        DOT_NAME_LIMIT);
        buffer_add(text, SLICE("</b>"));
        if (group->path.size > 0) {
            buffer_add_byte(text, ' ');
            dot_escaped_add(text, group->function, DOT_NAME_LIMIT);
        }
    }
    dot_times_add(text, group->count);
    if (group->line > 0) {
        buffer_add_format(text, "  line %u", group->line);
    }
}

static void open_group(struct buffer *text,
                       const struct flow_graph *graph,
                       uint32_t index,
                       uint32_t depth)
{
    assert(index < graph->group_count);

    const struct flow_group *group = &graph->groups[index];

    add_indent(text, depth);
    buffer_add_format(text, "subgraph cluster_%u {\n", index);
    add_indent(text, depth + 1);
    buffer_add_format(text, "style=\"rounded%s\"; color=\"#9aa5b1\"; labeljust=l; ",
                      group->kind == FLOW_GROUP_LOOP ? ",dashed" : "");
    buffer_add(text, SLICE("label=<"));
    add_group_label(text, group);
    buffer_add(text, SLICE(">;\n"));
}

static void add_nodes_of(struct buffer *text,
                         const struct flow_graph *graph,
                         const struct nesting *nesting,
                         uint32_t place,
                         uint32_t depth)
{
    for (uint32_t i = nesting->first_node[place]; i != FLOW_NONE;
         i = nesting->next_node[i]) {
        add_indent(text, depth);
        dot_node_add(text, graph, i);
    }
}

/* Visits all groups in depth-first order. It does not recurse, because a trace may nest groups
 * to any depth. */
static void add_groups(struct buffer *text,
                       const struct flow_graph *graph,
                       const struct nesting *nesting)
{
    uint32_t depth = 1;
    uint32_t group = nesting->first_group[graph->group_count];

    add_nodes_of(text, graph, nesting, graph->group_count, depth);
    while (group != FLOW_NONE) {
        uint32_t next;

        open_group(text, graph, group, depth++);
        add_nodes_of(text, graph, nesting, group, depth);
        next = nesting->first_group[group];
        while (next == FLOW_NONE && group != FLOW_NONE) {
            add_indent(text, --depth);
            buffer_add(text, SLICE("}\n"));
            next = nesting->next_group[group];
            group = graph->groups[group].parent;
        }
        group = next;
    }
}

/* ---- edges ---- */

static void add_edge(struct buffer *text,
                     const struct flow_graph *graph,
                     const struct flow_edge *edge)
{
    static const char *const styles[] = {
        [GRAPH_VALUE] = "color=\"#374151\"",
        [GRAPH_SAME] = "color=\"#3b76af\" style=dashed",
        [GRAPH_WRITE] = "color=\"#c77700\" penwidth=2",
        [GRAPH_ALIAS] = "color=\"#a0379b\" style=dotted penwidth=2",
        [GRAPH_SHAPE] = "color=\"#9ca3af\" style=dashed",
    };

    buffer_add_format(text, "    n%u -> n%u [%s", edge->source, edge->target,
                      mark_is_handed_on(graph, edge) ? "color=\"#c8102e\" penwidth=2"
                                                     : styles[edge->kind]);
    if (edge->is_unsure) {
        buffer_add(text, SLICE(" penwidth=0.5"));
    }
    if (edge->is_carried) {
        buffer_add(text, SLICE(" constraint=false arrowhead=vee"));
    }
    buffer_add(text, SLICE("];\n"));
}

static void add_left_out(struct buffer *text, const struct flow_left_out *left_out)
{
    const struct {
        uint64_t count;
        const char *text;
    } parts[] = {
        {left_out->older_nodes, " older nodes"},
        {left_out->beside, " other values"},
        {left_out->scalars, " values that are no arrays"},
        {left_out->unchanged, " lines that changed nothing"},
        {left_out->filtered, " filtered out"},
        {left_out->in_part, " lists and dicts in part"},
        {left_out->lost_events, " never recorded"},
    };
    bool is_first = true;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].count > 0) {
            buffer_add(text, is_first ? SLICE("<br/><font point-size=\"9\">not shown: ")
                                      : SLICE(", "));
            buffer_add_number(text, parts[i].count);
            buffer_add(text, slice_of(parts[i].text));
            is_first = false;
        }
    }
    buffer_add(text, is_first ? SLICE("") : SLICE("</font>"));
}

static void add_verdict(struct buffer *text, const struct picture_options *options)
{
    for (size_t i = 0; i < options->verdict_count; i++) {
        buffer_add(text, SLICE("<br/><b>"));
        dot_escaped_add(text, options->verdict[i], VERDICT_LIMIT);
        buffer_add(text, SLICE("</b>"));
    }
}

bool dot_text_add(const struct flow_graph *graph,
                  const struct picture_options *options,
                  struct buffer *text,
                  struct error *error)
{
    struct nesting nesting;
    uint32_t *room = lists_new(graph, &nesting, error);

    if (room == NULL) {
        return false;
    }
    buffer_add(text, SLICE("digraph monitorch {\n"
                           "    graph [fontname=\"sans-serif\" fontsize=11 labelloc=t "
                           "ranksep=0.35 nodesep=0.3];\n"
                           "    node [shape=box style=\"rounded,filled\" "
                           "fontname=\"sans-serif\" fontsize=11 color=\"#9aa5b1\" "
                           "margin=\"0.12,0.06\"];\n"
                           "    edge [arrowsize=0.7];\n"
                           "    label=<"));
    dot_escaped_add(text, options->title.size > 0 ? options->title : graph->file,
                    DOT_CODE_LIMIT);
    add_verdict(text, options);
    add_left_out(text, &graph->left_out);
    buffer_add(text, SLICE(">;\n"));
    add_groups(text, graph, &nesting);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        add_edge(text, graph, &graph->edges[i]);
    }
    buffer_add(text, SLICE("}\n"));
    memory_free(room);
    if (text->has_failed) {
        return error_set_memory(error);
    }
    return true;
}
