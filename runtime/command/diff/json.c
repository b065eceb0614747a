/* Output of `monitorch diff --json`: an object for each finding, and the verdict. */
#include "runtime/command/diff/report.h"
#include "runtime/command/diff/saved_report.h"
#include "runtime/view/diff/report/words.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/value_text.h"

/* Starts an object. If there are several pairs, adds the names of its traces. */
static void
start(const struct diff_report *report, const char *record, struct buffer *text)
{
    buffer_add(text, SLICE("{\"record\":\""));
    buffer_add(text, slice_of(record));
    buffer_add_byte(text, '"');
    if (report->traces[0].size > 0) {
        json_text_add(text, SLICE("trace_a"), report->traces[0]);
        json_text_add(text, SLICE("trace_b"), report->traces[1]);
    }
}

static void diff_json_add_value(struct buffer *text,
                                struct slice key,
                                const struct log_event_view *event)
{
    struct buffer value = BUFFER_INIT;

    value_text_add(&value, event, false);
    json_text_add(text, key, buffer_slice(&value));
    text->has_failed = text->has_failed || value.has_failed;
    buffer_release(&value);
}

/* Adds the fields of one side: file, line, number of the event, call, visit, and value. */
static void add_side(struct diff_report *report,
                     unsigned side,
                     const struct diff_finding *finding,
                     struct buffer *text)
{
    static const struct {
        struct slice file, line, event, call, iteration, value;
    } keys[2] = {
        {{"file_a", 6},
         {"line_a", 6},
         {"seq_a", 5},
         {"call_a", 6},
         {"iteration_a", 11},
         {"value_a", 7}},
        {{"file", 4},
         {"line", 4},
         {"seq", 3},
         {"call", 4},
         {"iteration", 9},
         {"value", 5}},
    };
    const struct log_item *item = finding->items[side];

    if (finding->lines[side] != 0) {
        const struct log_module *module =
            log_reader_module(report->readers[side], finding->modules[side]);

        if (module != NULL) {
            json_text_add(text, keys[side].file, module->table.path);
        }
        json_number_add(text, keys[side].line, finding->lines[side]);
    }
    if (item == NULL || (item->kind != LOG_EVENT && item->kind != LOG_GRADIENT)) {
        return;
    }
    json_number_add(text, keys[side].event, item->event.number);
    json_number_add(text, keys[side].call, item->event.call);
    json_number_add(text, keys[side].iteration, item->event.visit);
    if (item->event.kind != VALUE_NOTHING && finding->cause != DIFF_CAUSE_FLOW) {
        diff_json_add_value(text, keys[side].value, &item->event);
    }
}

static void add_function(struct diff_report *report,
                         const struct diff_finding *finding,
                         struct buffer *text)
{
    unsigned side = finding->calls[1] != NULL ? 1 : 0;
    const struct open_call *call = finding->calls[side];

    if (call != NULL) {
        json_text_add(text, SLICE("function"),
                      open_call_function(call, report->readers[side])->name);
        json_text_add(text, SLICE("module"), call->path);
    }
}

/* Adds the fields of the distance of two values. */
static void diff_json_add_distance(struct buffer *text,
                                   const struct diff_distance *distance)
{
    json_boolean_add(text, SLICE("whole_values"), distance->is_exact);
    json_real_add(text, SLICE("max_abs"), distance->max_abs);
    if (distance->floor > 0) {
        json_real_add(text, SLICE("floor"), distance->floor);
    }
    if (!distance->is_exact) {
        return;
    }
    json_real_add(text, SLICE("max_rel"), distance->max_rel);
    if (distance->count > 1) {
        json_real_add(text, SLICE("cosine"), distance->cosine);
        json_number_add(text, SLICE("max_ulp"), distance->max_ulp);
        json_number_add(text, SLICE("worst"), distance->worst);
    }
    json_number_add(text, SLICE("count"), distance->count);
    json_number_add(text, SLICE("beyond"), distance->beyond_count);
    json_real_add(text, SLICE("worst_value_a"), distance->worst_values[0]);
    json_real_add(text, SLICE("worst_value"), distance->worst_values[1]);
}

