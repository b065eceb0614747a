/* Window: a look ahead at both traces that grows until a run of items is found in both. */
#include "runtime/view/diff/align/window.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff/sites/sequence.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- members of two sequences that may have a partner at all ---- */

/* With fewer pairs than this, no member is filtered out: that is quicker. */
#define FEW_PAIRS 1024

static void diff_common_release(struct diff_common *common)
{
    for (unsigned side = 0; side < 2; side++) {
        memory_free(common->kept[side]);
        memory_free(common->keys[side]);
    }
    memory_free(common->table);
    *common = (struct diff_common){0};
}

/* Grows one of several arrays that share a capacity, as memory_grow does. `capacity` is the old
 * capacity; `*grown` becomes the new one, to be stored after all arrays have grown. */
static bool diff_grow_one(
    void **items, size_t capacity, size_t wanted, size_t item_size, size_t *grown)
{
    *grown = capacity;
    return memory_grow(items, grown, wanted, item_size);
}

static bool reserve(struct diff_common *common, unsigned side, size_t count)
{
    void *kept = common->kept[side];
    void *keys = common->keys[side];
    size_t before = common->capacities[side];
    size_t grown = before;
    bool is_done =
        diff_grow_one(&kept, before, count, sizeof *common->kept[side], &grown) &&
        diff_grow_one(&keys, before, count, sizeof *common->keys[side], &grown);

    common->kept[side] = kept;
    common->keys[side] = keys;
    common->capacities[side] = is_done ? grown : before;
    return is_done;
}

/* Returns the slot of a key in a hash table whose size is a power of two and which is never
 * full. */
static uint64_t *place_of(uint64_t *table, size_t size, uint64_t key)
{
    size_t at = (size_t)(key ^ key >> 32) & (size - 1);

    while (table[at] != 0 && table[at] != key) {
        at = (at + 1) & (size - 1);
    }
    return &table[at];
}

/* Keeps the members of `side` that the other side has, too. Returns false if memory ran out. */
static bool keep(struct diff_common *common,
                 unsigned side,
                 uint64_t *const keys[2],
                 uint64_t *const other_keys[2],
                 const uint32_t counts[2])
{
    unsigned other = 1 - side;
    void *table = common->table;
    size_t size = 16;

    while (size < (size_t)counts[other] * 4) {
        size *= 2;
    }
    if (!memory_grow(&table, &common->table_capacity, size, sizeof *common->table)) {
        return false;
    }
    common->table = table;
    memset(common->table, 0, size * sizeof *common->table);
    for (uint32_t i = 0; i < counts[other]; i++) {
        *place_of(common->table, size, keys[other][i] | 1) = keys[other][i] | 1;
        *place_of(common->table, size, other_keys[other][i] | 1) =
            other_keys[other][i] | 1;
    }
    common->counts[side] = 0;
    for (uint32_t i = 0; i < counts[side]; i++) {
        if (*place_of(common->table, size, keys[side][i] | 1) != 0 ||
            *place_of(common->table, size, other_keys[side][i] | 1) != 0) {
            common->keys[side][common->counts[side]] = keys[side][i];
            common->kept[side][common->counts[side]++] = i;
        }
    }
    return true;
}

/* Returns false if memory ran out. */
static bool diff_common_find(struct diff_common *common,
                             uint64_t *const keys[2],
                             uint64_t *const other_keys[2],
                             const uint32_t counts[2])
{
    if (!reserve(common, 0, counts[0]) || !reserve(common, 1, counts[1])) {
        return false;
    }
    if ((uint64_t)counts[0] * counts[1] > FEW_PAIRS) {
        return keep(common, 0, keys, other_keys, counts) &&
               keep(common, 1, keys, other_keys, counts);
    }
    for (unsigned side = 0; side < 2; side++) {
        common->counts[side] = counts[side];
        for (uint32_t i = 0; i < counts[side]; i++) {
            common->keys[side][i] = keys[side][i];
            common->kept[side][i] = i;
        }
    }
    return true;
}

/* Moved items: they are elsewhere on the other side, such as tasks and generators that ran in
 * another order, or parts of sets and dictionaries. */

/* Distance to which items of coroutines are searched after too many searches failed. */
#define NEAR_SIZE  32
#define FAR_CREDIT 64

