/* Which module each call of a trace belongs to, by the call's number. */
#include "runtime/saved/trace_calls.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

struct saved_trace_call {
    uint32_t number;
    struct slice path; /* in the caller's arena */
};

void saved_trace_calls_release(struct saved_trace_calls *calls)
{
    memory_free(calls->items);
    *calls = (struct saved_trace_calls){NULL, 0, 0};
}

static bool is_before(const void *items, size_t place, uint64_t number)
{
    return ((const struct saved_trace_call *)items)[place].number < number;
}

/* The place of the first call whose number is not below. */
static size_t find(const struct saved_trace_calls *calls, uint32_t number)
{
    return sorted_place(calls->items, calls->count, is_before, number);
}

/* Calls of one module often follow each other, and then share the text. */
static struct slice
copy_path(const struct saved_trace_calls *calls, struct slice path, struct arena *arena)
{
    if (calls->count > 0 && slice_equal(calls->items[calls->count - 1].path, path)) {
        return calls->items[calls->count - 1].path;
    }
    return arena_copy(arena, path);
}

bool saved_trace_calls_add(struct saved_trace_calls *calls,
                           uint32_t number,
                           struct slice path,
                           struct arena *arena)
{
    struct saved_trace_call call = {number, copy_path(calls, path, arena)};
    size_t place = find(calls, number);
    void *items = calls->items;
    bool has_room;

    if (place < calls->count && calls->items[place].number == number) {
        return true; /* told again */
    }
    has_room =
        memory_grow(&items, &calls->capacity, calls->count + 1, sizeof *calls->items);
    calls->items = items;
    if (!has_room || call.path.bytes == NULL) {
        return false;
    }
    memmove(calls->items + place + 1, calls->items + place,
            (calls->count - place) * sizeof *calls->items);
    calls->items[place] = call;
    calls->count++;
    return true;
}

struct slice saved_trace_calls_path(const struct saved_trace_calls *calls,
                                    uint32_t number)
{
    size_t place = find(calls, number);

    return place < calls->count && calls->items[place].number == number
               ? calls->items[place].path
               : SLICE("");
}
