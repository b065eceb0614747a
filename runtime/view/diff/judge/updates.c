/* Updates of two traces: pairs and comparison. */
#include "runtime/view/diff/judge/updates.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define NONE DIFF_UPDATE_NONE

bool diff_updates_init(struct diff_updates *updates)
{
    *updates = (struct diff_updates){.pairs = NULL};
    arena_init(&updates->arena);
    for (unsigned side = 0; side < 2; side++) {
        number_map_init(&updates->sides[side].gradients);
    }
    return text_table_init(&updates->names);
}

void diff_updates_release(struct diff_updates *updates)
{
    for (unsigned side = 0; side < 2; side++) {
        struct diff_update_side *released = &updates->sides[side];

        log_reader_free(released->reader);
        memory_free(released->items);
        memory_free(released->steps);
        memory_free(released->newest);
        number_map_release(&released->gradients);
    }
    memory_free(updates->pairs);
    memory_free(updates->compare);
    text_table_release(&updates->names);
    arena_release(&updates->arena);
}

/* ---- reading ---- */

/* Functions from here on that return bool return false if memory ran out. */

static bool add_step(struct diff_updates *updates,
                     struct diff_update_side *side,
                     const struct log_step_view *view,
                     uint64_t next_event)
{
    void *steps = side->steps;
    struct diff_update_step step = {
        .tag = view->tag,
        .number = view->number,
        .partner = NONE,
        .file = arena_copy(&updates->arena, view->file),
        .line = view->line,
        .next_event = next_event,
    };

    if (updates->arena.has_failed ||
        !text_table_add(&updates->names, view->name, &step.name) ||
        !memory_grow(&steps, &side->step_capacity, side->step_count + 1,
                     sizeof *side->steps)) {
        return false;
    }
    side->steps = steps;
    side->steps[side->step_count++] = step;
    return true;
}

/* Returns the newest step of that number. A backward may run within another one. */
static uint32_t find_backward(const struct diff_update_side *side, uint32_t number)
{
    for (size_t i = side->step_count; i > 0; i--) {
        if (side->steps[i - 1].number == number) {
            return (uint32_t)(i - 1);
        }
    }
    return NONE;
}

static float largest_of(const struct log_event_view *event)
{
    double low, high;

    if (!event->has_statistics || event->statistics.count < 2 ||
        statistics_finite_count(&event->statistics) == 0) {
        return 0;
    }
    low = fabs(statistics_bound_real(event->shape->dtype, event->statistics.min));
    high = fabs(statistics_bound_real(event->shape->dtype, event->statistics.max));
    return (float)fmax(low, high);
}

/* Returns the key of a gradient: its value's event, or its parameter and backward. */
static uint64_t gradient_key(const struct diff_update *update)
{
    return update->what == DIFF_UPDATE_GRADIENT
               ? update->event
               : number_map_key(update->name, update->step) ^ (1ull << 63);
}

static bool add_item(struct diff_updates *updates,
                     struct diff_update_side *side,
                     const struct log_item *item,
                     struct log_place place)
{
    const struct log_event_view *event = &item->event;
    bool is_gradient = item->kind == LOG_GRADIENT;
    bool is_parameter = (event->flags & LOG_EVENT_PARAMETER) != 0;
    void *items = side->items;
    struct diff_update update = {
        .place = place,
        .event = event->number,
        .hash = event->hash,
        .has_hash = event->kind == VALUE_TENSOR && event->has_hash,
        .step = is_gradient ? find_backward(side, event->step)
                            : (uint32_t)side->step_count - 1,
        .partner = NONE,
        .largest = event->kind == VALUE_TENSOR ? largest_of(event) : 0,
        .what = is_gradient && is_parameter   ? DIFF_UPDATE_PARAMETER
                : is_gradient                 ? DIFF_UPDATE_GRADIENT
                : event->kind == VALUE_TENSOR ? DIFF_UPDATE_TENSOR
                                              : DIFF_UPDATE_SETTING,
        .is_read = (event->flags & LOG_EVENT_READ) != 0,
    };

