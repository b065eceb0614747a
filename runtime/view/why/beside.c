/* Search for the same value in other traces of the run. A value that came into this process may
 * have been made in a child process, such as a worker of a DataLoader, or in another rank. */
#include "runtime/view/why/why.h"

#include <stdio.h>

enum likeness {
    UNLIKE,
    LIKE,  /* may be the value, or a part of it */
    EQUAL, /* equal hashes, or the item with all NaN and infinities of a batch */
};

/* The value to search, which came into this process. */
struct wanted {
    const struct why_value *node;
    bool has_hash;
    uint64_t hash;
};

static void read_hash(struct why *why, uint64_t number, struct wanted *wanted)
{
    struct log_item item;

    log_reader_go_to_event(why->reader, number);
    while (log_reader_next(why->reader, &item)) {
        if (item.kind == LOG_EVENT) {
            wanted->has_hash = item.event.number == number && item.event.has_hash;
            wanted->hash = item.event.hash;
            return;
        }
    }
}

/* Whether the shape is that of the value, or of one item of a batch. */
static bool is_part(const struct log_shape *shape, const struct why_value *node)
{
    uint32_t ahead = node->dimension_count - shape->dimension_count;

    if (shape->dimension_count > node->dimension_count || ahead > 1) {
        return false;
    }
    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        if (shape->shape[i] != node->shape[i + ahead]) {
            return false;
        }
    }
    return true;
}

static bool is_within(const struct log_event_view *event, const struct why_value *node)
{
    const struct statistics *a = &event->statistics;
    const struct statistics *b = &node->statistics;

    return statistics_finite_count(a) == 0 ||
           (statistics_finite_count(b) > 0 &&
            statistics_bound_real(node->dtype, a->min) >=
                statistics_bound_real(node->dtype, b->min) &&
            statistics_bound_real(node->dtype, a->max) <=
                statistics_bound_real(node->dtype, b->max));
}

static enum likeness compare(const struct log_event_view *event,
                             const struct wanted *wanted)
{
    const struct statistics *a = &event->statistics;
    const struct statistics *b = &wanted->node->statistics;

    if (event->kind != VALUE_TENSOR || !event->has_statistics ||
        event->shape->dtype != wanted->node->dtype ||
        a->nan_count + a->posinf_count + a->neginf_count == 0 ||
        a->nan_count > b->nan_count || a->posinf_count > b->posinf_count ||
        a->neginf_count > b->neginf_count || !is_part(event->shape, wanted->node) ||
        !is_within(event, wanted->node)) {
        return UNLIKE;
    }
    if (event->shape->dimension_count == wanted->node->dimension_count) {
        return event->has_hash && wanted->has_hash && event->hash == wanted->hash
                   ? EQUAL
                   : LIKE;
    }
    return a->nan_count == b->nan_count && a->posinf_count == b->posinf_count &&
                   a->neginf_count == b->neginf_count
               ? EQUAL
               : LIKE;
}

/* Finds the first event that is most like the value. */
static enum likeness
find_like(const char *path, const struct wanted *wanted, uint64_t *number)
{
    struct error ignored = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &ignored);
    enum likeness best = UNLIKE;
    struct log_item item;

    while (reader != NULL && best != EQUAL && log_reader_next(reader, &item)) {
        enum likeness one =
            item.kind == LOG_EVENT ? compare(&item.event, wanted) : UNLIKE;

        if (one > best) {
            best = one;
            *number = item.event.number;
        }
    }
    log_reader_free(reader);
    return best;
}

/* Runs `why` on that trace for `event`, or for its first NaN or infinity if `event` is "". */
static bool
ask_other(const struct why *why, const char *path, const char *event, struct why *other)
{
    struct error ignored = ERROR_INIT;
    struct why_ask ask = why->ask;

    ask.event = slice_of(event);
    ask.call = 0;
    ask.has_iteration = false;
    ask.announce = NULL;
    if (!why_find(other, path, &ask, &ignored)) {
        return false;
    }
    other->ask.event = SLICE("");
    return other->producer_count > 0;
}

