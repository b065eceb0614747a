/* Going through two traces side by side. */
#include "runtime/view/diff/align/align.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff/align/side.h"
#include "runtime/view/diff/align/threads.h"
#include "runtime/view/diff/align/window.h"
#include "runtime/view/diff/sites/sites.h"

struct diff_align {
    struct diff_sites sites;
    struct diff_side sides[2];
    struct diff_window window;
    uint64_t pair_count; /* calls that found each other */
    bool is_given[2];    /* the heads were given in the step before */
    struct diff_waiting
        *given; /* owned: of the step before, of `given_side`; or NULL */
    unsigned given_side;
    unsigned data_turn; /* whose piece of data is next */
    bool is_ring;       /* one of them has dropped events */
    bool has_met;       /* a pair was found in this thread */
    bool has_failed;
    bool is_started;
};

/* ---- steps ---- */

static bool is_part_of_last(const struct diff_side *side)
{
    const struct log_event_view *event = &side->item.event;

    return side->head.kind == LOG_EVENT && event->path.size > 0 &&
           event->call == side->last.call && event->site_number == side->last.site &&
           event->visit == side->last.visit;
}

static void give(struct diff_align *align, struct diff_step *step, unsigned side)
{
    struct diff_side *from = &align->sides[side];

    step->items[side] = &from->item;
    step->calls[side] = from->head.call;
    align->is_given[side] = true;
    from->data_event =
        from->head.kind == LOG_EVENT ? from->item.event.number : UINT64_MAX;
}

/* Whether the recording of a side leaves out visits of the site, which is one of its trace, where it is
 * now. `event`: the one that it is at, or the one that comes next. */
static bool leaves_out(const struct diff_side *side, uint32_t site, uint64_t event)
{
    const struct log_left_out_view *left_out =
        log_reader_find_left_out(side->reader, site);

    return left_out != NULL && left_out->event <= event && event < left_out->until;
}

/* Whether the item that is alone is an event that the other recording may have left out, or that this
 * one has kept by the rule alone. */
static bool is_left_out(const struct diff_align *align, unsigned side)
{
    const struct diff_side *from = &align->sides[side];
    const struct diff_side *other = &align->sides[1 - side];
    const struct log_event_view *event = &from->item.event;
    uint32_t partner;

    if (from->head.kind != LOG_EVENT) {
        return false;
    }
    if (leaves_out(from, event->site_number, event->number)) {
        return true;
    }
    partner =
        diff_sites_partner(from->sites, side, event->module_number, event->site_number);
    return partner != DIFF_NONE && leaves_out(other, partner, other->next_event);
}

static void give_alone(struct diff_align *align, struct diff_step *step, unsigned side)
{
    struct diff_side *from = &align->sides[side];

    *step = (struct diff_step){.odd = DIFF_ODD_FLOW};
    if (align->is_ring && !align->has_met) {
        step->odd = DIFF_ODD_BEFORE;
    } else if (!from->head.has_counterpart) {
        step->odd = DIFF_ODD_CODE;
    } else if (is_left_out(align, side)) {
        step->odd = DIFF_ODD_LEFT_OUT;
    } else if (is_part_of_last(from)) {
        step->odd = DIFF_ODD_PART;
    }
    give(align, step, side);
}

/* The items of two calls that were found to be one belong together from here on. */
static void pair_calls(struct diff_align *align,
                       const struct open_call *left,
                       const struct open_call *right)
{
    struct diff_call *a = diff_call_of(left);
    struct diff_call *b = diff_call_of(right);

    if (!a->is_paired && !b->is_paired) {
        a->is_paired = b->is_paired = true;
        a->chain = b->chain = diff_mix(++align->pair_count, 0x61);
    }
}

static void give_pair(struct diff_align *align, struct diff_step *step)
{
    *step = (struct diff_step){.odd = DIFF_ODD_NONE};
    align->has_met = true;
    pair_calls(align, align->sides[0].head.call, align->sides[1].head.call);
    for (unsigned side = 0; side < 2; side++) {
        struct diff_side *from = &align->sides[side];

        give(align, step, side);
        if (from->head.kind == LOG_EVENT) {
            from->last =
                (struct diff_value){from->item.event.call, from->item.event.site_number,
                                    from->item.event.visit};
        }
    }
}