    if (is_parameter && !text_table_add(&updates->names, event->name, &update.name)) {
        return false;
    }
    if (!memory_grow(&items, &side->capacity, side->count + 1, sizeof *side->items)) {
        return false;
    }
    side->items = items;
    side->items[side->count++] = update;
    side->has_gradients = side->has_gradients || is_gradient;
    return !is_gradient || number_map_add(&side->gradients, gradient_key(&update),
                                          (uint32_t)side->count - 1);
}

static bool read_side(struct diff_updates *updates, struct diff_update_side *side)
{
    struct log_place place = log_reader_place(side->reader);
    struct log_item item;
    bool is_done = true;

    while (is_done && side->count < NONE - 1 && log_reader_next(side->reader, &item)) {
        if (item.kind == LOG_STEP) {
            is_done = add_step(updates, side, &item.step, place.next_event);
        } else if (item.kind == LOG_GRADIENT ||
                   (item.kind == LOG_EVENT &&
                    (item.event.flags & LOG_EVENT_PARAMETER) != 0)) {
            is_done = add_item(updates, side, &item, place);
        }
        place = log_reader_place(side->reader);
    }
    return is_done;
}

/* ---- steps ---- */

static uint64_t step_key(const struct diff_update_step *step, uint32_t ordinal)
{
    uint32_t parts[3] = {(uint32_t)step->tag, step->name, ordinal};

    return hash_64((struct slice){(const char *)parts, sizeof parts});
}

/* Calls `found` for each step of the side, with a key made of its kind and of the number of
 * steps of that kind before it. */
static bool number_steps(struct diff_update_side *side,
                         bool (*found)(void *context, uint32_t step, uint64_t key),
                         void *context)
{
    struct number_map counts;
    bool is_done = true;

    number_map_init(&counts);
    for (uint32_t i = 0; is_done && i < side->step_count; i++) {
        uint64_t kind = step_key(&side->steps[i], NONE);
        uint32_t ordinal = number_map_get(&counts, kind);

        ordinal = ordinal == NUMBER_MAP_NONE ? 0 : ordinal + 1;
        is_done = number_map_put(&counts, kind, ordinal) &&
                  found(context, i, step_key(&side->steps[i], ordinal));
    }
    number_map_release(&counts);
    return is_done;
}

static bool note_key(void *context, uint32_t step, uint64_t key)
{
    return number_map_put(context, key, step);
}

struct step_pairing {
    struct diff_updates *updates;
    struct number_map keys; /* keys of A's steps */
};

static bool pair_step(void *context, uint32_t step, uint64_t key)
{
    struct step_pairing *pairing = context;
    uint32_t other = number_map_get(&pairing->keys, key);

    if (other != NUMBER_MAP_NONE) {
        pairing->updates->sides[1].steps[step].partner = other;
        pairing->updates->sides[0].steps[other].partner = step;
    }
    return true;
}

/* Pairs the n-th step of a kind and name with the other side's n-th. Pairs none if a ring
 * dropped events, since their steps cannot be counted. */
static bool pair_steps(struct diff_updates *updates)
{
    struct step_pairing pairing = {.updates = updates};
    bool is_done;

    if (log_reader_first_event(updates->sides[0].reader) > 0 ||
        log_reader_first_event(updates->sides[1].reader) > 0) {
        return true;
    }
    number_map_init(&pairing.keys);
    is_done = number_steps(&updates->sides[0], note_key, &pairing.keys) &&
              number_steps(&updates->sides[1], pair_step, &pairing);
    number_map_release(&pairing.keys);
    return is_done;
}

bool diff_updates_read(struct diff_updates *updates,
                       const char *const paths[2],
                       struct error *error)
{
    for (unsigned side = 0; side < 2; side++) {
        updates->sides[side].reader = log_reader_new(paths[side], error);
        if (updates->sides[side].reader == NULL) {
            return false;
        }
        log_reader_show_parameters(updates->sides[side].reader, true);
        if (!read_side(updates, &updates->sides[side])) {
            return error_set_memory(error);
        }
    }
    return pair_steps(updates) || error_set_memory(error);
}

bool diff_update_load(struct diff_updates *updates,
                      unsigned side,
                      uint32_t number,
                      struct log_item *item)
{
    struct diff_update_side *from = &updates->sides[side];