/* Whether a line of that trace made the value. */
static bool
explain(const struct why *why, const char *path, uint64_t number, struct why *other)
{
    char event[32];

    snprintf(event, sizeof event, "#%llu", (unsigned long long)number);
    return ask_other(why, path, event, other) &&
           other->producers[other->main].how == WHY_MADE;
}

static bool is_same_line(const struct why *a, const struct why *b)
{
    return a->producers[a->main].line == b->producers[b->main].line &&
           slice_equal(a->producers[a->main].file, b->producers[b->main].file);
}

/* Compares one more trace. The trace with the best match is kept; among equal matches the first
 * one, which is certain only if all lead to one line. */
static void consider(const struct why *why,
                     const char *path,
                     const struct wanted *wanted,
                     enum likeness *best,
                     struct why_beside *beside)
{
    uint64_t number = 0;
    enum likeness one = find_like(path, wanted, &number);
    struct why other;

    if (one == UNLIKE || one < *best) {
        return;
    }
    why_init(&other);
    if (!explain(why, path, number, &other)) {
        why_release(&other);
        return;
    }
    if (one == *best && beside->path != NULL) {
        beside->is_certain = beside->is_certain && is_same_line(&beside->why, &other);
        why_release(&other);
        return;
    }
    why_release(&beside->why);
    *best = one;
    beside->why = other;
    beside->path = path;
    beside->is_certain = one == EQUAL;
}

/* Whether the gradient was finite in this process after the backward, and no longer when a step
 * read it. */
static bool is_gradient_found(const struct why *why)
{
    return why->has_cause && why->cause.kind == TRAINING_CAUSE_FOUND &&
           why->cause.gradient != TRAINING_NONE;
}

/* Examines the trace of another rank: whether its backward gave the same parameter a bad
 * gradient before the same step. An all-reduce then brought the gradient here. Ranks run the
 * same program, so their steps have the same numbers. */
static void
consider_rank(const struct why *why, const char *path, struct why_beside *beside)
{
    const struct training *own = &why->backwards.training;
    const struct training_record *found = &own->records[why->cause.gradient];
    struct why other;
    bool is_maker;

    why_init(&other);
    is_maker = ask_other(why, path, "", &other) &&
               training_accumulated_bad(&other.backwards.training,
                                        own->names[found->parameter], found->step) &&
               (other.producers[other.main].how == WHY_MADE ||
                other.producers[other.main].how == WHY_BACKWARD);
    if (is_maker && beside->path == NULL) {
        why_release(&beside->why);
        beside->why = other;
        beside->path = path;
        beside->is_certain = true;
        return;
    }
    if (is_maker) {
        beside->is_certain = beside->is_certain && is_same_line(&beside->why, &other);
    }
    why_release(&other);
}

void why_beside_init(struct why_beside *beside)
{
    *beside = (struct why_beside){.path = NULL};
    why_init(&beside->why);
}

void why_beside_release(struct why_beside *beside)
{
    why_release(&beside->why);
}

bool why_came_in(const struct why *why)
{
    return why->target != FLOW_NONE && why->producer_count > 0 &&
           (why->producers[why->main].how == WHY_CAME_IN || is_gradient_found(why));
}

void why_find_beside(struct why *why,
                     const char *const *paths,
                     size_t count,
                     struct why_beside *beside)
{
    uint32_t node = why_came_in(why) ? why->producers[why->main].node : FLOW_NONE;
    enum likeness best = UNLIKE;
    struct wanted wanted;

    if (why_came_in(why) && is_gradient_found(why)) {
        for (size_t i = 0; i < count; i++) {
            consider_rank(why, paths[i], beside);
        }
        return;
    }
    if (node == FLOW_NONE || why->graph.nodes[node].kind != VALUE_TENSOR ||
        !why_value(why, node)->has_statistics) {
        return;
    }
    wanted = (struct wanted){.node = why_value(why, node)};
    read_hash(why, wanted.node->event, &wanted);
    for (size_t i = 0; i < count; i++) {
        consider(why, paths[i], &wanted, &best, beside);
    }
}
