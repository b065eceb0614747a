/* Judgement of a value: whether its own line made the NaN or infinity, and from which inputs. */
#include "runtime/view/why/why.h"

#include "runtime/array/uninitialised.h"
#include "runtime/base/memory.h"
#include "runtime/view/why/reason/expression.h"

#include <assert.h>

/* The name without its index in a container. */
static struct slice bare_name(struct slice name)
{
    return slice_part(name, 0, slice_find(name, SLICE("["), 0));
}

/* The spelling of an input in the statement: the name on the edge, or that of the recorded
 * value. */
static struct slice spelled(const struct why *why, const struct graph_edge *edge)
{
    const struct why_value *node = why_value(why, edge->source);
    struct slice name = graph_text(&why->graph, edge->name);

    if ((node->flags & GRAPH_RESULT) != 0 && name.size == 0) {
        size_t size = strlen("return");

        return slice_part(node->name, node->name.size < size ? 0 : size,
                          node->name.size);
    }
    /* The recorded name of a part is the name with an index or attribute appended. */
    return name.size == 0 || slice_equal(name, bare_name(node->name)) ||
                   (slice_starts(node->name, name) && node->name.size > name.size &&
                    node->name.bytes[name.size] == '.')
               ? node->name
               : name;
}

static bool is_result(const struct why *why, uint32_t node)
{
    assert(node < why->graph.node_count);
    return (why->graph.nodes[node].flags & GRAPH_RESULT) != 0;
}

/* Whether both nodes are the same elements in memory, recorded at two times. */
static bool is_same_memory(const struct why *why, uint32_t a, uint32_t b)
{
    const struct why_value *left = why_value(why, a);
    const struct why_value *right = why_value(why, b);

    return why_value(why, a)->data != 0 &&
           why_value(why, a)->data == why_value(why, b)->data && left->has_statistics &&
           right->has_statistics && left->statistics.count == right->statistics.count;
}

/* Adds a source, unless one of that name was added. Of several sources in the same memory the
 * newest is kept. */
static void add_input(const struct why *why,
                      struct why_producer *producer,
                      const struct graph_edge *edge)
{
    struct slice name = spelled(why, edge);

    for (uint32_t i = 0; i < producer->input_count; i++) {
        bool is_it = slice_equal(producer->names[i], name) &&
                     !is_result(why, edge->source) &&
                     !is_result(why, producer->inputs[i]);

        if (is_it && (is_same_memory(why, producer->inputs[i], edge->source) ||
                      edge->kind == GRAPH_WRITE)) {
            producer->inputs[i] =
                edge->source > producer->inputs[i] ? edge->source : producer->inputs[i];
            return;
        }
    }
    if (producer->input_count < WHY_INPUTS_MAX) {
        producer->names[producer->input_count] = name;
        producer->inputs[producer->input_count++] = edge->source;
    }
}

/* Finds the inputs of the node. Returns whether all of them are the value itself under another
 * name. */
static bool
find_inputs(const struct why *why, uint32_t node, struct why_producer *producer)
{
    bool is_same = true;

    for (uint32_t i = why_first_edge(why, node); i < why_end_edge(why, node); i++) {
        const struct graph_edge *edge = &why->graph.edges[i];

        if (edge->kind == GRAPH_SHAPE) {
            continue;
        }
        is_same = is_same && edge->kind == GRAPH_SAME;
        producer->input_total++;
        add_input(why, producer, edge);
    }
    return is_same;
}

/* The node that held the same object before, or FLOW_NONE. */
static uint32_t find_origin(const struct why *why, uint32_t node)
{
    uint64_t origin = why_value(why, node)->origin; /* counted from 1; 0: none */

    return origin == 0 ? FLOW_NONE : graph_find(&why->graph, origin - 1);
}

/* Whether a number may be out of date at the node that reads it: the recording left out visits
 * of a line that writes its name. */
