/* The first line of a call in the tree log: what is called, and from where. */
#include "runtime/view/tracklog/state.h"
#include "runtime/view/words/paint.h"

#define NAME_LIMIT    100
#define PATH_LIMIT    60
#define CALLERS_LIMIT 200
#define FRAME_LIMIT   120
#define FRAMES_SHOWN  3

/* ---- where a call was made ---- */

static void add_place(const struct track_log *log,
                      const struct open_call *caller,
                      uint32_t line,
                      struct buffer *text)
{
    struct slice path = log->modules[caller->module_number].table.path;

    text_add_path(text, slice_last_part(path, '/'), PATH_LIMIT);
    buffer_add_byte(text, ':');
    buffer_add_number(text, line);
}

/* As far as the calls that are open tell. */
static void add_parents(const struct track_log *log,
                        const struct open_call *call,
                        struct buffer *text)
{
    const struct open_call *caller = call->parent;
    uint32_t line = call->line;

    text_add_shortened(text, track_log_function(log, caller)->name, NAME_LIMIT);
    buffer_add_byte(text, ':');
    buffer_add_number(text, line);
    buffer_add(text, SLICE(" ("));
    for (int i = 0; i < FRAMES_SHOWN && caller != NULL && line != 0; i++) {
        buffer_add(text, i > 0 ? SLICE(" <- ") : SLICE(""));
        add_place(log, caller, line, text);
        line = caller->line;
        caller = caller->parent;
    }
    buffer_add_byte(text, ')');
}

/* The frames in `step:57 (train.py:57 <- run.py:3)`, or in `train.py:57 <- run.py:3`. */
static struct slice frames_of(struct slice callers, size_t *start)
{
    size_t open = slice_find(callers, SLICE(" ("), 0);

    if (open < callers.size && slice_ends(callers, SLICE(")"))) {
        *start = open + 2;
        return slice_part(callers, open + 2, callers.size - 1);
    }
    *start = 0;
    return callers;
}

static size_t frame_end(struct slice frames, size_t start)
{
    return slice_find(frames, SLICE(" <- "), start);
}

/* The nearest frames. */
static void add_callers(struct slice callers, struct buffer *text)
{
    size_t start;
    struct slice frames = frames_of(callers, &start);
    size_t end = frame_end(frames, 0);

    for (int i = 1; i < FRAMES_SHOWN && end < frames.size; i++) {
        end = frame_end(frames, end + 1);
    }
    text_add_shortened(text, slice_part(callers, 0, start + end), CALLERS_LIMIT);
    buffer_add(text, start > 0 ? SLICE(")") : SLICE(""));
}

static void
add_stack(const struct track_call *tracked, struct slice callers, struct buffer *text)
{
    size_t unused;
    struct slice frames = frames_of(callers, &unused);

    for (size_t start = 0; start < frames.size;) {
        size_t end = frame_end(frames, start);

        track_log_add_bars(text, tracked->level);
        buffer_add(text, SLICE("├─ "));
        track_labels_add(&tracked->labels, TRACK_LABEL_STACK, text);
        buffer_add_byte(text, ' ');
        text_add_shortened(text, slice_part(frames, start, end), FRAME_LIMIT);
        buffer_add_byte(text, '\n');
        start = end < frames.size ? end + sizeof " <- " - 1 : end;
    }
}

void track_log_add_number(const struct open_call *call, struct buffer *text)
{
    if (track_call_of(call)->number > 0) {
        buffer_add(text, SLICE(" #"));
        buffer_add_number(text, track_call_of(call)->number);
    }
}

static void add_module_path(const struct open_call *call, struct buffer *text)
{
    if (call->path.size > 0) {
        buffer_add(text, SLICE(" | module="));
        text_add_shortened(text, call->path, NAME_LIMIT);
    }
}

void track_log_add_function(const struct track_log *log,
                            const struct site_function *function,
                            struct buffer *text)
{
    buffer_add(text, SLICE(" ["));
    paint_start(text, log->options.has_color, PAINT_CALL);
    text_add_shortened(text, function->name, NAME_LIMIT);
    paint_end(text, log->options.has_color);
    buffer_add_byte(text, ']');
}

void track_log_add_entry(const struct track_log *log,
                         const struct open_call *call,
                         struct slice callers,
                         struct buffer *text)
{
    const struct track_call *tracked = track_call_of(call);
    const struct site_function *function = track_log_function(log, call);

    track_log_add_bars(text, tracked->level);
    buffer_add(text, SLICE("┌── ["));
    add_place(log, call, function->line, text);
    buffer_add(text, SLICE("] "));
    track_labels_add(&tracked->labels, TRACK_LABEL_FUNCTION, text);
    track_log_add_function(log, function, text);
    if (callers.size > 0 || (call->parent != NULL && call->line != 0)) {
        buffer_add_byte(text, ' ');
        track_labels_add(&tracked->labels, TRACK_LABEL_CALLED, text);
        buffer_add_byte(text, ' ');
        if (callers.size > 0) {
            add_callers(callers, text);
        } else {
            add_parents(log, call, text);
        }
    }
    add_module_path(call, text);
    if (tracked->number > 0) {
        buffer_add(text, SLICE(" |"));
        track_log_add_number(call, text);
    }
    buffer_add_byte(text, '\n');
    if (tracked->wish.has_stack) {
        add_stack(tracked, callers, text);
    }
}
