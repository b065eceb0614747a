/* The answer of `why` as text, as JSON and as a picture. */
#include "runtime/view/why/why.h"

#include "runtime/base/memory.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/list/json_log.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/verdict_text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* ---- as text ---- */

#define NAME_LIMIT      100
#define PATH_LIMIT      4096 /* for the first line, whose path editors open */
#define ROW_PATH_LIMIT  40
#define STATEMENT_LIMIT 400
#define OTHERS_MAX      5

/* Appends the kinds of values: "NaN", "Inf", "-Inf", "NaN and Inf". */
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
    case WHY_STEP:
        return SLICE(" written by the call on this line: ");
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
    assert(node < why->graph.node_count);
    text_add_shortened(text, why_value(why, node)->name, NAME_LIMIT);
    buffer_add(text, SLICE(" = "));
    buffer_add(text, why_value(why, node)->words);
    buffer_add(text, SLICE("   #"));
    buffer_add_number(text, why->graph.nodes[node].event);
}

/* Appends the head: `FILE:LINE: NaN made here: NAME: REASON`. */
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
    } else if (producer->parameter.size > 0) {
        text_add_shortened(text, producer->parameter, NAME_LIMIT);
    } else {
        text_add_shortened(text, why_value(why, producer->node)->name, NAME_LIMIT);
    }
    buffer_add(text, SLICE(": "));
    buffer_add_printable(text, producer->reason);
}