void diff_json_add_finding(struct diff_report *report,
                           const struct diff_finding *finding,
                           struct buffer *text)
{
    start(report, "difference", text);
    json_text_add(text, SLICE("class"), slice_of(diff_class_text(finding->class_)));
    json_text_add(text, SLICE("cause"), slice_of(diff_cause_text(finding->cause)));
    json_boolean_add(text, SLICE("first"), finding->is_first);
    if (finding->is_unsure) {
        json_boolean_add(text, SLICE("certain"), false);
    }
    json_text_add(text, SLICE("name"), finding->name);
    json_text_add(text, SLICE("words"), finding->words);
    if (finding->class_ == DIFF_ONLY) {
        json_text_add(text, SLICE("only"),
                      finding->items[0] != NULL ? SLICE("a") : SLICE("b"));
    }
    add_side(report, 1, finding, text);
    add_side(report, 0, finding, text);
    add_function(report, finding, text);
    if (finding->distance != NULL) {
        diff_json_add_distance(text, finding->distance);
    }
    if (finding->is_first) {
        json_text_add(text, SLICE("text"), finding->text);
    }
    buffer_add(text, SLICE("}\n"));
}

static void add_floor(const struct diff_result *result, struct buffer *text)
{
    if (result->floor.known_count > 0) {
        json_text_add(text, SLICE("noise"), result->floor.noise);
        json_number_add(text, SLICE("noise_floors"), result->floor.known_count);
    } else if (result->rounding.is_there) {
        json_real_add(text, SLICE("rounding_units"), result->rounding.units);
        json_real_add(text, SLICE("rounding_expected"), result->rounding.expected);
    }
}

/* Adds the numbers of gradients and steps. */
static void add_updates(const struct diff_result *result, struct buffer *text)
{
    if (result->has_updates) {
        json_number_add(text, SLICE("updates_equal"), result->updates.equal);
        json_number_add(text, SLICE("updates_within_tolerance"), result->updates.close);
        json_number_add(text, SLICE("updates_steps"), result->updates.steps);
        json_number_add(text, SLICE("updates_own"), result->updates.own);
        json_number_add(text, SLICE("updates_inherited"), result->updates.inherited);
    }
}

void diff_json_add_verdict(const struct diff_report *report,
                           const struct diff_result *result,
                           struct buffer *text)
{
    const struct diff_likeness *likeness = &result->likeness;
    bool is_equal = diff_result_is_equal(result) && !result->is_other_program;

    start(report, "verdict", text);
    json_boolean_add(text, SLICE("equal"), is_equal);
    json_boolean_add(text, SLICE("different_programs"), result->is_other_program);
    json_number_add(text, SLICE("events_a"), result->event_counts[0]);
    json_number_add(text, SLICE("events"), result->event_counts[1]);
    json_number_add(text, SLICE("equal_events"), result->equal);
    json_number_add(text, SLICE("within_tolerance"), result->close);
    json_number_add(text, SLICE("layout"), result->layout);
    json_number_add(text, SLICE("clocks"), result->clocks);
    json_number_add(text, SLICE("steps"), result->steps);
    json_number_add(text, SLICE("own"), result->own);
    json_number_add(text, SLICE("inherited"), result->inherited);
    json_number_add(text, SLICE("perhaps_own"), result->unsure);
    json_number_add(text, SLICE("control_flow"), result->flow);
    json_number_add(text, SLICE("only_a"), result->only[0]);
    json_number_add(text, SLICE("only_b"), result->only[1]);
    json_number_add(text, SLICE("changed_lines"), report->changed_count);
    add_updates(result, text);
    json_number_add(text, SLICE("code_a"), result->code[0]);
    json_number_add(text, SLICE("code_b"), result->code[1]);
    json_number_add(text, SLICE("left_out_a"), result->left_out[0]);
    json_number_add(text, SLICE("left_out_b"), result->left_out[1]);
    json_number_add(text, SLICE("before_start_a"), result->before[0]);
    json_number_add(text, SLICE("before_start_b"), result->before[1]);
    json_number_add(text, SLICE("after_end_of_a"), result->beyond[1]);
    json_number_add(text, SLICE("after_end_of_b"), result->beyond[0]);
    json_boolean_add(text, SLICE("unfinished_a"), result->is_unfinished[0]);
    json_boolean_add(text, SLICE("unfinished_b"), result->is_unfinished[1]);
    json_number_add(text, SLICE("sites_a"), likeness->site_counts[0]);
    json_number_add(text, SLICE("sites_b"), likeness->site_counts[1]);
    json_number_add(text, SLICE("sites_in_both"), likeness->sites_in_both);
    json_number_add(text, SLICE("functions_in_both"), likeness->functions_in_both);
    json_number_add(text, SLICE("files_in_both"), likeness->files_in_both);
    add_floor(result, text);
    if (report->first_event != UINT64_MAX) {
        json_number_add(text, SLICE("first"), report->first_event);
    }
    buffer_add(text, SLICE("}\n"));
}

