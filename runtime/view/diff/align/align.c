/* Alignment: the steps through two traces side by side. */
#include "runtime/view/diff/align/align.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff/align/side.h"
#include "runtime/view/diff/align/window.h"
#include "runtime/view/diff/sites/sites.h"

#include <assert.h>
#include <stdbool.h>

/* ---- pairs of threads ---- */

/* Returns the thread of the first item that has one. NONE: there is no such item. */
static uint32_t first_thread(struct log_reader *reader)
{
    struct log_item item;
    uint32_t thread = DIFF_THREAD_NONE;

    log_reader_rewind(reader);
    while (thread == DIFF_THREAD_NONE && log_reader_next(reader, &item)) {
        if (item.kind == LOG_CALL) {
            thread = item.call.thread;
        } else if (item.kind == LOG_EVENT) {
            thread = item.event.thread;
        }
    }
    return thread;
}

static bool is_left(const struct diff_side *side, uint32_t thread)
{
    return side->threads[thread].state == DIFF_THREAD_SEEN;
}

/* Whether two names are equal without their numbers: `Thread-7 (work)` and `Thread-8 (work)`
 * are. */
static bool is_named_like(struct slice a, struct slice b)
{
    size_t i = 0;
    size_t k = 0;

    for (;;) {
        while (i < a.size && a.bytes[i] >= '0' && a.bytes[i] <= '9') {
            i++;
        }
        while (k < b.size && b.bytes[k] >= '0' && b.bytes[k] <= '9') {
            k++;
        }
        if (i == a.size || k == b.size) {
            return i == a.size && k == b.size;
        }
        if (a.bytes[i++] != b.bytes[k++]) {
            return false;
        }
    }
}

/* Returns the thread of B with the name of that thread of A, or a similar name if `is_like`.
 * NONE: there is none. */
static uint32_t
partner_thread(const struct diff_side sides[2], uint32_t thread, bool is_like)
{
    struct slice name = log_reader_thread_name(sides[0].reader, (uint16_t)thread);

    for (uint32_t i = 0; i < sides[1].thread_count; i++) {
        struct slice other;

        if (!is_left(&sides[1], i)) {
            continue;
        }
        other = log_reader_thread_name(sides[1].reader, (uint16_t)i);
        if (is_like ? is_named_like(name, other) : slice_equal(name, other)) {
            return i;
        }
    }
    return DIFF_THREAD_NONE;
}

static void start_threads(struct diff_side sides[2], uint32_t a, uint32_t b)
{
    diff_side_start(&sides[0], a);
    diff_side_start(&sides[1], b);
}

/* Starts with the first thread of each trace. The other threads are known after these were read. */
static void diff_threads_start(struct diff_side sides[2])
{
    uint32_t threads[2];

    for (unsigned side = 0; side < 2; side++) {
        threads[side] = first_thread(sides[side].reader);
    }
    start_threads(sides, threads[0], threads[1]);
}

static bool start_alone(struct diff_side sides[2], unsigned side)
{
    for (uint32_t i = 0; i < sides[side].thread_count; i++) {
        if (is_left(&sides[side], i)) {
            start_threads(sides, side == 0 ? i : DIFF_THREAD_NONE,
                          side == 1 ? i : DIFF_THREAD_NONE);
            return true;
        }
    }
    return false;
}

static bool start_named(struct diff_side sides[2], bool is_like)
{
    for (uint32_t i = 0; i < sides[0].thread_count; i++) {
        uint32_t partner = is_left(&sides[0], i) ? partner_thread(sides, i, is_like)
                                                 : DIFF_THREAD_NONE;

        if (partner != DIFF_THREAD_NONE) {
            start_threads(sides, i, partner);
            return true;
        }
    }
    return false;
}

/* Starts the next pair of threads. Returns false if all are done. */
static bool diff_threads_next(struct diff_side sides[2])
{
    for (unsigned side = 0; side < 2; side++) {
        if (sides[side].thread < sides[side].thread_count) {
            sides[side].threads[sides[side].thread].state = DIFF_THREAD_DONE;
        }
    }
    return start_named(sides, false) || start_named(sides, true) ||
           start_alone(sides, 0) || start_alone(sides, 1);
}

/* ---- items that wait for their counterparts ---- */

static struct diff_waiting **bucket_of(struct diff_side *side, uint32_t moved)
{
    return &side->waiting[moved % DIFF_WAITING_BUCKETS];
}

/* Stores the head, an item that was moved, until its counterpart is reached. Returns false if
 * memory ran out. */
static bool diff_side_wait(struct diff_side *side)
{
    const struct log_item *item = &side->item;
    size_t sample_size = 0;
    size_t text_size = 0;
    struct diff_waiting *waiting;
    char *bytes;

    if (item->kind == LOG_EVENT) {
        text_size = item->event.text.size;
        sample_size =
            item->event.sample == NULL
                ? 0
                : (size_t)item->event.grid.count * dtype_size(item->event.shape->dtype);
    }
    waiting = memory_allocate(1, sizeof *waiting + sample_size + text_size);
    if (waiting == NULL) {
        side->has_failed = true;
        return false;
    }
    *waiting = (struct diff_waiting){
        .next = *bucket_of(side, side->head.moved),
        .item = *item,
        .call = side->head.call,
        .moved = side->head.moved,
    };
    bytes = (char *)(waiting + 1);
    if (sample_size > 0) {
        memcpy(bytes, item->event.sample, sample_size);
        waiting->item.event.sample = bytes;
    }
    if (text_size > 0) {
        memcpy(bytes + sample_size, item->event.text.bytes, text_size);
        waiting->item.event.text.bytes = bytes + sample_size;
    }
    *bucket_of(side, waiting->moved) = waiting;
    waiting->call->child_count++;
    return true;
}

