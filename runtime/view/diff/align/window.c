/* Looking ahead in growing windows, until a run of items is found in both. */
#include "runtime/view/diff/align/window.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff/sites/sequence.h"

#define FIRST_SIZE 16
#define GROWTH     4
#define LIMIT      16384
/* So many items in a row that are the same in both are no chance. */
#define RUN 3
/* In how large a window what is the same is looked for before what is alike is taken. */
#define LIKE_SIZE 512
/* And items of coroutines that run in another order. */
#define FAR_SIZE   256
#define FAR_CREDIT 64
/* So many turns of a window are looked for in the other one. */
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

/* ---- what is compared ---- */

struct pair_context {
    const struct diff_window *window;
    const struct diff_entry *entries[2]; /* the queues' first ones */
};

static const struct diff_entry *
entry_at(const struct pair_context *context, unsigned side, uint32_t index)
{
    const struct diff_window *window = context->window;

    return &context
                ->entries[side][window->places[side][window->common.kept[side][index]]];
}

/* Whether calls that have no pair may be the same all the same: one of them was made by another
 * function or by a line that one program has alone, or where it was made is not known. */
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

/* The entries that are undecided; calls may have found pairs since they were read. */
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

/* Partners among all from those among what both have. */
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
    return true;
}

/* ---- what is decided ---- */

/* Entries of both sides up to, but without, these. */
struct cut {
    uint32_t ends[2];
};

/* The end of the first run that is long enough; of what is only alike too where `is_like`. */
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

/* The last pair; false: there is none. */
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

/* A call that fills a window in which nothing is found is passed over with all in it. */
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

/* Of the turns of a loop that are ahead on both sides, the side whose turns are earlier ones: a
 * ring, or damage, has taken what the other one still has. 2: there is none. */
static unsigned find_behind(const struct diff_window *window,
                            const struct diff_side sides[2])
{
    const struct diff_entry *entries[2] = {
        sides[0].queue + sides[0].queue_first,
        sides[1].queue + sides[1].queue_first,
    };
    uint32_t looked = 0;

    for (uint32_t i = 0; i < window->counts[0] && looked < LOOPS_MAX; i++) {
        const struct diff_entry *turn = &entries[0][window->places[0][i]];

        looked += turn->loop != 0;
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

/* Nothing is found in both windows. */
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

/* Looking for what is alike costs more: the oftener it is all that there is, the earlier it is
 * taken. */
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

        if (!diff_side_look_ahead(&sides[0], size) ||
            !diff_side_look_ahead(&sides[1], size) || !window_align(window, sides)) {
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
