/* Reading one of two traces: its items one by one, and ahead. */
#include "runtime/view/diff/align/side.h"

#include "runtime/base/memory.h"

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

/* Where the threads have their items is noted the first time that the trace is read. */
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

static bool take_call(struct diff_side *side, struct diff_entry *entry)
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
    /* One that is told again was begun before what the trace holds. */
    return is_wanted(side, view->thread, &entry->place) &&
           (view->flags & LOG_CALL_AGAIN) == 0;
}

static bool take_event(struct diff_side *side, struct diff_entry *entry)
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

static bool take_end(struct diff_side *side, struct diff_entry *entry)
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

/* Whether the item that was read is one to be aligned. */
static bool take(struct diff_side *side, struct diff_entry *entry)
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
    /* Where a ring begins, it is known of neither trace in which turns its calls are. */
    side->gap += was_before && !side->is_before;
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
        if (take(side, &side->head)) {
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
        if (side->is_over || !log_reader_next(side->reader, &side->item)) {
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
