/* Ways that one run alone went: what lies between two places that both came to is one
 * divergence, told by the first item of each. */
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"

#include <string.h>

#define NAME_LIMIT 80

void diff_gap_release(struct diff_gap *gap)
{
    buffer_release(&gap->points[0].path);
    buffer_release(&gap->points[1].path);
}

/* ---- while it lasts ---- */

static uint32_t call_of(const struct log_item *item)
{
    return item->kind == LOG_CALL ? item->call.call : item->event.call;
}

static void begin_point(struct diff_work *work,
                        unsigned side,
                        const struct log_item *item,
                        const struct open_call *call)
{
    struct diff_point *point = &work->gap.points[side];
    const struct diff_taint *taint = NULL;

    point->is_there = true;
    point->item = *item;
    point->place = diff_place_of(item, call);
    point->call = call_of(item);
    point->count = 0;
    point->turns = 0;
    point->path.size = 0;
    if (item->kind == LOG_EVENT) {
        struct diff_frame *frame = diff_scope_find(&work->scope, side, point->call);
        struct log_event_view *event = &point->item.event;

        event->text = SLICE("");
        event->sample = NULL;
        event->has_statistics = false;
        point->place.line = event->site->kind == SITE_BRANCH
                                ? diff_arm_head(event)->line
                                : event->site->line;
        diff_path_add(work, side, call, event->site->line, &point->path);
        if (frame != NULL && !work->gap.points[1 - side].is_there) {
            /* Behind the first one, names differ because of it. */
            taint = diff_scope_reads(&work->scope, frame, call, side, event->module,
                                     event->site);
            work->gap.is_inherited =
                frame->has_result || (taint != NULL && taint->kind < DIFF_TAINT_CODE);
            work->gap.is_ignored = taint != NULL && taint->kind == DIFF_TAINT_CLOCK;
        }
    } else if (call != NULL && call->parent != NULL) {
        if (item->call.line != 0) {
            point->place.module = call->parent->module_number;
            point->place.line = item->call.line;
        }
        diff_path_add(work, side, call->parent, item->call.line, &point->path);
    }
    work->path.has_failed = work->path.has_failed || point->path.has_failed;
}

void diff_gap_add(struct diff_work *work,
                  unsigned side,
                  const struct log_item *item,
                  const struct open_call *call)
{
    struct diff_point *point = &work->gap.points[side];

    if (!work->gap.is_open) {
        work->gap.is_open = true;
        work->gap.is_inherited = false;
        work->gap.is_ignored = false;
        work->gap.points[0].is_there = false;
        work->gap.points[1].is_there = false;
        work->gap.points[0].path.size = 0;
        work->gap.points[1].path.size = 0;
    }
    if (!point->is_there) {
        begin_point(work, side, item, call);
    }
    if (item->kind != LOG_EVENT) {
        return;
    }
    point->count++;
    if (point->item.kind == LOG_EVENT && item->event.call == point->call &&
        item->event.site_number == point->item.event.site_number) {
        /* A turn may be told by several events: for each of its targets. */
        point->turns = (uint64_t)item->event.visit - point->item.event.visit + 1;
    }
}

/* ---- what it is ---- */

static bool is_at(const struct diff_point *point, enum site_kind kind)
{
    return point->is_there && point->item.kind == LOG_EVENT &&
           point->item.event.site->kind == kind;
}

/* `if`, `else`, `case`: what the arm's line begins with. */
static struct slice
arm_word(struct diff_work *work, const struct diff_point *point, unsigned side)
{
    static const struct slice words[] = {
        {"if", 2},      {"elif", 4}, {"else", 4}, {"try", 3},   {"except", 6},
        {"finally", 7}, {"case", 4}, {"for", 3},  {"while", 5},
    };
    struct diff_place place = diff_place_of(&point->item, NULL);
    struct slice source = diff_place_source(work, side, place);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_starts(source, words[i])) {
            return words[i];
        }
    }
    return SLICE("");
}

static void add_arm(struct diff_work *work, unsigned side)
{
    const struct diff_point *point = &work->gap.points[side];
    struct slice word = arm_word(work, point, side);

    if (word.size > 0) {
        buffer_add(&work->words, SLICE("the "));
        buffer_add(&work->words, word);
    } else {
        buffer_add(&work->words, SLICE("arm "));
        buffer_add_number(&work->words, point->item.event.site->arm);
    }
}