    assert(number < from->count);
    log_reader_go(from->reader, from->items[number].place);
    return log_reader_next(from->reader, item) &&
           (item->kind == LOG_GRADIENT || item->kind == LOG_EVENT) &&
           item->event.number == from->items[number].event;
}

/* ---- comparing ---- */

/* The first difference of a parameter that is not bitwise equal in both runs. */
enum dirt { DIRT_NONE, DIRT_GRADIENT, DIRT_STEP };

struct comparing {
    struct diff_updates *updates;
    struct diff_facts *facts; /* facts of both sides */
    float *units;  /* owned: by B's steps: largest element of a backward's gradients */
    uint8_t *dirt; /* owned: by names of parameters; enum dirt */
    bool *is_pending;  /* owned: by names: whether recorded since its comparison */
    uint32_t *pending; /* owned: names that are pending, in the order of B, then of A */
    size_t pending_count;
    size_t cursors[2];       /* number of the side's items that are in `newest` */
    uint64_t gradient_count; /* parameters whose dirt is a gradient */
    bool is_setting_dirty;
};

/* Returns the name of the parameter without `.grad` and the like, if that was recorded; else
 * `name`. */
static uint32_t owner_of(const struct comparing *comparing, uint32_t name)
{
    struct slice text = diff_update_name(comparing->updates, name);
    struct slice last = slice_last_part(text, '.');
    uint32_t owner = NUMBER_MAP_NONE;

    if (last.size < text.size) {
        owner = text_table_find(&comparing->updates->names,
                                slice_part(text, 0, text.size - last.size - 1));
    }
    return owner == NUMBER_MAP_NONE ? name : owner;
}

static void make_dirty(struct comparing *comparing, uint32_t name, enum dirt what)
{
    uint8_t *dirt = &comparing->dirt[owner_of(comparing, name)];

    if (*dirt == DIRT_NONE) {
        comparing->gradient_count += what == DIRT_GRADIENT;
        *dirt = (uint8_t)what;
    }
}

/* Returns the size that rounding errors of a gradient are proportional to: the largest gradients
 * of its backward. */
static double unit_of(const struct diff_updates *updates,
                      const struct diff_update *update,
                      float unit)
{
    bool is_gradient =
        update->what == DIFF_UPDATE_GRADIENT || update->what == DIFF_UPDATE_PARAMETER ||
        slice_ends(diff_update_name(updates, update->name), SLICE(".grad"));

    return is_gradient && unit > 0 ? (double)unit : 1;
}

static float step_unit(const struct diff_updates *updates, uint32_t step)
{
    return step == NONE ? 0 : updates->sides[1].steps[step].unit;
}

void diff_update_compare(struct diff_updates *updates,
                         const struct diff_update *update,
                         uint32_t step,
                         const struct log_item items[2],
                         struct diff_comparison *comparison)
{
    updates->compare->tolerance.unit =
        unit_of(updates, update, step_unit(updates, step));
    diff_compare_events(updates->compare, &items[0].event, &items[1].event, comparison);
    if (comparison->cause == DIFF_CAUSE_STRIDES) {
        comparison->cause =
            comparison->differs_in_values ? DIFF_CAUSE_VALUES : DIFF_CAUSE_NONE;
    } else if (comparison->cause == DIFF_CAUSE_GRAD) {
        comparison->cause = DIFF_CAUSE_NONE;
    }
}

/* Whether two settings are equal numbers, whatever their types: 0 and 0.0 are equal. */
static bool is_same_setting(const struct log_item items[2])
{
    double numbers[2];

    for (unsigned side = 0; side < 2; side++) {
        const struct log_event_view *event = &items[side].event;

        if (event->kind != VALUE_BOOL && event->kind != VALUE_INT &&
            event->kind != VALUE_FLOAT) {
            return false;
        }
        numbers[side] =
            event->kind == VALUE_FLOAT ? event->real : (double)event->integer;
    }
    return numbers[0] == numbers[1];
}