struct diff_moved {
    uint64_t key;
    uint32_t index; /* in the queue */
    uint16_t side;
    bool is_later; /* after the cut: undecided */
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

/* Lists the items without a counterpart in their places, sorted by key: those before the cut
 * `ends`, and undecided ones after it. Returns false if memory ran out. */
static bool
diff_moved_list(struct diff_window *window, const uint32_t ends[2], size_t *count)
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

/* Pairs the items of the list. Each has no counterpart in its place, and may have one elsewhere
 * on the other side. */
static void
diff_moved_pair(struct diff_window *window, struct diff_side sides[2], size_t count)
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

/* Whether the entry may have a counterpart far ahead: it is in a generator or coroutine, which
 * may run in another order. */
static bool may_come(const struct diff_entry *entry)
{
    return entry->decision == DIFF_ALONE && entry->has_counterpart &&
           entry->kind != LOG_CALL && entry->call->is_generator &&
           diff_call_of(entry->call)->is_paired;
}

/* Adjusts the credit for far searches: too many failures end them. */
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
        if (!diff_side_read_ahead(other, size)) {
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

/* Pairs items of coroutines and generators before the cut with later ones of the other side.
 * Returns false if memory ran out. */
static bool diff_moved_find_far(struct diff_window *window,
                                struct diff_side sides[2],
                                const uint32_t ends[2])
{
    return find_far_of(window, sides, 0, ends[0]) &&
           find_far_of(window, sides, 1, ends[1]);
}

#define FIRST_SIZE 16
#define GROWTH     4
#define LIMIT      16384
/* This many equal items in a row are no coincidence. */
#define RUN 3
/* Window size up to which only equal items are searched, before similar ones are accepted. */
#define LIKE_SIZE 512
/* Distance to which items of coroutines that run in another order are searched. */
#define FAR_SIZE   256
#define FAR_CREDIT 64
/* Turns of a window that are searched in the other one, at most. */
#define LOOPS_MAX 16

#define SCORE_SAME  8
#define SCORE_VISIT 1
#define SCORE_LIKE  2

void diff_window_release(struct diff_window *window)
{
    for (unsigned side = 0; side < 2; side++) {
        memory_free(window->keys[side]);
        memory_free(window->places[side]);
        memory_free(window->has_partner[side]);
        memory_free(window->like_keys[side]);
    }
    memory_free(window->partners);
    memory_free(window->found);
    diff_common_release(&window->common);
    memory_free(window->moved);
    *window = (struct diff_window){.limit = window->limit};
}

/* ---- comparison of entries ---- */

struct pair_context {
    const struct diff_window *window;
    const struct diff_entry *entries[2]; /* start of each queue */
};

static const struct diff_entry *
entry_at(const struct pair_context *context, unsigned side, uint32_t index)
{
    const struct diff_window *window = context->window;

    return &context
                ->entries[side][window->places[side][window->common.kept[side][index]]];
}

/* Whether calls without a pair may be counterparts nevertheless: one of them was made by another
 * function or by a line that only one program has, or its place is not known. */
static bool are_alike_calls(const struct open_call *a, const struct open_call *b)
{
    for (;;) {
        const struct diff_call *left = diff_call_of(a);
        const struct diff_call *right = diff_call_of(b);
        bool has_place = left->has_place && right->has_place;

        if (left->local != right->local || left->is_paired || right->is_paired) {
            return false;
        }
        if (a->parent == NULL || b->parent == NULL) {
            return (a->is_begun && b->is_begun) || a->call == b->call;
        }
        a = a->parent;
        b = b->parent;
        if (diff_call_of(a)->chain == diff_call_of(b)->chain) {
            return !has_place || left->place == right->place;
        }
        if (diff_call_of(a)->local != diff_call_of(b)->local) {
            return true;
        }
        if (has_place && left->place != right->place) {
            return false;
        }
    }
}

static bool are_alike(const struct diff_entry *a, const struct diff_entry *b)
{
    return a->local == b->local && a->kind == b->kind &&
           are_alike_calls(a->call, b->call);
}

static uint32_t score_entries(const void *context, uint32_t a, uint32_t b)
{
    const struct pair_context *pair = context;
    const struct diff_entry *left = entry_at(pair, 0, a);
    const struct diff_entry *right = entry_at(pair, 1, b);

    if (pair->window->common.keys[0][a] == pair->window->common.keys[1][b]) {
        return SCORE_SAME + (left->visit == right->visit ? SCORE_VISIT : 0);
    }
    return are_alike(left, right) ? SCORE_LIKE : 0;
}

static bool window_reserve(struct diff_window *window, unsigned side, size_t count)
{
    void *keys = window->keys[side];
    void *places = window->places[side];
    void *flags = window->has_partner[side];
    void *like_keys = window->like_keys[side];
    size_t before = window->capacity[side];
    size_t grown = before;
    bool is_done =
        diff_grow_one(&keys, before, count, sizeof *window->keys[side], &grown) &&
        diff_grow_one(&places, before, count, sizeof *window->places[side], &grown) &&
        diff_grow_one(&flags, before, count, sizeof(bool), &grown) &&
        diff_grow_one(&like_keys, before, count, sizeof *window->like_keys[side],
                      &grown);

    window->keys[side] = keys;
    window->places[side] = places;
    window->has_partner[side] = flags;
    window->like_keys[side] = like_keys;
    window->capacity[side] = is_done ? grown : before;
    return is_done;
}

/* Collects the undecided entries with their keys. Keys are computed anew, since calls may have
 * been paired after they were read. Returns false if memory ran out. */
static bool
window_fill(struct diff_window *window, unsigned side, const struct diff_side *from)
{
    const struct diff_entry *entries = from->queue + from->queue_first;

    window->counts[side] = 0;
    if (!window_reserve(window, side, from->queue_count)) {
        return false;
    }
    for (size_t i = 0; i < from->queue_count; i++) {
        if (entries[i].kind == LOG_CALL) {
            diff_call_settle(entries[i].call);
        }
        if (entries[i].decision == DIFF_UNDECIDED) {
            window->keys[side][window->counts[side]] =
                diff_mix(diff_entry_around(&entries[i]), entries[i].local);
            window->like_keys[side][window->counts[side]] =
                diff_mix(diff_call_of(entries[i].call)->local, entries[i].local);
            window->places[side][window->counts[side]++] = (uint32_t)i;
        }
    }
    return true;
}

/* Translates partners among the common members into partners among all members. */
static void note_partners(struct diff_window *window)
{
    const struct diff_common *common = &window->common;

    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < window->counts[side]; i++) {
            window->has_partner[side][i] = false;
        }
    }
    for (uint32_t i = 0; i < window->counts[0]; i++) {
        window->partners[i] = DIFF_SEQUENCE_NONE;
    }
    for (uint32_t i = 0; i < common->counts[0]; i++) {
        if (window->found[i] != DIFF_SEQUENCE_NONE) {
            uint32_t partner = common->kept[1][window->found[i]];

            window->partners[common->kept[0][i]] = partner;
            window->has_partner[0][common->kept[0][i]] = true;
            window->has_partner[1][partner] = true;
        }
    }
}

