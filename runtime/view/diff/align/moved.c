/* Items that stand elsewhere on the other side: tasks and generators that ran in another order,
 * parts of sets and dictionaries. */
#include "runtime/base/memory.h"
#include "runtime/view/diff/align/window.h"

#include <stdlib.h>

/* How far is looked for items of coroutines where that was in vain too often. */
#define NEAR_SIZE  32
#define FAR_CREDIT 64

struct diff_moved {
    uint64_t key;
    uint32_t index; /* in the queue */
    uint16_t side;
    bool is_later; /* nothing is decided about it */
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
bool diff_moved_list(struct diff_window *window, const uint32_t ends[2], size_t *count)
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
        for (uint32_t i = 0; i < window->counts[side]; i++) {
            uint32_t index = window->places[side][i];

            if (!window->has_partner[side][i]) {
                window->moved[(*count)++] = (struct diff_moved){
                    .key = window->keys[side][i],
                    .index = index,
                    .side = (uint16_t)side,
                    .is_later = i >= ends[side],
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

/* ---- far ahead ---- */

static struct diff_entry *
find_ahead(struct diff_side *side, const struct diff_entry *like, size_t size)
{
    struct diff_entry *entries = side->queue + side->queue_first;
    size_t count = side->queue_count < size ? side->queue_count : size;
    uint64_t around = diff_entry_around(like);

    for (size_t i = 0; i < count; i++) {
        if (entries[i].local == like->local && entries[i].kind == like->kind &&
            entries[i].decision == DIFF_UNDECIDED &&
            diff_entry_around(&entries[i]) == around) {
            return &entries[i];
        }
    }
    return NULL;
}

/* Calls that run in turns do so in any order. */
static bool may_come(const struct diff_entry *entry)
{
    return entry->decision == DIFF_ALONE && entry->has_counterpart &&
           entry->kind != LOG_CALL && entry->call->is_generator &&
           diff_call_of(entry->call)->is_paired;
}

/* The oftener it is in vain, the less far is looked. */
static void note_search(struct diff_window *window, bool is_found)
{
    if (is_found) {
        window->far_credit += window->far_credit < FAR_CREDIT;
    } else if (window->far_credit > 0) {
        window->far_credit--;
    }
}

static bool find_far_of(struct diff_window *window,
                        struct diff_side sides[2],
                        unsigned side,
                        uint32_t end)
{
    struct diff_side *other = &sides[1 - side];

    for (uint32_t i = 0; i < end; i++) {
        struct diff_entry *entry =
            &sides[side].queue[sides[side].queue_first + window->places[side][i]];
        struct diff_entry *found;
        size_t size = window->far_credit > 0 ? window->far_size : NEAR_SIZE;

        if (!may_come(entry)) {
            continue;
        }
        if (!diff_side_look_ahead(other, size)) {
            return false;
        }
        found = find_ahead(other, entry, size);
        note_search(window, found != NULL);
        if (found != NULL) {
            entry->decision = found->decision = DIFF_MOVED;
            entry->moved = found->moved = ++window->moved_count;
        }
    }
    return true;
}

bool diff_moved_find_far(struct diff_window *window,
                         struct diff_side sides[2],
                         const uint32_t ends[2])
{
    return find_far_of(window, sides, 0, ends[0]) &&
           find_far_of(window, sides, 1, ends[1]);
}
