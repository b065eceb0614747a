/* The box of a node in DOT: its label as a table, its colours. */
#include "runtime/view/picture/dot/node.h"

#include "runtime/base/memory.h"
#include "runtime/view/picture/dot/dot.h"
#include "runtime/view/picture/marks.h"
#include "runtime/view/words/markup_text.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#define DIGITS 4

/* ---- text that is not ours ---- */

void dot_escaped_add(struct buffer *text, struct slice added, size_t limit)
{
    struct buffer plain = BUFFER_INIT;

    text_add_shortened(&plain, added, limit);
    markup_text_add(text, buffer_slice(&plain));
    text->has_failed |= plain.has_failed;
    buffer_release(&plain);
}

void dot_times_add(struct buffer *text, uint64_t count)
{
    if (count > 1) {
        buffer_add(text, SLICE(" \xC3\x97 "));
        buffer_add_number(text, count);
    }
}

/* ---- nodes ---- */

/* Of marks: the border with its style. */
static const struct {
    const char *fill;
    const char *border;
} mark_looks[FLOW_MARK_COUNT] = {
    [FLOW_MARK_PASSED] = {"#fff3dc", "color=\"#a85d00\" penwidth=2"},
    [FLOW_MARK_INHERITED] = {"#fff3dc", "color=\"#a85d00\" penwidth=2"},
    [FLOW_MARK_ONLY] = {"#efecfd", "color=\"#5b3fd1\" penwidth=2 "
                                   "style=\"rounded,filled,dashed\""},
    [FLOW_MARK_OWN] = {"#ffe4e6", "color=\"#c8102e\" penwidth=3"},
    [FLOW_MARK_PRODUCER] = {"#ffe4e6", "color=\"#c8102e\" penwidth=3"},
};

static const char *fill_of(const struct flow_node *node)
{
    if (node->mark > FLOW_MARK_EQUAL) {
        return mark_looks[node->mark].fill;
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

/* A line of small print under the name. */
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
    buffer_add(text, SLICE(" ["));
    for (uint32_t i = 0; i < node->dimension_count; i++) {
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        integer_add(text, node->shape[i]);
    }
    buffer_add_byte(text, ']');
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

/* The mark's word, and the remark. */
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

void dot_node_add(struct buffer *text, const struct flow_graph *graph, uint32_t index)
{
    const struct flow_node *node = &graph->nodes[index];

    buffer_add_format(text, "n%u [fillcolor=\"%s\"", index, fill_of(node));
    if (node->mark > FLOW_MARK_EQUAL) {
        buffer_add_byte(text, ' ');
        buffer_add(text, slice_of(mark_looks[node->mark].border));
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
