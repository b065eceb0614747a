/* Reader of one of two traces: its items one by one, and those ahead. */
#include "runtime/view/diff/align/side.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>

/* ---- keys of calls and events in terms of both traces ---- */

/* Seeds of hashes with different meanings. */
#define LOCAL_CALL 0x72u
#define CHAIN_ROOT 0x73u
/* Seed of an event in a turn that began before the trace did. */
#define LOCAL_VISIT 0x74u

/* Returns the module of that number of the trace. NULL: there is none, or memory ran out. */
static struct diff_module *module_of(struct diff_side *side, uint32_t number)
{
    if (number >= side->sites->programs[side->number].count &&
        !diff_sites_update(side->sites)) {
        side->has_failed = true;
    }
    return number < side->sites->programs[side->number].count
               ? &side->sites->programs[side->number].modules[number]
               : NULL;
}

/* Returns the nearest call of an nn.Module at or around `call`. NULL: none. */
static const struct open_call *module_call(const struct open_call *call)
{
    while (call != NULL && call->class_name.size == 0) {
        call = call->parent;
    }
    return call;
}

/* Hashes the nn.Module's path relative to the calling nn.Module, so that a model may be a part
 * of a larger one. Calls of functions that only one program has are skipped: parts that a method
 * was split into, or `train(model)`, which calls the model as a method would. */
static uint64_t path_hash(struct diff_side *side, const struct open_call *call)
{
    const struct open_call *outer = module_call(call->parent);
    bool is_within_new = false;
    size_t start = 0;

    if (call->class_name.size == 0) {
        return 0;
    }
    while (outer != NULL && !diff_call_of(outer)->has_counterpart) {
        is_within_new = true;
        outer = module_call(outer->parent);
    }
    if (outer == NULL && (is_within_new || call->path.size == 0)) {
        return 1;
    }
    if (outer != NULL && slice_starts(call->path, outer->path)) {
        if (call->path.size == outer->path.size) {
            return 1;
        }
        start = outer->path.size;
        if (start > 0 && call->path.bytes[start] != '.') {
            start = 0;
        }
        start += start > 0;
    }
    return diff_names_hash(&side->sites->names, side->number,
                           slice_part(call->path, start, call->path.size));
}

/* Forgets the turns of the call's loops if events were lost since they were recorded. */
static void diff_call_note_gap(const struct diff_side *side, struct diff_call *call)
{
    if (call->gap == side->gap) {
        return;
    }
    call->gap = side->gap;
    call->is_cut = true;
    for (uint32_t i = 0; i < call->turn_count; i++) {
        call->turns[i] = (struct diff_turn){.noted = call->turns[i].noted};
    }
}

/* Hashes the place of a call in its caller: the line, and the turns of the loops around it. */
static uint64_t place_of(struct diff_side *side, const struct open_call *call)
{
    const struct open_call *parent = call->parent;
    const struct diff_module *module;
    const struct diff_function *function;
    uint64_t turn = 0;
    uint32_t loop;

    if (parent == NULL || call->line == 0) {
        return 0;
    }
    module = module_of(side, parent->module_number);
    if (module == NULL || call->line >= module->line_count) {
        return 0;
    }
    function = &module->functions[parent->function];
    if (function->partner_module != module->partner) {
        return 0;
    }
    diff_call_note_gap(side, diff_call_of(parent));
    loop = module->line_loops[call->line];
    while (loop != DIFF_NONE &&
           (module->module->table.sites[loop].function != parent->function ||
            module->sites[loop].partner == DIFF_NONE)) {
        loop = module->sites[loop].around;
    }
    if (loop != DIFF_NONE) {
        turn = diff_call_of(parent)->turns[module->sites[loop].slot].hash;
    }
    /* The loop was started before the trace did, so its turn is unknown. */
    if (loop != DIFF_NONE &&
        (side->is_before || (turn == 0 && diff_call_of(parent)->is_cut))) {
        turn = call->call;
    }
    return diff_mix(module->lines[call->line], turn);
}

/* Whether the other program has the line that made the call. */
static bool has_line(struct diff_side *side, const struct open_call *call)
{
    const struct diff_module *module = module_of(side, call->parent->module_number);

    return module != NULL && module->lines[call->line] != 0;
}

