/* What went into an event, as far as its line and its names tell. */
#include "runtime/view/diff/work.h"

void diff_inputs_take(struct diff_inputs *inputs, const struct diff_taint *taint)
{
    if (taint == NULL) {
        return;
    }
    switch (taint->kind) {
    case DIFF_TAINT_CODE:
        inputs->code = taint;
        return;
    case DIFF_TAINT_LAYOUT:
        inputs->layout = taint;
        return;
    case DIFF_TAINT_CLOCK:
        inputs->has_clock = true;
        return;
    default:
        inputs->differ = true;
    }
}

/* Whether the statement took what a call in it returned, and that differs. */
static bool takes_result(struct diff_frame *frame, const struct log_event_view *event)
{
    if (!frame->has_result) {
        return false;
    }
    if (frame->result_site == DIFF_SITE_NONE &&
        (frame->result_line == 0 || event->site->line <= frame->result_line)) {
        frame->result_site = event->site_number;
        frame->result_visit = event->visit;
        return true;
    }
    frame->has_result =
        frame->result_site == event->site_number && frame->result_visit == event->visit;
    return frame->has_result;
}

/* What an argument was made from: what the statement that made the call reads. */
static void find_arguments(struct diff_work *work,
                           const struct open_call *call,
                           struct diff_inputs *inputs)
{
    const struct open_call *caller = call == NULL ? NULL : call->parent;
    struct diff_frame *frame =
        caller == NULL ? NULL : diff_scope_find(&work->scope, 1, caller->call);
    const struct log_module *module;
    uint32_t line = 0;

    if (frame == NULL) {
        return;
    }
    if (frame->has_result && frame->result_site == DIFF_SITE_NONE) {
        inputs->differ = true;
        return;
    }
    module = log_reader_module(work->readers[1], caller->module_number);
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];

        if (site->function == caller->function && site->line <= call->line &&
            site->line > line) {
            line = site->line;
        }
    }
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];

        if (site->function == caller->function && site->line == line) {
            diff_inputs_take(
                inputs, diff_scope_reads(&work->scope, frame, caller, 1, module, site));
        }
    }
    if (line != call->line && frame->names.count > 0) {
        /* A statement without a site of its own: any name may be its argument. */
        diff_inputs_take(inputs, &frame->names.items[0]);
    }
}

/* Of several lines of B alone that may be to blame, the one that wrote this very value. */
static void find_writer(struct diff_work *work,
                        const struct diff_frame *frame,
                        const struct log_event_view *event,
                        const struct open_call *call,
                        struct diff_inputs *inputs)
{
    const struct diff_taint *writer;

    if (event->site->kind == SITE_ENTER) {
        frame = call == NULL || call->parent == NULL
                    ? NULL
                    : diff_scope_find(&work->scope, 1, call->parent->call);
    }
    writer = frame == NULL ? NULL : diff_scope_writer(frame, diff_scope_digest(event));
    if (writer != NULL) {
        inputs->code = writer;
    }
}

static bool is_told_by_object(const struct log_event_view *event,
                              const struct open_call *call)
{
    return (event->flags & LOG_EVENT_READ) != 0 ||
           (event->site->kind == SITE_ENTER &&
            (call == NULL || call->parent == NULL || call->line == 0));
}

struct diff_inputs diff_inputs_find(struct diff_work *work,
                                    struct diff_frame *frame,
                                    const struct log_event_view *event,
                                    const struct open_call *call)
{
    struct diff_inputs inputs = {.differ = false};
    bool has_result = takes_result(frame, event);

    if ((event->flags & LOG_EVENT_READ) != 0) {
        diff_inputs_take(&inputs, diff_scope_name(&work->scope, frame, call, 1, event));
    } else if (event->site->kind == SITE_ENTER) {
        find_arguments(work, call, &inputs);
    } else {
        inputs.differ = has_result;
        diff_inputs_take(&inputs, diff_scope_reads(&work->scope, frame, call, 1,
                                                   event->module, event->site));
        if (event->site->kind == SITE_MUTATE) {
            diff_inputs_take(&inputs,
                             diff_scope_name(&work->scope, frame, call, 1, event));
        }
    }
    /* An address may have been used again: it is asked where no name tells. */
    if (event->kind == VALUE_TENSOR && is_told_by_object(event, call) &&
        diff_scope_held(&work->scope, event->tensor.origin)) {
        inputs.differ = true;
    }
    if (!inputs.differ && inputs.code != NULL) {
        find_writer(work, frame, event, call, &inputs);
    }
    return inputs;
}