static enum diff_update_state
compare_pair(struct comparing *comparing, uint32_t a, uint32_t b, uint32_t step)
{
    struct diff_updates *updates = comparing->updates;
    const struct diff_update *updates_of[2] = {&updates->sides[0].items[a],
                                               &updates->sides[1].items[b]};
    struct diff_comparison comparison;
    struct log_item items[2];

    if (updates_of[0]->has_hash && updates_of[1]->has_hash &&
        updates_of[0]->hash == updates_of[1]->hash) {
        return DIFF_UPDATE_EQUAL;
    }
    if (!diff_update_load(updates, 0, a, &items[0]) ||
        !diff_update_load(updates, 1, b, &items[1])) {
        return DIFF_UPDATE_UNKNOWN;
    }
    if (updates_of[1]->what == DIFF_UPDATE_SETTING && is_same_setting(items)) {
        return DIFF_UPDATE_EQUAL;
    }
    diff_update_compare(updates, updates_of[1], step, items, &comparison);
    return comparison.cause != DIFF_CAUSE_NONE ? DIFF_UPDATE_DIFFERS
           : comparison.is_close               ? DIFF_UPDATE_CLOSE
                                               : DIFF_UPDATE_EQUAL;
}

static bool add_pair(struct comparing *comparing, struct diff_update_pair pair)
{
    struct diff_updates *updates = comparing->updates;
    void *pairs = updates->pairs;

    if (!memory_grow(&pairs, &updates->pair_capacity, updates->pair_count + 1,
                     sizeof *updates->pairs)) {
        return false;
    }
    updates->pairs = pairs;
    updates->pairs[updates->pair_count++] = pair;
    return true;
}

static void count_equal(struct comparing *comparing, enum diff_update_state state)
{
    comparing->updates->equal +=
        state == DIFF_UPDATE_EQUAL || state == DIFF_UPDATE_CLOSE;
    comparing->updates->close += state == DIFF_UPDATE_CLOSE;
}

/* ---- gradients ---- */

/* Finds the event's counterpart on the other side. Returns false if it has none. */
static bool find_other_event(struct comparing *comparing,
                             unsigned side,
                             uint64_t event,
                             uint64_t *other)
{
    const struct diff_fact *fact = diff_facts_find(&comparing->facts[side], event);

    if (fact == NULL || fact->partner == DIFF_FACT_NONE) {
        return false;
    }
    *other = comparing->facts[1 - side].items[fact->partner].event +
             comparing->facts[1 - side].first_event;
    return true;
}

/* Returns A's first gradient without a partner of that event, or of that parameter, in that
 * step. A step of NONE matches any. NONE: there is none. */
static uint32_t find_gradient(const struct comparing *comparing,
                              const struct diff_update *wanted)
{
    const struct diff_update_side *a = &comparing->updates->sides[0];
    struct number_map_search search =
        number_map_search(&a->gradients, gradient_key(wanted));
    uint32_t found = NONE;

    while (number_map_next(&search)) {
        const struct diff_update *update = &a->items[search.number];

        if (update->partner == NONE && update->what == wanted->what &&
            (wanted->step == NONE || update->step == wanted->step) &&
            (wanted->what == DIFF_UPDATE_GRADIENT ? update->event == wanted->event
                                                  : update->name == wanted->name) &&
            search.number < found) {
            found = search.number;
        }
    }
    return found;
}

/* Whether the end of the last step is missing: the run was killed, or the file was cut. */
static bool is_cut(const struct diff_updates *updates, unsigned side, uint32_t step)
{
    const struct diff_update_side *cut = &updates->sides[side];

    return step + 1 == cut->step_count &&
           (log_reader_header(cut->reader)->is_closed == 0 ||
            log_reader_damage_count(cut->reader) > 0);
}

/* Expresses B's gradient in terms of A. Returns false if A has no counterpart of its value or
 * step. */
static bool
find_wanted(struct comparing *comparing, uint32_t number, struct diff_update *wanted)
{
    const struct diff_updates *updates = comparing->updates;
    const struct diff_update *update = &updates->sides[1].items[number];

    *wanted = *update;
    wanted->step =
        update->step == NONE ? NONE : updates->sides[1].steps[update->step].partner;
    return update->what == DIFF_UPDATE_GRADIENT
               ? find_other_event(comparing, 1, update->event, &wanted->event)
               : wanted->step != NONE;
}

