/* What differs between two traces: a verdict on each step. */
#include "runtime/view/diff.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff_words.h"
#include "runtime/view/diff_work.h"
#include "runtime/view/paint.h"

#include <math.h>
#include <string.h>

#define PROGRESS_STEPS 65536
/* Fewer of the sites of the smaller program in the other, by so much: another program. */
#define LIKENESS_PART 4

/* ---- what went into an event ---- */

struct inputs {
    bool differ;
    const struct diff_taint *code; /* a line of one program alone wrote them; or NULL */
    const struct diff_taint *layout; /* they lie in another layout; or NULL */
    bool has_clock;                  /* a clock's */
};

static void take_taint(struct inputs *inputs, const struct diff_taint *taint)
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
                           struct inputs *inputs)
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
            take_taint(inputs,
                       diff_scope_reads(&work->scope, frame, caller, 1, module, site));
        }
    }
    if (line != call->line && frame->names.count > 0) {
        /* A statement without a site of its own: any name may be its argument. */
        take_taint(inputs, &frame->names.items[0]);
    }
}

static struct inputs find_inputs(struct diff_work *work,
                                 struct diff_frame *frame,
                                 const struct log_event_view *event,
                                 const struct open_call *call)
{
    struct inputs inputs = {.differ = false};
    bool has_result = takes_result(frame, event);

    if ((event->flags & LOG_EVENT_READ) != 0) {
        take_taint(&inputs, diff_scope_name(&work->scope, frame, call, 1, event));
    } else if (event->site->kind == SITE_ENTER) {
        find_arguments(work, call, &inputs);
    } else {
        inputs.differ = has_result;
        take_taint(&inputs, diff_scope_reads(&work->scope, frame, call, 1,
                                             event->module, event->site));
        if (event->site->kind == SITE_MUTATE) {
            take_taint(&inputs, diff_scope_name(&work->scope, frame, call, 1, event));
        }
    }
    if (event->kind == VALUE_TENSOR &&
        diff_scope_held(&work->scope, event->tensor.origin)) {
        inputs.differ = true;
    }
    return inputs;
}

/* ---- what follows of it ---- */

/* Whether something in the value may differ that the event does not tell. */
static bool is_opaque(const struct log_event_view *event)
{
    return event->kind == VALUE_OBJECT || event->kind == VALUE_CONTAINER ||
           (event->kind == VALUE_TENSOR && !event->has_statistics && !event->has_hash);
}

/* The call's caller gets something that differs. */
static void
return_differs(struct diff_work *work, unsigned side, const struct open_call *call)
{
    struct diff_frame *frame =
        call == NULL || call->parent == NULL
            ? NULL
            : diff_scope_find(&work->scope, side, call->parent->call);

    if (frame != NULL) {
        frame->has_result = true;
        frame->result_line = call->line;
        frame->result_site = DIFF_SITE_NONE;
    }
}

static void spread(struct diff_work *work,
                   struct diff_frame *frame,
                   const struct log_event_view *event,
                   const struct open_call *call)
{
    const struct diff_taint taint = {.kind = DIFF_TAINT_VALUES};

    diff_scope_taint(&work->scope, frame, call, event, &taint);
    diff_scope_note_event(&work->scope, event->number);
    if (event->site->kind == SITE_RETURN) {
        return_differs(work, 1, call);
    }
    if (event->site->kind == SITE_MUTATE && event->change == CHANGE_SAME) {
        /* `loss.backward()`: what it has written to is not told. */
        work->scope.has_hidden = true;
    }
}

/* Equal, or as good as equal. */
static void settle_equal(struct diff_work *work,
                         struct diff_frame *frame,
                         const struct log_event_view *event,
                         const struct open_call *call)
{
    struct inputs inputs;

    work->result->equal++;
    if (!work->has_met) {
        return;
    }
    inputs = find_inputs(work, frame, event, call);
    if (inputs.differ && is_opaque(event)) {
        spread(work, frame, event, call);
    } else if (event->path.size == 0 &&
               !(is_opaque(event) && (event->flags & LOG_EVENT_READ) != 0)) {
        diff_scope_clear(&work->scope, frame, call, event);
    }
}

/* ---- pairs ---- */

