/* Search for the line whose backward made the first gradient that is not finite. */
#include "runtime/view/why/why.h"

#include "runtime/view/words/value_text.h"

#include <assert.h>

/* ---- choosing the backward ---- */

/* The node of an event, or the graph's node count if the graph has none, as for a parameter's
 * event. */
static uint32_t find_node(const struct why *why, uint64_t event)
{
    uint32_t node = graph_find(&why->graph, event);

    return node == FLOW_NONE ? why->graph.node_count : node;
}

/* The node of the first line whose backward may have made the gradient. FLOW_NONE if the trace
 * has none. */
static uint32_t find_line(const struct why *why, const struct backward *backward)
{
    uint32_t node = FLOW_NONE;

    for (uint32_t i = 0; i < backward->origin_count && node == FLOW_NONE; i++) {
        if (!backward->origins[i].is_start) {
            node = graph_find(&why->graph, backward->origins[i].event);
        }
    }
    return node;
}

/* The node whose values are shown: the line whose backward made the gradient, or the value whose
 * gradient it is. */
static uint32_t find_target(const struct why *why, const struct backward *backward)
{
    uint32_t line = find_line(why, backward);

    return line != FLOW_NONE ? line : find_node(why, backward->bad_event);
}

static void choose_step(struct why *why, uint64_t start)
{
    uint32_t bad = training_find_bad(&why->backwards.training, start);
    const struct training_record *record;

    if (bad == TRAINING_NONE) {
        return;
    }
    record = &why->backwards.training.records[bad];
    why->target = find_node(why, record->event);
    why->is_soft = false;
    why->has_cause = training_explain(&why->backwards.training, record->object,
                                      record->event + 1, &why->cause);
}

uint64_t why_focus(const struct why *why)
{
    assert(why->target != FLOW_NONE);
    return why->target < why->graph.node_count ? why->graph.nodes[why->target].event
                                               : why->bad.event;
}

bool why_has_bad(const struct why *why)
{
    return why->nonfinite_count > 0 || why->backwards.bad_count > 0 ||
           training_find_bad(&why->backwards.training, 0) != TRAINING_NONE;
}

void why_choose_backward(struct why *why)
{
    uint64_t start = 0;
    uint32_t found;

    if (why->ask.event.size != 0 && !why_read_start(why->ask.event, &start)) {
        return;
    }
    found = backwards_find_bad(&why->backwards, start);
    if (found == BACKWARD_NONE) {
        if (why->target == FLOW_NONE || why->is_soft) {
            choose_step(why, start);
        }
        return;
    }
    if (why->target != FLOW_NONE && !why->is_soft &&
        why->graph.nodes[why->target].event < why->backwards.items[found].bad_next) {
        return; /* the forward failed first */
    }
    why->backward = found;
    why->target = find_target(why, &why->backwards.items[found]);
    why->is_soft = false;
}

/* Whether an optimizer may have put the NaN or infinity into a value that existed before. */
static bool is_of_step(const struct why *why, const struct why_producer *producer)
{
    unsigned flags = why->graph.nodes[producer->node].flags;

    return (producer->how == WHY_CAME_IN || producer->how == WHY_SEEN) &&
           ((flags & GRAPH_PARAMETER) != 0 || why->facts[producer->node].is_read);
}

/* For a trace without parameters: the first bad backward, if it ran before the value's event.
 * BACKWARD_NONE otherwise. */
static uint32_t find_behind(const struct why *why, const struct why_producer *main)
{
    uint32_t found = backwards_find_bad(&why->backwards, 0);

    return found != BACKWARD_NONE && why->backwards.items[found].bad_next <=
                                         why->graph.nodes[main->node].event
               ? found
               : BACKWARD_NONE;
}

/* The address of the tensor that an event holds; 0 if it is not known. */
static uint64_t find_object(struct why *why, uint64_t event)
{
    struct log_item item;

    log_reader_go_to_event(why->reader, event);
    while (log_reader_next(why->reader, &item)) {
        if (item.kind == LOG_EVENT && item.event.number == event) {
            return item.event.kind == VALUE_TENSOR ? item.event.tensor.object : 0;
        }
        if (item.kind == LOG_EVENT) {
            break;
        }
    }
    return 0;
}