static bool is_outdated(const struct why *why, uint32_t node, uint32_t reader)
{
    assert(reader < why->graph.node_count);

    const struct why_value *fact = why_value(why, node);
    const struct log_module *module = log_reader_module(why->reader, fact->module);
    uint64_t event = why->graph.nodes[reader].event;

    for (size_t i = 0; module != NULL && i < log_reader_left_out_count(why->reader);
         i++) {
        const struct log_left_out_view *left_out = log_reader_left_out(why->reader, i);
        uint32_t site = left_out->site - module->first_site;

        if (left_out->site >= module->first_site && site < module->table.site_count &&
            left_out->event <= event &&
            module->table.sites[site].function ==
                module->table.sites[fact->site].function &&
            site_writes(&module->table.sites[site], why_value(why, node)->name)) {
            return true;
        }
    }
    return false;
}

/* The call that contains the node. NULL for lines at module level whose import was not recorded. */
static const struct graph_call *call_of(const struct why *why, uint32_t node)
{
    const struct graph_call *call = &why->graph.calls[why->graph.nodes[node].call];

    return call->function != 0 || call->parent != GRAPH_NONE ? call : NULL;
}

#define MASK_STEPS_MAX 16

/* A source with the same least value, or FLOW_NONE. */
static uint32_t find_least(const struct why *why, uint32_t node, double least)
{
    for (uint32_t i = why_first_edge(why, node); i < why_end_edge(why, node); i++) {
        uint32_t source = why->graph.edges[i].source;
        const struct why_value *from = why_value(why, source);

        if (from->has_statistics && source < node &&
            statistics_bound_real(from->dtype, from->statistics.min) == least) {
            return source;
        }
    }
    return FLOW_NONE;
}

/* Whether the line that first wrote the value's least element wrote it into a mask. */
static bool is_mask(struct why *why, uint32_t node)
{
    const struct why_value *last = why_value(why, node);
    double least;

    if (!last->has_statistics || dtype_class(last->dtype) != DTYPE_CLASS_FLOATING) {
        return false;
    }
    least = statistics_bound_real(last->dtype, last->statistics.min);
    if (!(least < 0)) {
        return false;
    }
    for (int i = 0; i < MASK_STEPS_MAX; i++) {
        uint32_t source = find_least(why, node, least);

        if (source == FLOW_NONE) {
            break;
        }
        node = source;
    }
    return why_writes_mask(why_statement_of(why, node), least);
}

void why_fill_inputs(struct why *why,
                     struct why_producer *producer,
                     struct why_input *inputs)
{
    for (uint32_t i = 0; i < producer->input_count; i++) {
        const struct why_value *node = why_value(why, producer->inputs[i]);
        const struct graph_call *call = call_of(why, producer->inputs[i]);
        struct why_current current;

        inputs[i] = (struct why_input){
            .name = producer->names[i],
            .is_result = is_result(why, producer->inputs[i]),
            .is_mask =
                (producer->made & WHY_NEGINF) != 0 && is_mask(why, producer->inputs[i]),
            .call = node->call,
            .callee = node->function,
            .path = call == NULL ? SLICE("") : graph_text(&why->graph, call->path),
            .is_number = node->is_number &&
                         !is_outdated(why, producer->inputs[i], producer->node),
            .number = node->number,
            .has_statistics = node->kind == VALUE_TENSOR && node->has_statistics,
            .dtype = node->kind == VALUE_TENSOR ? node->dtype : DTYPE_OTHER,
            .statistics = node->statistics,
            .shape = node->shape,
            .dimension_count = node->dimension_count,
        };
        if (inputs[i].has_statistics && producer->node < why->graph.node_count &&
            why_read_current(why, producer->inputs[i],
                             why->graph.nodes[producer->node].event, &current)) {
            inputs[i].statistics = current.statistics;
            producer->since[i] = current.words;
        }
    }
}

/* For an argument: names the parameter and its function, so that the argument's own text is
 * found in the call. */
static void
fill_callee(const struct why *why, uint32_t node, struct why_question *question)
{
    const struct why_value *fact = why_value(why, node);
    const struct site_table *table =
        &log_reader_module(why->reader, fact->module)->table;
    const struct site *site = &table->sites[fact->site];
    const struct graph_call *call = call_of(why, node);

    assert(fact->site < table->site_count);
    question->callee = why_value(why, node)->function;
    question->parameter = bare_name(why_value(why, node)->name);
    question->class_name =
        call == NULL ? SLICE("") : graph_text(&why->graph, call->class_name);
    question->callee_path =
        call == NULL ? SLICE("") : graph_text(&why->graph, call->path);
    question->position = site_find_write(site, question->parameter);
    if (question->position != SITE_NONE && question->position > 0 &&
        site_has_self(site)) {
        question->position--;
    }
}