static bool compare_gradient(struct comparing *comparing, uint32_t number)
{
    struct diff_updates *updates = comparing->updates;
    struct diff_update *update = &updates->sides[1].items[number];
    struct diff_update wanted;
    uint32_t other;

    if (!find_wanted(comparing, number, &wanted)) {
        return true;
    }
    other = find_gradient(comparing, &wanted);
    if (other != NONE) {
        update->partner = other;
        updates->sides[0].items[other].partner = number;
        update->state = (uint8_t)compare_pair(comparing, other, number, update->step);
        updates->sides[0].items[other].state = update->state;
    } else if (wanted.step != NONE && !is_cut(updates, 0, wanted.step)) {
        update->state = DIFF_UPDATE_ALONE;
    }
    count_equal(comparing, update->state);
    if (update->what == DIFF_UPDATE_PARAMETER && update->state != DIFF_UPDATE_EQUAL) {
        make_dirty(comparing, update->name, DIRT_GRADIENT);
    }
    return update->state < DIFF_UPDATE_DIFFERS ||
           add_pair(comparing, (struct diff_update_pair){.items = {other, number},
                                                         .step = update->step});
}

/* Adds the gradients that only A has, of values and steps that both have. */
static bool find_alone(struct comparing *comparing)
{
    struct diff_updates *updates = comparing->updates;
    struct diff_update_side *a = &updates->sides[0];
    bool is_done = true;

    for (uint32_t i = 0; is_done && i < a->count; i++) {
        struct diff_update *update = &a->items[i];
        uint32_t step = update->step == NONE ? NONE : a->steps[update->step].partner;
        uint64_t event;

        if (update->partner != NONE || update->what > DIFF_UPDATE_PARAMETER ||
            step == NONE || is_cut(updates, 1, step) ||
            (update->what == DIFF_UPDATE_GRADIENT &&
             !find_other_event(comparing, 0, update->event, &event))) {
            continue;
        }
        update->state = DIFF_UPDATE_ALONE;
        is_done = add_pair(comparing,
                           (struct diff_update_pair){.items = {i, NONE}, .step = step});
    }
    return is_done;
}

/* ---- steps ---- */

/* Makes tensors and settings up to the step the newest of their names; with `is_within`, those
 * of the step itself too. */
static void
advance(struct comparing *comparing, unsigned side, uint32_t step, bool is_within)
{
    struct diff_update_side *from = &comparing->updates->sides[side];
    size_t *cursor = &comparing->cursors[side];

    for (; *cursor < from->count; (*cursor)++) {
        const struct diff_update *update = &from->items[*cursor];

        if (update->what <= DIFF_UPDATE_PARAMETER) {
            continue;
        }
        if (update->step != NONE &&
            (update->step > step || (update->step == step && !is_within))) {
            return;
        }
        from->newest[update->name] = (uint32_t)*cursor;
        if (!comparing->is_pending[update->name]) {
            comparing->is_pending[update->name] = true;
            comparing->pending[comparing->pending_count++] = update->name;
        }
    }
}

/* Whether all recorded inputs of the update are bitwise equal, or were so until a step changed
 * them. */
static bool is_clean(const struct comparing *comparing,
                     const struct diff_update *update,
                     uint32_t step)
{
    if (update->what == DIFF_UPDATE_SETTING) {
        return true;
    }
    if (comparing->is_setting_dirty) {
        return false;
    }
    /* A function that clips gradients computes each from all. */
    return comparing->updates->sides[1].steps[step].tag == LOG_STEP_GRADIENTS
               ? comparing->gradient_count == 0
               : comparing->dirt[owner_of(comparing, update->name)] != DIRT_GRADIENT;
}

