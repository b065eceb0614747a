/* A pair of events: equal, or different, by itself or by what went into it. */
#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"

#include <string.h>

/* ---- what follows of it ---- */

/* Whether something in the value may differ that the event does not tell. */
static bool is_opaque(const struct log_event_view *event)
{
    return event->kind == VALUE_OBJECT || event->kind == VALUE_CONTAINER ||
           (event->kind == VALUE_TENSOR && !event->has_statistics && !event->has_hash);
}

/* The call's caller gets something that differs. */
void diff_return_differs(struct diff_work *work,
                         unsigned side,
                         const struct open_call *call)
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
        diff_return_differs(work, 1, call);
    }
    if (event->site->kind == SITE_MUTATE && event->change == CHANGE_SAME) {
        struct diff_place place = {event->module_number, event->site->line};
        struct slice source = diff_place_source(work, 1, place);

        /* `loss.backward()`: what it has written to is not told. */
        work->scope.has_hidden =
            work->scope.has_hidden ||
            slice_find(source, SLICE("backward("), 0) < source.size;
    }
}

/* Equal, or as good as equal. */
static void settle_equal(struct diff_work *work,
                         struct diff_frame *frame,
                         const struct log_event_view *event,
                         const struct open_call *call)
{
    struct diff_inputs inputs;

    work->result->equal++;
    if (!work->has_found) {
        return;
    }
    inputs = diff_inputs_find(work, frame, event, call);
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

        buffer_add(&work->words, SLICE("; only A wrote "));
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
    buffer_add(&work->path, SLICE("A has no such line; after it, at line "));
    buffer_add_number(&work->path, finding->lines[1]);
    buffer_add(&work->path, SLICE(", "));
    buffer_add(&work->path, buffer_slice(&work->name));
    buffer_add(&work->path, SLICE(": "));
    buffer_add(&work->path, buffer_slice(&work->words));
    work->words.size = 0;
    buffer_add(&work->words, buffer_slice(&work->path));
    work->name.size = 0;
    text_add_shortened(&work->name, code->name, 80);
    finding->modules[1] = code->module;
    finding->lines[1] = code->line;
}