/* A difference that a line of B alone has made is told there. */
static void blame_code(struct diff_work *work,
                       const struct diff_taint *code,
                       struct diff_finding *finding)
{
    struct slice source;

    if (code->side == 0) {
        struct diff_place place = {code->module, code->line};

        buffer_add(&work->words, SLICE("; before, A alone wrote "));
        text_add_shortened(&work->words, code->name, 80);
        buffer_add(&work->words, SLICE(" at "));
        diff_place_add(work, 0, place, &work->words);
        source = diff_place_source(work, 0, place);
        if (source.size > 0) {
            buffer_add(&work->words, SLICE(": "));
            text_add_shortened(&work->words, source, 100);
        }
        return;
    }
    work->path.size = 0;
    buffer_add(&work->path, SLICE("A has no such line; behind it, at line "));
    buffer_add_number(&work->path, finding->lines[1]);
    buffer_add(&work->path, SLICE(", "));
    buffer_add(&work->path, buffer_slice(&work->name));
    buffer_add(&work->path, SLICE(" has other "));
    buffer_add(&work->path, buffer_slice(&work->words));
    work->words.size = 0;
    buffer_add(&work->words, buffer_slice(&work->path));
    work->name.size = 0;
    text_add_shortened(&work->name, code->name, 80);
    finding->modules[1] = code->module;
    finding->lines[1] = code->line;
}

static void fill_finding(struct diff_work *work,
                         const struct log_item *const items[2],
                         const struct open_call *const calls[2],
                         const struct diff_comparison *comparison,
                         struct diff_finding *finding)
{
    *finding = (struct diff_finding){
        .items = {items[0], items[1]},
        .calls = {calls[0], calls[1]},
        .cause = comparison->cause,
        .class_ = DIFF_OWN,
        .distance =
            comparison->has_distance && (comparison->cause == DIFF_CAUSE_VALUES ||
                                         comparison->differs_in_values)
                ? &comparison->distance
                : NULL,
    };

    for (unsigned side = 0; side < 2; side++) {
        struct diff_place place = diff_place_of(items[side], calls[side]);

        finding->modules[side] = place.module;
        finding->lines[side] = place.line;
    }
    work->name.size = 0;
    work->words.size = 0;
    diff_name_add(&items[1]->event, &work->name);
    diff_words_add(&work->words, comparison, &items[0]->event, &items[1]->event);
    finding->name = buffer_slice(&work->name);
    finding->words = buffer_slice(&work->words);
}

static void tell_pair(struct diff_work *work,
                      const struct log_item *const items[2],
                      const struct open_call *const calls[2],
                      const struct diff_comparison *comparison,
                      const struct inputs *inputs)
{
    struct diff_finding finding;

    fill_finding(work, items, calls, comparison, &finding);
    finding.class_ = inputs->differ ? DIFF_INHERITED : DIFF_OWN;
    if (!inputs->differ && inputs->code != NULL) {
        blame_code(work, inputs->code, &finding);
    }
    finding.name = buffer_slice(&work->name);
    finding.words = buffer_slice(&work->words);
    diff_tell(work, &finding);
}

/* What a line's text has that reads a clock, or makes a name that is never the same. */
static bool reads_clock(struct slice source)
{
    static const char *const words[] = {
        "time.time(", "time_ns(", "perf_counter", "monotonic(", "process_time",
        ".now(",      "utcnow(",  "uuid.",        "uuid4(",     "getpid(",
        "mkdtemp(",   "mkstemp(", "strftime(",    "time()",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_find(source, slice_of(words[i]), 0) < source.size) {
            return true;
        }
    }
    return false;
}

/* Whether a number or text differs as those from a clock do. */
static bool is_clock(struct diff_work *work,
                     const struct log_item *const items[2],
                     const struct inputs *inputs)
{
    const struct log_event_view *event = &items[1]->event;

    switch (event->kind) {
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_TEXT:
        break;
    default:
        return false;
    }
    if (inputs->differ || inputs->code != NULL || items[0]->event.kind != event->kind) {
        return false;
    }
    return inputs->has_clock ||
           reads_clock(diff_place_source(work, 1, diff_place_of(items[1], NULL)));
}

