/* Gaps: events without a counterpart, and branches that only one run took. Everything between
 * two places that both runs reached is one difference, reported by the first item of each side. */
#include "runtime/view/diff/work.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/words/paint.h"

#include <string.h>

/* ---- statements with arms: `if`, `try`, `match` and loops ---- */

/* Returns the head of the statement that an arm belongs to: its first arm, or the loop. */
static const struct site *diff_arm_head(const struct log_event_view *event)
{
    const struct site *arm = event->site;
    const struct site *found = arm;

    if (arm->arm == 0) {
        return arm;
    }
    for (const struct site *site = arm; site > event->module->table.sites;) {
        site--;
        if (site->function != arm->function || site->column > arm->column) {
            continue;
        }
        if (site->column < arm->column ||
            (site->kind != SITE_BRANCH && site->kind != SITE_LOOP) ||
            (site->kind == SITE_BRANCH && site->arm >= found->arm)) {
            return found;
        }
        found = site;
        if (site->kind == SITE_LOOP || site->arm == 0) {
            return found;
        }
    }
    return found;
}

/* A statement with arms, in one of the programs. */
struct statement {
    const struct log_module *module; /* borrowed; NULL: not known */
    const struct site *head;         /* borrowed */
    struct slice source;
};

static struct statement statement_of(struct diff_work *work, unsigned side)
{
    const struct log_event_view *event = &work->gap.points[side].item.event;
    const struct site *head = diff_arm_head(event);

    return (struct statement){
        .module = event->module,
        .head = head,
        .source = diff_place_source(
            work, side, (struct diff_place){event->module_number, head->line}),
    };
}

static uint32_t number_of(const struct statement *statement, const struct site *site)
{
    return statement->module->first_site +
           (uint32_t)(site - statement->module->table.sites);
}

/* Returns the same statement in the other program. Its module is NULL if there is none. */
static struct statement
other_statement(struct diff_work *work, unsigned side, const struct statement *known)
{
    struct log_event_view event = work->gap.points[side].item.event;
    uint32_t number = diff_align_site(work->align, side, number_of(known, known->head));
    struct statement other = {.module = NULL};
    struct diff_place place;

    event.site = known->head;
    event.site_number = number_of(known, known->head);
    place = diff_other_place(work, side, &event);
    if (number != DIFF_SITE_NONE && place.line != 0) {
        other.module = log_reader_module(work->readers[1 - side], place.module);
        other.head = &other.module->table.sites[number - other.module->first_site];
        other.source = diff_place_source(work, 1 - side, place);
    }
    return other;
}

/* Returns the arm of the statement that contains the site. UINT32_MAX: none does. */
static uint32_t find_arm(const struct statement *statement, uint32_t number)
{
    const struct site_table *table = &statement->module->table;
    uint32_t first = number_of(statement, statement->head);

    if (number < first || number - statement->module->first_site >= table->site_count) {
        return UINT32_MAX;
    }
    for (const struct site *site =
             &table->sites[number - statement->module->first_site];
         site >= statement->head; site--) {
        if (site->column <= statement->head->column) {
            return site->kind == SITE_BRANCH &&
                           site->column == statement->head->column &&
                           (site == statement->head || site->arm > 0)
                       ? site->arm
                       : UINT32_MAX;
        }
    }
    return UINT32_MAX;
}

/* Whether a line in an arm of A's statement is in another arm of B's. */
static bool has_moved_line(const struct diff_work *work, const struct statement both[2])
{
    const struct site_table *table = &both[0].module->table;
    const struct site *end = table->sites + table->site_count;

    for (const struct site *site = both[0].head + 1;
         site < end && site->function == both[0].head->function; site++) {
        uint32_t number = number_of(&both[0], site);
        uint32_t other = diff_align_site(work->align, 0, number);
        uint32_t arm = find_arm(&both[0], number);
        uint32_t other_arm;

        if (arm == UINT32_MAX) {
            return false;
        }
        other_arm = other == DIFF_SITE_NONE || site->kind == SITE_BRANCH
                        ? UINT32_MAX
                        : find_arm(&both[1], other);
        if (other != DIFF_SITE_NONE && site->kind != SITE_BRANCH && other_arm != arm) {
            return true;
        }
    }
    return false;
}

/* Whether the arm that was taken has a line that is recorded: its values were compared on their
 * own. */
static bool has_line(const struct diff_point *point)
{
    const struct log_event_view *event = &point->item.event;
    const struct site_table *table = point->is_there ? &event->module->table : NULL;
    const struct site *next = point->is_there ? event->site + 1 : NULL;

    return next != NULL && next < table->sites + table->site_count &&
           next->function == event->site->function &&
           next->column > event->site->column;
}

