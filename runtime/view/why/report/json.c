/* Where a NaN comes from, as one JSON object: docs/reference/why.md tells the fields. */
#include "runtime/view/why/why.h"

#include "runtime/view/list/json_value.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/number_text.h"

#include <math.h>

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

static void add_figures(struct buffer *text, const struct flow_node *node)
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

/* An object of the value; `more` fields may follow before it is closed. */
static void begin_value(const struct why *why, uint32_t index, struct buffer *text)
{
    const struct flow_node *node = &why->graph.nodes[index];
    const struct why_fact *fact = &why->facts[index];

    buffer_add(text, SLICE("{\"seq\":"));
    buffer_add_number(text, node->event);
    json_text_add(text, SLICE("name"), node->name);
    json_text_add(text, SLICE("file"), node->file);
    json_number_add(text, SLICE("line"), node->line);
    json_text_add(text, SLICE("function"), node->function);
    json_number_add(text, SLICE("call"), fact->call);
    json_number_add(text, SLICE("iteration"), fact->visit);
    if (node->kind == VALUE_TENSOR) {
        add_figures(text, node);
    } else if (fact->is_number) {
        json_key_add(text, SLICE("value"));
        real_add_exact(text, fact->number);
    } else {
        json_text_add(text, SLICE("text"), node->text);
    }
    add_holds(text, SLICE("holds"), fact->holds);
}

static void add_path(const struct why *why, uint32_t node, struct buffer *text)
{
    uint32_t group = why->graph.nodes[node].group;
    bool is_first = true;

    json_key_add(text, SLICE("calls"));
    buffer_add_byte(text, '[');
    for (int i = 0; group != FLOW_NONE && i < 1000; i++) {
        const struct flow_group *one = &why->graph.groups[group];

        group = one->parent;
        if (one->kind != FLOW_GROUP_CALL) {
            continue;
        }
        buffer_add(text, is_first ? SLICE("{\"call\":") : SLICE(",{\"call\":"));
        buffer_add_number(text, one->call);
        json_text_add(text, SLICE("function"), one->function);
        json_text_add(text, SLICE("module"), one->path);
        json_text_add(text, SLICE("file"), one->file);
        json_number_add(text, SLICE("line"), one->line);
        buffer_add_byte(text, '}');
        is_first = false;
    }
    buffer_add_byte(text, ']');
}

static void add_producer(const struct why *why,
                         const struct why_producer *producer,
                         struct buffer *text)
{
    static const char *const hows[] = {
        [WHY_MADE] = "made",
        [WHY_CAME_IN] = "came in",
        [WHY_SEEN] = "first seen",
        [WHY_BACKWARD] = "backward",
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
    json_text_add(text, SLICE("file"), producer->file);
    json_number_add(text, SLICE("line"), producer->line);
    json_text_add(text, SLICE("statement"), producer->statement);
    json_text_add(text, SLICE("reason"), producer->reason);
    json_boolean_add(text, SLICE("from_statement"), producer->has_reason);
    json_boolean_add(text, SLICE("certain"), producer->is_certain);
    json_boolean_add(text, SLICE("meant"), producer->is_soft);
    json_key_add(text, SLICE("value"));
    begin_value(why, producer->node, text);
    buffer_add_byte(text, '}');
    add_path(why, producer->node, text);
    json_key_add(text, SLICE("inputs"));
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < producer->input_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",") : SLICE(""));
        begin_value(why, producer->inputs[i], text);
        buffer_add_byte(text, '}');
    }
    buffer_add(text, SLICE("]}"));
}

static const char *role_of(const struct why *why, uint32_t node)
{
    if (why->facts[node].made != 0) {
        return "made";
    }
    return why->facts[node].holds != 0 ? "passes" : "finite";
}

static void add_slice(const struct why *why, struct buffer *text)
{
    json_key_add(text, SLICE("slice"));
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < why->row_count; i++) {
        const struct why_row *row = &why->rows[i];

        buffer_add(text, i > 0 ? SLICE(",") : SLICE(""));
        begin_value(why, row->node, text);
        json_number_add(text, SLICE("depth"), row->depth);
        json_number_add(text, SLICE("times"), row->count);
        json_text_add(text, SLICE("role"), slice_of(role_of(why, row->node)));
        json_text_add(text, SLICE("code"), why->graph.nodes[row->node].code);
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
    add_producer(&beside->why, &beside->why.producers[beside->why.main], text);
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
            /* The one that people are told first stands first. */
            uint32_t at = i == 0 ? why->main : i <= why->main ? i - 1 : i;

            buffer_add(text, i > 0 ? SLICE(",") : SLICE(""));
            add_producer(why, &why->producers[at], text);
        }
        buffer_add_byte(text, ']');
        json_number_add(text, SLICE("producers_more"),
                        why->producer_total - why->producer_count);
        add_slice(why, text);
        if (beside != NULL && beside->path != NULL) {
            add_beside(beside, text);
        }
    }
    buffer_add(text, SLICE("}\n"));
}