static void settle_clock(struct diff_work *work,
                         struct diff_frame *frame,
                         const struct log_event_view *event,
                         const struct open_call *call)
{
    const struct diff_taint taint = {.kind = DIFF_TAINT_CLOCK};

    work->result->clocks++;
    work->has_met = true;
    diff_scope_taint(&work->scope, frame, call, event, &taint);
}

/* Equal values, other strides: looked after, in case that something follows of it. */
static void settle_layout(struct diff_work *work,
                          struct diff_frame *frame,
                          const struct log_item *const items[2],
                          const struct open_call *const calls[2],
                          const struct diff_comparison *comparison,
                          const struct inputs *inputs)
{
    struct diff_finding finding;
    struct diff_taint taint = {.kind = DIFF_TAINT_LAYOUT};

    work->result->equal++;
    work->result->layout++;
    work->has_met = true;
    if (inputs->layout != NULL) {
        taint.suspect = inputs->layout->suspect;
    } else {
        fill_finding(work, items, calls, comparison, &finding);
        taint.suspect = diff_suspect_add(work, &finding);
    }
    if (taint.suspect < DIFF_SUSPECTS_MAX) {
        diff_scope_taint(&work->scope, frame, calls[1], &items[1]->event, &taint);
    }
}

/* Whether the difference comes of another layout, which is told then. */
static bool follows_of_layout(struct diff_work *work,
                              const struct log_item *const items[2],
                              const struct inputs *inputs)
{
    uint32_t suspect =
        inputs->layout != NULL
            ? inputs->layout->suspect
            : diff_suspect_find(work, &items[0]->event, &items[1]->event);

    if (suspect >= DIFF_SUSPECTS_MAX) {
        return false;
    }
    diff_suspect_tell(work, suspect);
    return true;
}

static void settle_differing(struct diff_work *work,
                             struct diff_frame *frame,
                             const struct log_item *const items[2],
                             const struct open_call *const calls[2],
                             const struct diff_comparison *comparison)
{
    const struct log_event_view *event = &items[1]->event;
    struct inputs inputs = find_inputs(work, frame, event, calls[1]);

    if (work->scope.has_hidden && comparison->cause == DIFF_CAUSE_VALUES) {
        inputs.differ = true;
    }
    if (is_clock(work, items, &inputs)) {
        settle_clock(work, frame, event, calls[1]);
        return;
    }
    if (comparison->cause == DIFF_CAUSE_STRIDES && !comparison->differs_in_values &&
        !work->options->is_exact) {
        settle_layout(work, frame, items, calls, comparison, &inputs);
        return;
    }
    if (!inputs.differ && inputs.code == NULL) {
        inputs.differ = follows_of_layout(work, items, &inputs);
    }
    if (inputs.differ) {
        work->result->inherited++;
    } else {
        work->result->own++;
    }
    tell_pair(work, items, calls, comparison, &inputs);
    work->has_met = true;
    spread(work, frame, event, calls[1]);
}

static void keep(struct diff_kept *kept, const struct log_item *item)
{
    struct log_event_view *event = &kept->item.event;

    kept->item = *item;
    if (event->sample != NULL) {
        size_t size = (size_t)event->grid.count * dtype_size(event->shape->dtype);

        event->sample = size <= sizeof kept->sample ? kept->sample : NULL;
        if (event->sample != NULL) {
            memcpy(kept->sample, item->event.sample, size);
        }
    }
    if (event->text.size > 0) {
        event->text.size =
            event->text.size < sizeof kept->text ? event->text.size : sizeof kept->text;
        memcpy(kept->text, item->event.text.bytes, event->text.size);
        event->text.bytes = kept->text;
    }
}

/* How many elements both have; 0 where that is no number. */
static uint64_t element_count(const struct log_shape *shape)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        if (__builtin_mul_overflow(count, (uint64_t)shape->shape[i], &count)) {
            return 0;
        }
    }
    return count;
}