static void add_visit(const struct why *why, uint32_t node, struct buffer *text)
{
    if (why_value(why, node)->visit > 0) {
        verdict_label_add(text, "iteration", why->ask.has_color);
        buffer_add_number(text, why_value(why, node)->visit);
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
        if (producer->since[i].size > 0) {
            buffer_add(text, SLICE("; "));
            buffer_add(text, producer->since[i]);
        }
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

/* Appends the gradients before and after the line's backward, and the values of its forward. */
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

/* Appends the growth of a parameter, after the main producer only. */
static void add_grown(const struct why *why, uint32_t index, struct buffer *text)
{
    if (index == why->main) {
        verdict_lines_add(text, "steps", why->grown, why->ask.has_color);
    }
}

static void add_producer(const struct why *why, uint32_t index, struct buffer *text)
{
    assert(index < why->producer_count);

    const struct why_producer *producer = &why->producers[index];

    verdict_source_add(text, producer->line, producer->statement, why->ask.has_color);
    if (producer->is_gradient) {
        add_backward(why, producer, text);
        verdict_lines_add(text, "then", why->chain, why->ask.has_color);
        add_grown(why, index, text);
        if (producer->node < why->graph.node_count) {
            add_visit(why, producer->node, text);
            verdict_lines_add(text, "in", why->calls[index], why->ask.has_color);
        }
        return;
    }
    if (producer->how == WHY_STEP || producer->node == why->graph.node_count) {
        verdict_lines_add(text, "then", why->chain, why->ask.has_color);
        return;
    }
    verdict_label_add(text, producer->how == WHY_MADE ? "gave" : "is",
                      why->ask.has_color);
    add_value(why, producer->node, text);
    buffer_add_byte(text, '\n');
    add_inputs(why, producer, text);
    add_grown(why, index, text);
    add_visit(why, producer->node, text);
    verdict_lines_add(text, "in", why->calls[index], why->ask.has_color);
}

/* ---- the value in question, and other producers ---- */

static void add_asked(const struct why *why, struct buffer *text)
{
    const struct why_value *node = why_value(why, why->target);

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
    buffer_add(text, why_is_undecided(why) || why->has_alternatives
                         ? SLICE("\n"
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
    assert(node < why->graph.node_count);

    const struct why_fact *fact = &why->facts[node];
    unsigned flags = why->graph.nodes[node].flags;

    if (fact->made != 0) {
        return "!! made";
    }
    if (fact->holds != 0) {
        return "!! passes";
    }
    if (why_first_edge(why, node) != why_end_edge(why, node)) {
        return "";
    }
    if ((flags & GRAPH_PARAMETER) != 0) {
        return "parameter";
    }
    return (flags & GRAPH_ARGUMENT) != 0 ? "argument"
           : (flags & GRAPH_SOURCE) != 0 ? "before"
                                         : "begins";
}

static void
add_row(const struct why *why, const struct why_row *row, struct buffer *text)
{
    const struct why_value *node = why_value(why, row->node);
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
    assert(node < why->graph.node_count);
    for (uint32_t i = 0; i < count; i++) {
        if (why->graph.nodes[reported[i]].site == why->graph.nodes[node].site) {
            return true;
        }
    }
    return false;
}

/* Appends other lines that made NaN or infinities, or received them as arguments. Values that a
 * line only read are skipped: another line made them. */
static void add_elsewhere(const struct why *why, struct buffer *text)
{
    uint32_t reported[WHY_PRODUCERS_MAX + OTHERS_MAX];
    const char *verb = "";
    uint32_t count = 0;
    uint32_t shown = 0;

    for (uint32_t i = 0; i < why->producer_count; i++) {
        reported[count++] = why->producers[i].node;
    }
    for (uint32_t i = 0; i < why->graph.node_count && shown < OTHERS_MAX; i++) {
        const struct why_value *node;
        const char *this_verb;

        if (why->facts[i].made == 0 || why->facts[i].is_read ||
            is_reported(why, reported, count, i)) {
            continue;
        }
        node = why_value(why, i);
        this_verb = (node->flags & GRAPH_ARGUMENT) != 0 ? "entered at " : "made at ";
        buffer_add(text, shown++ == 0 ? SLICE("; also ") : SLICE(", "));
        buffer_add(text, slice_of(strcmp(verb, this_verb) == 0 ? "" : this_verb));
        verb = this_verb;
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
    const struct why_value *node = why_value(why, why->target);

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
    text->has_failed |= why->arena.has_failed;
}

/* Appends a target that is finite. */
static void add_fine(const struct why *why, struct buffer *text)
{
    const struct why_value *node = why_value(why, why->target);

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
    text->has_failed |= why->arena.has_failed;
}

/* ---- as one JSON object; docs/reference/why.md has its fields ---- */

static void add_holds(struct buffer *text, struct slice key, unsigned holds)
{
    static const struct {
        unsigned hold;
        struct slice name;
    } names[] = {{WHY_NAN, {"\"nan\"", 5}},
                 {WHY_POSINF, {"\"posinf\"", 8}},
                 {WHY_NEGINF, {"\"neginf\"", 8}}};
    bool is_first = true;

    json_key_add(text, key);
    buffer_add_byte(text, '[');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((holds & names[i].hold) != 0) {
            buffer_add(text, is_first ? SLICE("") : SLICE(","));
            buffer_add(text, names[i].name);
            is_first = false;
        }
    }
    buffer_add_byte(text, ']');
}

static void add_figures(struct buffer *text, const struct why_value *node)
{
    const struct statistics *statistics = &node->statistics;

    json_text_add(text, SLICE("dtype"), node->dtype_text);
    json_integers_add(text, SLICE("shape"), node->shape, node->dimension_count);
    if (!node->has_statistics) {
        return;
    }
    json_number_add(text, SLICE("count"), statistics->count);
    if (statistics_finite_count(statistics) > 0) {
        json_real_add(text, SLICE("min"),
                      statistics_bound_real(node->dtype, statistics->min));
        json_real_add(text, SLICE("max"),
                      statistics_bound_real(node->dtype, statistics->max));
        json_real_add(text, SLICE("mean"), statistics->mean);
        json_real_add(text, SLICE("std"), statistics->std);
    }
    json_counts_add(text, statistics);
}

/* Starts the JSON object of the value; the caller may add fields before it closes the object. */
static void begin_value(const struct why *why, uint32_t index, struct buffer *text)
{
    assert(index < why->graph.node_count);

    const struct why_value *node = why_value(why, index);
    const struct why_fact *fact = &why->facts[index];
    bool is_node = index < why->graph.node_count;

    buffer_add(text, SLICE("{\"seq\":"));
    buffer_add_number(text, is_node ? node->event : why->bad.event);
    json_text_add(text, SLICE("name"), is_node ? node->name : why->bad.name);
    json_text_add(text, SLICE("file"), node->file);
    json_number_add(text, SLICE("line"), node->line);
    json_text_add(text, SLICE("function"), node->function);
    json_number_add(text, SLICE("call"), node->call);
    json_number_add(text, SLICE("iteration"), node->visit);
    if (node->kind == VALUE_TENSOR) {
        add_figures(text, node);
    } else if (node->is_number) {
        json_key_add(text, SLICE("value"));
        real_add_exact(text, node->number);
    } else {
        json_text_add(text, SLICE("text"), node->text);
    }
    add_holds(text, SLICE("holds"), fact->holds);
}

static void add_path(const struct why *why, uint32_t node, struct buffer *text)
{
    uint32_t call =
        node == why->graph.node_count ? GRAPH_NONE : why->graph.nodes[node].call;
    bool is_first = true;

    json_key_add(text, SLICE("calls"));
    buffer_add_byte(text, '[');
    for (int i = 0; call != GRAPH_NONE && i < 1000; i++) {
        const struct graph_call *one = &why->graph.calls[call];
        const struct site_table *table =
            &log_reader_module(why->reader, one->module)->table;

        call = one->parent;
        if (one->function == 0 && one->parent == GRAPH_NONE) {
            continue; /* lines at module level */
        }
        buffer_add(text, is_first ? SLICE("{\"call\":") : SLICE(",{\"call\":"));
        buffer_add_number(text, one->number);
        json_text_add(text, SLICE("function"), table->functions[one->function].name);
        json_text_add(text, SLICE("module"), graph_text(&why->graph, one->path));
        json_text_add(text, SLICE("file"), table->path);
        json_number_add(text, SLICE("line"), table->functions[one->function].line);
        buffer_add_byte(text, '}');
        is_first = false;
    }
    buffer_add_byte(text, ']');
}

/* Whether the node was certainly computed from the input. False if all edges between them are
 * unsure. */
static bool is_certain_input(const struct why *why, uint32_t node, uint32_t input)
{
    bool is_unsure = false;

    for (uint32_t i = why_first_edge(why, node); i < why_end_edge(why, node); i++) {
        const struct graph_edge *edge = &why->graph.edges[i];

        if (edge->source == input && !edge->is_unsure) {
            return true;
        }
        is_unsure = is_unsure || edge->source == input;
    }
    return !is_unsure;
}

/* Appends the parameter that grew. */
static void add_growth(const struct why *why, struct buffer *text)
{
    const struct training *training = &why->backwards.training;
    const struct training_record *first = &training->records[why->growth.first];
    const struct training_record *last = &training->records[why->growth.last];
    const struct log_module *module = log_reader_module(why->reader, last->rate_module);

    json_key_add(text, SLICE("growth"));
    buffer_add(text, SLICE("{\"parameter\":\""));
    buffer_add_json(text, training->names[last->parameter]);
    buffer_add_byte(text, '"');
    json_real_add(text, SLICE("from"), first->largest);
    json_real_add(text, SLICE("to"), last->largest);
    if (last->rate == last->rate && module != NULL) {
        json_real_add(text, SLICE("lr"), last->rate);
        json_text_add(text, SLICE("lr_file"), module->table.path);
        json_number_add(text, SLICE("lr_line"),
                        module->table.sites[last->rate_site].line);
    }
    buffer_add_byte(text, '}');
}

static void add_json_inputs(const struct why *why,
                            const struct why_producer *producer,
                            struct buffer *text)
{
    json_key_add(text, SLICE("inputs"));
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < producer->input_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",") : SLICE(""));
        begin_value(why, producer->inputs[i], text);
        json_boolean_add(text, SLICE("certain"),
                         is_certain_input(why, producer->node, producer->inputs[i]));
        buffer_add_byte(text, '}');
    }
    buffer_add_byte(text, ']');
}

static void add_json_producer(const struct why *why,
                              const struct why_producer *producer,
                              struct buffer *text)
{
    static const char *const hows[] = {
        [WHY_MADE] = "made",       [WHY_CAME_IN] = "came in",
        [WHY_SEEN] = "first seen", [WHY_BACKWARD] = "backward",
        [WHY_STEP] = "step",
    };

    buffer_add(text, SLICE("{\"how\":\""));
    buffer_add(text, slice_of(hows[producer->how]));
    buffer_add_byte(text, '"');
    add_holds(text, SLICE("made"), producer->made);
    if (producer->is_gradient) {
        json_text_add(text, SLICE("gradient"), why->bad.name);
        json_number_add(text, SLICE("gradient_of"), why->bad.event);
        json_text_add(text, SLICE("functions"), producer->functions);
        json_boolean_add(text, SLICE("decided"), !why_is_undecided(why));
    }
    if (producer->parameter.size > 0) {
        json_text_add(text, SLICE("parameter"), producer->parameter);
    }
    json_text_add(text, SLICE("file"), producer->file);
    json_number_add(text, SLICE("line"), producer->line);
    json_text_add(text, SLICE("statement"), producer->statement);
    json_text_add(text, SLICE("reason"), producer->reason);
    if (producer == &why->producers[why->main] && why->growth.is_known) {
        add_growth(why, text);
    }
    json_boolean_add(text, SLICE("from_statement"), producer->has_reason);
    json_boolean_add(text, SLICE("certain"), producer->is_certain);
    json_boolean_add(text, SLICE("meant"), producer->is_soft);
    json_key_add(text, SLICE("value"));
    begin_value(why, producer->node, text);
    buffer_add_byte(text, '}');
    add_path(why, producer->node, text);
    add_json_inputs(why, producer, text);
    buffer_add_byte(text, '}');
}

static const char *json_role_of(const struct why *why, uint32_t node)
{
    assert(node < why->graph.node_count);
    if (why->facts[node].made != 0) {
        return "made";
    }
    return why->facts[node].holds != 0 ? "passes" : "finite";
}

static void add_json_slice(const struct why *why, struct buffer *text)
{
    json_key_add(text, SLICE("slice"));
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < why->row_count; i++) {
        const struct why_row *row = &why->rows[i];

        buffer_add(text, i > 0 ? SLICE(",") : SLICE(""));
        begin_value(why, row->node, text);
        json_number_add(text, SLICE("depth"), row->depth);
        json_boolean_add(text, SLICE("certain"), why->facts[row->node].is_certain);
        json_number_add(text, SLICE("times"), row->count);
        json_text_add(text, SLICE("role"), slice_of(json_role_of(why, row->node)));
        json_text_add(text, SLICE("code"), why_value(why, row->node)->code);
        buffer_add_byte(text, '}');
    }
    buffer_add_byte(text, ']');
    json_number_add(text, SLICE("slice_more"), why->hidden_rows);
}

