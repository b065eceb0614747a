/* Reading one of two traces: what each item is called in terms of both. */
#include "runtime/view/diff_side.h"

#include "runtime/base/hash.h"
#include "runtime/base/memory.h"

/* What an item is in its call, apart from its site. */
#define LOCAL_END  0x71u
#define LOCAL_CALL 0x72u
#define CHAIN_ROOT 0x73u
/* In a turn that began before what the trace holds. */
#define LOCAL_VISIT 0x74u

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
        .threads = memory_allocate_zeroed(DIFF_THREAD_COUNT, 1),
    };
    open_calls_init(&side->calls);
    return side->threads != NULL;
}

static void release_waiting(struct diff_side *side)
{
    while (side->waiting != NULL) {
        struct diff_waiting *waiting = side->waiting;

        side->waiting = waiting->next;
        memory_free(waiting);
    }
}

void diff_side_release(struct diff_side *side)
{
    release_waiting(side);
    open_calls_release(&side->calls);
    memory_free(side->threads);
    memory_free(side->queue);
    *side = (struct diff_side){0};
}

void diff_side_start(struct diff_side *side, uint32_t thread)
{
    release_waiting(side);
    open_calls_release(&side->calls);
    log_reader_rewind(side->reader);
    side->thread = thread;
    side->has_head = false;
    side->queue_first = side->queue_count = 0;
    side->is_scanned = false;
    side->data_event = UINT64_MAX;
    side->passed_over = 0;
    side->next_event = 0;
    side->last = (struct diff_value){0};
}

/* ---- calls ---- */

/* The modules that a number of the trace may mean. */
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

/* The nearest nn.Module that the call is within; NULL: none. */
static const struct open_call *module_call(const struct open_call *call)
{
    while (call != NULL && call->class_name.size == 0) {
        call = call->parent;
    }
    return call;
}

/* The nn.Module's path as seen from the one that called it, so that a model may be a part of
 * a larger one. */
static uint64_t path_hash(struct diff_side *side, const struct open_call *call)
{
    const struct open_call *outer = module_call(call->parent);
    struct diff_names *names = &side->sites->names;
    size_t start = 0;

    if (call->class_name.size == 0) {
        return 0;
    }
    if (outer != NULL && !diff_call_of(outer)->has_counterpart) {
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
    return diff_names_hash(names, side->number,
                           slice_part(call->path, start, call->path.size));
}

/* Where events were lost, nobody knows in which turns a call is. */
static void note_gap(const struct diff_side *side, struct diff_call *call)
{
    if (call->gap == side->gap) {
        return;
    }
    call->gap = side->gap;
    call->is_cut = true;
    for (uint32_t i = 0; i < call->turn_count; i++) {
        call->turns[i] = (struct diff_turn){0};
    }
}

/* Where in its caller a call was made: the line, and the turns of the loops around it. */
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
    note_gap(side, diff_call_of(parent));
    loop = module->line_loops[call->line];
    while (loop != DIFF_NONE &&
           (module->module->table.sites[loop].function != parent->function ||
            module->sites[loop].partner == DIFF_NONE)) {
        loop = module->sites[loop].around;
    }
    if (loop != DIFF_NONE) {
        turn = diff_call_of(parent)->turns[module->sites[loop].slot].hash;
    }
    /* Begun before what the trace holds, in a turn that nothing is known of. */
    if (loop != DIFF_NONE && turn == 0 && diff_call_of(parent)->is_cut) {
        turn = call->call;
    }
    return diff_mix(module->lines[call->line], turn);
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

/* Gives a new call what is kept with it. */
static bool call_prepare(struct diff_side *side, struct open_call *call)
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
    extra->local = diff_mix(function->key, path_hash(side, call)) ^ LOCAL_CALL;
    diff_call_settle(call);
    return true;
}

static void hold(struct diff_entry *entry)
{
    entry->is_held = true;
    entry->call->child_count++;
}

static void release_call(struct diff_side *side, struct open_call *call)
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
    release_call(side, entry->call);
}

/* ---- what an event is ---- */

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

/* The turn of a loop; `site` is the loop's. */
static uint64_t
turn_hash(const struct diff_module *module, const struct diff_call *call, uint32_t site)
{
    return site != DIFF_NONE && module->sites[site].slot < call->turn_count
               ? call->turns[module->sites[site].slot].hash
               : 0;
}

/* A loop goes into its next turn. Turns are counted from where it was begun; where that was
 * before the trace's beginning, from the call's. */
static uint64_t next_turn(const struct diff_module *module,
                          struct diff_call *call,
                          uint32_t number,
                          uint32_t visit)
{
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

static void event_fill(struct diff_side *side, struct diff_entry *entry)
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
    if (turn == 0 && site->loop != DIFF_NONE && call->is_cut) {
        turn = diff_mix(event->visit, LOCAL_VISIT);
    }
    if (event->site->kind == SITE_LOOP) {
        entry->loop = (uint32_t)diff_mix(site->key, call->local) | 1;
    }
    entry->local = diff_mix(site->key, turn);
    if (event->site->write_count > 1 || (event->flags & LOG_EVENT_READ) != 0) {
        entry->local = diff_mix(
            entry->local, module->name_keys[site->first_name + name_index(event)] ^
                              (event->flags & LOG_EVENT_READ));
    }
    if (event->path.size > 0) {
        entry->local = diff_mix(entry->local, hash_64(event->path));
    }
}