void diff_call_settle(struct open_call *call)
{
    struct diff_call *extra = call->extra;
    const struct diff_call *outer = call->parent == NULL ? NULL : call->parent->extra;

    if (extra->is_paired) {
        return;
    }
    if (outer == NULL) {
        extra->around = CHAIN_ROOT;
    } else if (outer->has_counterpart) {
        extra->around = diff_mix(outer->chain, extra->place);
    } else {
        extra->around = outer->around;
    }
    extra->chain = extra->has_counterpart ? diff_mix(extra->around, extra->local) : 0;
}

/* Attaches a struct diff_call to a new call. Returns false if memory ran out. */
static bool diff_call_prepare(struct diff_side *side, struct open_call *call)
{
    const struct diff_module *module = module_of(side, call->module_number);
    const struct diff_function *function;
    struct diff_call *extra;

    if (module == NULL) {
        side->has_failed = true;
        return false;
    }
    function = &module->functions[call->function];
    extra = memory_allocate_zeroed(1, sizeof *extra +
                                          function->loop_count * sizeof *extra->turns);
    if (extra == NULL) {
        side->has_failed = true;
        return false;
    }
    call->extra = extra;
    extra->turn_count = function->loop_count;
    extra->gap = side->gap;
    extra->is_cut = !call->is_begun;
    extra->has_counterpart = function->partner_module != DIFF_NONE;
    extra->place = place_of(side, call);
    extra->has_place = extra->place != 0 && has_line(side, call);
    extra->local = diff_mix(function->key, path_hash(side, call)) ^ LOCAL_CALL;
    diff_call_settle(call);
    return true;
}

/* ---- events ---- */

static uint32_t name_index(const struct log_event_view *event)
{
    const struct site *site = event->site;
    uint32_t i = 0;

    if ((event->flags & LOG_EVENT_READ) != 0) {
        while (i < site->read_count && site->reads[i].name.bytes != event->name.bytes) {
            i++;
        }
        return site->write_count + (i < site->read_count ? i : 0);
    }
    while (i + 1 < site->write_count &&
           site->writes[i].name.bytes != event->name.bytes) {
        i++;
    }
    return i;
}

/* Returns the hash of the loop's turn; `site` is the loop's. 0: not known. */
static uint64_t
turn_hash(const struct diff_module *module, const struct diff_call *call, uint32_t site)
{
    return site != DIFF_NONE && module->sites[site].slot < call->turn_count
               ? call->turns[module->sites[site].slot].hash
               : 0;
}

/* Starts the loop's next turn, and returns its hash. Turns are counted from the loop's start; if
 * that was before the trace's beginning, from the call's. */
static uint64_t next_turn(const struct diff_module *module,
                          struct diff_call *call,
                          uint32_t number,
                          uint32_t visit)
{
    assert(number < module->module->table.site_count);

    const struct diff_site *site = &module->sites[number];
    uint64_t outer = turn_hash(module, call, site->loop);
    struct diff_turn *turn;

    if (site->slot >= call->turn_count) {
        return outer;
    }
    turn = &call->turns[site->slot];
    if (turn->hash != 0 && turn->outer != outer) {
        turn->base = visit;
    }
    turn->outer = outer;
    turn->hash = diff_mix(diff_mix(outer, site->key), visit - turn->base) | 1;
    return turn->hash;
}

/* Whether the site's partner writes the name too. The partner may write fewer names, such as one
 * argument less. */
static bool is_written_too(const struct diff_side *side,
                           const struct diff_module *module,
                           uint32_t number,
                           uint64_t name)
{
    assert(number < module->module->table.site_count);

    const struct site *site = &module->module->table.sites[number];
    const struct diff_function *function = &module->functions[site->function];
    const struct diff_module *other;
    const struct site *partner;
    uint32_t first;

    if (function->partner_module == DIFF_NONE) {
        return true;
    }
    other = &side->sites->programs[1 - side->number].modules[function->partner_module];
    partner = &other->module->table.sites[module->sites[number].partner];
    if (partner->write_count >= site->write_count) {
        return true;
    }
    first = other->sites[module->sites[number].partner].first_name;
    for (uint32_t i = 0; i < partner->write_count; i++) {
        if (other->name_keys[first + i] == name) {
            return true;
        }
    }
    return false;
}