static void add_beside(const struct why_beside *beside, struct buffer *text)
{
    json_key_add(text, SLICE("beside"));
    buffer_add(text, beside->is_certain ? SLICE("{\"certain\":true")
                                        : SLICE("{\"certain\":false"));
    json_text_add(text, SLICE("trace"), slice_of(beside->path));
    json_key_add(text, SLICE("producer"));
    add_json_producer(&beside->why, &beside->why.producers[beside->why.main], text);
    buffer_add_byte(text, '}');
}

void why_json_add_no_match(const struct why *why,
                           struct slice trace,
                           struct slice message,
                           struct buffer *text)
{
    buffer_add(text, SLICE("{\"record\":\"why\""));
    json_text_add(text, SLICE("trace"), trace);
    json_text_add(text, SLICE("verdict"), SLICE("no match"));
    json_number_add(text, SLICE("events"), why->event_count);
    json_number_add(text, SLICE("nonfinite"), why->nonfinite_count);
    json_text_add(text, SLICE("message"), message);
    buffer_add(text, SLICE("}\n"));
}

void why_json_add(const struct why *why,
                  const struct why_beside *beside,
                  struct slice trace,
                  struct buffer *text)
{
    buffer_add(text, SLICE("{\"record\":\"why\""));
    json_text_add(text, SLICE("trace"), trace);
    json_text_add(text, SLICE("verdict"),
                  why_is_bad(why) ? SLICE("nonfinite") : SLICE("fine"));
    json_number_add(text, SLICE("events"), why->event_count);
    json_number_add(text, SLICE("nonfinite"), why->nonfinite_count);
    if (why->target != FLOW_NONE) {
        json_number_add(text, SLICE("matches"), why->match_count);
        json_key_add(text, SLICE("event"));
        begin_value(why, why->target, text);
        buffer_add_byte(text, '}');
        json_key_add(text, SLICE("producers"));
        buffer_add_byte(text, '[');
        for (uint32_t i = 0; i < why->producer_count; i++) {
            /* The main producer is printed first. */
            uint32_t at = i == 0 ? why->main : i <= why->main ? i - 1 : i;

            buffer_add(text, i > 0 ? SLICE(",") : SLICE(""));
            add_json_producer(why, &why->producers[at], text);
        }
        buffer_add_byte(text, ']');
        json_number_add(text, SLICE("producers_more"),
                        why->producer_total - why->producer_count);
        add_json_slice(why, text);
        if (beside != NULL && beside->path != NULL) {
            add_beside(beside, text);
            text->has_failed |= beside->why.arena.has_failed;
        }
    }
    buffer_add(text, SLICE("}\n"));
    text->has_failed |= why->arena.has_failed;
}