/* ---- reasons that the statement's text does not give ---- */

static bool hold_inputs(const struct why *why, const struct why_producer *producer)
{
    for (uint32_t i = 0; i < producer->input_count; i++) {
        if (why->facts[producer->inputs[i]].holds != 0) {
            return true;
        }
    }
    return false;
}

static void add_name(struct buffer *text, struct slice name)
{
    buffer_add_byte(text, '`');
    buffer_add(text, name);
    buffer_add_byte(text, '`');
}

static void add_place(const struct why *why, uint32_t node, struct buffer *text)
{
    assert(node < why->graph.node_count);
    buffer_add(text, SLICE("line "));
    buffer_add_number(text, why_value(why, node)->line);
    buffer_add(text, SLICE(" (#"));
    buffer_add_number(text, why->graph.nodes[node].event);
    buffer_add_byte(text, ')');
}

/* Reports that the inputs were finite. The recorded value of a parameter may be old: an
 * optimizer writes to it without an event. */
static void report_finite(const struct why *why,
                          const struct why_producer *producer,
                          struct buffer *text)
{
    bool is_first = true;

    buffer_add(text, SLICE("the inputs were finite"));
    for (uint32_t i = 0; i < producer->input_count; i++) {
        if ((why->graph.nodes[producer->inputs[i]].flags & GRAPH_PARAMETER) == 0) {
            continue;
        }
        buffer_add(
            text,
            is_first
                ? SLICE(" when last recorded, but unrecorded code may have written to ")
                : SLICE(" or "));
        add_name(text, producer->names[i]);
        buffer_add(text, SLICE(" after "));
        add_place(why, producer->inputs[i], text);
        is_first = false;
    }
}

/* Reports the state of the inputs, for a statement whose text gives no reason. */
static void report_inputs(const struct why *why,
                          const struct why_producer *producer,
                          struct buffer *text)
{
    bool is_first = true;

    if (producer->input_count == 0) {
        buffer_add(text, SLICE("the inputs are not recorded"));
        return;
    }
    if (!hold_inputs(why, producer)) {
        report_finite(why, producer, text);
        return;
    }
    buffer_add(text, (producer->made & WHY_NAN) != 0
                         ? SLICE("no input was NaN, but there is Inf in ")
                         : SLICE("no input was infinite, but there is NaN in "));
    for (uint32_t i = 0; i < producer->input_count; i++) {
        if (why->facts[producer->inputs[i]].holds != 0) {
            buffer_add(text, is_first ? SLICE("") : SLICE(", "));
            add_name(text, why_value(why, producer->inputs[i])->name);
            is_first = false;
        }
    }
}

/* Appends the inputs whose memory had not been written to when they were last recorded. Returns
 * whether there are any. */
static bool add_uninitialised(const struct why *why,
                              const struct why_producer *producer,
                              struct buffer *text)
{
    bool is_first = true;

    for (uint32_t i = 0; i < producer->input_count; i++) {
        const struct why_value *node = why_value(why, producer->inputs[i]);

        bool is_written =
            (why->graph.nodes[producer->node].flags & GRAPH_IN_PLACE) != 0 &&
            slice_equal(node->name, why_value(why, producer->node)->name);

        /* The statement overwrites this value, and does not compute with it. */
        if (is_written || !uninitialised_is_noted(node->note)) {
            continue;
        }
        buffer_add(text, is_first ? SLICE("") : SLICE("; or "));
        is_first = false;
        add_name(text, node->name);
        buffer_add(text, slice_equal(node->note, SLICE(UNINITIALISED_NOTE))
                             ? SLICE(" was uninitialised memory on ")
                             : SLICE(" was perhaps uninitialised in part on "));
        add_place(why, producer->inputs[i], text);
        buffer_add(text, SLICE(", and no recorded line wrote to it since"));
    }
    return !is_first;
}

static void report_first_event(const struct why *why, struct buffer *text)
{
    if (why->first_event > 0) {
        buffer_add(text, SLICE("; the trace begins with event #"));
        buffer_add_number(text, why->first_event);
        buffer_add(text, SLICE(", so the line that made it may be older"));
    }
}