/* Fills the key of the event that was read last, within its call. */
static void diff_entry_fill(struct diff_side *side, struct diff_entry *entry)
{
    const struct log_event_view *event = &side->item.event;
    const struct diff_module *module = module_of(side, event->module_number);
    uint32_t number = event->site_number - event->module->first_site;
    struct diff_call *call = entry->call->extra;
    const struct diff_site *site;
    uint64_t turn;

    if (module == NULL) {
        side->has_failed = true;
        return;
    }
    site = &module->sites[number];
    entry->visit = event->visit;
    entry->has_counterpart = site->partner != DIFF_NONE;
    turn = event->site->kind == SITE_LOOP
               ? next_turn(module, call, number, event->visit)
               : turn_hash(module, call, site->loop);
    if ((turn == 0 && site->loop != DIFF_NONE && call->is_cut) ||
        (site->loop != DIFF_NONE &&
         diff_sites_leave_out(side->sites, side->number, event->module_number,
                              site->loop))) {
        turn = diff_mix(event->visit, LOCAL_VISIT);
    }
    if (event->site->kind == SITE_LOOP) {
        entry->loop = (uint32_t)diff_mix(site->key, call->local) | 1;
    }
    entry->local = diff_mix(site->key, turn);
    if (event->site->write_count > 0 || (event->flags & LOG_EVENT_READ) != 0) {
        uint64_t name = module->name_keys[site->first_name + name_index(event)];

        entry->local = diff_mix(entry->local, name ^ (event->flags & LOG_EVENT_READ));
        if (entry->has_counterpart && (event->flags & LOG_EVENT_READ) == 0) {
            entry->has_counterpart = is_written_too(side, module, number, name);
        }
    }
    if (event->path.size > 0) {
        entry->local = diff_mix(entry->local, hash_64(event->path));
    }
}

bool diff_side_init(struct diff_side *side,
                    unsigned number,
                    struct log_reader *reader,
                    struct diff_sites *sites)
{
    *side = (struct diff_side){
        .number = number,
        .reader = reader,
        .sites = sites,
        .thread = DIFF_THREAD_NONE,
        .data_event = UINT64_MAX,
    };
    open_calls_init(&side->calls);
    open_calls_init(&side->earlier_calls);
    return true;
}

void diff_side_release(struct diff_side *side)
{
    diff_side_drop_waiting(side);
    open_calls_release(&side->calls);
    open_calls_release(&side->earlier_calls);
    memory_free(side->threads);
    memory_free(side->queue);
    *side = (struct diff_side){0};
}

void diff_side_start(struct diff_side *side, uint32_t thread)
{
    diff_side_drop_waiting(side);
    if (side->has_given) {
        open_calls_release(&side->earlier_calls);
        side->earlier_calls = side->calls;
        open_calls_init(&side->calls);
    } else {
        open_calls_release(&side->calls);
    }
    side->kept = NULL;
    side->has_given = false;
    side->is_later = side->thread_count > 0;
    side->is_over = false;
    side->is_before = side->start > 0;
    side->next_event = 0;
    if (thread < side->thread_count &&
        side->threads[thread].state != DIFF_THREAD_UNSEEN) {
        side->next_event = side->threads[thread].first.next_event;
        log_reader_go(side->reader, side->threads[thread].first);
    } else {
        log_reader_rewind(side->reader);
    }
    side->thread = thread;
    side->has_head = false;
    side->queue_first = side->queue_count = 0;
    side->is_scanned = false;
    side->data_event = UINT64_MAX;
    side->passed_over = 0;
    side->last = (struct diff_value){0};
}

static void hold(struct diff_entry *entry)
{
    entry->is_held = true;
    entry->call->child_count++;
}

void diff_side_let_go(struct diff_side *side, struct open_call *call)
{
    call->child_count--;
    if (call->is_ended && call->child_count == 0) {
        open_calls_end(&side->calls, call);
    }
}

static void let_go(struct diff_side *side, struct diff_entry *entry)
{
    if (!entry->is_held) {
        return;
    }
    entry->is_held = false;
    diff_side_let_go(side, entry->call);
}

/* ---- items ---- */

