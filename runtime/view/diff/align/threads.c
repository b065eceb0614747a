/* Which thread of one trace is which of the other. */
#include "runtime/view/diff/align/threads.h"

/* The thread of the first item that has one; NONE: there is no such item. */
static uint32_t first_thread(struct log_reader *reader)
{
    struct log_item item;
    uint32_t thread = DIFF_THREAD_NONE;

    log_reader_rewind(reader);
    while (thread == DIFF_THREAD_NONE && log_reader_next(reader, &item)) {
        if (item.kind == LOG_CALL) {
            thread = item.call.thread;
        } else if (item.kind == LOG_EVENT) {
            thread = item.event.thread;
        }
    }
    return thread;
}

static bool is_left(const struct diff_side *side, uint32_t thread)
{
    return side->threads[thread].state == DIFF_THREAD_SEEN;
}

/* Without the numbers in it: `Thread-7 (work)` is `Thread- (work)`. */
static bool is_named_like(struct slice a, struct slice b)
{
    size_t i = 0;
    size_t k = 0;

    for (;;) {
        while (i < a.size && a.bytes[i] >= '0' && a.bytes[i] <= '9') {
            i++;
        }
        while (k < b.size && b.bytes[k] >= '0' && b.bytes[k] <= '9') {
            k++;
        }
        if (i == a.size || k == b.size) {
            return i == a.size && k == b.size;
        }
        if (a.bytes[i++] != b.bytes[k++]) {
            return false;
        }
    }
}

/* The thread of B that has the name of that thread of A, or one like it; NONE: there is none. */
static uint32_t
partner_thread(const struct diff_side sides[2], uint32_t thread, bool is_like)
{
    struct slice name = log_reader_thread_name(sides[0].reader, (uint16_t)thread);

    for (uint32_t i = 0; i < sides[1].thread_count; i++) {
        struct slice other;

        if (!is_left(&sides[1], i)) {
            continue;
        }
        other = log_reader_thread_name(sides[1].reader, (uint16_t)i);
        if (is_like ? is_named_like(name, other) : slice_equal(name, other)) {
            return i;
        }
    }
    return DIFF_THREAD_NONE;
}

static void start_threads(struct diff_side sides[2], uint32_t a, uint32_t b)
{
    diff_side_start(&sides[0], a);
    diff_side_start(&sides[1], b);
}

void diff_threads_start(struct diff_side sides[2])
{
    uint32_t threads[2];

    for (unsigned side = 0; side < 2; side++) {
        threads[side] = first_thread(sides[side].reader);
    }
    start_threads(sides, threads[0], threads[1]);
}

static bool start_alone(struct diff_side sides[2], unsigned side)
{
    for (uint32_t i = 0; i < sides[side].thread_count; i++) {
        if (is_left(&sides[side], i)) {
            start_threads(sides, side == 0 ? i : DIFF_THREAD_NONE,
                          side == 1 ? i : DIFF_THREAD_NONE);
            return true;
        }
    }
    return false;
}

static bool start_named(struct diff_side sides[2], bool is_like)
{
    for (uint32_t i = 0; i < sides[0].thread_count; i++) {
        uint32_t partner = is_left(&sides[0], i) ? partner_thread(sides, i, is_like)
                                                 : DIFF_THREAD_NONE;

        if (partner != DIFF_THREAD_NONE) {
            start_threads(sides, i, partner);
            return true;
        }
    }
    return false;
}

bool diff_threads_next(struct diff_side sides[2])
{
    for (unsigned side = 0; side < 2; side++) {
        if (sides[side].thread < sides[side].thread_count) {
            sides[side].threads[sides[side].thread].state = DIFF_THREAD_DONE;
        }
    }
    return start_named(sides, false) || start_named(sides, true) ||
           start_alone(sides, 0) || start_alone(sides, 1);
}
