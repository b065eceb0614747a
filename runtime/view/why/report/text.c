/* Where a NaN comes from, in words. */
#include "runtime/view/why/why.h"

#include "runtime/view/words/paint.h"
#include "runtime/view/words/verdict_text.h"

#include <stdio.h>

#define NAME_LIMIT      100
#define PATH_LIMIT      4096 /* the first line's: an editor has to find it */
#define ROW_PATH_LIMIT  40
#define STATEMENT_LIMIT 400
#define OTHERS_MAX      5

/* "NaN", "Inf", "-Inf", "NaN and Inf". */
static void add_what(struct buffer *text, unsigned holds)
{
    if ((holds & WHY_NAN) != 0) {
        buffer_add(text, SLICE("NaN"));
    }
    if ((holds & WHY_INF) != 0) {
        buffer_add(text, (holds & WHY_NAN) != 0 ? SLICE(" and ") : SLICE(""));
        buffer_add(text,
                   (holds & WHY_INF) == WHY_NEGINF ? SLICE("-Inf") : SLICE("Inf"));
    }
}

static struct slice how_text(const struct why_producer *producer, bool is_undecided)
{
    switch (producer->how) {
    case WHY_CAME_IN:
        return SLICE(" entered here: ");
    case WHY_SEEN:
        return SLICE(" first seen here: ");
    case WHY_BACKWARD:
        return is_undecided
                   ? SLICE(" made in the backward of this line or of another: ")
                   : SLICE(" made in the backward of this line: ");
    default:
        return producer->is_more   ? SLICE(" written here too: ")
               : producer->is_soft ? SLICE(" written here: ")
                                   : SLICE(" made here: ");
    }
}

static void
add_place(struct buffer *text, struct slice file, uint32_t line, size_t limit)
{
    text_add_path(text, file, limit);
    buffer_add_byte(text, ':');
    buffer_add_number(text, line);
}

static void add_value(const struct why *why, uint32_t node, struct buffer *text)
{
    text_add_shortened(text, why->graph.nodes[node].name, NAME_LIMIT);
    buffer_add(text, SLICE(" = "));
    buffer_add(text, why->values[node]);
    buffer_add(text, SLICE("   #"));
    buffer_add_number(text, why->graph.nodes[node].event);
}

/* `FILE:LINE: NaN made here: NAME: REASON`. */
static void add_head(const struct why *why,
                     const struct why_producer *producer,
                     size_t path_limit,
                     bool has_color,
                     struct buffer *text)
{
    add_place(text, producer->file, producer->line, path_limit);
    buffer_add(text, SLICE(": "));
    paint_start(text, has_color, PAINT_ALARM);
    add_what(text, producer->made);
    buffer_add(text, how_text(producer, why_is_undecided(why)));
    paint_end(text, has_color);
    if (producer->is_gradient) {
        buffer_add(text, SLICE("gradient of "));
        text_add_shortened(text, why->bad.name, NAME_LIMIT);
    } else {
        text_add_shortened(text, why->graph.nodes[producer->node].name, NAME_LIMIT);
    }
    buffer_add(text, SLICE(": "));
    buffer_add_printable(text, producer->reason);
}

static void add_visit(const struct why *why, uint32_t node, struct buffer *text)
{
    if (why->facts[node].visit > 0) {
        verdict_label_add(text, "iteration", why->ask.has_color);
        buffer_add_number(text, why->facts[node].visit);
        buffer_add(text, SLICE(" (from 0) of this line in this call\n"));
    }
}

static void add_shown_inputs(const struct why *why,
                             const struct why_producer *producer,
                             struct buffer *text)
{
    for (uint32_t i = 0; i < producer->input_count && i < WHY_INPUTS_SHOWN; i++) {
        verdict_label_add(text, i == 0 ? "from" : "", why->ask.has_color);
        add_value(why, producer->inputs[i], text);
        buffer_add_byte(text, '\n');
    }
}

