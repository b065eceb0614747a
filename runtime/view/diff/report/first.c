/* The first divergence, in words. */
#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/value_text.h"

#define SOURCE_LIMIT 160
#define LINE_WIDTH   6

static void add_source(struct diff_work *work, struct slice source)
{
    text_add_shortened(&work->text, source, SOURCE_LIMIT);
    buffer_add_byte(&work->text, '\n');
}

/* The line of B, and that of A where it stands elsewhere or is not the same. */
static void add_sources(struct diff_work *work, const struct diff_finding *finding)
{
    struct diff_place places[2] = {{finding->modules[0], finding->lines[0]},
                                   {finding->modules[1], finding->lines[1]}};
    struct slice sources[2] = {diff_place_source(work, 0, places[0]),
                               diff_place_source(work, 1, places[1])};
    struct buffer names[2] = {BUFFER_INIT, BUFFER_INIT};
    bool is_elsewhere;

    if (sources[1].size > 0) {
        text_add_number_right(&work->text, places[1].line, LINE_WIDTH);
        buffer_add(&work->text, SLICE("| "));
        add_source(work, sources[1]);
    }
    for (unsigned side = 0; side < 2; side++) {
        diff_place_add(work, side, places[side], &names[side]);
    }
    is_elsewhere = places[0].line != 0 &&
                   (places[1].line == 0 || !slice_equal(sources[0], sources[1]) ||
                    !slice_equal(buffer_slice(&names[0]), buffer_slice(&names[1])));
    if (is_elsewhere) {
        buffer_add(&work->text, SLICE("  in A, "));
        buffer_add(&work->text, buffer_slice(&names[0]));
        if (slice_equal(sources[0], sources[1])) {
            buffer_add_byte(&work->text, '\n');
        } else {
            buffer_add(&work->text, SLICE(": "));
            add_source(work, sources[0]);
        }
    }
    work->text.has_failed =
        work->text.has_failed || names[0].has_failed || names[1].has_failed;
    buffer_release(&names[0]);
    buffer_release(&names[1]);
}

static void add_path(struct diff_work *work, struct slice path, uint32_t visit)
{
    buffer_add(&work->text, SLICE("  in "));
    buffer_add(&work->text, path);
    if (visit > 0) {
        buffer_add(&work->text, SLICE(", visit "));
        buffer_add_number(&work->text, (uint64_t)visit + 1);
        buffer_add(&work->text, SLICE(" of the line"));
    }
    buffer_add_byte(&work->text, '\n');
}

static void add_values(struct diff_work *work, const struct diff_finding *finding)
{
    for (unsigned side = 0; side < 2; side++) {
        buffer_add(&work->text, side == 0 ? SLICE("  A:  ") : SLICE("  B:  "));
        value_text_add(&work->text, &finding->items[side]->event,
                       work->options->has_color);
        buffer_add_byte(&work->text, '\n');
    }
    if (finding->distance != NULL) {
        const struct log_event_view *event = &finding->items[1]->event;

        buffer_add(&work->text, SLICE("  distance: "));
        diff_distance_add(&work->text, finding->distance,
                          event->kind == VALUE_TENSOR ? event->shape : NULL);
        buffer_add_byte(&work->text, '\n');
    }
}

/* Where the caller's line is, for arguments. */
static void add_caller(struct diff_work *work, const struct open_call *call)
{
    struct diff_place place;

    if (call == NULL || call->parent == NULL || call->line == 0) {
        return;
    }
    place = (struct diff_place){call->parent->module_number, call->line};
    buffer_add(&work->text, SLICE("  called from "));
    diff_place_add(work, 1, place, &work->text);
    buffer_add(&work->text, SLICE(": "));
    add_source(work, diff_place_source(work, 1, place));
}

static void add_event(struct diff_work *work, const struct diff_finding *finding)
{
    const struct log_event_view *event = &finding->items[1]->event;

    work->path.size = 0;
    diff_path_add(work, 1, finding->calls[1], event->site->line, &work->path);
    add_path(work, buffer_slice(&work->path), event->visit);
    if (event->site->kind == SITE_ENTER) {
        add_caller(work, finding->calls[1]);
    }
    add_values(work, finding);
    if (event->site->kind != SITE_ENTER && (event->flags & LOG_EVENT_READ) == 0) {
        bool is_equal =
            finding->class_ == DIFF_OWN && finding->lines[1] == event->site->line;

        diff_reads_add(work, 1, finding->calls[1], event,
                       is_equal ? SLICE("  inputs, equal in both:\n")
                                : SLICE("  inputs:\n"));
    }
}

/* Of control flow: the side whose condition it is, B's first. */
static void add_flow(struct diff_work *work, const struct diff_finding *finding)
{
    unsigned side = work->gap.points[1].path.size > 0 ? 1 : 0;

    add_path(work, buffer_slice(&work->gap.points[side].path), 0);
    for (unsigned i = 2; i-- > 0;) {
        const struct log_item *item = finding->items[i];

        if (item != NULL && item->kind == LOG_EVENT &&
            (item->event.site->kind == SITE_BRANCH ||
             item->event.site->kind == SITE_LOOP)) {
            diff_reads_add(work, i, finding->calls[i], &item->event,
                           work->gap.is_inherited || work->gap.is_ignored
                               ? SLICE("  the condition reads:\n")
                               : SLICE("  the condition reads, equal in both:\n"));
            return;
        }
    }
}

void diff_first_make(struct diff_work *work, const struct diff_finding *finding)
{
    struct diff_place place = {finding->modules[1], finding->lines[1]};
    unsigned side = place.line == 0 ? 0 : 1;

    work->text.size = 0;
    if (place.line == 0) {
        place = (struct diff_place){finding->modules[0], finding->lines[0]};
    }
    paint_start(&work->text, work->options->has_color, PAINT_CALL);
    diff_place_add(work, side, place, &work->text);
    paint_end(&work->text, work->options->has_color);
    buffer_add(&work->text, SLICE(": "));
    paint_start(&work->text, work->options->has_color, PAINT_ALARM);
    buffer_add(&work->text, SLICE("first divergence"));
    paint_end(&work->text, work->options->has_color);
    buffer_add(&work->text, SLICE(": "));
    buffer_add(&work->text, finding->name);
    buffer_add(&work->text, SLICE(": "));
    buffer_add(&work->text, finding->words);
    buffer_add_byte(&work->text, '\n');
    add_sources(work, finding);
    if (finding->cause == DIFF_CAUSE_FLOW) {
        add_flow(work, finding);
    } else if (finding->items[0] != NULL && finding->items[1] != NULL &&
               finding->items[1]->kind == LOG_EVENT) {
        add_event(work, finding);
    }
}

void diff_add_finding(struct diff_work *work, struct diff_finding *finding)
{
    const struct diff_options *options = work->options;

    finding->is_first = !work->has_first && finding->class_ != DIFF_ONLY &&
                        finding->cause != DIFF_CAUSE_CODE;
    if (finding->is_first) {
        work->has_first = true;
        if (finding->text.size == 0) {
            diff_first_make(work, finding);
            finding->text = buffer_slice(&work->text);
        }
    } else {
        finding->text = SLICE("");
    }
    if (work->name.has_failed || work->words.has_failed || work->text.has_failed ||
        work->path.has_failed) {
        error_set_memory(work->error);
        work->is_stopped = true;
        return;
    }
    if (options->found != NULL && !options->found(options->context, finding)) {
        if (work->error->kind == ERROR_NONE) {
            error_set(work->error, ERROR_SYSTEM, "stopped");
        }
        work->is_stopped = true;
    }
}