/* Which side's arm or loop tells it: where both have one, the earlier in B's program. */
static unsigned deciding_side(const struct diff_work *work, uint32_t lines[2])
{
    const struct diff_gap *gap = &work->gap;
    bool decides[2];

    for (unsigned side = 0; side < 2; side++) {
        const struct diff_point *point = &gap->points[side];

        decides[side] = is_at(point, SITE_BRANCH) || is_at(point, SITE_LOOP);
        lines[side] = 0;
        if (decides[side]) {
            const struct log_event_view *event = &point->item.event;

            lines[side] = event->site->kind == SITE_BRANCH ? diff_arm_head(event)->line
                                                           : event->site->line;
            if (side == 0) {
                uint32_t line = diff_other_place(work, 0, event).line;

                /* The arm's line in B, and from there to its head. */
                lines[0] = line == 0 ? lines[0] : line - (event->site->line - lines[0]);
            }
        }
    }
    if (decides[0] != decides[1]) {
        return decides[0] ? 0 : 1;
    }
    if (decides[0] &&
        is_at(&gap->points[0], SITE_BRANCH) != is_at(&gap->points[1], SITE_BRANCH)) {
        /* An arm in the loop's block was taken before the loop's next turn. */
        return is_at(&gap->points[0], SITE_BRANCH) ? 0 : 1;
    }
    return decides[0] && lines[0] < lines[1] ? 0 : 1;
}

static void add_number_of(struct diff_work *work, uint64_t count, const char *noun)
{
    buffer_add_number(&work->words, count);
    buffer_add_byte(&work->words, ' ');
    buffer_add(&work->words, slice_of(noun));
    buffer_add(&work->words, count == 1 ? SLICE("") : SLICE("s"));
}

static const char letters[2][2] = {"A", "B"};

/* Whether both took an arm of one statement: other arms, as far to the right, of calls that are
 * each other's. */
static bool is_same_statement(const struct diff_work *work)
{
    const struct diff_point *points = work->gap.points;
    const struct site *heads[2];
    const struct diff_frame *frame;

    if (!is_at(&points[0], SITE_BRANCH) || !is_at(&points[1], SITE_BRANCH)) {
        return false;
    }
    heads[0] = diff_arm_head(&points[0].item.event);
    heads[1] = diff_arm_head(&points[1].item.event);
    frame = diff_scope_find(&work->scope, 1, points[1].call);
    return frame != NULL && frame->calls[0] == points[0].call &&
           heads[0]->column == heads[1]->column &&
           points[0].item.event.site->arm != points[1].item.event.site->arm;
}

static void add_branch(struct diff_work *work, unsigned side)
{
    if (is_same_statement(work)) {
        buffer_add(&work->words, SLICE("B took "));
        add_arm(work, 1);
        buffer_add(&work->words, SLICE(", A "));
        add_arm(work, 0);
        return;
    }
    buffer_add(&work->words, slice_of(letters[side]));
    buffer_add(&work->words, SLICE(" took "));
    add_arm(work, side);
    buffer_add(&work->words, SLICE(", "));
    buffer_add(&work->words, slice_of(letters[1 - side]));
    buffer_add(&work->words, SLICE(" did not"));
}

static void add_loop(struct diff_work *work, unsigned side)
{
    const struct diff_point *point = &work->gap.points[side];
    uint64_t without = point->item.event.visit;
    uint64_t counts[2];

    counts[side] = without + point->turns;
    counts[1 - side] = without;
    buffer_add(&work->words, SLICE("B made "));
    add_number_of(work, counts[1], "turn");
    buffer_add(&work->words, SLICE(" of the loop, A "));
    buffer_add_number(&work->words, counts[0]);
}

static void add_came(struct diff_work *work, unsigned side)
{
    const struct diff_point *point = &work->gap.points[side];

    buffer_add(&work->words, slice_of(letters[side]));
    if (point->item.kind == LOG_CALL) {
        buffer_add(&work->words, SLICE(" called "));
        text_add_shortened(&work->words, point->item.call.function->name, NAME_LIMIT);
    } else {
        buffer_add(&work->words, SLICE(" reached line "));
        buffer_add_number(&work->words, point->item.event.site->line);
    }
}

/* How the other one left the call, where that is why it did not come here. */
static void
add_left(struct diff_work *work, unsigned side, const struct diff_step *step)
{
    const struct open_call *call;

    if (step == NULL || step->items[side] == NULL ||
        step->items[side]->kind != LOG_END || step->calls[side] == NULL) {
        return;
    }
    call = step->calls[side];
    buffer_add(&work->words, SLICE(": it left "));
    text_add_shortened(&work->words,
                       open_call_function(call, work->readers[side])->name, NAME_LIMIT);
    buffer_add(&work->words, step->items[side]->end.how == LOG_END_LEFT
                                 ? SLICE(" earlier, by an exception or at its end")
                                 : SLICE(" earlier"));
}

/* Whether both came to lines of one number that are not each other's. */
static bool is_another_statement(const struct diff_work *work)
{
    const struct diff_point *points = work->gap.points;

    return points[0].is_there && points[1].is_there &&
           points[0].item.kind == LOG_EVENT && points[1].item.kind == LOG_EVENT &&
           points[0].item.event.site->line == points[1].item.event.site->line;
}