/* Reports the last recorded step() before the event, which may have written to the parameter. */
static void report_step(const struct why *why, uint64_t event, struct buffer *text)
{
    const struct why_step *step = why_last_step(why, event);

    if (step == NULL) {
        buffer_add(text, SLICE("; no step() of an optimizer is recorded before it"));
        return;
    }
    buffer_add(text, SLICE("; backward() and the step() on line "));
    buffer_add_number(text, step->line);
    buffer_add(text, SLICE(" (#"));
    buffer_add_number(text, step->event);
    buffer_add(text, SLICE(") made it, or it was there before"));
    if (why->backwards.gradient_count == 0) {
        buffer_add(text, SLICE("; record with --backward to find the line"));
    }
}

static void report_came_in(const struct why *why,
                           const struct why_producer *producer,
                           struct buffer *text)
{
    const struct why_value *node = why_value(why, producer->node);

    buffer_add(text, SLICE("it was already in "));
    add_name(text, node->name);
    if ((node->flags & GRAPH_PARAMETER) != 0) {
        buffer_add(text, SLICE(", a parameter of the model"));
        report_step(why, node->event, text);
    } else if ((node->flags & GRAPH_ARGUMENT) != 0) {
        buffer_add(text, SLICE(", an argument"));
        if (why_value(why, producer->node)->from_line != 0) {
            buffer_add(text, SLICE(" given on line "));
            buffer_add_number(text, why_value(why, producer->node)->from_line);
        }
    } else {
        buffer_add(text, SLICE(", which existed before"));
    }
    report_first_event(why, text);
}

/* Reports that no step of the statement gives the result from the recorded inputs: one of them
 * has changed since. */
static void report_written_since(const struct why *why,
                                 const struct why_producer *producer,
                                 struct buffer *text)
{
    buffer_add(text, SLICE("the recorded values cannot give it: code that is not "
                           "recorded changed "));
    for (uint32_t i = 0; i < producer->input_count; i++) {
        buffer_add(text, i > 0 ? SLICE(", or ") : SLICE(""));
        add_name(text, producer->names[i]);
        buffer_add(text, SLICE(" after "));
        add_place(why, producer->inputs[i], text);
    }
}

static void report_seen(struct why *why,
                        const struct why_producer *producer,
                        uint32_t before,
                        struct buffer *text)
{
    const struct why_value *node = why_value(why, producer->node);

    assert(before < why->graph.node_count);
    buffer_add(text, SLICE("between "));
    add_place(why, before, text);
    buffer_add(text, SLICE(", where "));
    add_name(text, why_value(why, before)->name);
    buffer_add(text, (why->facts[before].holds & producer->made) != 0
                         ? SLICE(" was last recorded")
                         : SLICE(" was finite"));
    buffer_add(text, SLICE(", and "));
    add_place(why, producer->node, text);
    buffer_add(text, SLICE(" no recorded line made it"));
    if ((node->flags & GRAPH_ALIASED) != 0 &&
        why_writer(why, producer->node).size > 0) {
        buffer_add(text, SLICE("; it was written at "));
        buffer_add(text, why_writer(why, producer->node));
    } else if ((node->flags & GRAPH_PARAMETER) != 0) {
        buffer_add(text, SLICE("; an optimizer's step() writes to parameters"));
    }
}

/* ---- judging ---- */

static struct why_answer
ask(struct why *why, struct why_producer *producer, struct buffer *text)
{
    struct why_input inputs[WHY_INPUTS_MAX];
    struct why_object objects[WHY_OBJECTS_MAX];
    const struct why_value *node = why_value(why, producer->node);
    struct why_question question = {
        .statement = producer->statement,
        .inputs = inputs,
        .input_count = producer->input_count,
        .is_cut = producer->input_total > WHY_INPUTS_MAX,
        .dtype = node->kind == VALUE_TENSOR ? node->dtype : DTYPE_FLOAT64,
        .made = producer->made,
        .is_absorbed = why->facts[producer->node].is_absorbed,
    };

    why_fill_inputs(why, producer, inputs);
    if ((node->flags & GRAPH_ARGUMENT) != 0) {
        fill_callee(why, producer->node, &question);
    } else {
        question.objects = objects;
        question.object_count =
            why_find_objects(why, producer->node, producer->statement, objects);
    }
    return why_reason_add(text, &question);
}