/* ---- as a picture ---- */

/* Values that the target was computed from have a mark, which sets them off from the rest. */
enum flow_mark why_mark(void *context, uint64_t event)
{
    struct why *why = context;
    uint32_t node = graph_find(&why->graph, event);
    struct why_producer producer;

    if (node == FLOW_NONE || !why->facts[node].is_in_slice) {
        return FLOW_MARK_NONE;
    }
    if (why->facts[node].made != 0) {
        why_judge(why, node, why->facts[node].made, &producer);
        return producer.is_soft ? FLOW_MARK_MEANT : FLOW_MARK_PRODUCER;
    }
    return why->facts[node].holds != 0 ? FLOW_MARK_PASSED : FLOW_MARK_EQUAL;
}

struct slice why_remark(void *context, uint64_t event)
{
    struct why *why = context;
    uint32_t node = graph_find(&why->graph, event);
    struct why_producer producer;

    if (node == FLOW_NONE || why_mark(context, event) != FLOW_MARK_PRODUCER) {
        return SLICE("");
    }
    why_judge(why, node, why->facts[node].made, &producer);
    return producer.reason;
}

/* Keeps the numbers, texts and other plain values that a marked value was computed from. */
static void keep_inputs(const struct flow_graph *graph, bool *kept)
{
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct flow_edge *edge = &graph->edges[i];

        kept[edge->source] |= graph->nodes[edge->target].mark > FLOW_MARK_PASSED &&
                              graph->nodes[edge->source].mark != FLOW_MARK_NONE;
    }
}