/* Finds the call or backward that put the NaN or infinity into the parameter. */
static void find_cause(struct why *why)
{
    const struct why_producer *main = &why->producers[why->main];
    uint64_t event;

    if (why->producer_count == 0 || !is_of_step(why, main)) {
        return;
    }
    if (why->backwards.training.record_count == 0) {
        why->backward = find_behind(why, main);
        return;
    }
    event = why->graph.nodes[main->node].event;
    why->has_cause = training_explain(&why->backwards.training, find_object(why, event),
                                      event, &why->cause);
    if (why->has_cause && why->cause.backward != 0) {
        why->backward = backwards_find(&why->backwards, why->cause.backward);
    }
}

/* ---- the gradients of the backward ---- */

static void keep_gradient(struct why *why,
                          const struct log_event_view *event,
                          struct why_gradient *gradient)
{
    struct buffer text = BUFFER_INIT;

    *gradient = (struct why_gradient){
        .is_known = true,
        .event = event->number,
        .dtype = event->shape->dtype,
        .has_statistics = event->has_statistics,
        .statistics = event->statistics,
        .module = event->module_number,
        .line = event->site->line,
    };
    buffer_add(&text, event->name.size > 0 ? event->name : SLICE("return"));
    buffer_add(&text, event->path);
    gradient->name = arena_copy(&why->arena, buffer_slice(&text));
    text.size = 0;
    value_text_add(&text, event, why->ask.has_color);
    gradient->text = arena_copy(&why->arena, buffer_slice(&text));
    why->arena.has_failed |= text.has_failed;
    buffer_release(&text);
}

/* Reads the gradients that the answer shows: the bad one, and for each producer the gradient
 * that arrived there. */
static void read_gradients(struct why *why, const struct backward *backward)
{
    struct log_item item;

    log_reader_rewind(why->reader);
    while (!why->bad.is_known && log_reader_next(why->reader, &item)) {
        if (item.kind != LOG_GRADIENT || item.event.step != backward->step) {
            continue;
        }
        for (uint32_t i = 0; i < why->producer_count; i++) {
            struct why_producer *producer = &why->producers[i];

            if (producer->how == WHY_BACKWARD && !producer->is_start &&
                why->graph.nodes[producer->node].event == item.event.number) {
                keep_gradient(why, &item.event, &producer->given);
            }
        }
        if (item.event.number == backward->bad_event &&
            value_has_nonfinite(&item.event)) {
            keep_gradient(why, &item.event, &why->bad);
        }
    }
}

/* ---- the lines of the backward ---- */