/* Whether the parameter's default names the infinity. If so, writes the reason to `text` and
 * places the producer at the `def`. */
static bool
judge_default(struct why *why, struct why_producer *producer, struct buffer *text)
{
    const struct why_value *node = why_value(why, producer->node);
    struct slice definition = why_statement(why, node->module, node->line);
    struct buffer ignored = BUFFER_INIT;
    struct why_question question = {
        .statement = parameter_default(definition, bare_name(node->name)),
        .dtype = DTYPE_FLOAT64,
        .made = producer->made,
    };
    bool is_named =
        question.statement.size > 0 && why_reason_add(&ignored, &question).is_written;

    why->arena.has_failed |= ignored.has_failed;
    buffer_release(&ignored);
    if (!is_named) {
        return false;
    }
    producer->how = WHY_MADE;
    producer->is_soft = (producer->made & WHY_NAN) == 0;
    producer->has_reason = true;
    producer->is_certain = true;
    producer->file = node->file;
    producer->line = node->line;
    producer->module = node->module;
    producer->statement = definition;
    buffer_add(text, SLICE("the default of "));
    add_name(text, node->name);
    buffer_add(text, SLICE(" names it: "));
    add_name(text, question.statement);
    return true;
}

static void report_handed(const struct why *why,
                          const struct why_answer *answer,
                          struct buffer *text)
{
    buffer_add(text, answer->is_item         ? SLICE("it was in an item of ")
                     : answer->is_collective ? SLICE("it was received by ")
                                             : SLICE("it was already in "));
    add_name(text, answer->text);
    if (answer->is_item) {
        buffer_add(text, SLICE(", which no recorded line made; --include records the "
                               "code that does"));
    } else if (answer->is_collective) {
        buffer_add(text, SLICE(", from another rank, or it overflowed there"));
    } else {
        buffer_add(text, SLICE(", which is not recorded"));
    }
    report_first_event(why, text);
}

/* Adds the other possibility for a value that was written in place: code that is not recorded,
 * since its last event. */
static void report_meanwhile(const struct why *why,
                             const struct why_producer *producer,
                             struct buffer *text)
{
    const struct why_value *node = why_value(why, producer->node);

    for (uint32_t i = why_first_edge(why, producer->node);
         i < why_end_edge(why, producer->node) && (node->flags & GRAPH_IN_PLACE) != 0;
         i++) {
        const struct graph_edge *edge = &why->graph.edges[i];

        if (edge->kind == GRAPH_WRITE) {
            buffer_add(text, SLICE("; or unrecorded code wrote to it after "));
            add_place(why, edge->source, text);
            return;
        }
    }
}

/* Reports the cause if the steps of the statement are not the cause, or not the certain one. */
static void report_rest(const struct why *why,
                        struct why_producer *producer,
                        const struct why_answer *answer,
                        struct buffer *text)
{
    if (answer->is_outside || answer->is_handed || answer->is_default) {
        producer->how = WHY_CAME_IN;
    }
    if (answer->is_handed) {
        report_handed(why, answer, text);
    } else if (answer->is_default) {
        report_came_in(why, producer, text);
    } else if (answer->is_impossible && producer->input_count > 0 &&
               !hold_inputs(why, producer)) {
        producer->how = WHY_SEEN;
        report_written_since(why, producer, text);
    } else if (!answer->is_reported) {
        report_inputs(why, producer, text);
    } else if (!answer->is_certain) {
        report_meanwhile(why, producer, text);
    }
}

static void
judge_statement(struct why *why, struct why_producer *producer, struct buffer *text)
{
    struct buffer reason = BUFFER_INIT;
    struct why_answer answer = ask(why, producer, &reason);
    bool is_argument = (why->graph.nodes[producer->node].flags & GRAPH_ARGUMENT) != 0;
    bool is_uninitialised =
        !answer.is_certain && add_uninitialised(why, producer, text);

    if (is_uninitialised) {
        buffer_add(text, answer.is_reported ? SLICE("; or ") : SLICE(""));
        answer.is_impossible = false;
    }
    buffer_add(text, buffer_slice(&reason));
    text->has_failed = text->has_failed || reason.has_failed;
    buffer_release(&reason);
    producer->has_reason = answer.is_reported;
    producer->is_certain = answer.is_certain;
    producer->is_soft =
        answer.is_written && (producer->made & WHY_NAN) == 0 && !is_uninitialised;
    if (is_argument && !answer.is_certain && !is_uninitialised) {
        size_t size = text->size;

        text->size = 0;
        if (judge_default(why, producer, text)) {
            return;
        }
        text->size = size;
    }
    if (!is_uninitialised || answer.is_reported || answer.is_handed) {
        report_rest(why, producer, &answer, text);
    }
}