/* A difference that an in-place write of one run alone has made is reported there. */
static void blame_write(struct diff_work *work,
                        const struct diff_blame *blame,
                        struct diff_finding *finding)
{
    work->path.size = 0;
    buffer_add(&work->path, blame->side == 1 ? SLICE("B") : SLICE("A"));
    buffer_add(&work->path, SLICE(" alone writes into memory that is read as "));
    buffer_add(&work->path, buffer_slice(&work->name));
    buffer_add(&work->path, SLICE(" at line "));
    buffer_add_number(&work->path, finding->lines[1]);
    buffer_add(&work->path, SLICE(": "));
    buffer_add(&work->path, buffer_slice(&work->words));
    work->words.size = 0;
    buffer_add(&work->words, buffer_slice(&work->path));
    work->name.size = 0;
    text_add_shortened(&work->name, blame->name, 80);
    for (unsigned side = 0; side < 2; side++) {
        finding->modules[side] = blame->places[side].module;
        finding->lines[side] = blame->places[side].line;
    }
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

static void report_pair(struct diff_work *work,
                        const struct log_item *const items[2],
                        const struct open_call *const calls[2],
                        const struct diff_comparison *comparison,
                        const struct diff_inputs *inputs)
{
    struct diff_finding finding;
    struct diff_blame blame;

    fill_finding(work, items, calls, comparison, &finding);
    finding.class_ = inputs->differ ? DIFF_INHERITED : DIFF_OWN;
    if (!inputs->differ && inputs->code != NULL) {
        blame_code(work, inputs->code, &finding);
    } else if (!inputs->differ && comparison->cause == DIFF_CAUSE_VALUES &&
               items[1]->event.kind == VALUE_TENSOR &&
               diff_writes_blame(work, items, &blame)) {
        blame_write(work, &blame, &finding);
    }
    finding.name = buffer_slice(&work->name);
    finding.words = buffer_slice(&work->words);
    diff_add_finding(work, &finding);
}

/* Equal values, other strides: looked after, in case that something follows of it. */
static void settle_layout(struct diff_work *work,
                          struct diff_frame *frame,
                          const struct log_item *const items[2],
                          const struct open_call *const calls[2],
                          const struct diff_comparison *comparison,
                          const struct diff_inputs *inputs)
{
    struct diff_finding finding;
    struct diff_taint taint = {.kind = DIFF_TAINT_LAYOUT};

    work->result->equal++;
    work->result->layout++;
    work->has_found = true;
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
                              const struct diff_inputs *inputs)
{
    uint32_t suspect =
        inputs->layout != NULL
            ? inputs->layout->suspect
            : diff_suspect_find(work, &items[0]->event, &items[1]->event);

    if (suspect >= DIFF_SUSPECTS_MAX) {
        return false;
    }
    diff_suspect_report(work, suspect);
    return true;
}

static void settle_differing(struct diff_work *work,
                             struct diff_frame *frame,
                             const struct log_item *const items[2],
                             const struct open_call *const calls[2],
                             const struct diff_comparison *comparison)
{
    const struct log_event_view *event = &items[1]->event;
    struct diff_inputs inputs = diff_inputs_find(work, frame, event, calls[1]);

    if (work->scope.has_hidden && comparison->cause == DIFF_CAUSE_VALUES) {
        inputs.differ = true;
    }
    if (diff_does_not_count(work, items, &inputs)) {
        diff_settle_clock(work, frame, event, calls[1]);
        return;
    }
    if (comparison->cause == DIFF_CAUSE_STRIDES && !comparison->differs_in_values &&
        !work->options->tolerance.is_exact) {
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
    report_pair(work, items, calls, comparison, &inputs);
    work->has_found = true;
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
    if (!diff_tolerance_is_given(&work->options->tolerance) &&
        !work->options->tolerance.is_exact) {
        size = comparison->scale;
        if (comparison->sample_count == 0 && step->items[1]->event.has_statistics) {
            size = 2 * diff_usual_size(&step->items[1]->event.statistics);
        }
    }
    diff_values_begin(&work->values, shapes[0]->dtype, shapes[1]->dtype,
                      element_count(shapes[1]), comparison->rtol, comparison->atol,
                      size);
}

void diff_settle_pending(struct diff_work *work)
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
                         (work->options->tolerance.is_exact && comparison->seen != 0);

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

/* Two times may be within tolerance, and what is made of them may not. */
static void settle_close(struct diff_work *work,
                         struct diff_frame *frame,
                         const struct log_item *const items[2],
                         const struct open_call *call)
{
    const struct log_event_view *event = &items[1]->event;
    struct diff_inputs inputs = diff_inputs_find(work, frame, event, call);

    if (diff_does_not_count(work, items, &inputs)) {
        diff_settle_clock(work, frame, event, call);
        return;
    }
    work->result->close++;
    settle_equal(work, frame, event, call);
}

void diff_match_events(struct diff_work *work, const struct diff_step *step)
{
    const struct log_event_view *a = &step->items[0]->event;
    const struct log_event_view *b = &step->items[1]->event;
    struct diff_comparison comparison;
    struct diff_frame *frame;
    bool is_same = diff_compare_is_same(&work->compare, a, b);

    work->result->event_counts[0]++;
    work->result->event_counts[1]++;
    diff_writes_note(work, 0, a);
    diff_writes_note(work, 1, b);
    if (is_same && !work->has_found && b->site->kind != SITE_LOOP) {
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
        if (step->is_moved) {
            diff_settle_pending(work);
        }
        return;
    }
    if (comparison.cause == DIFF_CAUSE_NONE && comparison.is_close) {
        settle_close(work, frame, step->items, step->calls[1]);
    } else if (comparison.cause == DIFF_CAUSE_NONE) {
        settle_equal(work, frame, b, step->calls[1]);
    } else {
        settle_differing(work, frame, step->items, step->calls, &comparison);
    }
}