/* Keeps the slice: its arrays, and the plain values that a marked value was computed from.
 * Values of the slice without NaN lose their mark, and are drawn plainly. */
static bool keep_marked(struct flow_graph *graph, struct error *error)
{
    bool *kept = memory_allocate((size_t)graph->node_count + 1, sizeof *kept);
    bool is_done;

    if (kept == NULL) {
        return why_out_of_memory(error);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        kept[i] = graph->nodes[i].mark != FLOW_MARK_NONE &&
                  (graph->nodes[i].mark != FLOW_MARK_EQUAL ||
                   graph->nodes[i].kind == VALUE_TENSOR);
    }
    keep_inputs(graph, kept);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].mark == FLOW_MARK_EQUAL) {
            graph->nodes[i].mark = FLOW_MARK_NONE;
        }
    }
    is_done = flow_graph_keep(graph, kept, error);
    memory_free(kept);
    return is_done;
}

/* Keeps the boxes that are nearest to the first value with the gravest mark. */
static bool keep_near(struct flow_graph *graph, uint32_t limit, struct error *error)
{
    uint32_t first = 0;
    bool *kept;
    bool is_done;

    if (limit == 0 || graph->node_count <= limit) {
        return true;
    }
    kept = memory_allocate(graph->node_count, sizeof *kept);
    if (kept == NULL) {
        return why_out_of_memory(error);
    }
    for (uint32_t i = 1; i < graph->node_count; i++) {
        first = graph->nodes[i].mark > graph->nodes[first].mark ? i : first;
    }
    is_done = flow_graph_near(graph, first, limit, kept, error) &&
              flow_graph_keep(graph, kept, error);
    memory_free(kept);
    return is_done;
}