/* Whether the gap consists only of other arms of an edited statement, with the same values in
 * them: `if a: x else: y` became `if not a: y else: x`. */
static bool diff_gap_is_reordered(struct diff_work *work)
{
    const struct diff_gap *gap = &work->gap;
    struct statement both[2] = {{.module = NULL}, {.module = NULL}};

    for (unsigned side = 0; side < 2; side++) {
        const struct diff_point *point = &gap->points[side];

        if (!point->is_there) {
            continue;
        }
        if (point->count != 1 || point->item.kind != LOG_EVENT ||
            point->item.event.site->kind != SITE_BRANCH) {
            return false;
        }
        both[side] = statement_of(work, side);
        if (!gap->points[1 - side].is_there) {
            both[1 - side] = other_statement(work, side, &both[side]);
        }
    }
    return !gap->is_inherited && both[0].module != NULL && both[1].module != NULL &&
           both[0].source.size > 0 && both[1].source.size > 0 &&
           !slice_equal(both[0].source, both[1].source) &&
           (has_moved_line(work, both) || has_line(&gap->points[0]) ||
            has_line(&gap->points[1]));
}

/* ---- lines whose text differs ---- */

static uint32_t find_module(const struct log_reader *reader, uint32_t site)
{
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);

        if (site >= module->first_site &&
            site - module->first_site < module->table.site_count) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void
report_changed_line(struct diff_work *work, uint32_t sites[2], uint32_t last[2])
{
    uint32_t modules[2], lines[2];
    struct slice sources[2];

    for (unsigned side = 0; side < 2; side++) {
        const struct log_module *module;

        modules[side] = find_module(work->readers[side], sites[side]);
        if (modules[side] == UINT32_MAX) {
            return;
        }
        module = log_reader_module(work->readers[side], modules[side]);
        lines[side] = module->table.sites[sites[side] - module->first_site].line;
        sources[side] =
            source_lines_get(&work->sources[side], modules[side], lines[side]);
    }
    if (sources[0].size > 0 && sources[1].size > 0 &&
        !slice_equal(sources[0], sources[1]) &&
        (lines[0] != last[0] || lines[1] != last[1])) {
        work->options->changed(work->options->context, modules, lines, sources);
        last[0] = lines[0];
        last[1] = lines[1];
    }
}

void diff_report_changed_sites(struct diff_work *work)
{
    uint32_t last[2] = {0, 0};

    for (uint32_t i = 0; i < log_reader_module_count(work->readers[0]); i++) {
        const struct log_module *module = log_reader_module(work->readers[0], i);

        for (uint32_t k = 0; k < module->table.site_count; k++) {
            uint32_t sites[2] = {module->first_site + k, 0};

            sites[1] = diff_align_site(work->align, 0, sites[0]);
            if (sites[1] != DIFF_SITE_NONE) {
                report_changed_line(work, sites, last);
            }
        }
    }
}

#define NAME_LIMIT 80

void diff_gap_release(struct diff_gap *gap)
{
    buffer_release(&gap->points[0].path);
    buffer_release(&gap->points[1].path);
}

/* ---- items of one run alone, as they are read ---- */

static uint32_t call_of(const struct log_item *item)
{
    return item->kind == LOG_CALL ? item->call.call : item->event.call;
}

/* Sets whether a value that the condition reads differs or may differ. */
static void judge_condition(struct diff_work *work,
                            unsigned side,
                            const struct log_event_view *event)
{
    struct diff_facts *facts = &work->facts[side];
    const struct diff_fact *fact = diff_facts_find(facts, event->number);
    const struct diff_fact *result =
        fact == NULL ? NULL : diff_facts_find_result(facts, fact);

    work->gap.is_inherited = result != NULL && result->is_odd;
    work->gap.is_ignored = false;
    for (uint32_t i = 0; fact != NULL && i < event->site->read_count; i++) {
        const struct diff_fact *read =
            diff_facts_find_read(facts, fact, &event->site->reads[i], false);

        work->gap.is_inherited |= read != NULL && read->is_odd;
        work->gap.is_ignored |= read != NULL && (read->verdict == DIFF_VERDICT_CLOCK ||
                                                 read->state == DIFF_STATE_IGNORED);
    }
    work->gap.is_ignored = work->gap.is_ignored && !work->gap.is_inherited;
}