static struct diff_waiting *diff_side_pop_waiting(struct diff_side *side,
                                                  uint32_t moved)
{
    struct diff_waiting **place = bucket_of(side, moved);
    struct diff_waiting *found;

    while (*place != NULL && (*place)->moved != moved) {
        place = &(*place)->next;
    }
    found = *place;
    if (found != NULL) {
        *place = found->next;
    }
    return found;
}

/* Frees an item that was removed from the list, and releases its call. `waiting` may be NULL. */
static void diff_side_free_waiting(struct diff_side *side, struct diff_waiting *waiting)
{
    if (waiting != NULL) {
        diff_side_let_go(side, waiting->call);
        memory_free(waiting);
    }
}

void diff_side_drop_waiting(struct diff_side *side)
{
    for (uint32_t i = 0; i < DIFF_WAITING_BUCKETS; i++) {
        while (side->waiting[i] != NULL) {
            struct diff_waiting *waiting = side->waiting[i];

            side->waiting[i] = waiting->next;
            memory_free(waiting);
        }
    }
}

struct diff_align {
    struct diff_sites sites;
    struct diff_side sides[2];
    struct diff_window window;
    uint64_t pair_count; /* pairs of calls so far */
    bool is_given[2];    /* the heads were part of the step before */
    struct diff_waiting
        *given; /* owned: waiting item of the step before, of `given_side`; or NULL */
    unsigned given_side;
    unsigned data_turn; /* side of the next piece of data */
    bool is_ring;       /* one of the traces dropped events */
    bool has_found;     /* a pair was found in this thread */
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

static struct diff_turn *turn_of(const struct diff_align *align,
                                 unsigned side,
                                 const struct open_call *call,
                                 uint32_t site)
{
    const struct diff_module *module =
        &align->sites.programs[side].modules[call->module_number];
    struct diff_call *extra = diff_call_of(call);

    return module->sites[site].slot < extra->turn_count
               ? &extra->turns[module->sites[site].slot]
               : NULL;
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

/* Whether the side's recording leaves out visits of one of its sites at the current position.
 * `event` is the current event's number, or the next one's. */
static bool leaves_out(const struct diff_side *side, uint32_t site, uint64_t event)
{
    const struct log_left_out_view *left_out =
        log_reader_find_left_out(side->reader, site);

    return left_out != NULL && left_out->event <= event && event < left_out->until;
}

/* Whether the unpaired item is an event that the other recording may have left out, or that this
 * recording kept only because of its own rule. */
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
    if (align->is_ring && !align->has_found) {
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

/* Marks two calls as a pair: their items share a chain from here on. */
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
    align->has_found = true;
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

/* Gives an item whose counterpart is elsewhere. The first of the two waits for the other:
 * returns false, no step is given. */
static bool give_moved(struct diff_align *align, struct diff_step *step, unsigned side)
{
    struct diff_side *from = &align->sides[side];
    struct diff_side *other = &align->sides[1 - side];
    struct diff_waiting *waiting = diff_side_pop_waiting(other, from->head.moved);

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
    align->has_found = true;
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

/* Decides on the heads as far as that is possible without looking ahead. GIVEN_UP: it is not. */
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

/* Gives the pieces of whole values in turns, one of A, one of B, so that they need not be
 * stored. */
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
            align->has_found = false;
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

/* Returns the event at which a trace starts if the other one is a ring: the ring's first event,
 * since the same program gives the same events the same numbers. If both are closed, the trace
 * starts at the latest as many events before its end as the ring holds, since earlier lines may
 * differ. */
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

bool diff_align_has_updates(const struct diff_align *align, unsigned side)
{
    assert(side < 2);
    return align->sides[side].has_updates;
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

uint32_t
diff_align_module(const struct diff_align *align, unsigned side, uint32_t module)
{
    const struct diff_program *program = &align->sites.programs[side];

    return module < program->count ? program->modules[module].partner : DIFF_NONE;
}

uint32_t diff_align_line(const struct diff_align *align,
                         unsigned side,
                         uint32_t module,
                         uint32_t line)
{
    const struct diff_module *known = &align->sites.programs[side].modules[module];

    assert(module < align->sites.programs[side].count);
    return line < known->line_count ? known->texts[line] : 0;
}

bool diff_align_is_paired(const struct open_call *call)
{
    return diff_call_of(call)->is_paired;
}

uint64_t diff_align_pair(const struct open_call *call)
{
    return diff_call_of(call)->is_paired ? diff_call_of(call)->chain : 0;
}

void diff_align_note_turn(const struct diff_align *align,
                          unsigned side,
                          const struct open_call *call,
                          const struct log_event_view *event)
{
    struct diff_turn *turn =
        turn_of(align, side, call, event->site_number - event->module->first_site);

    assert(event->site->kind == SITE_LOOP);
    if (turn != NULL) {
        turn->noted = event->visit + 1;
    }
}

uint32_t diff_align_turn(const struct diff_align *align,
                         unsigned side,
                         const struct open_call *call,
                         uint32_t site)
{
    const struct diff_turn *turn = turn_of(align, side, call, site);

    return turn == NULL ? 0 : turn->noted;
}

bool diff_align_is_class(const struct diff_align *align, struct slice a, struct slice b)
{
    return diff_sites_is_class(&align->sites, a, b);
}
