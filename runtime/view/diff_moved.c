/* Items that stand elsewhere on the other side: tasks and generators that ran in another order,
 * parts of sets and dictionaries. */
#include "runtime/base/memory.h"
#include "runtime/view/diff_window.h"

#include <stdlib.h>

struct diff_moved {
    uint64_t key;
    uint32_t index; /* in the queue */
    uint16_t side;
    bool is_later;     /* nothing is decided about it */
    bool is_resumable; /* of a coroutine or generator */
};

static int compare_moved(const void *left, const void *right)
{
    const struct diff_moved *a = left;
    const struct diff_moved *b = right;

    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->side != b->side) {
        return a->side < b->side ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

static void pair_moved(struct diff_window *window,
                       struct diff_side sides[2],
                       const struct diff_moved *moved,
                       size_t count)
{
    size_t b = 0;

    for (size_t a = 0; a < count && moved[a].side == 0; a++) {
        while (b < count && moved[b].side == 0) {
            b++;
        }
        if (b == count) {
            return;
        }
        if (moved[a].is_later && moved[b].is_later) {
            return;
        }
        window->moved_count++;
        for (unsigned side = 0; side < 2; side++) {
            struct diff_entry *entry =
                &sides[side]
                     .queue[sides[side].queue_first + moved[side == 0 ? a : b].index];

            entry->decision = DIFF_MOVED;
            entry->moved = window->moved_count;
        }
        b++;
    }
}

/* Lists what has no counterpart in its place, by keys: before the cut, and behind it, where
 * nothing is decided yet. */
bool diff_moved_list(struct diff_window *window,
                     const struct diff_side sides[2],
                     const uint32_t ends[2],
                     size_t *count)
{
    void *items = window->moved;

    *count = 0;
    if (!memory_grow(&items, &window->moved_capacity,
                     (size_t)window->counts[0] + window->counts[1],
                     sizeof *window->moved)) {
        return false;
    }
    window->moved = items;
    for (unsigned side = 0; side < 2; side++) {
        const struct diff_entry *entries = sides[side].queue + sides[side].queue_first;

        for (uint32_t i = 0; i < window->counts[side]; i++) {
            uint32_t index = window->places[side][i];

            if (!window->has_partner[side][i]) {
                window->moved[(*count)++] = (struct diff_moved){
                    .key = window->keys[side][i],
                    .index = index,
                    .side = (uint16_t)side,
                    .is_later = i >= ends[side],
                    .is_resumable = entries[index].call->is_generator,
                };
            }
        }
    }
    qsort(window->moved, *count, sizeof *window->moved, compare_moved);
    return true;
}

static size_t group_end(const struct diff_moved *moved, size_t start, size_t count)
{
    size_t end = start + 1;

    while (end < count && moved[end].key == moved[start].key) {
        end++;
    }
    return end;
}

/* Whether an item of a coroutine or generator is before the cut that may come later on the
 * other side, as these run in any order. */
bool diff_moved_may_come(const struct diff_window *window, size_t count)
{
    const struct diff_moved *moved = window->moved;

    for (size_t i = 0; i < count;) {
        size_t end = group_end(moved, i, count);

        if (moved[i].side == moved[end - 1].side && moved[i].is_resumable &&
            !moved[i].is_later) {
            return true;
        }
        i = end;
    }
    return false;
}

/* What is alone on one side, and stands elsewhere on the other one too, as tasks run in another
 * order, is paired all the same. */
void diff_moved_pair(struct diff_window *window,
                     struct diff_side sides[2],
                     size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t end = group_end(window->moved, i, count);

        pair_moved(window, sides, window->moved + i, end - i);
        i = end;
    }
}