static bool compare_newest(struct comparing *comparing,
                           uint32_t name,
                           uint32_t step,
                           bool is_before)
{
    struct diff_updates *updates = comparing->updates;
    struct diff_update_pair pair = {
        .items = {updates->sides[0].newest[name], updates->sides[1].newest[name]},
        .step = step,
        .is_before = is_before,
    };
    const struct diff_update *update;
    enum diff_update_state state;

    if (pair.items[0] == NONE || pair.items[1] == NONE) {
        return true; /* another optimizer, or recorded in another way */
    }
    update = &updates->sides[1].items[pair.items[1]];
    state = compare_pair(comparing, pair.items[0], pair.items[1], step);
    count_equal(comparing, state);
    if (state == DIFF_UPDATE_EQUAL || state == DIFF_UPDATE_UNKNOWN) {
        return true;
    }
    pair.is_clean = is_clean(comparing, update, step);
    if (update->what == DIFF_UPDATE_SETTING) {
        comparing->is_setting_dirty = true;
    } else {
        make_dirty(comparing, name, DIRT_STEP);
    }
    if (state == DIFF_UPDATE_CLOSE) {
        return true;
    }
    comparing->dirt[owner_of(comparing, name)] =
        DIRT_GRADIENT; /* is reported only once as own */
    return add_pair(comparing, pair);
}

/* Whether the name is to be compared at this step. A setting is compared at the step of its
 * optimizer, which reads it. */
static bool is_due(const struct comparing *comparing, uint32_t name, uint32_t step)
{
    const struct diff_updates *updates = comparing->updates;
    const struct diff_update_step *begun = &updates->sides[1].steps[step];
    uint32_t newest = updates->sides[1].newest[name];
    unsigned side = newest != NONE ? 1 : 0;
    struct slice optimizer = diff_update_name(updates, begun->name);
    struct slice text = diff_update_name(updates, name);

    newest = newest != NONE ? newest : updates->sides[0].newest[name];
    if (updates->sides[side].items[newest].what != DIFF_UPDATE_SETTING) {
        return true;
    }
    optimizer = slice_part(optimizer, 0, slice_find(optimizer, SLICE("."), 0));
    return begun->tag == LOG_STEP_OPTIMIZER &&
           slice_equal(slice_part(text, 0, slice_find(text, SLICE("."), 0)), optimizer);
}

static bool compare_pending(struct comparing *comparing, uint32_t step, bool is_before)
{
    size_t kept = 0;
    bool is_done = true;

    for (size_t i = 0; i < comparing->pending_count; i++) {
        uint32_t name = comparing->pending[i];

        if (!is_due(comparing, name, step)) {
            comparing->pending[kept++] = name;
            continue;
        }
        comparing->is_pending[name] = false;
        is_done = is_done && compare_newest(comparing, name, step, is_before);
    }
    comparing->pending_count = kept;
    return is_done;
}

/* Compares the records before the step, then those that the step read and wrote. */
static bool compare_step(struct comparing *comparing, uint32_t step)
{
    const struct diff_updates *updates = comparing->updates;
    const struct diff_update_step *compared = &updates->sides[1].steps[step];

    if ((compared->tag != LOG_STEP_OPTIMIZER && compared->tag != LOG_STEP_GRADIENTS) ||
        compared->partner == NONE || is_cut(updates, 0, compared->partner) ||
        is_cut(updates, 1, step)) {
        return true;
    }
    for (unsigned round = 0; round < 2; round++) {
        advance(comparing, 1, step, round == 1);
        advance(comparing, 0, compared->partner, round == 1);
        if (!compare_pending(comparing, step, round == 0)) {
            return false;
        }
    }
    return true;
}

/* ---- all ---- */

static bool begin(struct comparing *comparing, const struct diff_tolerance *tolerance)
{
    struct diff_updates *updates = comparing->updates;
    size_t count = updates->names.count;

    updates->compare = memory_allocate(1, sizeof *updates->compare);
    comparing->dirt = memory_allocate_zeroed(count, sizeof *comparing->dirt);
    comparing->is_pending =
        memory_allocate_zeroed(count, sizeof *comparing->is_pending);
    comparing->pending = memory_allocate(count, sizeof *comparing->pending);
    for (unsigned side = 0; side < 2; side++) {
        updates->sides[side].newest =
            memory_allocate(count, sizeof *updates->sides[side].newest);
        for (size_t i = 0; updates->sides[side].newest != NULL && i < count; i++) {
            updates->sides[side].newest[i] = NONE;
        }
    }
    if (updates->compare == NULL || comparing->dirt == NULL ||
        comparing->is_pending == NULL || comparing->pending == NULL ||
        updates->sides[0].newest == NULL || updates->sides[1].newest == NULL) {
        return false;
    }
    diff_compare_init(updates->compare, *tolerance);
    updates->compare->tolerance.floor = NULL;
    return true;
}