/* An item whose counterpart stands elsewhere: the first of the two waits for the other. false:
 * nothing is given. */
static bool give_moved(struct diff_align *align, struct diff_step *step, unsigned side)
{
    struct diff_side *from = &align->sides[side];
    struct diff_side *other = &align->sides[1 - side];
    struct diff_waiting *waiting = diff_side_take_waiting(other, from->head.moved);

    if (waiting == NULL) {
        align->has_failed = !diff_side_wait(from) || align->has_failed;
        diff_side_consume(from);
        return false;
    }
    *step = (struct diff_step){.odd = DIFF_ODD_NONE, .is_moved = true};
    give(align, step, side);
    from->data_event = UINT64_MAX;
    step->items[1 - side] = &waiting->item;
    step->calls[1 - side] = waiting->call;
    align->given = waiting;
    align->given_side = 1 - side;
    align->has_met = true;
    pair_calls(align, step->calls[0], step->calls[1]);
    return true;
}

static bool is_passed_over(const struct diff_side *side)
{
    const struct open_call *call = side->head.call;

    if (side->passed_over == 0 || !side->has_head) {
        return false;
    }
    while (call != NULL && call->call != side->passed_over) {
        call = call->parent;
    }
    return call != NULL;
}

static bool are_same(const struct diff_entry *a, const struct diff_entry *b)
{
    return a->local == b->local && a->kind == b->kind &&
           diff_entry_around(a) == diff_entry_around(b);
}

enum given { GIVEN_STEP, GIVEN_NOTHING, GIVEN_UP };

