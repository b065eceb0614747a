/* The backwards of a trace, collected item by item. */
#include "runtime/view/gradient/gradient.h"

#include "runtime/base/memory.h"

#include <assert.h>

void backwards_init(struct backwards *backwards)
{
    *backwards = (struct backwards){0};
    arena_init(&backwards->arena);
    training_init(&backwards->training);
}

void backwards_release(struct backwards *backwards)
{
    arena_release(&backwards->arena);
    memory_free(backwards->items);
    training_release(&backwards->training);
    backwards_init(backwards);
}

/* The backward with that number. NULL: a ring has dropped it. Searches from the end, because the
 * newest one is nearly always the one. */
static struct backward *find_step(struct backwards *backwards, uint32_t step)
{
    for (uint32_t i = backwards->count; i > 0; i--) {
        if (backwards->items[i - 1].step == step) {
            return &backwards->items[i - 1];
        }
        if (backwards->items[i - 1].step < step) {
            break;
        }
    }
    return NULL;
}

static bool add_step(struct backwards *backwards,
                     const struct log_step_view *step,
                     uint64_t next_event)
{
    void *items = backwards->items;

    if (!memory_grow(&items, &backwards->capacity, (size_t)backwards->count + 1,
                     sizeof *backwards->items)) {
        return false;
    }
    backwards->items = items;
    backwards->items[backwards->count++] = (struct backward){
        .step = step->number,
        .file = arena_copy(&backwards->arena, step->file),
        .line = step->line,
        .thread = step->thread,
        .next_event = next_event,
        .begin = backwards->record_count,
        .end = backwards->record_count++,
    };
    return !backwards->arena.has_failed;
}

static bool is_bad(const struct log_event_view *gradient)
{
    return gradient->has_statistics &&
           statistics_finite_count(&gradient->statistics) != gradient->statistics.count;
}

static void add_gradient(struct backwards *backwards,
                         const struct log_event_view *gradient,
                         uint64_t next_event)
{
    struct backward *backward = find_step(backwards, gradient->step);

    backwards->gradient_count++;
    if (backward == NULL) {
        return;
    }
    backward->gradient_count++;
    backward->end = backwards->record_count++;
    if (is_bad(gradient)) {
        backwards->bad_count++;
        if (backward->bad_count++ == 0) {
            backward->bad_event = gradient->number;
            backward->bad_next = next_event;
        }
    }
}

static bool add_birth(struct backwards *backwards,
                      const struct log_reader *reader,
                      const struct log_birth_view *birth)
{
    struct backward *backward = find_step(backwards, birth->step);
    struct gradient_origin *origins;

    if (backward == NULL || backward->origins != NULL || backward->bad_count == 0 ||
        backward->bad_event != birth->event) {
        return true;
    }
    origins =
        arena_allocate(&backwards->arena, (size_t)birth->count + 1, sizeof *origins);
    for (uint32_t i = 0; origins != NULL && i < birth->count; i++) {
        struct log_birth_source_view source = log_birth_source_read(reader, birth, i);

        origins[i] =
            (struct gradient_origin){source.is_start, source.event,
                                     arena_copy(&backwards->arena, source.functions)};
    }
    backward->origins = origins;
    backward->origin_count = birth->count;
    return !backwards->arena.has_failed;
}

bool backwards_add(struct backwards *backwards,
                   const struct log_reader *reader,
                   const struct log_item *item,
                   uint64_t next_event)
{
    switch (item->kind) {
    case LOG_STEP:
        return item->step.tag != LOG_STEP_BACKWARD ||
               add_step(backwards, &item->step, next_event);
    case LOG_GRADIENT:
        add_gradient(backwards, &item->event, next_event);
        return true;
    case LOG_BIRTH:
        return add_birth(backwards, reader, &item->birth);
    default:
        return true;
    }
}

/* Whether a later backward of the same line was finite. Weights that became NaN stay NaN, so no
 * bad gradient was written to them then. All later backwards are searched, because a GradScaler
 * skips several steps until its scale is right. */
static bool is_caught(const struct backwards *backwards, uint32_t index)
{
    assert(index < backwards->count);

    const struct backward *backward = &backwards->items[index];

    for (uint32_t i = index + 1; i < backwards->count; i++) {
        const struct backward *later = &backwards->items[i];

        /* A backward that started before the end of this one is part of it, as with a
         * checkpoint. */
        if (later->thread == backward->thread && later->begin > backward->end &&
            later->line == backward->line && slice_equal(later->file, backward->file) &&
            later->gradient_count > 0 && later->bad_count == 0) {
            return true;
        }
    }
    return false;
}

uint32_t backwards_find_bad(const struct backwards *backwards, uint64_t start)
{
    for (uint32_t i = 0; i < backwards->count; i++) {
        const struct backward *backward = &backwards->items[i];

        if (backward->bad_count > 0 && backward->bad_next >= start &&
            !is_caught(backwards, i)) {
            return i;
        }
    }
    return BACKWARD_NONE;
}

uint32_t backwards_find(const struct backwards *backwards, uint32_t step)
{
    for (uint32_t i = 0; i < backwards->count; i++) {
        if (backwards->items[i].step == step) {
            return i;
        }
    }
    return BACKWARD_NONE;
}
