/* The tree log: where lines of a call begin and end, and whose turn it is in a thread. */
#include "runtime/view/tracklog/state.h"

#include "runtime/base/memory.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"

#include <stdio.h>

#define LEVEL_LIMIT 50 /* deeper calls are not indented further: their depth is told */
#define NAME_LIMIT  100
#define PATH_LIMIT  60
/* Of a call of which it is not sure yet that it is wanted. */
#define WAITING_LIMIT (64 * 1024)

/* ---- lines ---- */

void track_log_add_bars(struct buffer *text, uint32_t level)
{
    for (uint32_t i = 0; i < level && i < LEVEL_LIMIT; i++) {
        buffer_add(text, SLICE("│   "));
    }
    if (level > LEVEL_LIMIT) {
        buffer_add_byte(text, '(');
        buffer_add_number(text, level);
        buffer_add(text, SLICE(") "));
    }
}

/* NULL where memory ran out. */
static struct track_thread *thread_of(struct track_log *log, uint16_t number)
{
    void *items = log->threads;

    if (!memory_grow_zeroed(&items, &log->thread_capacity, (size_t)number + 1,
                            sizeof *log->threads)) {
        log->has_failed = true;
        return NULL;
    }
    log->threads = items;
    return &log->threads[number];
}

static bool is_within(const struct open_call *inner, const struct open_call *outer)
{
    while (inner != NULL && inner != outer) {
        inner = inner->parent;
    }
    return inner != NULL;
}

static void
add_continues(struct track_log *log, const struct open_call *call, struct buffer *text)
{
    const struct track_call *tracked = track_call_of(call);
    const struct site_function *function = track_log_function(log, call);
    struct slice path = log->modules[call->module_number].table.path;

    track_log_add_bars(text, tracked->level);
    buffer_add(text, SLICE("├─ "));
    track_labels_add(&tracked->labels, TRACK_LABEL_CONTINUES, text);
    track_log_add_function(log, function, text);
    track_log_add_number(call, text);
    buffer_add_byte(text, ' ');
    text_add_path(text, slice_last_part(path, '/'), PATH_LIMIT);
    buffer_add_byte(text, ':');
    buffer_add_number(text, function->line);
    buffer_add_byte(text, '\n');
}

/* Lines of the call may follow now in the thread's log: where those of another one stand last,
 * and it is not within this one, a line says whose they are. */
static void stand_at(struct track_log *log,
                     const struct open_call *call,
                     struct track_thread *thread,
                     struct buffer *text)
{
    const struct open_call *last;

    if (thread == NULL || thread->current == call->call) {
        return;
    }
    last = thread->current == 0 ? NULL : open_calls_find(&log->calls, thread->current);
    if (!is_within(last, call)) {
        add_continues(log, call, text);
    }
    thread->current = call->call;
}

struct track_line
track_log_begin_line(struct track_log *log, struct open_call *call, struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);

    if (tracked->state == TRACK_WAITING) {
        return (struct track_line){&tracked->waiting, tracked->waiting.size};
    }
    stand_at(log, call, thread_of(log, call->thread), text);
    return (struct track_line){text, text->size};
}

void track_log_end_line(struct open_call *call, struct track_line line)
{
    struct track_call *tracked = track_call_of(call);

    buffer_add_byte(line.text, '\n');
    if (tracked->state == TRACK_WAITING && tracked->waiting.size > WAITING_LIMIT) {
        tracked->waiting.size = line.start;
        tracked->left_out++;
    }
}

/* ---- calls ---- */

/* The line of the call that it was made from, and the call's first one. */
static void begin_one(struct track_log *log,
                      struct open_call *call,
                      struct slice callers,
                      struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);
    struct open_call *above = track_call_above(call, tracked->is_conditional);
    struct track_thread *thread = thread_of(log, call->thread);

    tracked->level = above == NULL ? 0 : track_call_of(above)->level + 1;
    if (call->is_generator && thread != NULL) {
        tracked->number = ++thread->generator_count;
    }
    if (tracked->is_conditional) {
        tracked->state = TRACK_WAITING;
        track_log_add_entry(log, call, callers, &tracked->waiting);
        return;
    }
    tracked->state = TRACK_TOLD;
    if (above != NULL) {
        stand_at(log, above, thread, text);
        if (above == call->parent && call->line != 0) {
            track_log_add_source(log, above, call->line, SITE_NONE, 0, text);
        }
    }
    if (thread != NULL) {
        thread->current = call->call;
    }
    track_log_add_entry(log, call, callers, text);
}