static uint32_t find_module(const struct why *why, struct slice file)
{
    for (uint32_t i = 0; i < log_reader_module_count(why->reader); i++) {
        if (slice_equal(log_reader_module(why->reader, i)->table.path, file)) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Places the producer at the line that called backward(). */
static void place_at_call(struct why *why,
                          const struct backward *backward,
                          struct why_producer *producer)
{
    uint32_t module = find_module(why, backward->file);

    producer->file = backward->file;
    producer->line = backward->line;
    producer->module = module;
    producer->statement = SLICE("");
    if (module != UINT32_MAX) {
        producer->statement = why_statement(why, module, backward->line);
    }
}

/* Adds a producer for each gradient that the bad one was computed from. */
static void add_lines(struct why *why, const struct backward *backward)
{
    for (uint32_t i = 0;
         i < backward->origin_count && why->producer_count < WHY_PRODUCERS_MAX; i++) {
        const struct gradient_origin *origin = &backward->origins[i];
        struct why_producer *producer = &why->producers[why->producer_count];
        uint32_t node = origin->is_start ? find_node(why, backward->bad_event)
                                         : graph_find(&why->graph, origin->event);

        *producer = (struct why_producer){
            .node = node,
            .how = WHY_BACKWARD,
            .is_gradient = true,
            .functions = origin->functions,
        };
        why->producer_total++;
        if (node == FLOW_NONE) {
            continue;
        }
        if (origin->is_start) {
            producer->is_start =
                true; /* a gradient that the program gave: no recorded value */
            place_at_call(why, backward, producer);
        } else {
            why_read_statement(why, producer);
        }
        why->producer_count++;
    }
}

static struct why_input input_of(const struct why_gradient *gradient)
{
    return (struct why_input){
        .name = gradient->name,
        .has_statistics = gradient->has_statistics,
        .dtype = gradient->dtype,
        .statistics = gradient->statistics,
    };
}

/* Whether all functions of autograd in the list only pass a gradient on: whole, in parts, or
 * summed over repeated elements. */
static bool hands_on(struct slice functions)
{
    static const char *const names[] = {
        "AddBackward",     "SubBackward",
        "ViewBackward",    "ReshapeAliasBackward",
        "ExpandBackward",  "CloneBackward",
        "TBackward",       "TransposeBackward",
        "PermuteBackward", "SelectBackward",
        "SliceBackward",   "UnsqueezeBackward",
        "SqueezeBackward", "CatBackward",
        "StackBackward",   "SplitBackward",
        "UnbindBackward",  "UnsafeViewBackward",
        "SumBackward",     "AliasBackward",
        "NegBackward",     "AsStridedBackward",
    };
    size_t at = 0;

    while (at < functions.size) {
        size_t end = slice_find(functions, SLICE(" "), at);
        struct slice one = slice_part(functions, at, end);
        bool is_known = false;

        for (size_t i = 0; i < sizeof names / sizeof *names && !is_known; i++) {
            is_known = slice_starts(one, slice_of(names[i]));
        }
        if (!is_known) {
            return false;
        }
        at = end + 1;
    }
    return functions.size > 0;
}

/* Reports a hook of the program on the value: the functions of autograd cannot have made it. */
static void judge_hook(struct why *why, struct why_producer *producer)
{
    uint32_t node = graph_find(&why->graph, why->bad.event);
    struct buffer text = BUFFER_INIT;

    buffer_add(&text, SLICE("`"));
    buffer_add(&text, producer->functions);
    buffer_add(&text, SLICE("` only handed on the gradient of `"));
    buffer_add(&text, producer->given.name);
    buffer_add(&text, SLICE("`, which is finite: a hook on `"));
    buffer_add(&text, why->bad.name);
    buffer_add(&text, SLICE("` made it"));
    producer->how = WHY_SEEN;
    if (node != FLOW_NONE) {
        producer->node = node;
        producer->input_count = producer->input_total = 0;
        why_read_statement(why, producer);
    }
    why_keep_reason(why, producer, &text);
}

/* Reports that the program passed the gradient to backward(); no function of autograd ran. */
static void judge_given(struct why *why, struct why_producer *producer)
{
    struct buffer text = BUFFER_INIT;

    buffer_add(&text, SLICE("backward() was called with a gradient that holds it"));
    producer->how = WHY_CAME_IN;
    producer->made = why_holds(&why->bad.statistics);
    producer->is_certain = true;
    why_keep_reason(why, producer, &text);
}

/* Reports that no line of the trace is between backward() and the gradient, so code that is not
 * recorded made it. */
static void judge_unrecorded(struct why *why, struct why_producer *producer)
{
    struct buffer text = BUFFER_INIT;

    buffer_add(&text, SLICE("no recorded line is between backward() and this gradient: "
                            "autograd ran "));
    why_functions_add(&text, producer->functions);
    buffer_add(&text, SLICE(". Record the code of the model too: --include"));
    producer->how = WHY_SEEN;
    producer->input_count = producer->input_total = 0;
    why_keep_reason(why, producer, &text);
}

/* Finds the reason why the line's backward made the gradient. */
static void judge(struct why *why, struct why_producer *producer)
{
    struct why_input inputs[WHY_INPUTS_MAX];
    struct why_object objects[WHY_OBJECTS_MAX];
    struct buffer text = BUFFER_INIT;
    struct why_question question = {
        .statement = producer->statement,
        .inputs = inputs,
        .input_count = producer->input_count,
        .is_cut = producer->input_total > WHY_INPUTS_MAX,
        .dtype = why->bad.dtype,
        .objects = objects,
    };
    struct why_backward backward = {
        .question = &question,
        .given = input_of(&producer->given),
        .dtype = why->bad.dtype,
        .functions = producer->functions,
        .is_infinite = why->bad.statistics.nan_count == 0,
    };
    struct why_answer answer;

    if (!producer->given.is_known) {
        backward.given.name = why_value(why, producer->node)->name;
    }
    why_fill_inputs(why, producer, inputs);
    if (producer->node < why->graph.node_count) {
        question.object_count =
            why_find_objects(why, producer->node, producer->statement, objects);
    }
    answer = why_backward_add(&text, &backward);
    producer->made = why_holds(&why->bad.statistics);
    producer->has_reason = answer.is_reported;
    producer->is_certain = answer.is_certain;
    why_keep_reason(why, producer, &text);
    if (!answer.is_reported && producer->is_start) {
        judge_unrecorded(why, producer);
    } else if (!answer.is_reported && producer->given.is_known &&
               why->producer_count == 1 && hands_on(producer->functions)) {
        judge_hook(why, producer);
    }
}

/* Shows the gradient at the line of its value, because the line that made it is not known. */
static void add_unknown(struct why *why, const struct backward *backward)
{
    struct why_producer *producer = &why->producers[0];
    struct buffer text = BUFFER_INIT;
    uint32_t node = graph_find(&why->graph, backward->bad_event);

    *producer = (struct why_producer){
        .node = node == FLOW_NONE ? why->target : node,
        .how = WHY_SEEN,
        .made = why_holds(&why->bad.statistics),
        .is_gradient = true,
    };
    if (producer->node < why->graph.node_count) {
        why_read_statement(why, producer);
    } else {
        place_at_call(why, backward, producer);
    }
    producer->input_count = 0;
    why->producer_count = 1;
    why->producer_total = 1;
    buffer_add(&text, SLICE("it is the first of its backward that is not finite; the "
                            "line whose backward made it is not known, it is one that "
                            "reads this value"));
    why_keep_reason(why, producer, &text);
}

/* Whether all producers are one line: a statement that assigns several values, or iterations of
 * a loop. */
static bool is_one_line(const struct why *why)
{
    for (uint32_t i = 1; i < why->producer_count; i++) {
        if (why->producers[i].line != why->producers[0].line ||
            why->producers[i].module != why->producers[0].module) {
            return false;
        }
    }
    return why->producer_count == why->producer_total;
}

/* Keeps only the main producer if exactly one certainly made the gradient, if none is certain
 * and exactly one has a reason, or if all are one line. */
static void settle(struct why *why)
{
    uint32_t certain = 0;
    uint32_t reasoned = 0;

    why->main = 0;
    for (uint32_t i = why->producer_count; i > 0; i--) {
        if (why->producers[i - 1].has_reason) {
            reasoned++;
            why->main = certain == 0 ? i - 1 : why->main;
        }
        if (why->producers[i - 1].is_certain) {
            certain++;
            why->main = i - 1;
        }
    }
    if (certain == 1 || (certain == 0 && reasoned == 1) || is_one_line(why)) {
        why->producers[0] = why->producers[why->main];
        why->main = 0;
        why->producer_count = 1;
        why->producer_total = 1;
    }
}

bool why_is_undecided(const struct why *why)
{
    return why->undecided_count > 1;
}

/* Appends the lines that passed the gradient on, after those of the backward. */
static void
add_behind(struct why *why, const struct why_producer *passed, uint32_t passed_count)
{
    for (uint32_t i = 0; i < passed_count && why->producer_count < WHY_PRODUCERS_MAX;
         i++) {
        why->producers[why->producer_count++] = passed[i];
    }
    why->producer_total += passed_count;
}

/* ---- effects of optimizer steps ---- */

static const struct training_record *record_at(const struct why *why, uint32_t index)
{
    assert(index < why->backwards.training.record_count);
    return &why->backwards.training.records[index];
}

static struct slice name_of(const struct why *why, const struct training_record *record)
{
    return why->backwards.training.names[record->parameter];
}

/* The name of the call that wrote the record, such as "SGD.step"; "" if it is not in the trace. */
static struct slice call_of(const struct why *why, const struct training_record *record)
{
    const struct training_step *step =
        training_step_of(&why->backwards.training, record->step);

    return step == NULL ? SLICE("") : step->name;
}

static uint32_t line_of(const struct why *why, const struct training_record *record)
{
    const struct log_module *module = log_reader_module(why->reader, record->module);

    return module == NULL ? 0 : module->table.sites[record->site].line;
}

static void add_line(const struct why *why,
                     const struct training_record *record,
                     struct buffer *text)
{
    const struct log_module *module = log_reader_module(why->reader, record->module);

    if (module != NULL) {
        buffer_add(text, slice_last_part(module->table.path, '/'));
    }
    buffer_add_byte(text, ':');
    buffer_add_number(text, line_of(why, record));
}

static void add_quoted(struct buffer *text, struct slice name)
{
    buffer_add_byte(text, '`');
    buffer_add(text, name);
    buffer_add_byte(text, '`');
}

/* Appends the counts, such as "3 NaN and 1 Inf". */
static void add_bad(struct buffer *text, const struct training_record *record)
{
    if (record->nan_count > 0) {
        buffer_add_number(text, record->nan_count);
        buffer_add(text, SLICE(" NaN"));
    }
    if (record->inf_count > 0) {
        buffer_add(text, record->nan_count > 0 ? SLICE(" and ") : SLICE(""));
        buffer_add_number(text, record->inf_count);
        buffer_add(text, SLICE(" Inf"));
    }
}

static void add_real(struct buffer *text, double number)
{
    buffer_add_format(text, "%.4g", number);
}

/* Values of earlier steps that the answer lists. */
#define GROWTH_MAX 5

static void add_growth(const struct why *why, uint32_t value, struct buffer *text)
{
    uint32_t before[GROWTH_MAX];
    uint32_t count = 0;

    for (uint32_t at = record_at(why, value)->before;
         at != TRAINING_NONE && count < GROWTH_MAX; at = record_at(why, at)->before) {
        if (record_at(why, at)->what == TRAINING_WRITTEN ||
            record_at(why, at)->what == TRAINING_READ) {
            before[count++] = at;
        }
    }
    if (count == 0) {
        return;
    }
    buffer_add(text, SLICE("; its largest magnitude was "));
    while (count > 0) {
        add_real(text, record_at(why, before[--count])->largest);
        buffer_add(text, count > 0 ? SLICE(", ") : SLICE(" before"));
    }
}

/* Places the answer at the line of the call that wrote the record, which is no line of a
 * forward. */
static void place_call(struct why *why,
                       const struct training_record *record,
                       struct why_producer *producer)
{
    const struct log_module *module = log_reader_module(why->reader, record->module);

    producer->how = WHY_STEP;
    producer->is_certain = true;
    producer->has_reason = false;
    producer->input_count = producer->input_total = 0;
    producer->made = (record->nan_count > 0 ? WHY_NAN : 0u) |
                     (record->inf_count > 0 ? WHY_POSINF : 0u);
    producer->module = record->module;
    producer->line = line_of(why, record);
    producer->file = module == NULL ? SLICE("") : module->table.path;
    producer->statement = why_statement(why, producer->module, producer->line);
}

static void report_step(const struct why *why, struct buffer *text)
{
    const struct training_cause *cause = &why->cause;
    const struct training_record *value = record_at(why, cause->value);
    const struct training_record *gradient =
        cause->gradient == TRAINING_NONE ? NULL : record_at(why, cause->gradient);

    buffer_add(text, call_of(why, value));
    buffer_add(text, SLICE(" wrote "));
    add_bad(text, value);
    if (gradient != NULL && gradient->has_figures) {
        buffer_add(text, SLICE(", and its gradient was finite (largest magnitude "));
        add_real(text, gradient->largest);
        buffer_add_byte(text, ')');
    } else {
        buffer_add(text, SLICE(", and its gradient is not recorded"));
    }
    if (value->rate == value->rate) {
        buffer_add(text, SLICE(", "));
        why_rate_add(why, value, text);
    }
    if (cause->state != TRAINING_NONE) {
        buffer_add(text, SLICE("; "));
        add_quoted(text,
                   why->backwards.training.names[record_at(why, cause->state)->state]);
        buffer_add(text, SLICE(", which the optimizer keeps, holds "));
        add_bad(text, record_at(why, cause->state));
    }
    add_growth(why, cause->value, text);
}

static void report_call(const struct why *why, struct buffer *text)
{
    const struct training_record *gradient = record_at(why, why->cause.gradient);

    buffer_add(text, call_of(why, gradient));
    buffer_add(text, SLICE(" wrote "));
    add_bad(text, gradient);
    buffer_add(text, SLICE(" to its gradient, and no recorded gradient held NaN or Inf "
                           "before"));
}

static void report_found(const struct why *why, struct buffer *text)
{
    const struct training_cause *cause = &why->cause;
    const struct training_record *found = record_at(
        why, cause->gradient != TRAINING_NONE ? cause->gradient : cause->value);

    buffer_add(text, cause->gradient != TRAINING_NONE
                         ? SLICE("its gradient was finite after the backward")
                         : SLICE("it was finite when it was recorded before"));
    buffer_add(text, SLICE(", and "));
    add_line(why, found, text);
    buffer_add(text, SLICE(" read "));
    add_bad(text, found);
    buffer_add(text, SLICE(" in it: code that is not recorded wrote them, a "
                           "hook, or another rank's all-reduce"));
}

static void report_came_in(const struct why *why, struct buffer *text)
{
    const struct training_record *value = record_at(why, why->cause.value);

    buffer_add(text, SLICE("it held "));
    add_bad(text, value);
    buffer_add(text, SLICE(" when it was recorded first, at "));
    add_line(why, value, text);
    buffer_add(text, SLICE(", before any recorded step wrote to it"));
}

/* Reports the cause of a bad parameter where no backward is involved. */
static void judge_cause(struct why *why)
{
    struct why_producer *producer = &why->producers[why->main];
    const struct training_cause *cause = &why->cause;
    struct buffer text = BUFFER_INIT;

    if (cause->backward != 0) {
        return;
    }
    if (why->producer_count == 0) {
        *producer = (struct why_producer){.node = why->target};
        why->producer_count = why->producer_total = 1;
    }
    switch (cause->kind) {
    case TRAINING_CAUSE_CALL:
        place_call(why, record_at(why, cause->gradient), producer);
        report_call(why, &text);
        break;
    case TRAINING_CAUSE_FOUND:
        place_call(why,
                   record_at(why, cause->gradient != TRAINING_NONE ? cause->gradient
                                                                   : cause->value),
                   producer);
        producer->how = WHY_SEEN;
        producer->is_certain = false;
        report_found(why, &text);
        break;
    case TRAINING_CAUSE_CAME_IN:
        report_came_in(why, &text);
        break;
    default:
        place_call(why, record_at(why, cause->value), producer);
        report_step(why, &text);
        break;
    }
    producer->parameter = name_of(why, record_at(why, cause->value));
    why_keep_reason(why, producer, &text);
}

/* Finds the first parameter into which the gradients of the backward brought NaN or infinities. */
static void find_victim(struct why *why)
{
    uint32_t step = why->backwards.items[why->backward].step;

    for (uint32_t i = 0; i < why->backwards.training.record_count; i++) {
        const struct training_record *record = &why->backwards.training.records[i];
        struct training_cause cause;

        if (record->what == TRAINING_WRITTEN && training_is_bad(record) &&
            training_explain(&why->backwards.training, record->object,
                             record->event + 1, &cause) &&
            cause.backward == step) {
            why->cause = cause;
            why->has_cause = true;
            return;
        }
    }
}

/* Appends one line for each call that passed the NaN or infinities from the gradient to the
 * parameter. */
static void add_calls(const struct why *why, struct buffer *text)
{
    const struct training_cause *cause = &why->cause;
    uint32_t first = cause->gradient;

    for (uint32_t i = first == TRAINING_NONE ? cause->value : first; i <= cause->value;
         i++) {
        const struct training_record *record = record_at(why, i);
        bool is_gradient = record->what == TRAINING_GRADIENT_WRITTEN;

        if (record->parameter != record_at(why, cause->value)->parameter ||
            (!is_gradient && record->what != TRAINING_WRITTEN) ||
            !training_is_bad(record)) {
            continue;
        }
        buffer_add(text, text->size > 0 ? SLICE("\n") : SLICE(""));
        add_line(why, record, text);
        buffer_add(text, SLICE("  "));
        buffer_add(text, call_of(why, record));
        buffer_add_byte(text, ' ');
        buffer_add_number(text, record->step);
        buffer_add(text, SLICE(" wrote "));
        add_bad(text, record);
        buffer_add(text, is_gradient ? SLICE(" to the gradient of ") : SLICE(" to "));
        add_quoted(text, name_of(why, record));
    }
}

static void add_chain(struct why *why)
{
    struct buffer text = BUFFER_INIT;

    add_calls(why, &text);
    if (why->cause.kind == TRAINING_CAUSE_STATE) {
        const struct training_record *state = record_at(why, why->cause.state);

        buffer_add(&text, SLICE("\n"));
        add_line(why, state, &text);
        buffer_add(&text, SLICE("  the gradient was finite then; the optimizer kept "));
        add_bad(&text, state);
        buffer_add(&text, SLICE(" in "));
        add_quoted(&text, why->backwards.training.names[state->state]);
    }
    why->arena.has_failed |= text.has_failed;
    why->chain = arena_copy(&why->arena, buffer_slice(&text));
    buffer_release(&text);
}

static bool follow(struct why *why, struct error *error)
{
    struct why_producer passed[WHY_PRODUCERS_MAX];
    uint32_t passed_count = why->producer_count;
    const struct backward *backward;

    assert(why->backward < why->backwards.count);
    backward = &why->backwards.items[why->backward];
    memcpy(passed, why->producers, passed_count * sizeof *passed);
    why->producer_count = 0;
    why->producer_total = 0;
    add_lines(why, backward);
    read_gradients(why, backward);
    for (uint32_t i = 0; i < why->producer_count; i++) {
        bool is_given =
            why->producers[i].is_start && why->producers[i].functions.size == 0;

        (is_given ? judge_given : judge)(why, &why->producers[i]);
    }
    if (why->producer_count == 0) {
        add_unknown(why, backward);
    } else {
        settle(why);
    }
    why->undecided_count = why->producer_total;
    add_behind(why, passed, passed_count);
    return !why->arena.has_failed || why_out_of_memory(error);
}

bool why_follow_backward(struct why *why, struct error *error)
{
    bool is_done;

    if (why->backward == BACKWARD_NONE && !why->has_cause) {
        find_cause(why);
    } else if (why->backward != BACKWARD_NONE) {
        find_victim(why);
    }
    is_done = why->backward == BACKWARD_NONE || follow(why, error);
    if (is_done && why->has_cause) {
        judge_cause(why);
        add_chain(why);
    }
    if (is_done) {
        why_explain_growth(why);
    }
    return is_done && (!why->arena.has_failed || why_out_of_memory(error));
}