/* Keeps the boxes that are nearest to the gravest mark: as many as fit on one and a half
 * screens, at most `limit` (0: all). */
static bool keep_fitting(struct flow_graph *graph,
                         struct picture_options *picture,
                         uint32_t limit,
                         struct error *error)
{
    bool fits = false;

    if (limit == 0) {
        return true;
    }
    picture->has_chips = true;
    picture->tables = PICTURE_TABLES_NONE;
    limit = graph->node_count < limit ? graph->node_count : limit;
    for (; !fits && limit > 0; limit--) {
        picture->is_dense = false;
        if (!keep_near(graph, limit, error) ||
            !render_fits(graph, picture, &fits, error)) {
            return false;
        }
        picture->is_dense = !fits;
        if (!fits && !render_fits(graph, picture, &fits, error)) {
            return false;
        }
    }
    return true;
}

bool why_picture_add(struct why *why,
                     const struct render_options *options,
                     struct buffer *bytes,
                     struct error *error)
{
    struct flow_options flow = {
        .fold = FLOW_FOLD_AUTO,
        .has_scalars = true,
        .mark = why_mark,
        .remark = why_remark,
        .mark_context = why,
    };
    struct render_options render = *options;
    struct buffer verdict = BUFFER_INIT;
    struct slice first;
    struct flow_graph graph;
    bool is_done;

    flow_graph_init(&graph);
    why_head_add(why, &verdict);
    first = buffer_slice(&verdict);
    render.picture.verdict = &first;
    render.picture.verdict_count = 1;
    log_reader_rewind(why->reader);
    is_done = flow_graph_build(&graph, why->reader, &why->sources, &flow, error) &&
              keep_marked(&graph, error) &&
              keep_fitting(&graph, &render.picture, options->box_limit, error);
    if (is_done && options->node_limit > 0 && graph.node_count > options->node_limit) {
        error_set(error, ERROR_USAGE,
                  "%lu nodes are too many to draw (limit: %lu): `monitorch why --all` "
                  "lists them as text",
                  (unsigned long)graph.node_count, (unsigned long)options->node_limit);
        is_done = false;
    }
    is_done = is_done && render_graph(&graph, &render, bytes, error);
    buffer_release(&verdict);
    flow_graph_release(&graph);
    return is_done;
}