/* What to do about the heads, as far as that can be told without a look ahead. */
static enum given
give_heads(struct diff_align *align, struct diff_step *step, const bool has_head[2])
{
    const struct diff_side *sides = align->sides;

    for (unsigned side = 0; side < 2; side++) {
        if (has_head[side] && sides[side].head.is_before) {
            give_alone(align, step, side);
            return GIVEN_STEP;
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        if (has_head[side] && sides[side].head.decision == DIFF_MOVED) {
            return give_moved(align, step, side) ? GIVEN_STEP : GIVEN_NOTHING;
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        if (has_head[side] && (sides[side].head.decision == DIFF_ALONE ||
                               !sides[side].head.has_counterpart ||
                               is_passed_over(&sides[side]) || !has_head[1 - side])) {
            give_alone(align, step, side);
            return GIVEN_STEP;
        }
    }
    if ((sides[0].head.decision == DIFF_PAIRED &&
         sides[1].head.decision == DIFF_PAIRED) ||
        are_same(&sides[0].head, &sides[1].head)) {
        give_pair(align, step);
        return GIVEN_STEP;
    }
    for (unsigned side = 0; side < 2; side++) {
        if (is_part_of_last(&sides[side]) && !is_part_of_last(&sides[1 - side])) {
            give_alone(align, step, side);
            return GIVEN_STEP;
        }
    }
    return GIVEN_UP;
}

/* Pieces of values come in turns, one of A, one of B, so that nobody has to keep them. */
static bool give_data(struct diff_align *align, struct diff_step *step)
{
    for (unsigned i = 0; i < 2; i++) {
        unsigned side = align->data_turn;
        struct diff_side *from = &align->sides[side];

        align->data_turn = 1 - side;
        if (from->data_event != UINT64_MAX && !from->has_head &&
            diff_side_read(from) == DIFF_READ_DATA) {
            *step = (struct diff_step){.odd = DIFF_ODD_NONE};
            step->items[side] = &from->item;
            return true;
        }
    }
    return false;
}

static void let_go(struct diff_align *align)
{
    if (align->given != NULL) {
        diff_side_free_waiting(&align->sides[align->given_side], align->given);
        align->given = NULL;
    }
    for (unsigned side = 0; side < 2; side++) {
        if (align->is_given[side]) {
            align->is_given[side] = false;
            diff_side_finish(&align->sides[side]);
            align->data_turn = 0;
        }
    }
}

bool diff_align_next(struct diff_align *align, struct diff_step *step)
{
    let_go(align);
    if (!align->is_started) {
        align->is_started = true;
        diff_threads_start(align->sides);
    }
    for (;;) {
        enum given given = GIVEN_NOTHING;
        bool has_head[2];

        if (give_data(align, step)) {
            return true;
        }
        for (unsigned side = 0; side < 2; side++) {
            has_head[side] = diff_side_read(&align->sides[side]) == DIFF_READ_HEAD;
            align->has_failed = align->has_failed || align->sides[side].has_failed;
        }
        if (align->has_failed) {
            return false;
        }
        if (!has_head[0] && !has_head[1]) {
            if (!diff_threads_next(align->sides)) {
                return false;
            }
            align->has_met = false;
            continue;
        }
        given = give_heads(align, step, has_head);
        if (given == GIVEN_STEP) {
            align->sides[0].has_given = align->sides[1].has_given = true;
            return true;
        }
        if (given == GIVEN_UP && !diff_window_decide(&align->window, align->sides)) {
            align->has_failed = true;
            return false;
        }
    }
}

/* ---- the rest ---- */

/* Where a trace is to begin whose other one is a ring: the same program gives the same events
 * the same numbers. Where it has had other lines before, and both came to their ends, rather so
 * many events before its end as the ring has. */
static uint64_t find_start(const struct log_reader *reader,
                           const struct log_reader *ring)
{
    uint64_t start = log_reader_first_event(ring);
    uint64_t own = log_reader_first_event(reader);
    uint64_t count = log_reader_header(reader)->event_count;
    uint64_t ring_count = log_reader_header(ring)->event_count;

    if (log_reader_header(reader)->is_closed != 0 &&
        log_reader_header(ring)->is_closed != 0 && ring_count >= start) {
        uint64_t kept = ring_count - start;

        count = count > kept ? count - kept : 0;
        start = count < start ? count : start;
    }
    return start > own ? start : own;
}

static void find_starts(struct diff_align *align,
                        const struct diff_align_options *options)
{
    const struct log_reader *a = options->readers[0];
    const struct log_reader *b = options->readers[1];

    align->is_ring = log_reader_first_event(a) > 0 || log_reader_first_event(b) > 0;
    if (log_reader_first_event(a) != log_reader_first_event(b)) {
        align->sides[0].start = find_start(a, b);
        align->sides[1].start = find_start(b, a);
    }
}

struct diff_align *diff_align_new(const struct diff_align_options *options,
                                  struct error *error)
{
    struct diff_align *align = memory_allocate_zeroed(1, sizeof *align);
    bool is_done = align != NULL;

    if (is_done) {
        diff_sites_init(&align->sites, options);
        align->window.limit = options->window;
        for (unsigned side = 0; side < 2; side++) {
            is_done = diff_side_init(&align->sides[side], side, options->readers[side],
                                     &align->sites) &&
                      is_done;
        }
        find_starts(align, options);
        is_done = is_done && diff_sites_update(&align->sites);
    }
    if (!is_done) {
        error_set_memory(error);
        diff_align_free(align);
        return NULL;
    }
    return align;
}

void diff_align_free(struct diff_align *align)
{
    if (align == NULL) {
        return;
    }
    memory_free(align->given);
    diff_side_release(&align->sides[0]);
    diff_side_release(&align->sides[1]);
    diff_window_release(&align->window);
    diff_sites_release(&align->sites);
    memory_free(align);
}

bool diff_align_has_failed(const struct diff_align *align)
{
    return align->has_failed;
}

void diff_align_likeness(const struct diff_align *align, struct diff_likeness *likeness)
{
    diff_sites_likeness(&align->sites, likeness);
}

uint32_t diff_align_site(const struct diff_align *align, unsigned side, uint32_t site)
{
    const struct diff_module *module = diff_sites_module(&align->sites, side, site);
    const struct diff_site *known;
    const struct diff_function *function;

    if (module == NULL) {
        return DIFF_SITE_NONE;
    }
    known = &module->sites[site - module->module->first_site];
    if (known->partner == DIFF_NONE) {
        return DIFF_SITE_NONE;
    }
    function =
        &module->functions
             [module->module->table.sites[site - module->module->first_site].function];
    return align->sites.programs[1 - side]
               .modules[function->partner_module]
               .module->first_site +
           known->partner;
}

bool diff_align_is_class(const struct diff_align *align, struct slice a, struct slice b)
{
    return diff_sites_is_class(&align->sites, a, b);
}