/* Judges a value that existed before: an argument may be a default, or its call may name the
 * infinity. */
static void
judge_came_in(struct why *why, struct why_producer *producer, struct buffer *text)
{
    const struct why_value *node = why_value(why, producer->node);
    struct why_producer given = *producer;
    struct buffer ignored = BUFFER_INIT;
    struct why_answer answer = {.is_default = true};

    if ((node->flags & GRAPH_ARGUMENT) == 0) {
        report_came_in(why, producer, text);
        return;
    }
    if (node->from_line != 0) {
        given.statement = why_statement(why, node->from_module, node->from_line);
        answer = ask(why, &given, &ignored);
    }
    why->arena.has_failed |= ignored.has_failed;
    buffer_release(&ignored);
    if (!answer.is_written && judge_default(why, producer, text)) {
        return;
    }
    producer->is_soft = answer.is_written && (producer->made & WHY_NAN) == 0;
    report_came_in(why, producer, text);
}

/* Sets the place of the producer. An argument that is a new value was made by the caller's line. */
static void find_place(struct why *why, struct why_producer *producer)
{
    const struct why_value *node = why_value(why, producer->node);

    producer->file = node->file;
    producer->line = node->line;
    producer->module = node->module;
    if ((node->flags & GRAPH_ARGUMENT) != 0 && node->from_line != 0 &&
        (producer->how == WHY_MADE || producer->how == WHY_BACKWARD)) {
        producer->file = log_reader_module(why->reader, node->from_module)->table.path;
        producer->line = node->from_line;
        producer->module = node->from_module;
        producer->statement = why_statement(why, producer->module, producer->line);
    } else {
        producer->statement = why_statement_of(why, producer->node);
    }
}

void why_read_statement(struct why *why, struct why_producer *producer)
{
    (void)find_inputs(why, producer->node, producer);
    find_place(why, producer);
}

void why_keep_reason(struct why *why,
                     struct why_producer *producer,
                     struct buffer *text)
{
    why->arena.has_failed |= text->has_failed;
    producer->reason = arena_copy(&why->arena, buffer_slice(text));
    if (producer->reason.bytes == NULL) {
        producer->reason = SLICE("");
    }
    buffer_release(text);
}

static uint32_t newest_input(const struct why_producer *producer)
{
    uint32_t newest = producer->inputs[0];

    for (uint32_t i = 1; i < producer->input_count; i++) {
        newest = producer->inputs[i] > newest ? producer->inputs[i] : newest;
    }
    return newest;
}

void why_judge(struct why *why,
               uint32_t node,
               unsigned made,
               struct why_producer *producer)
{
    const struct why_value *known = why_value(why, node);
    struct buffer text = BUFFER_INIT;
    uint32_t before = find_origin(why, node);
    bool is_outside;
    bool is_same;

    *producer = (struct why_producer){.node = node, .how = WHY_MADE, .made = made};
    is_same = find_inputs(why, node, producer);
    is_outside = (known->flags & (GRAPH_ARGUMENT | GRAPH_SOURCE)) != 0 ||
                 why->facts[node].is_read;
    if (producer->input_total > 0 && (is_same || why->facts[node].is_read)) {
        producer->how = WHY_SEEN; /* the same object, which was different before */
        before = newest_input(producer);
    } else if (producer->input_total == 0 && is_outside) {
        producer->how =
            before != FLOW_NONE && (why->facts[before].holds & producer->made) == 0
                ? WHY_SEEN
                : WHY_CAME_IN;
    }
    find_place(why, producer);
    if (producer->how == WHY_SEEN) {
        report_seen(why, producer, before, &text);
    } else if (producer->how == WHY_CAME_IN) {
        judge_came_in(why, producer, &text);
    } else {
        judge_statement(why, producer, &text);
    }
    why_keep_reason(why, producer, &text);
}