static void add_inputs(const struct why *why,
                       const struct why_producer *producer,
                       struct buffer *text)
{
    add_shown_inputs(why, producer, text);
    if (producer->input_count > WHY_INPUTS_SHOWN) {
        verdict_label_add(text, "", why->ask.has_color);
        buffer_add(text, SLICE("and more, "));
        buffer_add_number(text, producer->input_total);
        buffer_add(text, SLICE(" in all\n"));
    }
}

static void add_gradient(const struct why_gradient *gradient,
                         const char *label,
                         bool has_color,
                         struct buffer *text)
{
    verdict_label_add(text, label, has_color);
    buffer_add(text, SLICE("gradient of "));
    text_add_shortened(text, gradient->name, NAME_LIMIT);
    buffer_add(text, SLICE(" = "));
    buffer_add(text, gradient->text);
    buffer_add(text, SLICE("   of #"));
    buffer_add_number(text, gradient->event);
    buffer_add_byte(text, '\n');
}

/* The gradients that the line's backward got and gave, and the values of its forward. */
static void add_backward(const struct why *why,
                         const struct why_producer *producer,
                         struct buffer *text)
{
    const struct backward *backward = &why->backwards.items[why->backward];

    add_gradient(&why->bad, "gave", why->ask.has_color, text);
    if (producer->given.is_known) {
        add_gradient(&producer->given, "of", why->ask.has_color, text);
    }
    if (producer->how == WHY_BACKWARD && !producer->is_start) {
        verdict_label_add(text, "forward", why->ask.has_color);
        add_value(why, producer->node, text);
        buffer_add_byte(text, '\n');
        add_shown_inputs(why, producer, text);
    }
    if (backward->line != 0) {
        verdict_label_add(text, "called", why->ask.has_color);
        buffer_add(text, SLICE("by backward at "));
        add_place(text, slice_last_part(backward->file, '/'), backward->line,
                  ROW_PATH_LIMIT);
        buffer_add_byte(text, '\n');
    }
}

static void add_producer(const struct why *why, uint32_t index, struct buffer *text)
{
    const struct why_producer *producer = &why->producers[index];

    verdict_source_add(text, producer->line, producer->statement, why->ask.has_color);
    if (producer->is_gradient) {
        add_backward(why, producer, text);
        add_visit(why, producer->node, text);
        verdict_lines_add(text, "in", why->calls[index], why->ask.has_color);
        return;
    }
    verdict_label_add(text, producer->how == WHY_MADE ? "gave" : "is",
                      why->ask.has_color);
    add_value(why, producer->node, text);
    buffer_add_byte(text, '\n');
    add_inputs(why, producer, text);
    add_visit(why, producer->node, text);
    verdict_lines_add(text, "in", why->calls[index], why->ask.has_color);
}

/* ---- besides ---- */

static void add_asked(const struct why *why, struct buffer *text)
{
    const struct flow_node *node = &why->graph.nodes[why->target];

    buffer_add(text, SLICE("\n"
                           "the value of your question "));
    buffer_add(text, why->facts[why->target].made == 0 ? SLICE("passes it on:\n"
                                                               "  ")
                                                       : SLICE("makes NaN from that:\n"
                                                               "  "));
    add_place(text, slice_last_part(node->file, '/'), node->line, ROW_PATH_LIMIT);
    buffer_add(text, SLICE("  "));
    add_value(why, why->target, text);
    buffer_add_byte(text, '\n');
}

static void add_others(const struct why *why, struct buffer *text)
{
    if (why->producer_total < 2) {
        return;
    }
    buffer_add(text, why_is_undecided(why) ? SLICE("\n"
                                                   "or, and on the way:\n")
                                           : SLICE("\n"
                                                   "and on the way:\n"));
    for (uint32_t i = 0; i < why->producer_count; i++) {
        if (i == why->main) {
            continue;
        }
        buffer_add(text, SLICE("  "));
        add_head(why, &why->producers[i], ROW_PATH_LIMIT, why->ask.has_color, text);
        buffer_add_byte(text, '\n');
    }
    if (why->producer_total > why->producer_count) {
        buffer_add(text, SLICE("  and "));
        buffer_add_number(text, why->producer_total - why->producer_count);
        buffer_add(text, SLICE(" more\n"));
    }
}

