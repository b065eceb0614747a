/* All calls of a trace, by their numbers. */
#include "runtime/view/sql/tables/calls.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

#include <stdlib.h>

/* How many items are read between two looks at whether to go on. */
#define STEP 4096

void sql_calls_init(struct sql_calls *calls)
{
    *calls = (struct sql_calls){.calls = NULL};
    arena_init(&calls->arena);
}

void sql_calls_release(struct sql_calls *calls)
{
    memory_free(calls->calls);
    number_map_release(&calls->places);
    memory_free(calls->by_parent);
    arena_release(&calls->arena);
}

/* ---- by number ---- */

static struct sql_call *find(const struct sql_calls *calls, uint32_t call)
{
    uint32_t place = number_map_get(&calls->places, call);

    return place == NUMBER_MAP_NONE ? NULL : &calls->calls[place];
}

const struct sql_call *sql_calls_find(const struct sql_calls *calls, uint32_t call)
{
    return find(calls, call);
}

static struct sql_call *add(struct sql_calls *calls, const struct sql_call *call)
{
    void *items = calls->calls;

    if (calls->count >= NUMBER_MAP_NONE ||
        !memory_grow(&items, &calls->capacity, calls->count + 1,
                     sizeof *calls->calls)) {
        return NULL;
    }
    calls->calls = items;
    if (!number_map_put(&calls->places, call->call, (uint32_t)calls->count)) {
        return NULL;
    }
    calls->calls[calls->count] = *call;
    return &calls->calls[calls->count++];
}

/* ---- reading ---- */

static bool copy(struct sql_calls *calls, struct slice from, struct slice *to)
{
    *to = from.size == 0 ? SLICE("") : arena_copy(&calls->arena, from);
    return to->bytes != NULL;
}

static bool note_call(struct sql_calls *calls, const struct log_call_view *view)
{
    const struct sql_call *parent = find(calls, view->parent);
    struct sql_call call = {
        .call = view->call,
        .parent = view->parent,
        .depth = parent == NULL ? 0 : parent->depth + 1,
        .module_number = view->module_number,
        .function = (uint32_t)(view->function - view->module->table.functions),
        .line = view->line,
        .thread = view->thread,
        .flags = (uint8_t)view->flags,
        .is_begun = (view->flags & LOG_CALL_AGAIN) == 0,
        .time = view->time,
    };

    if (find(calls, view->call) != NULL) {
        return true;
    }
    return copy(calls, view->path, &call.path) &&
           copy(calls, view->class_name, &call.class_name) && add(calls, &call) != NULL;
}

/* A call whose beginning a ring has dropped is made up from what the event tells. */
static bool note_event(struct sql_calls *calls, const struct log_event_view *event)
{
    struct sql_call *call = find(calls, event->call);
    struct sql_call made = {
        .call = event->call,
        .module_number = event->module_number,
        .function = event->site->function,
        .thread = event->thread,
        .time = event->time,
        .path = SLICE(""),
        .class_name = SLICE(""),
    };

    call = call == NULL ? add(calls, &made) : call;
    if (call == NULL) {
        return false;
    }
    call->first_event = call->event_count == 0 ? event->number : call->first_event;
    call->last_event = event->number;
    call->event_count++;
    return true;
}

static bool note_item(struct sql_calls *calls, const struct log_item *item)
{
    struct sql_call *call;

    switch (item->kind) {
    case LOG_CALL:
        return note_call(calls, &item->call);
    case LOG_EVENT:
        return note_event(calls, &item->event);
    case LOG_END:
        call = find(calls, item->end.call);
        if (call != NULL) {
            call->how = (uint8_t)item->end.how;
            call->end_time = item->end.time;
        }
        return true;
    default:
        return true;
    }
}

static int compare_by_parent(const void *left, const void *right, void *context)
{
    const struct sql_call *calls = context;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    if (calls[a].parent != calls[b].parent) {
        return calls[a].parent < calls[b].parent ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static bool order_by_parent(struct sql_calls *calls)
{
    calls->by_parent = memory_allocate(calls->count, sizeof *calls->by_parent);
    if (calls->by_parent == NULL) {
        return false;
    }
    for (size_t i = 0; i < calls->count; i++) {
        calls->by_parent[i] = (uint32_t)i;
    }
    if (calls->count > 1) {
        qsort_r(calls->by_parent, calls->count, sizeof *calls->by_parent,
                compare_by_parent, calls->calls);
    }
    return true;
}

bool sql_calls_read(struct sql_calls *calls,
                    struct log_reader *reader,
                    const atomic_bool *is_interrupted,
                    struct error *error)
{
    struct log_item item;
    bool is_read = true;
    bool is_stopped = false;

    for (uint64_t i = 0; is_read && !is_stopped && log_reader_next(reader, &item);
         i++) {
        is_read = note_item(calls, &item);
        is_stopped = i % STEP == 0 && atomic_load(is_interrupted);
    }
    if (is_read && !is_stopped && order_by_parent(calls)) {
        calls->is_known = true;
        return true;
    }
    sql_calls_release(calls);
    sql_calls_init(calls);
    if (is_stopped) {
        *error = ERROR_INIT;
    } else {
        error_set_memory(error);
    }
    return false;
}

static bool is_parent_before(const void *list, size_t place, uint64_t parent)
{
    const struct sql_calls *calls = list;

    return calls->calls[calls->by_parent[place]].parent < parent;
}

void sql_calls_find_children(const struct sql_calls *calls,
                             uint32_t parent,
                             size_t *first,
                             size_t *end)
{
    *first = sorted_place(calls, calls->count, is_parent_before, parent);
    *end = sorted_place(calls, calls->count, is_parent_before, (uint64_t)parent + 1);
}