/* Records each thread's first and last item when the trace is read for the first time. */
static bool
note_thread(struct diff_side *side, uint16_t number, const struct log_place *place)
{
    void *threads = side->threads;
    struct diff_thread *thread;

    if (!memory_grow(&threads, &side->thread_capacity, (size_t)number + 1,
                     sizeof *side->threads)) {
        side->has_failed = true;
        return false;
    }
    side->threads = threads;
    while (side->thread_count <= number) {
        side->threads[side->thread_count++] =
            (struct diff_thread){.state = DIFF_THREAD_UNSEEN};
    }
    thread = &side->threads[number];
    if (thread->state == DIFF_THREAD_UNSEEN) {
        thread->state = DIFF_THREAD_SEEN;
        thread->first = *place;
    }
    thread->last = side->item.offset;
    return true;
}

static bool
is_wanted(struct diff_side *side, uint16_t number, const struct log_place *place)
{
    if (!side->is_later && !note_thread(side, number, place)) {
        return false;
    }
    if (number != side->thread) {
        return false;
    }
    side->is_over = side->is_later && side->threads[number].last == side->item.offset;
    return true;
}

static bool add_call(struct diff_side *side, struct diff_entry *entry)
{
    const struct log_call_view *view = &side->item.call;
    bool is_new;

    if (side->is_later && view->thread != side->thread) {
        return false;
    }
    entry->call = open_calls_begin(&side->calls, view, &is_new);
    if (entry->call == NULL) {
        side->has_failed = true;
        return false;
    }
    if (!is_new || !diff_call_prepare(side, entry->call)) {
        return false;
    }
    entry->local = diff_call_of(entry->call)->local;
    entry->has_counterpart = diff_call_of(entry->call)->has_counterpart;
    /* A call that is repeated in the trace was started before the trace's first event. */
    return is_wanted(side, view->thread, &entry->place) &&
           (view->flags & LOG_CALL_AGAIN) == 0;
}

static bool add_event(struct diff_side *side, struct diff_entry *entry)
{
    const struct log_event_view *event = &side->item.event;
    bool is_new;

    side->gap += event->number > side->next_event;
    side->next_event =
        event->number >= side->next_event ? event->number + 1 : side->next_event;
    if (!is_wanted(side, event->thread, &entry->place)) {
        return false;
    }
    entry->call = open_calls_of_event(&side->calls, event, &is_new);
    if (entry->call == NULL) {
        side->has_failed = true;
        return false;
    }
    if (entry->call->extra == NULL && !diff_call_prepare(side, entry->call)) {
        return false;
    }
    diff_call_note_gap(side, diff_call_of(entry->call));
    diff_entry_fill(side, entry);
    return !side->has_failed;
}

static bool add_end(struct diff_side *side, struct diff_entry *entry)
{
    entry->call = open_calls_find(&side->calls, side->item.end.call);
    if (entry->call == NULL || entry->call->extra == NULL) {
        return false;
    }
    if (!is_wanted(side, entry->call->thread, &entry->place)) {
        open_calls_end(&side->calls, entry->call);
        return false;
    }
    entry->local = DIFF_LOCAL_END;
    entry->has_counterpart = diff_call_of(entry->call)->has_counterpart;
    return true;
}

/* Whether the item that was read last is to be aligned. Fills the entry. */
static bool read(struct diff_side *side, struct diff_entry *entry)
{
    bool was_before = side->is_before;

    entry->kind = (uint8_t)side->item.kind;
    entry->decision = DIFF_UNDECIDED;
    entry->is_held = false;
    entry->visit = 0;
    entry->loop = 0;
    side->is_before =
        (side->item.kind == LOG_EVENT ? side->item.event.number
                                      : entry->place.next_event) < side->start;
    entry->is_before = side->is_before;
    /* Where a ring begins, the turns of the calls are unknown in both traces. */
    side->gap += was_before && !side->is_before;
    switch (side->item.kind) {
    case LOG_EVENT:
        return add_event(side, entry);
    case LOG_CALL:
        return add_call(side, entry);
    case LOG_END:
        return add_end(side, entry);
    default:
        side->has_updates = side->has_updates || side->item.kind == LOG_GRADIENT ||
                            side->item.kind == LOG_STEP;
        return false;
    }
}

static bool is_wanted_data(const struct diff_side *side)
{
    return side->item.kind == LOG_DATA && side->item.data.event == side->data_event;
}

/* Reads the item of the queue's first entry again. Returns false if it was lost, in a ring that
 * is still written. */