static void
add_words(struct diff_work *work, unsigned side, const struct diff_step *step)
{
    const struct diff_gap *gap = &work->gap;

    work->words.size = 0;
    if (is_at(&gap->points[side], SITE_BRANCH)) {
        add_branch(work, side);
    } else if (is_at(&gap->points[side], SITE_LOOP)) {
        add_loop(work, side);
    } else if (is_another_statement(work)) {
        buffer_add(&work->words, SLICE("B has a different statement here than A"));
    } else if (gap->points[0].is_there && gap->points[1].is_there) {
        add_came(work, 1);
        buffer_add(&work->words, SLICE(", "));
        add_came(work, 0);
    } else {
        side = gap->points[1].is_there ? 1 : 0;
        add_came(work, side);
        buffer_add(&work->words, SLICE(", "));
        buffer_add(&work->words, slice_of(letters[1 - side]));
        buffer_add(&work->words, SLICE(" did not"));
        add_left(work, 1 - side, step);
    }
    if (gap->is_inherited) {
        buffer_add(&work->words, SLICE("; the values that it depends on differ"));
    } else if (gap->is_ignored) {
        buffer_add(&work->words, SLICE("; it depends on a clock or an ignored name"));
    } else if (work->result->own + work->result->inherited == 0) {
        buffer_add(&work->words, SLICE("; all values before were equal"));
    }
}

/* ---- its end ---- */

/* The places, of a statement with arms its head's. */
static void find_places(struct diff_work *work,
                        unsigned side,
                        const struct diff_step *step,
                        struct diff_finding *finding)
{
    const struct diff_gap *gap = &work->gap;

    for (unsigned i = 0; i < 2; i++) {
        struct diff_place place = {0, 0};

        if (gap->points[i].is_there) {
            place = gap->points[i].place;
        }
        finding->modules[i] = place.module;
        finding->lines[i] = place.line;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct diff_point *point = &gap->points[1 - i];
        bool is_wanted = !gap->points[i].is_there ||
                         (i != side && is_at(&gap->points[side], SITE_BRANCH) &&
                          !is_at(&gap->points[i], SITE_BRANCH));
        struct diff_place place = {0, 0};

        if (!is_wanted || !point->is_there) {
            continue;
        }
        if (point->item.kind == LOG_EVENT) {
            place = diff_other_place(work, 1 - i, &point->item.event);
            if (place.line != 0 && is_at(point, SITE_BRANCH)) {
                uint32_t back = point->item.event.site->line -
                                diff_arm_head(&point->item.event)->line;

                place.line = place.line > back ? place.line - back : place.line;
            }
        }
        if (place.line == 0 && step != NULL && step->items[i] != NULL) {
            place = diff_place_of(step->items[i], step->calls[i]);
        }
        if (place.line != 0) {
            finding->modules[i] = place.module;
            finding->lines[i] = place.line;
        }
    }
}

/* Whether what follows is another thread's, or nothing. */
static bool is_end_of_thread(const struct diff_point *point,
                             const struct diff_step *step)
{
    uint16_t thread = point->item.kind == LOG_CALL ? point->item.call.thread
                                                   : point->item.event.thread;

    return step == NULL ||
           (step->calls[0] != NULL && step->calls[0]->thread != thread &&
            step->items[0]->kind != LOG_END);
}

bool diff_is_cut(const struct diff_work *work, unsigned side)
{
    const struct log_header *header = log_reader_header(work->readers[side]);

    return header->is_closed == 0 || header->lost_count > 0 ||
           log_reader_damage_count(work->readers[side]) > 0;
}

/* One recording was cut where the other goes on: nothing can be said of what follows. */
static bool is_cut(struct diff_work *work, const struct diff_step *step)
{
    const struct diff_gap *gap = &work->gap;
    unsigned side = gap->points[0].is_there ? 0 : 1;

    if (gap->points[0].is_there == gap->points[1].is_there ||
        !is_end_of_thread(&gap->points[side], step)) {
        return false;
    }
    if (!diff_is_cut(work, 1 - side)) {
        return false;
    }
    work->result->beyond[side] += gap->points[side].count;
    work->result->only[side] -= gap->points[side].count;
    return true;
}

void diff_gap_close(struct diff_work *work, const struct diff_step *step)
{
    struct diff_gap *gap = &work->gap;
    struct diff_finding finding = {.cause = DIFF_CAUSE_FLOW};
    uint32_t lines[2];
    unsigned side;

    if (!gap->is_open) {
        return;
    }
    gap->is_open = false;
    if (is_cut(work, step)) {
        return;
    }
    if (diff_gap_is_reordered(work)) {
        for (unsigned i = 0; i < 2; i++) {
            uint64_t count = gap->points[i].is_there ? gap->points[i].count : 0;

            work->result->only[i] -= count;
            work->result->code[i] += count;
        }
        return;
    }
    side = deciding_side(work, lines);
    for (unsigned i = 0; i < 2; i++) {
        finding.items[i] = gap->points[i].is_there ? &gap->points[i].item : NULL;
    }
    finding.class_ = gap->is_inherited ? DIFF_INHERITED : DIFF_OWN;
    find_places(work, side, step, &finding);
    add_words(work, side, step);
    work->name.size = 0;
    buffer_add(&work->name, SLICE("control flow"));
    finding.name = buffer_slice(&work->name);
    finding.words = buffer_slice(&work->words);
    work->result->flow++;
    work->result->own_flow += !gap->is_inherited;
    diff_add_finding(work, &finding);
}