/* ---- the slice ---- */

static const char *role_of(const struct why *why, uint32_t node)
{
    const struct why_fact *fact = &why->facts[node];
    unsigned flags = why->graph.nodes[node].flags;

    if (fact->made != 0) {
        return "!! made";
    }
    if (fact->holds != 0) {
        return "!! passes";
    }
    if (why->first_edges[node] != why->first_edges[node + 1]) {
        return "";
    }
    if ((flags & FLOW_NODE_PARAMETER) != 0) {
        return "parameter";
    }
    return (flags & FLOW_NODE_ARGUMENT) != 0 ? "argument"
           : (flags & FLOW_NODE_SOURCE) != 0 ? "before"
                                             : "begins";
}

static void
add_row(const struct why *why, const struct why_row *row, struct buffer *text)
{
    const struct flow_node *node = &why->graph.nodes[row->node];
    bool is_alarm = why->facts[row->node].holds != 0;
    const char *role = role_of(why, row->node);
    size_t size = strlen(role);

    buffer_add(text, SLICE("  "));
    paint_start(text, why->ask.has_color, is_alarm ? PAINT_ALARM : PAINT_FAINT);
    buffer_add_bytes(text, role, size);
    paint_end(text, why->ask.has_color);
    text_add_blanks(
        text, size < VERDICT_LABEL_WIDTH + 2 ? VERDICT_LABEL_WIDTH + 2 - size : 1);
    add_place(text, slice_last_part(node->file, '/'), node->line, ROW_PATH_LIMIT);
    buffer_add(text, SLICE("  "));
    add_value(why, row->node, text);
    if (row->count > 1) {
        buffer_add(text, SLICE("  and "));
        buffer_add_number(text, row->count - 1);
        buffer_add(text, row->count == 2 ? SLICE(" more time there")
                                         : SLICE(" more times there"));
    }
    buffer_add_byte(text, '\n');
    if (why->ask.has_source && node->code.size > 0) {
        text_add_blanks(text, VERDICT_LABEL_WIDTH + 4);
        paint_start(text, why->ask.has_color, PAINT_FAINT);
        buffer_add(text, SLICE("| "));
        text_add_shortened(text, node->code, STATEMENT_LIMIT);
        paint_end(text, why->ask.has_color);
        buffer_add_byte(text, '\n');
    }
}

static void add_slice(const struct why *why, struct buffer *text)
{
    if (why->row_count == 0 && why->hidden_rows == 0) {
        return;
    }
    if (why->slice_count < 2) {
        buffer_add(text, SLICE("\n"
                               "no inputs of it are recorded\n"));
        return;
    }
    buffer_add(text, SLICE("\n"
                           "made from, nearest first:\n"));
    for (uint32_t i = 0; i < why->row_count; i++) {
        add_row(why, &why->rows[i], text);
    }
    if (why->hidden_rows > 0) {
        buffer_add(text, SLICE("  and "));
        buffer_add_number(text, why->hidden_rows);
        buffer_add(text, why->hidden_rows == 1
                             ? SLICE(" more place (--all lists it)\n")
                             : SLICE(" more places (--all lists them)\n"));
    }
}

/* ---- the rest of the trace ---- */

static bool is_reported(const struct why *why,
                        const uint32_t *reported,
                        uint32_t count,
                        uint32_t node)
{
    const struct why_fact *fact = &why->facts[node];

    for (uint32_t i = 0; i < count; i++) {
        const struct why_fact *other = &why->facts[reported[i]];

        if (other->module == fact->module && other->site == fact->site) {
            return true;
        }
    }
    return false;
}