/* ---- saved tensors ---- */

static void add_key(struct buffer *text, const struct saved_key *key)
{
    json_text_add(text, SLICE("prefix"), key->prefix);
    json_text_add(text, SLICE("module"), key->module_path);
    json_text_add(text, SLICE("name"), key->name);
    json_number_add(text, SLICE("call"), key->call);
}

static void
saved_json_add_side(struct buffer *text, unsigned side, const struct saved_entry *entry)
{
    static const struct {
        struct slice saved, file, line, function, order;
    } keys[2] = {
        {{"saved_a", 7},
         {"file_a", 6},
         {"line_a", 6},
         {"function_a", 10},
         {"order_a", 7}},
        {{"saved", 5}, {"file", 4}, {"line", 4}, {"function", 8}, {"order", 5}},
    };
    const struct saved_tensor *tensor = &entry->tensor;

    json_text_add(text, keys[side].saved, entry->file_name);
    if (tensor->file.size > 0) {
        json_text_add(text, keys[side].file, tensor->file);
        json_number_add(text, keys[side].line, tensor->line);
    }
    if (tensor->function.size > 0) {
        json_text_add(text, keys[side].function, tensor->function);
    }
    if (tensor->order != SAVED_ORDER_UNKNOWN) {
        json_number_add(text, keys[side].order, tensor->order);
    }
}

void diff_saved_json_add(struct buffer *text,
                         const struct diff_saved_finding *finding,
                         struct slice first)
{
    const struct saved_entry *const *entries = finding->entries;
    bool is_pair = entries[0] != NULL && entries[1] != NULL;
    bool is_unread = finding->cause == DIFF_CAUSE_NONE;

    buffer_add(text, is_unread ? SLICE("{\"record\":\"unread\"")
                               : SLICE("{\"record\":\"difference\""));
    if (!is_unread) {
        json_text_add(text, SLICE("class"),
                      slice_of(diff_class_text(is_pair ? DIFF_OWN : DIFF_ONLY)));
        json_text_add(text, SLICE("cause"), slice_of(diff_cause_text(finding->cause)));
        json_boolean_add(text, SLICE("first"), finding->is_first);
    }
    add_key(text, &entries[entries[1] != NULL ? 1 : 0]->tensor.key);
    json_text_add(text, SLICE("words"), finding->words);
    if (!is_pair) {
        json_text_add(text, SLICE("only"),
                      entries[0] != NULL ? SLICE("a") : SLICE("b"));
    }
    for (unsigned side = 2; side-- > 0;) {
        if (entries[side] != NULL) {
            saved_json_add_side(text, side, entries[side]);
        }
        if (finding->events[side] != NULL) {
            diff_json_add_value(text, side == 0 ? SLICE("value_a") : SLICE("value"),
                                finding->events[side]);
        }
    }
    if (finding->distance != NULL) {
        diff_json_add_distance(text, finding->distance);
    }
    if (finding->is_first) {
        json_text_add(text, SLICE("text"), first);
    }
    buffer_add(text, SLICE("}\n"));
}

void diff_saved_json_add_verdict(struct buffer *text,
                                 const struct diff_saved_result *result,
                                 const size_t damage_counts[2])
{
    buffer_add(text, SLICE("{\"record\":\"verdict\""));
    json_boolean_add(text, SLICE("equal"), diff_saved_is_equal(result));
    json_number_add(text, SLICE("tensors_a"), result->counts[0]);
    json_number_add(text, SLICE("tensors"), result->counts[1]);
    json_number_add(text, SLICE("equal_tensors"), result->equal);
    json_number_add(text, SLICE("within_tolerance"), result->close);
    json_number_add(text, SLICE("different"), result->different);
    json_number_add(text, SLICE("only_a"), result->only[0]);
    json_number_add(text, SLICE("only_b"), result->only[1]);
    json_number_add(text, SLICE("ignored"), result->ignored);
    json_number_add(text, SLICE("unread"), result->unread);
    json_number_add(text, SLICE("damaged_files_a"), damage_counts[0]);
    json_number_add(text, SLICE("damaged_files"), damage_counts[1]);
    json_boolean_add(text, SLICE("in_order"), result->is_ordered);
    buffer_add(text, SLICE("}\n"));
}