static void begin_point(struct diff_work *work,
                        unsigned side,
                        const struct log_item *item,
                        const struct open_call *call)
{
    struct diff_point *point = &work->gap.points[side];

    point->is_there = true;
    point->item = *item;
    point->place = diff_place_of(item, call);
    point->call = call_of(item);
    point->pair = call == NULL ? 0 : diff_align_pair(call);
    point->count = 0;
    point->turns = 0;
    point->path.size = 0;
    if (item->kind == LOG_EVENT) {
        struct log_event_view *event = &point->item.event;

        event->text = SLICE("");
        event->sample = NULL;
        event->has_statistics = false;
        point->place.line = event->site->kind == SITE_BRANCH
                                ? diff_arm_head(event)->line
                                : event->site->line;
        diff_path_add(work, side, call, event->site->line, &point->path);
        if (!work->gap.points[1 - side].is_there) {
            /* Only for the first side: after it, names differ because of the gap. */
            judge_condition(work, side, event);
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

static void
note_value(struct diff_work *work, unsigned side, const struct log_event_view *event)
{
    const struct diff_fact *fact = diff_facts_find(&work->facts[side], event->number);

    if (fact != NULL && fact->node != GRAPH_NONE) {
        work->gap.has_values = true;
        work->gap.has_lost |= fact->is_lost;
    }
}

static void diff_gap_add(struct diff_work *work,
                         unsigned side,
                         const struct log_item *item,
                         const struct open_call *call)
{
    struct diff_point *point = &work->gap.points[side];

    if (!work->gap.is_open) {
        work->gap.is_open = true;
        work->gap.is_inherited = false;
        work->gap.is_ignored = false;
        work->gap.has_values = false;
        work->gap.has_lost = false;
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
    note_value(work, side, &item->event);
    if (point->item.kind == LOG_EVENT && item->event.call == point->call &&
        item->event.site_number == point->item.event.site_number) {
        /* A turn has several events if the loop has several targets. */
        point->turns = (uint64_t)item->event.visit - point->item.event.visit + 1;
    }
}

/* ---- the words for a gap ---- */

static bool is_at(const struct diff_point *point, enum site_kind kind)
{
    return point->is_there && point->item.kind == LOG_EVENT &&
           point->item.event.site->kind == kind;
}

/* Returns the keyword at the start of the arm's line: `if`, `else`, `case`. */
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

/* Returns the side whose arm or loop is reported. If both have one, the earlier one in B's
 * program. */
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

                /* The distance from the arm to its head, subtracted from the arm's line in B. */
                lines[0] = line == 0 ? lines[0] : line - (event->site->line - lines[0]);
            }
        }
    }
    if (decides[0] != decides[1]) {
        return decides[0] ? 0 : 1;
    }
    if (decides[0] &&
        is_at(&gap->points[0], SITE_BRANCH) != is_at(&gap->points[1], SITE_BRANCH)) {
        /* An arm inside the loop was taken before the loop's next turn. */
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

/* Whether both runs took different arms of one statement: their heads have the same column, in
 * calls that are counterparts. */
static bool is_same_statement(const struct diff_work *work)
{
    const struct diff_point *points = work->gap.points;
    const struct site *heads[2];

    if (!is_at(&points[0], SITE_BRANCH) || !is_at(&points[1], SITE_BRANCH)) {
        return false;
    }
    heads[0] = diff_arm_head(&points[0].item.event);
    heads[1] = diff_arm_head(&points[1].item.event);
    return points[1].pair != 0 && points[1].pair == points[0].pair &&
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

/* Adds how the other run left the call, if that is the reason why it did not reach the line. */
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

/* Whether both runs reached lines of the same number that are not counterparts. */
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

/* ---- the end of a gap ---- */

/* Sets the finding's places. The place of a statement with arms is its head. */
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

/* Whether the next step is of another thread, or there is none. */
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

/* Whether the gap is only due to the end of a recording that was cut. Its events are counted as
 * `beyond` then, since nothing is known of them. */
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
    if ((gap->has_values && !gap->has_lost) || diff_gap_is_reordered(work)) {
        for (unsigned i = 0; i < 2; i++) {
            uint64_t count = gap->points[i].is_there ? gap->points[i].count : 0;

            work->result->only[i] -= count;
            work->result->steps += count;
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
    if (!gap->is_inherited && !gap->is_ignored) {
        diff_fix_find(work, &finding);
    }
    finding.name = buffer_slice(&work->name);
    finding.words = buffer_slice(&work->words);
    work->result->flow++;
    work->result->own_flow += !gap->is_inherited;
    diff_add_finding(work, &finding);
}

/* ---- events of one trace alone ---- */

/* Reports an item that the other run's value lacks. It is the first divergence if nothing before
 * it differs. */
static void report_item(struct diff_work *work,
                        unsigned side,
                        const struct diff_step *step,
                        struct diff_finding *finding)
{
    struct diff_place place = diff_other_place(work, side, &step->items[side]->event);

    finding->is_item = true;
    finding->modules[1 - side] = place.module;
    finding->lines[1 - side] = place.line;
    work->words.size = 0;
    buffer_add(&work->words, side == 1 ? SLICE("A's value has no such item")
                                       : SLICE("B's value has no such item"));
    diff_fix_find(work, finding);
}

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
    if (!is_code && step->odd == DIFF_ODD_PART && !work->has_first) {
        report_item(work, side, step, &finding);
    }
    finding.words = buffer_slice(&work->words);
    diff_add_finding(work, &finding);
}

/* Returns the call, or the nearest one around it, that one run alone has and an edited line
 * made. It counts as code of that program, even if the other one has the function. NULL: there
 * is none. */
static const struct open_call *find_edited_call(const struct diff_work *work,
                                                unsigned side,
                                                const struct open_call *call)
{
    while (call != NULL && call->parent != NULL && !diff_align_is_paired(call)) {
        if (diff_edits_has(&work->edits, work->all_sources[side], side,
                           call->parent->module_number, call->line)) {
            return call;
        }
        call = call->parent;
    }
    return NULL;
}

static void
collect_odd(struct diff_work *work, unsigned side, const struct diff_step *step)
{
    const struct log_event_view *event = &step->items[side]->event;
    const struct open_call *call = step->calls[side];
    const struct open_call *edited =
        step->odd == DIFF_ODD_FLOW ? find_edited_call(work, side, call) : NULL;
    struct diff_fact fact;
    struct diff_details details;
    bool is_code = step->odd == DIFF_ODD_CODE || edited != NULL;
    bool is_unchanged = event->difference == 0 && (event->change == CHANGE_REBOUND ||
                                                   event->change == CHANGE_SAME);

    diff_fact_fill(work, side, event, call, &fact, &details);
    fact.state = is_code ? DIFF_STATE_CODE : DIFF_STATE_FLOW;
    if (step->odd == DIFF_ODD_LEFT_OUT || (event->flags & LOG_EVENT_READ) != 0 ||
        (is_code && is_unchanged)) {
        fact.state = DIFF_STATE_EQUAL;
    }
    if (edited != NULL) {
        details.edit_module = edited->parent->module_number;
        details.edit_line = edited->line;
    }
    fact.is_code = is_code;
    fact.is_lone_part = step->odd == DIFF_ODD_PART;
    if (diff_facts_add(&work->facts[side], &fact, &details, call) == DIFF_FACT_NONE) {
        work->has_failed = true;
    }
}

static void
match_odd_event(struct diff_work *work, unsigned side, const struct diff_step *step)
{
    const struct log_event_view *event = &step->items[side]->event;
    const struct open_call *call = step->calls[side];
    const struct diff_fact *fact = diff_facts_find(&work->facts[side], event->number);
    bool is_code = step->odd == DIFF_ODD_CODE || (fact != NULL && fact->is_code);

    work->result->event_counts[side]++;
    if (step->odd == DIFF_ODD_LEFT_OUT) {
        work->result->left_out[side]++;
        return;
    }
    if (step->odd == DIFF_ODD_FLOW && !is_code) {
        diff_gap_add(work, side, step->items[side], call);
    }
    diff_follow(work, side, step);
    if (is_code) {
        work->result->code[side]++;
    } else if (step->odd == DIFF_ODD_PART && fact != NULL && !fact->is_lost) {
        work->result->steps++;
        return;
    } else {
        work->result->only[side]++;
    }
    work->parts[side] += step->odd == DIFF_ODD_PART;
    report_odd(work, side, step, is_code);
}

void diff_match_odd(struct diff_work *work, const struct diff_step *step)
{
    unsigned side = step->items[0] != NULL ? 0 : 1;
    const struct log_item *item = step->items[side];
    bool is_harmless = step->odd == DIFF_ODD_CODE || step->odd == DIFF_ODD_LEFT_OUT;

    if (work->pass != DIFF_PASS_REPORT) {
        work->has_alone |= is_harmless;
        work->has_odd |= !is_harmless;
        if (work->pass == DIFF_PASS_COLLECT && item->kind == LOG_EVENT) {
            collect_odd(work, side, step);
        }
        return;
    }
    if (item->kind == LOG_EVENT) {
        match_odd_event(work, side, step);
    } else if (item->kind == LOG_CALL && step->odd == DIFF_ODD_FLOW &&
               work->gap.is_open &&
               find_edited_call(work, side, step->calls[side]) == NULL) {
        diff_gap_add(work, side, item, step->calls[side]);
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