/* Whether partners have the same order on both sides, and each is an entry of B. For asserts. */
static __attribute__((unused)) bool
partners_are_in_order(const struct diff_window *window)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < window->counts[0]; i++) {
        uint32_t partner = window->partners[i];

        if (partner != DIFF_SEQUENCE_NONE) {
            if (partner < next || partner >= window->counts[1]) {
                return false;
            }
            next = partner + 1;
        }
    }
    return true;
}

static bool window_align(struct diff_window *window, const struct diff_side sides[2])
{
    struct diff_common *common = &window->common;
    struct pair_context context = {.window = window};
    struct diff_sequence sequence = {.context = &context, .score = score_entries};
    void *partners = window->partners;
    void *found = window->found;

    for (unsigned side = 0; side < 2; side++) {
        if (!window_fill(window, side, &sides[side])) {
            return false;
        }
        context.entries[side] = sides[side].queue + sides[side].queue_first;
    }
    if (!diff_common_find(common, window->keys, window->like_keys, window->counts)) {
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        sequence.keys[side] = common->keys[side];
        sequence.counts[side] = common->counts[side];
    }
    if (!memory_grow(&partners, &window->partner_capacity, window->counts[0],
                     sizeof *window->partners)) {
        return false;
    }
    window->partners = partners;
    if (!memory_grow(&found, &window->found_capacity, window->counts[0],
                     sizeof *window->found)) {
        return false;
    }
    window->found = found;
    if (!diff_sequence_align(&sequence, window->found)) {
        return false;
    }
    note_partners(window);
    assert(partners_are_in_order(window));
    return true;
}

/* ---- decisions ---- */

/* A prefix of both windows: the number of entries of each side. */
struct cut {
    uint32_t ends[2];
};

/* Finds the end of the first run that is long enough; with `is_like`, similar entries count too.
 * Returns false if there is none. */
static bool find_run(const struct diff_window *window, bool is_like, struct cut *cut)
{
    uint32_t run = 0;

    for (uint32_t i = 0; i < window->counts[0]; i++) {
        uint32_t partner = window->partners[i];

        if (partner == DIFF_SEQUENCE_NONE ||
            (!is_like && window->keys[0][i] != window->keys[1][partner])) {
            run = 0;
            continue;
        }
        run = run > 0 && partner == window->partners[i - 1] + 1 ? run + 1 : 1;
        *cut = (struct cut){{i + 1, partner + 1}};
        if (run >= RUN) {
            return true;
        }
    }
    return false;
}

/* Finds the end of the last pair. Returns false if there is none. */
static bool find_last(const struct diff_window *window, struct cut *cut)
{
    for (uint32_t i = window->counts[0]; i-- > 0;) {
        if (window->partners[i] != DIFF_SEQUENCE_NONE) {
            *cut = (struct cut){{i + 1, window->partners[i] + 1}};
            return true;
        }
    }
    return false;
}

