/* What `monitorch diff --json` prints of saved tensors. */
#include "runtime/command/diff/report.h"
#include "runtime/command/diff/saved_report.h"
#include "runtime/view/diff/report/words.h"
#include "runtime/view/words/json_fields.h"

static void add_key(struct buffer *text, const struct saved_key *key)
{
    json_text_add(text, SLICE("prefix"), key->prefix);
    json_text_add(text, SLICE("module"), key->module_path);
    json_text_add(text, SLICE("name"), key->name);
    json_number_add(text, SLICE("call"), key->call);
}

static void
add_side(struct buffer *text, unsigned side, const struct saved_entry *entry)
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
            add_side(text, side, entries[side]);
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