/* Whole values may follow: the verdict waits for them. */
static void wait_for_values(struct diff_work *work,
                            const struct diff_step *step,
                            const struct diff_comparison *comparison)
{
    struct diff_pending *pending = &work->pending;
    const struct log_shape *shapes[2] = {step->items[0]->event.shape,
                                         step->items[1]->event.shape};
    double size = 0;

    pending->is_there = true;
    pending->comparison = *comparison;
    for (unsigned side = 0; side < 2; side++) {
        keep(&work->kept[side], step->items[side]);
        pending->calls[side] = step->calls[side];
    }
    if (work->options->rtol < 0 && work->options->atol < 0 &&
        !work->options->is_exact) {
        const struct statistics *statistics = &step->items[1]->event.statistics;

        size = comparison->scale;
        if (comparison->sample_count == 0 && step->items[1]->event.has_statistics &&
            isfinite(statistics->mean)) {
            size = 2 * hypot(statistics->mean,
                             isfinite(statistics->std) ? statistics->std : 0);
        }
    }
    diff_values_begin(&work->values, shapes[0]->dtype, shapes[1]->dtype,
                      element_count(shapes[1]), comparison->rtol, comparison->atol,
                      size);
}

static void settle_pending(struct diff_work *work)
{
    struct diff_pending *pending = &work->pending;
    struct diff_comparison *comparison = &pending->comparison;
    const struct log_item *const items[2] = {&work->kept[0].item, &work->kept[1].item};
    struct diff_frame *frame;

    if (!pending->is_there) {
        return;
    }
    pending->is_there = false;
    if (diff_values_finish(&work->values, &comparison->distance)) {
        bool is_beyond = comparison->distance.beyond_count > 0 ||
                         (work->options->is_exact && comparison->seen != 0);

        comparison->has_distance = true;
        comparison->seen = is_beyond ? DIFF_SEEN_VALUES : DIFF_SEEN_NOTHING;
        if (comparison->cause == DIFF_CAUSE_NONE ||
            comparison->cause == DIFF_CAUSE_VALUES) {
            comparison->cause = is_beyond ? DIFF_CAUSE_VALUES : DIFF_CAUSE_NONE;
        }
        comparison->differs_in_values = is_beyond;
    }
    frame = diff_scope_frame(&work->scope, pending->calls[0], pending->calls[1]);
    if (frame == NULL) {
        return;
    }
    if (comparison->cause == DIFF_CAUSE_NONE) {
        work->result->close++;
        settle_equal(work, frame, &items[1]->event, pending->calls[1]);
    } else {
        settle_differing(work, frame, items, pending->calls, comparison);
    }
}

static void meet_events(struct diff_work *work, const struct diff_step *step)
{
    const struct log_event_view *a = &step->items[0]->event;
    const struct log_event_view *b = &step->items[1]->event;
    struct diff_comparison comparison;
    struct diff_frame *frame;
    bool is_same = diff_compare_is_same(&work->compare, a, b);

    work->result->event_counts[0]++;
    work->result->event_counts[1]++;
    if (is_same && !work->has_met && b->site->kind != SITE_LOOP) {
        work->result->equal++;
        return;
    }
    frame = diff_scope_frame(&work->scope, step->calls[0], step->calls[1]);
    if (frame == NULL) {
        return;
    }
    if (b->site->kind == SITE_LOOP) {
        diff_frame_turn(&work->scope, frame, b->site_number, b->visit);
    }
    if (is_same) {
        settle_equal(work, frame, b, step->calls[1]);
        return;
    }
    diff_compare_events(&work->compare, a, b, &comparison);
    if (b->kind == VALUE_TENSOR && a->kind == VALUE_TENSOR &&
        (comparison.differs_in_values || comparison.is_close)) {
        wait_for_values(work, step, &comparison);
        return;
    }
    if (comparison.cause == DIFF_CAUSE_NONE) {
        work->result->close += comparison.is_close;
        settle_equal(work, frame, b, step->calls[1]);
    } else {
        settle_differing(work, frame, step->items, step->calls, &comparison);
    }
}

static void meet_ends(struct diff_work *work, const struct diff_step *step)
{
    for (unsigned side = 0; side < 2; side++) {
        diff_scope_end(&work->scope, side, step->items[side]->end.call);
    }
}

/* ---- what one trace alone has ---- */