static bool
window_decide(struct diff_window *window, struct diff_side sides[2], struct cut cut)
{
    size_t count;

    for (unsigned side = 0; side < 2; side++) {
        struct diff_entry *entries = sides[side].queue + sides[side].queue_first;

        for (uint32_t i = 0; i < cut.ends[side]; i++) {
            entries[window->places[side][i]].decision = DIFF_ALONE;
        }
    }
    for (uint32_t i = 0; i < cut.ends[0]; i++) {
        uint32_t partner = window->partners[i];

        if (partner != DIFF_SEQUENCE_NONE) {
            sides[0].queue[sides[0].queue_first + window->places[0][i]].decision =
                DIFF_PAIRED;
            sides[1].queue[sides[1].queue_first + window->places[1][partner]].decision =
                DIFF_PAIRED;
        }
    }
    if (!diff_moved_list(window, cut.ends, &count)) {
        return false;
    }
    diff_moved_pair(window, sides, count);
    return diff_moved_find_far(window, sides, cut.ends);
}

/* Skips a call with all its items if it fills a window without a match. Returns false if the
 * window does not start with a call. */
static bool
pass_over(struct diff_window *window, struct diff_side *side, unsigned number)
{
    struct diff_entry *entries = side->queue + side->queue_first;

    if (side->is_scanned || window->counts[number] == 0 ||
        entries[window->places[number][0]].kind != LOG_CALL) {
        return false;
    }
    side->passed_over = entries[window->places[number][0]].call->call;
    return true;
}

/* Finds a loop that both windows have turns of, and returns the side whose turn is the earlier
 * one: a ring, or damage, removed the turns from the other side. 2: there is no such loop. */
static unsigned find_behind(const struct diff_window *window,
                            const struct diff_side sides[2])
{
    const struct diff_entry *entries[2] = {
        sides[0].queue + sides[0].queue_first,
        sides[1].queue + sides[1].queue_first,
    };
    uint32_t inspected = 0;

    for (uint32_t i = 0; i < window->counts[0] && inspected < LOOPS_MAX; i++) {
        const struct diff_entry *turn = &entries[0][window->places[0][i]];

        inspected += turn->loop != 0;
        for (uint32_t k = 0; k < window->counts[1] && turn->loop != 0; k++) {
            const struct diff_entry *other = &entries[1][window->places[1][k]];

            if (other->loop == turn->loop && other->visit != turn->visit) {
                return turn->visit < other->visit ? 0 : 1;
            }
            if (other->loop == turn->loop) {
                break;
            }
        }
    }
    return 2;
}

/* Decides on both windows if no run was found. Returns false if memory ran out. */
static bool give_up(struct diff_window *window, struct diff_side sides[2])
{
    unsigned behind = find_behind(window, sides);
    struct cut cut = {{window->counts[0], window->counts[1]}};
    bool is_passed_over;

    if (behind < 2) {
        cut.ends[1 - behind] = 0;
        return window_decide(window, sides, cut);
    }
    is_passed_over = pass_over(window, &sides[0], 0);
    is_passed_over = pass_over(window, &sides[1], 1) || is_passed_over;
    return is_passed_over || window_decide(window, sides, cut);
}

/* Accepts similar entries in smaller windows from now on: a search for equal ones failed and is
 * expensive. */
static void note_like(struct diff_window *window)
{
    if (window->like_size > FIRST_SIZE) {
        window->like_size /= 2;
    }
}

/* Whether all that is left is in the queue. */
static bool is_whole(const struct diff_side *side)
{
    return side->is_scanned || side->thread == DIFF_THREAD_NONE;
}

bool diff_window_decide(struct diff_window *window, struct diff_side sides[2])
{
    size_t limit = window->limit == 0 ? LIMIT : window->limit;

    if (window->like_size == 0) {
        window->like_size = LIKE_SIZE;
        window->far_size = FAR_SIZE;
        window->far_credit = FAR_CREDIT;
    }
    for (size_t size = FIRST_SIZE < limit ? FIRST_SIZE : limit;; size *= GROWTH) {
        struct cut cut;

        if (!diff_side_read_ahead(&sides[0], size) ||
            !diff_side_read_ahead(&sides[1], size) || !window_align(window, sides)) {
            return false;
        }
        if (find_run(window, false, &cut)) {
            return window_decide(window, sides, cut);
        }
        if (is_whole(&sides[0]) && is_whole(&sides[1])) {
            cut = (struct cut){{window->counts[0], window->counts[1]}};
            return window_decide(window, sides, cut);
        }
        if (size >= window->like_size && find_run(window, true, &cut)) {
            note_like(window);
            return window_decide(window, sides, cut);
        }
        if (size * GROWTH > limit) {
            return find_last(window, &cut) ? window_decide(window, sides, cut)
                                           : give_up(window, sides);
        }
    }
}