static bool read_again(struct diff_side *side)
{
    side->head = side->queue[side->queue_first++];
    side->queue_count--;
    log_reader_go(side->reader, side->head.place);
    side->has_head = log_reader_next(side->reader, &side->item) &&
                     side->item.kind == (enum log_kind)side->head.kind;
    if (!side->has_head) {
        let_go(side, &side->head);
    }
    return side->has_head;
}

enum diff_read diff_side_read(struct diff_side *side)
{
    if (side->has_head) {
        return DIFF_READ_HEAD;
    }
    while (side->queue_count > 0) {
        if (side->data_event != UINT64_MAX) {
            if (log_reader_next(side->reader, &side->item) && is_wanted_data(side)) {
                return DIFF_READ_DATA;
            }
            side->data_event = UINT64_MAX;
        }
        if (read_again(side)) {
            return DIFF_READ_HEAD;
        }
    }
    if (side->thread == DIFF_THREAD_NONE) {
        return DIFF_READ_END;
    }
    for (;;) {
        side->head.place = log_reader_place(side->reader);
        if (side->has_failed || (side->is_over && side->data_event == UINT64_MAX) ||
            !log_reader_next(side->reader, &side->item)) {
            return DIFF_READ_END;
        }
        if (is_wanted_data(side)) {
            return DIFF_READ_DATA;
        }
        if (side->is_over) {
            side->data_event = UINT64_MAX;
            return DIFF_READ_END;
        }
        if (read(side, &side->head)) {
            side->data_event = UINT64_MAX;
            side->has_head = true;
            hold(&side->head);
            return DIFF_READ_HEAD;
        }
    }
}

static void pass(struct diff_side *side)
{
    struct open_call *call = side->head.call;

    side->has_head = false;
    if (side->head.kind == LOG_END) {
        if (side->passed_over == call->call) {
            side->passed_over = 0;
        }
        call->is_ended = true;
    }
}

void diff_side_consume(struct diff_side *side)
{
    if (side->has_head) {
        pass(side);
        let_go(side, &side->head);
    }
}

void diff_side_finish(struct diff_side *side)
{
    struct open_call *before = side->kept;

    if (!side->has_head) {
        return;
    }
    pass(side);
    side->kept = side->head.is_held ? side->head.call : NULL;
    side->head.is_held = false;
    if (before != NULL) {
        diff_side_let_go(side, before);
    }
}

/* ---- looking ahead ---- */

static bool enqueue(struct diff_side *side, struct diff_entry *entry)
{
    void *items = side->queue;
    size_t end = side->queue_first + side->queue_count;

    if (end == side->queue_capacity && side->queue_first > end / 2) {
        memmove(side->queue, side->queue + side->queue_first,
                side->queue_count * sizeof *side->queue);
        side->queue_first = 0;
        end = side->queue_count;
    }
    if (!memory_grow(&items, &side->queue_capacity, end + 1, sizeof *side->queue)) {
        side->has_failed = true;
        return false;
    }
    side->queue = items;
    if (!entry->is_held) {
        hold(entry);
    }
    if (!entry->has_counterpart) {
        entry->decision = DIFF_ALONE;
    }
    side->queue[end] = *entry;
    side->queue_count++;
    return true;
}

/* Puts the head back at the start of the queue. */
static bool put_back(struct diff_side *side)
{
    if (!side->has_head) {
        return true;
    }
    side->has_head = false;
    if (side->queue_count > 0) {
        side->queue[--side->queue_first] = side->head;
        side->queue_count++;
        return true;
    }
    side->queue_first = 0;
    side->scanned = log_reader_place(side->reader);
    side->is_scanned = false;
    return enqueue(side, &side->head);
}

bool diff_side_read_ahead(struct diff_side *side, size_t wanted)
{
    struct diff_entry entry;

    if (!put_back(side)) {
        return false;
    }
    if (side->thread == DIFF_THREAD_NONE || side->is_scanned ||
        side->queue_count >= wanted) {
        return true;
    }
    if (side->queue_count > 0) {
        log_reader_go(side->reader, side->scanned);
    }
    while (side->queue_count < wanted && !side->is_scanned) {
        entry.place = log_reader_place(side->reader);
        if (side->is_over || !log_reader_next(side->reader, &side->item)) {
            side->is_scanned = true;
        } else if (read(side, &entry)) {
            if (!enqueue(side, &entry)) {
                return false;
            }
        } else if (side->has_failed) {
            return false;
        }
    }
    side->scanned = log_reader_place(side->reader);
    return true;
}
