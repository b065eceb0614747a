/* The calls of two runs that are open. */
#include "runtime/view/diff/judge/scope.h"

#include "runtime/base/memory.h"

#include <string.h>

#define BUCKET_START 256

void diff_scope_init(struct diff_scope *scope)
{
    memset(scope, 0, sizeof *scope);
}

static void frame_free(struct diff_frame *frame)
{
    memory_free(frame->turns);
    memory_free(frame);
}

void diff_scope_release(struct diff_scope *scope)
{
    /* Those of B alone are in B's buckets alone: the others are freed by A's. */
    for (unsigned side = 2; side-- > 0;) {
        for (size_t i = 0; i < scope->bucket_count; i++) {
            struct diff_frame *frame = scope->buckets[side][i];

            while (frame != NULL) {
                struct diff_frame *next = frame->next[side];

                if (side == 0 || frame->calls[0] == 0) {
                    frame_free(frame);
                }
                frame = next;
            }
        }
        memory_free(scope->buckets[side]);
    }
    diff_scope_init(scope);
}

/* ---- frames ---- */

static size_t bucket_of(const struct diff_scope *scope, uint32_t call)
{
    return (call * 0x9E3779B1u) & (scope->bucket_count - 1);
}

static bool make_room(struct diff_scope *scope)
{
    struct diff_scope grown = *scope;

    if (scope->frame_count < scope->bucket_count) {
        return true;
    }
    grown.bucket_count =
        scope->bucket_count == 0 ? BUCKET_START : scope->bucket_count * 2;
    for (unsigned side = 0; side < 2; side++) {
        grown.buckets[side] =
            memory_allocate_zeroed(grown.bucket_count, sizeof *grown.buckets[side]);
    }
    if (grown.buckets[0] == NULL || grown.buckets[1] == NULL) {
        memory_free(grown.buckets[0]);
        memory_free(grown.buckets[1]);
        scope->has_failed = true;
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = 0; i < scope->bucket_count; i++) {
            struct diff_frame *frame = scope->buckets[side][i];

            while (frame != NULL) {
                struct diff_frame *next = frame->next[side];
                size_t bucket = bucket_of(&grown, frame->calls[side]);

                frame->next[side] = grown.buckets[side][bucket];
                grown.buckets[side][bucket] = frame;
                frame = next;
            }
        }
        memory_free(scope->buckets[side]);
        scope->buckets[side] = grown.buckets[side];
    }
    scope->bucket_count = grown.bucket_count;
    return true;
}

struct diff_frame *
diff_scope_find(const struct diff_scope *scope, unsigned side, uint32_t call)
{
    struct diff_frame *frame;

    if (scope->bucket_count == 0 || call == 0) {
        return NULL;
    }
    if (scope->last != NULL && scope->last->calls[side] == call) {
        return scope->last;
    }
    frame = scope->buckets[side][bucket_of(scope, call)];
    while (frame != NULL && frame->calls[side] != call) {
        frame = frame->next[side];
    }
    return frame;
}

static void enlist(struct diff_scope *scope, struct diff_frame *frame, unsigned side)
{
    size_t bucket = bucket_of(scope, frame->calls[side]);

    frame->next[side] = scope->buckets[side][bucket];
    scope->buckets[side][bucket] = frame;
}

static void unlist(struct diff_scope *scope, struct diff_frame *frame, unsigned side)
{
    struct diff_frame **place;

    if (frame->calls[side] == 0) {
        return;
    }
    place = &scope->buckets[side][bucket_of(scope, frame->calls[side])];
    while (*place != NULL && *place != frame) {
        place = &(*place)->next[side];
    }
    if (*place == frame) {
        *place = frame->next[side];
    }
}

struct diff_frame *diff_scope_frame(struct diff_scope *scope,
                                    const struct open_call *a,
                                    const struct open_call *b)
{
    uint32_t calls[2] = {a == NULL ? 0 : a->call, b == NULL ? 0 : b->call};
    unsigned known = b != NULL ? 1 : 0;
    struct diff_frame *frame;

    if (calls[known] == 0) {
        calls[known] = UINT32_MAX; /* no writer gives it, but a damaged trace may */
    }
    frame = diff_scope_find(scope, known, calls[known]);
    if (frame != NULL) {
        scope->last = frame;
        return frame;
    }
    if (!make_room(scope)) {
        return NULL;
    }
    frame = memory_allocate_zeroed(1, sizeof *frame);
    if (frame == NULL) {
        scope->has_failed = true;
        return NULL;
    }
    /* What stands beside another call already stays there. */
    if (known == 1 && calls[0] != 0 && diff_scope_find(scope, 0, calls[0]) != NULL) {
        calls[0] = 0;
    }
    for (unsigned side = 0; side < 2; side++) {
        frame->calls[side] = calls[side];
        if (calls[side] != 0) {
            enlist(scope, frame, side);
        }
    }
    scope->frame_count++;
    scope->last = frame;
    return frame;
}

void diff_scope_end(struct diff_scope *scope, unsigned side, uint32_t call)
{
    struct diff_frame *frame = diff_scope_find(scope, side, call);

    if (frame == NULL) {
        return;
    }
    unlist(scope, frame, 0);
    unlist(scope, frame, 1);
    if (scope->last == frame) {
        scope->last = NULL;
    }
    scope->frame_count--;
    frame_free(frame);
}

void diff_frame_turn(struct diff_scope *scope,
                     struct diff_frame *frame,
                     uint32_t site,
                     uint32_t visit)
{
    void *items = frame->turns;

    for (size_t i = 0; i < frame->turn_count; i++) {
        if (frame->turns[i].site == site) {
            frame->turns[i].visit = visit;
            return;
        }
    }
    if (!memory_grow(&items, &frame->turn_capacity, frame->turn_count + 1,
                     sizeof *frame->turns)) {
        scope->has_failed = true;
        return;
    }
    frame->turns = items;
    frame->turns[frame->turn_count++] = (struct diff_turn){site, visit};
}

uint32_t diff_frame_turn_of(const struct diff_frame *frame, uint32_t site)
{
    for (size_t i = 0; i < frame->turn_count; i++) {
        if (frame->turns[i].site == site) {
            return frame->turns[i].visit + 1;
        }
    }
    return 0;
}