/* Finds the largest element of the gradients of each backward of B and of its partner in A.
 * Other steps get that of the backward before them. */
static void find_units(struct diff_updates *updates)
{
    struct diff_update_side *b = &updates->sides[1];

    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = 0; i < updates->sides[side].count; i++) {
            const struct diff_update *update = &updates->sides[side].items[i];
            uint32_t step = update->step;

            if (side == 0 && step != NONE) {
                step = updates->sides[0].steps[step].partner;
            }
            if (step != NONE && update->what <= DIFF_UPDATE_PARAMETER) {
                b->steps[step].unit = fmaxf(b->steps[step].unit, update->largest);
            }
        }
    }
    for (size_t i = 1; i < b->step_count; i++) {
        if (b->steps[i].tag != LOG_STEP_BACKWARD) {
            b->steps[i].unit = b->steps[i - 1].unit;
        }
    }
}

static bool compare_all(struct comparing *comparing)
{
    struct diff_update_side *b = &comparing->updates->sides[1];
    uint32_t step = 0; /* number of compared steps */
    bool is_done = true;

    for (uint32_t i = 0; is_done && i < b->count; i++) {
        for (; is_done && b->items[i].step != NONE && step < b->items[i].step; step++) {
            is_done = compare_step(comparing, step);
        }
        if (is_done && b->items[i].what <= DIFF_UPDATE_PARAMETER) {
            is_done = compare_gradient(comparing, i);
        }
    }
    for (; is_done && step < b->step_count; step++) {
        is_done = compare_step(comparing, step);
    }
    return is_done && find_alone(comparing);
}

uint64_t diff_update_due(const struct diff_updates *updates,
                         const struct diff_update_pair *pair)
{
    const struct diff_update_side *b = &updates->sides[1];

    if (pair->items[1] != NONE &&
        b->items[pair->items[1]].what <= DIFF_UPDATE_PARAMETER) {
        return b->items[pair->items[1]].place.next_event;
    }
    return pair->step == NONE ? 0 : b->steps[pair->step].next_event;
}

uint32_t diff_update_rank(const struct diff_updates *updates,
                          const struct diff_update_pair *pair)
{
    uint32_t before = pair->items[0];

    if (pair->items[1] != NONE) {
        return pair->items[1];
    }
    while (before > 0 && updates->sides[0].items[before].partner == NONE) {
        before--;
    }
    return updates->sides[0].items[before].partner == NONE
               ? 0
               : updates->sides[0].items[before].partner;
}

static int compare_pairs(const void *left, const void *right, void *context)
{
    const struct diff_update_pair *a = left, *b = right;
    uint32_t ranks[2] = {diff_update_rank(context, a), diff_update_rank(context, b)};

    if (a->step != b->step && a->step != NONE && b->step != NONE) {
        return a->step < b->step ? -1 : 1;
    }
    if (ranks[0] != ranks[1]) {
        return ranks[0] < ranks[1] ? -1 : 1;
    }
    if ((a->items[1] == NONE) != (b->items[1] == NONE)) {
        return a->items[1] == NONE ? 1 : -1;
    }
    return a->items[0] < b->items[0] ? -1 : a->items[0] > b->items[0];
}

bool diff_updates_compare(struct diff_updates *updates,
                          struct diff_facts facts[2],
                          const struct diff_tolerance *tolerance,
                          struct error *error)
{
    struct comparing comparing = {.updates = updates, .facts = facts};
    bool is_done;

    find_units(updates);
    is_done = begin(&comparing, tolerance) && compare_all(&comparing);
    if (is_done && updates->pair_count > 1) {
        qsort_r(updates->pairs, updates->pair_count, sizeof *updates->pairs,
                compare_pairs, updates);
    }
    memory_free(comparing.dirt);
    memory_free(comparing.is_pending);
    memory_free(comparing.pending);
    return is_done || error_set_memory(error);
}
