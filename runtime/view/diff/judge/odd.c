/* What one trace alone has. */
#include "runtime/base/memory.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/diff/work.h"

static void report_odd(struct diff_work *work,
                       unsigned side,
                       const struct diff_step *step,
                       bool is_code)
{
    struct diff_finding finding = {
        .cause = is_code ? DIFF_CAUSE_CODE : DIFF_CAUSE_FLOW,
        .class_ = DIFF_ONLY,
    };
    struct diff_place place = diff_place_of(step->items[side], step->calls[side]);

    finding.items[side] = step->items[side];
    finding.calls[side] = step->calls[side];
    finding.modules[side] = place.module;
    finding.lines[side] = place.line;
    work->name.size = 0;
    work->words.size = 0;
    diff_name_add(&step->items[side]->event, &work->name);
    finding.name = buffer_slice(&work->name);
    buffer_add(&work->words, is_code ? SLICE("a line that the other does not have")
                             : step->odd == DIFF_ODD_PART
                                 ? SLICE("a part that the other's value does not have")
                                 : SLICE("the other run did not reach it"));
    finding.words = buffer_slice(&work->words);
    diff_add_finding(work, &finding);
}

/* What was made from values that differ has not come of the line. */
static bool is_inherited(struct diff_work *work,
                         struct diff_frame *frame,
                         unsigned side,
                         const struct diff_step *step)
{
    const struct log_event_view *event = &step->items[side]->event;
    const struct open_call *call = step->calls[side];
    struct diff_inputs inputs = {.differ = false};

    diff_inputs_add(&inputs, diff_scope_reads(&work->scope, frame, call, side,
                                              event->module, event->site));
    diff_inputs_add(&inputs, diff_scope_name(&work->scope, frame, call, side, event));
    return inputs.differ;
}

static void
match_odd_event(struct diff_work *work, unsigned side, const struct diff_step *step)
{
    const struct log_event_view *event = &step->items[side]->event;
    const struct open_call *call = step->calls[side];
    struct diff_frame *frame = diff_scope_frame(&work->scope, side == 0 ? call : NULL,
                                                side == 1 ? call : NULL);
    /* A line that was split in two is another line each time: `a if c else b`. */
    bool is_code = step->odd == DIFF_ODD_CODE ||
                   (step->odd == DIFF_ODD_FLOW && frame != NULL &&
                    diff_scope_is_written(&work->scope, frame, call, side, event));
    struct diff_taint taint = {
        .name = event->name,
        .kind = is_code ? DIFF_TAINT_CODE : DIFF_TAINT_FLOW,
        .side = side,
        .module = event->module_number,
        .line = event->site->line,
        .digest = is_code ? diff_scope_digest(event) : 0,
    };
    bool is_unchanged = event->difference == 0 && (event->change == CHANGE_REBOUND ||
                                                   event->change == CHANGE_SAME);

    work->result->event_counts[side]++;
    if (step->odd == DIFF_ODD_LEFT_OUT) {
        work->result->left_out[side]++;
        return;
    }
    diff_writes_note(work, side, event);
    if (is_code) {
        work->result->code[side]++;
    } else {
        work->result->only[side]++;
    }
    work->parts[side] += step->odd == DIFF_ODD_PART;
    if (step->odd == DIFF_ODD_FLOW && !is_code) {
        diff_gap_add(work, side, step->items[side], call);
    }
    report_odd(work, side, step, is_code);
    work->has_found = true;
    if (frame == NULL) {
        return;
    }
    if (side == 1 && event->site->kind == SITE_LOOP) {
        diff_frame_turn(&work->scope, frame, event->site_number, event->visit);
    }
    if (is_code && !is_unchanged && is_inherited(work, frame, side, step)) {
        taint.kind = DIFF_TAINT_VALUES;
    }
    if ((event->flags & LOG_EVENT_READ) == 0 && !(is_code && is_unchanged)) {
        diff_scope_taint(&work->scope, frame, call, event, &taint);
    }
    if (event->site->kind == SITE_RETURN && !is_code) {
        diff_return_differs(work, side, call);
    }
}

void diff_match_odd(struct diff_work *work, const struct diff_step *step)
{
    unsigned side = step->items[0] != NULL ? 0 : 1;
    const struct log_item *item = step->items[side];

    switch (item->kind) {
    case LOG_EVENT:
        match_odd_event(work, side, step);
        return;
    case LOG_CALL:
        diff_scope_frame(&work->scope, side == 0 ? step->calls[0] : NULL,
                         side == 1 ? step->calls[1] : NULL);
        if (step->odd == DIFF_ODD_FLOW && work->gap.is_open) {
            diff_gap_add(work, side, item, step->calls[side]);
        }
        return;
    case LOG_END:
        diff_scope_end(&work->scope, side, item->end.call);
        return;
    default:
        return;
    }
}

void diff_match_before(struct diff_work *work, const struct diff_step *step)
{
    unsigned side = step->items[0] != NULL ? 0 : 1;

    if (step->items[side]->kind == LOG_EVENT) {
        work->result->event_counts[side]++;
        work->result->before[side]++;
    }
}