/* Other lines that made NaN or infinities. A value that was only read was made elsewhere. */
static void add_elsewhere(const struct why *why, struct buffer *text)
{
    uint32_t reported[WHY_PRODUCERS_MAX + OTHERS_MAX];
    uint32_t count = 0;
    uint32_t shown = 0;

    for (uint32_t i = 0; i < why->producer_count; i++) {
        reported[count++] = why->producers[i].node;
    }
    for (uint32_t i = 0; i < why->graph.node_count && shown < OTHERS_MAX; i++) {
        const struct flow_node *node = &why->graph.nodes[i];

        if (why->facts[i].made == 0 || why->facts[i].is_read ||
            is_reported(why, reported, count, i)) {
            continue;
        }
        buffer_add(text, shown++ == 0 ? SLICE("; also made at ") : SLICE(", "));
        add_place(text, slice_last_part(node->file, '/'), node->line, ROW_PATH_LIMIT);
        buffer_add_byte(text, ' ');
        text_add_shortened(text, node->name, NAME_LIMIT);
        buffer_add(text, SLICE(" ("));
        add_what(text, why->facts[i].made);
        buffer_add_byte(text, ')');
        reported[count++] = i;
    }
}

static void add_gradient_counts(const struct why *why, struct buffer *text)
{
    if (why->backwards.bad_count == 0) {
        return;
    }
    buffer_add(text, SLICE("\n"
                           "in all "));
    buffer_add_number(text, why->backwards.bad_count);
    buffer_add(text, SLICE(" of "));
    buffer_add_number(text, why->backwards.gradient_count);
    buffer_add(text, why->backwards.bad_count == 1
                         ? SLICE(" gradients holds NaN or Inf\n")
                         : SLICE(" gradients hold NaN or Inf\n"));
}

static void add_counts(const struct why *why, struct buffer *text)
{
    add_gradient_counts(why, text);
    if (why->nonfinite_count == 0) {
        return;
    }
    buffer_add(text, SLICE("\n"
                           "in all "));
    buffer_add_number(text, why->nonfinite_count);
    buffer_add(text, SLICE(" of "));
    buffer_add_number(text, why->event_count);
    buffer_add(text, why->nonfinite_count == 1 ? SLICE(" events holds NaN or Inf")
                                               : SLICE(" events hold NaN or Inf"));
    add_elsewhere(why, text);
    buffer_add_byte(text, '\n');
}

static void add_matches(const struct why *why, struct buffer *text)
{
    if (why->match_count > 1) {
        buffer_add(text, SLICE("\n"
                               "1 of "));
        buffer_add_number(text, why->match_count);
        buffer_add(text, SLICE(" matching events, "));
        buffer_add(text, why->facts[why->target].holds != 0
                             ? SLICE("the first with NaN or Inf")
                             : SLICE("the last"));
        buffer_add(text, SLICE("; --call N and --iteration N choose another\n"));
    }
}

static void add_first_line(const struct why *why, bool has_color, struct buffer *text)
{
    const struct flow_node *node = &why->graph.nodes[why->target];

    if (why->producer_count > 0) {
        add_head(why, &why->producers[why->main], PATH_LIMIT, has_color, text);
        return;
    }
    add_place(text, node->file, node->line, PATH_LIMIT);
    buffer_add(text, SLICE(": fine: "));
    text_add_shortened(text, node->name, NAME_LIMIT);
    buffer_add(text, SLICE(": no NaN or Inf in it"));
}

void why_head_add(const struct why *why, struct buffer *text)
{
    add_first_line(why, false, text);
}

/* A value that is as it should be. */
static void add_fine(const struct why *why, struct buffer *text)
{
    const struct flow_node *node = &why->graph.nodes[why->target];

    verdict_source_add(text, node->line, why->target_statement, why->ask.has_color);
    verdict_label_add(text, "is", why->ask.has_color);
    add_value(why, why->target, text);
    buffer_add_byte(text, '\n');
    add_visit(why, why->target, text);
    verdict_lines_add(text, "in", why->target_call, why->ask.has_color);
}

void why_text_add(const struct why *why, struct buffer *text)
{
    add_first_line(why, why->ask.has_color, text);
    buffer_add(text, SLICE("\n\n"));
    if (why->producer_count == 0) {
        add_fine(why, text);
    } else {
        add_producer(why, why->main, text);
        add_others(why, text);
        if (why->producers[why->main].node != why->target &&
            why->facts[why->target].holds != 0) {
            add_asked(why, text);
        }
    }
    add_slice(why, text);
    add_matches(why, text);
    add_counts(why, text);
}