bool track_log_is_due(const struct open_call *call)
{
    return call != NULL && track_call_of(call) != NULL &&
           track_call_of(call)->state == TRACK_DUE;
}

/* Begins the call, and before it those that it was made from and that are due too. */
void track_log_begin_call(struct track_log *log,
                          struct open_call *call,
                          struct slice callers,
                          struct buffer *text)
{
    struct open_call *top = call;

    call->shown_next = NULL;
    while (track_log_is_due(top->parent)) {
        top->parent->shown_next = top;
        top = top->parent;
    }
    for (; top != NULL; top = top->shown_next) {
        begin_one(log, top, top == call ? callers : SLICE(""), text);
    }
}

static void
tell_waiting(struct track_log *log, struct open_call *call, struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);
    struct open_call *above = track_call_above(call, false);
    struct track_thread *thread = thread_of(log, call->thread);

    if (above != NULL) {
        stand_at(log, above, thread, text);
    }
    if (thread != NULL) {
        thread->current = call->call;
    }
    tracked->state = TRACK_TOLD;
    buffer_add(text, buffer_slice(&tracked->waiting));
    log->has_failed = log->has_failed || tracked->waiting.has_failed;
    buffer_release(&tracked->waiting);
    if (tracked->left_out > 0) {
        track_log_add_bars(text, tracked->level + 1);
        buffer_add(text, SLICE("├─ … "));
        buffer_add_number(text, tracked->left_out);
        buffer_add(text, SLICE(" lines left out\n"));
    }
}

void track_log_want_call(struct track_log *log,
                         struct open_call *call,
                         struct buffer *text)
{
    struct open_call *top = call;

    if (track_call_of(call)->state != TRACK_WAITING) {
        return;
    }
    call->shown_next = NULL;
    for (struct open_call *above = call->parent; above != NULL; above = above->parent) {
        const struct track_call *tracked = track_call_of(above);

        if (tracked != NULL && tracked->state == TRACK_WAITING) {
            above->shown_next = top;
            top = above;
        } else if (tracked != NULL && tracked->state == TRACK_TOLD) {
            break;
        }
    }
    for (; top != NULL; top = top->shown_next) {
        tell_waiting(log, top, text);
    }
}

/* `is_apart`: lines of another call stand last, so the line names this one. */
static void add_ending(struct track_log *log,
                       const struct open_call *call,
                       bool is_apart,
                       enum track_label label,
                       enum paint paint,
                       struct slice what,
                       struct buffer *text)
{
    const struct track_call *tracked = track_call_of(call);

    track_log_add_bars(text, tracked->level + 1);
    buffer_add(text, SLICE("└─ "));
    paint_start(text, log->options.has_color, paint);
    track_labels_add(&tracked->labels, label, text);
    buffer_add_byte(text, ' ');
    text_add_shortened(text, what, NAME_LIMIT);
    if (is_apart) {
        buffer_add(text, SLICE(" ["));
        text_add_shortened(text, track_log_function(log, call)->name, NAME_LIMIT);
        buffer_add_byte(text, ']');
        track_log_add_number(call, text);
    }
    paint_end(text, log->options.has_color);
    buffer_add_byte(text, '\n');
}

/* As tracebacks name it. */
static struct slice error_name(struct slice type)
{
    struct slice builtins = SLICE("builtins.");

    return slice_starts(type, builtins) ? slice_part(type, builtins.size, type.size)
                                        : type_without_main(type);
}

void track_log_add_end(struct track_log *log,
                       struct open_call *call,
                       const struct log_item *item,
                       struct buffer *text)
{
    struct track_thread *thread = thread_of(log, call->thread);
    bool is_apart = thread != NULL && thread->current != call->call &&
                    (thread->current == 0 ||
                     !is_within(open_calls_find(&log->calls, thread->current), call));

    if (item->end.error.size > 0) {
        add_ending(log, call, is_apart, TRACK_LABEL_RAISED, PAINT_ALARM,
                   error_name(item->end.error), text);
    }
    if (!log->options.is_canonical && call->is_begun && !call->is_joined &&
        item->end.time >= call->time) {
        char elapsed[32];

        snprintf(elapsed, sizeof elapsed, "%.4fs",
                 (double)(item->end.time - call->time) / 1e9);
        add_ending(log, call, is_apart, TRACK_LABEL_ELAPSED, PAINT_FAINT,
                   slice_of(elapsed), text);
    }
    if (thread != NULL && !is_apart) {
        struct open_call *above = track_call_above(call, false);
        thread->current = above == NULL ? 0 : above->call;
    }
}