/* ---- items ---- */

static bool is_wanted(struct diff_side *side, uint16_t thread)
{
    if (side->threads[thread] == DIFF_THREAD_UNSEEN) {
        side->threads[thread] = DIFF_THREAD_SEEN;
    }
    return thread == side->thread;
}

static bool take_call(struct diff_side *side, struct diff_entry *entry)
{
    const struct log_call_view *view = &side->item.call;
    bool is_new;

    entry->call = open_calls_begin(&side->calls, view, &is_new);
    if (entry->call == NULL) {
        side->has_failed = true;
        return false;
    }
    if (!is_new || !call_prepare(side, entry->call)) {
        return false;
    }
    entry->local = diff_call_of(entry->call)->local;
    entry->has_counterpart = diff_call_of(entry->call)->has_counterpart;
    /* One that is told again was begun before what the trace holds. */
    return is_wanted(side, view->thread) && (view->flags & LOG_CALL_AGAIN) == 0;
}

static bool take_event(struct diff_side *side, struct diff_entry *entry)
{
    const struct log_event_view *event = &side->item.event;
    bool is_new;

    side->gap += event->number > side->next_event;
    side->next_event =
        event->number >= side->next_event ? event->number + 1 : side->next_event;
    if (!is_wanted(side, event->thread)) {
        return false;
    }
    entry->call = open_calls_of_event(&side->calls, event, &is_new);
    if (entry->call == NULL) {
        side->has_failed = true;
        return false;
    }
    if (entry->call->extra == NULL && !call_prepare(side, entry->call)) {
        return false;
    }
    note_gap(side, diff_call_of(entry->call));
    event_fill(side, entry);
    return !side->has_failed;
}

static bool take_end(struct diff_side *side, struct diff_entry *entry)
{
    entry->call = open_calls_find(&side->calls, side->item.end.call);
    if (entry->call == NULL || entry->call->extra == NULL) {
        return false;
    }
    if (!is_wanted(side, entry->call->thread)) {
        open_calls_end(&side->calls, entry->call);
        return false;
    }
    entry->local = LOCAL_END;
    entry->has_counterpart = diff_call_of(entry->call)->has_counterpart;
    return true;
}

/* Whether the item that was read is one to be aligned. */
static bool take(struct diff_side *side, struct diff_entry *entry)
{
    entry->kind = (uint8_t)side->item.kind;
    entry->decision = DIFF_UNDECIDED;
    entry->is_held = false;
    entry->visit = 0;
    entry->loop = 0;
    switch (side->item.kind) {
    case LOG_EVENT:
        return take_event(side, entry);
    case LOG_CALL:
        return take_call(side, entry);
    case LOG_END:
        return take_end(side, entry);
    default:
        return false;
    }
}

static bool is_wanted_data(const struct diff_side *side)
{
    return side->item.kind == LOG_DATA && side->item.data.event == side->data_event;
}

/* The item of the first one in the queue. A ring that is being written may have lost it. */
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
        if (side->has_failed || !log_reader_next(side->reader, &side->item)) {
            return DIFF_READ_END;
        }
        if (is_wanted_data(side)) {
            return DIFF_READ_DATA;
        }
        if (take(side, &side->head)) {
            side->data_event = UINT64_MAX;
            side->has_head = true;
            hold(&side->head);
            return DIFF_READ_HEAD;
        }
    }
}

void diff_side_consume(struct diff_side *side)
{
    struct open_call *call = side->head.call;

    if (!side->has_head) {
        return;
    }
    side->has_head = false;
    if (side->head.kind == LOG_END) {
        if (side->passed_over == call->call) {
            side->passed_over = 0;
        }
        call->is_ended = true;
    }
    let_go(side, &side->head);
}

/* ---- items that wait ---- */

bool diff_side_wait(struct diff_side *side)
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
        .next = side->waiting,
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
    side->waiting = waiting;
    waiting->call->child_count++;
    return true;
}

struct diff_waiting *diff_side_take_waiting(struct diff_side *side, uint32_t moved)
{
    struct diff_waiting **place = &side->waiting;
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

void diff_side_free_waiting(struct diff_side *side, struct diff_waiting *waiting)
{
    if (waiting != NULL) {
        release_call(side, waiting->call);
        memory_free(waiting);
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

/* The head becomes the first of the queue. */
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

bool diff_side_look_ahead(struct diff_side *side, size_t wanted)
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
        if (!log_reader_next(side->reader, &side->item)) {
            side->is_scanned = true;
        } else if (take(side, &entry)) {
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