static void
tell_odd(struct diff_work *work, unsigned side, const struct diff_step *step)
{
    struct diff_finding finding = {
        .cause = step->odd == DIFF_ODD_CODE ? DIFF_CAUSE_CODE : DIFF_CAUSE_FLOW,
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
    buffer_add(&work->words, step->odd == DIFF_ODD_CODE
                                 ? SLICE("a line that the other does not have")
                             : step->odd == DIFF_ODD_PART
                                 ? SLICE("a part that the other's value does not have")
                                 : SLICE("the other did not come here"));
    finding.words = buffer_slice(&work->words);
    diff_tell(work, &finding);
}

static void
meet_odd_event(struct diff_work *work, unsigned side, const struct diff_step *step)
{
    const struct log_event_view *event = &step->items[side]->event;
    const struct open_call *call = step->calls[side];
    struct diff_frame *frame = diff_scope_frame(&work->scope, side == 0 ? call : NULL,
                                                side == 1 ? call : NULL);
    bool is_code = step->odd == DIFF_ODD_CODE;
    struct diff_taint taint = {
        .name = event->name,
        .kind = is_code ? DIFF_TAINT_CODE : DIFF_TAINT_FLOW,
        .side = side,
        .module = event->module_number,
        .line = event->site->line,
    };
    bool is_unchanged = event->difference == 0 && (event->change == CHANGE_REBOUND ||
                                                   event->change == CHANGE_SAME);

    work->result->event_counts[side]++;
    if (is_code) {
        work->result->code[side]++;
    } else {
        work->result->only[side]++;
    }
    if (step->odd == DIFF_ODD_FLOW) {
        diff_gap_add(work, side, step->items[side], call);
    }
    tell_odd(work, side, step);
    work->has_met = true;
    if (frame == NULL) {
        return;
    }
    if (side == 1 && event->site->kind == SITE_LOOP) {
        diff_frame_turn(&work->scope, frame, event->site_number, event->visit);
    }
    if (is_code && !is_unchanged) {
        /* What was made from values that differ has not come of the line. */
        struct inputs inputs = {.differ = false};

        take_taint(&inputs, diff_scope_reads(&work->scope, frame, call, side,
                                             event->module, event->site));
        take_taint(&inputs, diff_scope_name(&work->scope, frame, call, side, event));
        taint.kind = inputs.differ ? DIFF_TAINT_VALUES : DIFF_TAINT_CODE;
    }
    if ((event->flags & LOG_EVENT_READ) == 0 && !(is_code && is_unchanged)) {
        diff_scope_taint(&work->scope, frame, call, event, &taint);
    }
    if (event->site->kind == SITE_RETURN && !is_code) {
        return_differs(work, side, call);
    }
}

static void meet_odd(struct diff_work *work, const struct diff_step *step)
{
    unsigned side = step->items[0] != NULL ? 0 : 1;
    const struct log_item *item = step->items[side];

    switch (item->kind) {
    case LOG_EVENT:
        meet_odd_event(work, side, step);
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

/* ---- the whole ---- */

static void meet(struct diff_work *work, const struct diff_step *step)
{
    const struct log_item *item =
        step->items[0] != NULL ? step->items[0] : step->items[1];

    if (item->kind == LOG_DATA) {
        for (unsigned side = 0; side < 2; side++) {
            if (step->items[side] != NULL) {
                diff_values_add(&work->values, side, step->items[side]->data.offset,
                                step->items[side]->data.bytes);
            }
        }
        return;
    }
    settle_pending(work);
    if (step->items[0] == NULL || step->items[1] == NULL) {
        meet_odd(work, step);
        return;
    }
    diff_gap_close(work, step);
    switch (item->kind) {
    case LOG_CALL:
        diff_scope_frame(&work->scope, step->calls[0], step->calls[1]);
        return;
    case LOG_EVENT:
        meet_events(work, step);
        return;
    case LOG_END:
        meet_ends(work, step);
        return;
    default:
        return;
    }
}

static bool has_failed(const struct diff_work *work)
{
    return work->scope.has_failed || work->values.has_failed ||
           work->sources[0].has_failed || work->sources[1].has_failed;
}

static void go_through(struct diff_work *work)
{
    const struct diff_options *options = work->options;
    struct diff_step step;
    uint64_t count = 0;

    while (!work->is_stopped && !has_failed(work) &&
           diff_align_next(work->align, &step)) {
        meet(work, &step);
        if (++count % PROGRESS_STEPS == 0 && options->progress != NULL &&
            !options->progress(options->progress_context,
                               work->result->event_counts[1])) {
            error_set(work->error, ERROR_SYSTEM, "stopped");
            work->is_stopped = true;
        }
    }
    if (!work->is_stopped && !has_failed(work)) {
        settle_pending(work);
        diff_gap_close(work, NULL);
    }
    if (has_failed(work) || diff_align_has_failed(work->align)) {
        error_set_memory(work->error);
        work->is_stopped = true;
    }
}

/* Next to nothing of the smaller program is in the other. */
static bool is_other_program(const struct diff_likeness *likeness)
{
    uint64_t least = likeness->site_counts[0] < likeness->site_counts[1]
                         ? likeness->site_counts[0]
                         : likeness->site_counts[1];

    return likeness->sites_in_both * LIKENESS_PART < least;
}

static void tell_ends(struct diff_work *work)
{
    struct diff_result *result = work->result;

    for (unsigned side = 0; side < 2; side++) {
        const struct log_header *header = log_reader_header(work->readers[side]);

        result->is_unfinished[side] = header->is_closed == 0;
        result->lost_counts[side] = header->is_closed != 0 ? header->lost_count : 0;
        result->damage_counts[side] = log_reader_damage_count(work->readers[side]);
        if (result->damage_counts[side] > 0) {
            strncpy(result->damage[side], log_reader_damage(work->readers[side], 0),
                    ERROR_TEXT_SIZE - 1);
        }
        if (header->last != 0 && header->is_closed != 0 &&
            header->event_count > result->event_counts[side]) {
            result->dropped[side] = header->event_count - result->event_counts[side];
        }
    }
}

static bool begin(struct diff_work *work)
{
    const struct diff_options *options = work->options;
    struct diff_align_options align = {
        .renames = options->renames,
        .rename_count = options->rename_count,
    };
    struct source_lines *sources[2] = {&work->sources[0], &work->sources[1]};

    for (unsigned side = 0; side < 2; side++) {
        work->readers[side] = log_reader_new(work->paths[side], work->error);
        if (work->readers[side] == NULL) {
            return false;
        }
        source_lines_init(&work->sources[side], work->readers[side], options->strip);
        align.readers[side] = work->readers[side];
        align.sources[side] = &work->sources[side];
    }
    work->align = diff_align_new(&align, work->error);
    if (work->align == NULL) {
        return false;
    }
    if (options->begun != NULL) {
        options->begun(options->context, work->readers, sources);
    }
    return true;
}

static void finish(struct diff_work *work)
{
    diff_align_free(work->align);
    for (unsigned side = 0; side < 2; side++) {
        if (work->readers[side] != NULL) {
            source_lines_release(&work->sources[side]);
        }
        log_reader_free(work->readers[side]);
    }
    diff_gap_release(&work->gap);
    diff_suspects_release(work);
    diff_values_release(&work->values);
    diff_scope_release(&work->scope);
    buffer_release(&work->name);
    buffer_release(&work->words);
    buffer_release(&work->text);
    buffer_release(&work->path);
}

bool diff_result_is_equal(const struct diff_result *result)
{
    return result->own + result->inherited + result->flow + result->only[0] +
               result->only[1] ==
           0;
}

bool diff_traces(const char *path_a,
                 const char *path_b,
                 const struct diff_options *options,
                 struct diff_result *result,
                 struct error *error)
{
    struct diff_work *work = memory_allocate_zeroed(1, sizeof *work);
    bool is_done;

    if (work == NULL) {
        error_set_memory(error);
        return false;
    }
    *result = (struct diff_result){.own = 0};
    work->options = options;
    work->result = result;
    work->error = error;
    work->paths[0] = path_a;
    work->paths[1] = path_b;
    diff_values_init(&work->values);
    diff_scope_init(&work->scope);
    diff_compare_init(&work->compare,
                      (struct diff_tolerance){
                          .is_exact = options->is_exact,
                          .is_across_precision = options->is_across_precision,
                          .rtol = options->rtol,
                          .atol = options->atol,
                      });
    is_done = begin(work);
    if (is_done) {
        diff_align_likeness(work->align, &result->likeness);
        result->is_other_program = is_other_program(&result->likeness);
    }
    if (is_done && !result->is_other_program) {
        go_through(work);
        is_done = !work->is_stopped;
    }
    if (is_done) {
        tell_ends(work);
    }
    if (is_done && options->ended != NULL) {
        options->ended(options->context, work->readers);
    }
    finish(work);
    memory_free(work);
    return is_done;
}
