/* The lines of the tree log for one event: an input, an output, a variable, a source line. */
#include "runtime/base/buffer.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/trace/reader.h"
#include "runtime/view/tracklog/state.h"
#include "runtime/view/tracklog/value.h"
#include "runtime/view/words/change_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"
#include "runtime/view/words/value_text.h"

#include <stdbool.h>
#include <stdio.h>

enum track_change {
    TRACK_SAME,
    TRACK_NEW,     /* the last value is unknown */
    TRACK_REBOUND, /* another tensor with the same values */
    TRACK_OTHER,
};

/* ---- the change of a name since its last value ---- */

#define WRITTEN_NAME_LIMIT 60

static bool is_other_library(const struct log_event_view *event,
                             const struct track_name *before)
{
    return before != NULL && event->kind == VALUE_TENSOR &&
           before->kind == VALUE_TENSOR &&
           before->is_numpy != ((event->shape->flags & LOG_FORM_NUMPY) != 0);
}

/* Whether another object is known to have the same value as the last one. */
static bool is_equal(const struct log_event_view *event,
                     const struct track_name *before)
{
    switch (event->kind) {
    case VALUE_TENSOR:
        return event->has_hash;
    case VALUE_NONE:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_BIG_INT:
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
        return true;
    case VALUE_TEXT:
        return before != NULL && before->kind == VALUE_TEXT &&
               before->text == hash_64(event->text);
    default:
        return false;
    }
}

/* `before` is the last value of the name; NULL: unknown. */
static enum track_change track_change_of(const struct log_event_view *event,
                                         const struct track_name *before)
{
    switch (event->change) {
    case CHANGE_NEW:
        return TRACK_NEW;
    case CHANGE_REBOUND:
        if (event->difference != 0 || is_other_library(event, before) ||
            !is_equal(event, before)) {
            return TRACK_OTHER;
        }
        return event->kind == VALUE_TENSOR ? TRACK_REBOUND : TRACK_SAME;
    case CHANGE_MUTATED:
    case CHANGE_ALIASED:
        return TRACK_OTHER;
    case CHANGE_NONE:
        /* The line may have written to the object unnoticed; see record/event.c. */
        return event->kind == VALUE_CONTAINER || event->kind == VALUE_OBJECT ||
                       event->kind == VALUE_BYTES
                   ? TRACK_OTHER
                   : TRACK_SAME;
    default:
        return TRACK_SAME;
    }
}

/* Whether an array was replaced by one of another dtype. */
static bool track_change_is_dtype(const struct log_event_view *event,
                                  const struct track_name *before)
{
    struct slice dtype;

    if (before == NULL || before->kind != VALUE_TENSOR || event->kind != VALUE_TENSOR) {
        return false;
    }
    dtype = event->shape->dtype_text;
    if (dtype.size > TRACK_DTYPE_SIZE) {
        dtype.size = TRACK_DTYPE_SIZE;
    }
    return !slice_equal(dtype, (struct slice){before->dtype, before->dtype_size});
}

struct words {
    struct buffer *text;
    bool is_first;
};

static void add_word(struct words *words, bool is_so, const char *word)
{
    if (is_so) {
        buffer_add(words->text, words->is_first ? SLICE("") : SLICE(", "));
        buffer_add(words->text, slice_of(word));
        words->is_first = false;
    }
}

static void add_alias(struct words *words, const struct site *site)
{
    add_word(words, true, "alias");
    if (site == NULL) {
        return;
    }
    if (site->write_count > 0) {
        buffer_add(words->text, SLICE(" of "));
        text_add_shortened(words->text, site->writes[0].name, WRITTEN_NAME_LIMIT);
    }
    buffer_add(words->text, SLICE(" at "));
    buffer_add_number(words->text, site->line);
}

/* Whether objects of the kind can be written to. A number at the same address as another one is
 * a new object instead. */
static bool is_mutable(enum value_kind kind)
{
    return kind == VALUE_TENSOR || kind == VALUE_CONTAINER || kind == VALUE_OBJECT ||
           kind == VALUE_BYTES;
}

/* Adds the words of a change: `shape, dtype, value, in place` for TRACK_OTHER, `rebound` for
 * TRACK_REBOUND. `site` is the site of the event's alias_site; may be NULL. */
static void track_change_add(struct buffer *text,
                             const struct log_event_view *event,
                             const struct track_name *before,
                             const struct site *site)
{
    struct words words = {text, true};
    unsigned difference = event->difference;
    bool is_value = event->kind == VALUE_TENSOR ? (difference & LOG_DIFFERS_VALUES) != 0
                                                : !is_mutable(event->kind);
    bool is_longer = event->kind == VALUE_CONTAINER && before != NULL &&
                     before->kind == VALUE_CONTAINER &&
                     before->length != event->integer;

    add_word(&words,
             (difference & LOG_DIFFERS_TYPE) != 0 || is_other_library(event, before),
             difference_text(LOG_DIFFERS_TYPE));
    add_word(&words, (difference & LOG_DIFFERS_SHAPE) != 0,
             difference_text(LOG_DIFFERS_SHAPE));
    add_word(&words,
             (difference & LOG_DIFFERS_DTYPE) != 0 ||
                 track_change_is_dtype(event, before),
             difference_text(LOG_DIFFERS_DTYPE));
    add_word(&words, (difference & LOG_DIFFERS_DEVICE) != 0,
             difference_text(LOG_DIFFERS_DEVICE));
    add_word(&words, (difference & LOG_DIFFERS_STRIDES) != 0,
             difference_text(LOG_DIFFERS_STRIDES));
    add_word(&words, (difference & LOG_DIFFERS_REQUIRES_GRAD) != 0,
             difference_text(LOG_DIFFERS_REQUIRES_GRAD));
    add_word(&words, is_value, "value");
    add_word(&words, is_longer, "len");
    add_word(&words,
             is_mutable(event->kind) &&
                 (event->change == CHANGE_MUTATED || event->change == CHANGE_NONE),
             "in place");
    if (event->change == CHANGE_ALIASED) {
        add_alias(&words, site);
    }
    add_word(&words, words.is_first, "rebound");
}

static void track_log_add_bars(struct buffer *text, uint32_t level);

/* ---- The first line of a call in the tree log: the function and its callers ---- */

#define NAME_LIMIT    100
#define PATH_LIMIT    60
#define CALLERS_LIMIT 200
#define FRAME_LIMIT   120
#define FRAMES_SHOWN  3

/* ---- the place of the call ---- */

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

/* Adds the callers, as far as they are open calls. */
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

/* Returns the frames in `step:57 (train.py:57 <- run.py:3)`, or in `train.py:57 <- run.py:3`,
 * and their offset. */
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

/* Adds the nearest frames. */
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

/* Adds ` #2` for a generator or coroutine, because several may be open in one thread. */
static void track_log_add_number(const struct open_call *call, struct buffer *text)
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

/* Adds ` [forward]`. */
static void track_log_add_function(const struct track_log *log,
                                   const struct site_function *function,
                                   struct buffer *text)
{
    buffer_add(text, SLICE(" ["));
    paint_start(text, log->options.has_color, PAINT_CALL);
    text_add_shortened(text, function->name, NAME_LIMIT);
    paint_end(text, log->options.has_color);
    buffer_add_byte(text, ']');
}

/* Adds the first line of a call. `callers` is as in LOG_TRACKED. */
static void track_log_add_entry(const struct track_log *log,
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

static void track_log_add_source(struct track_log *log,
                                 struct open_call *call,
                                 uint32_t line,
                                 uint32_t site,
                                 uint32_t visit,
                                 struct buffer *text);

/* ---- the start and end of a call, and the present call of each thread ---- */

#define LEVEL_LIMIT                                                                    \
    50 /* calls deeper than this print their depth, and are not indented further */
/* Limit of the lines of a WAITING call, in bytes. */
#define WAITING_LIMIT (64 * 1024)

/* ---- lines ---- */

/* Adds `│   ` for each level. */
static void track_log_add_bars(struct buffer *text, uint32_t level)
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

/* NULL: out of memory. */
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

/* Makes the call the present one of its thread's log. If the last lines are of another call that
 * is not within this one, adds a line that names this call. */
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

static struct track_line
track_log_begin_line(struct track_log *log, struct open_call *call, struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);

    if (tracked->state == TRACK_WAITING) {
        return (struct track_line){&tracked->waiting, tracked->waiting.size};
    }
    stand_at(log, call, thread_of(log, call->thread), text);
    return (struct track_line){text, text->size};
}

static void track_log_end_line(struct open_call *call, struct track_line line)
{
    struct track_call *tracked = track_call_of(call);

    buffer_add_byte(line.text, '\n');
    if (tracked->state == TRACK_WAITING && tracked->waiting.size > WAITING_LIMIT) {
        tracked->waiting.size = line.start;
        tracked->left_out++;
    }
}

/* ---- calls ---- */

/* Starts one call: adds the source line of the caller, and the call's first line. */
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
    tracked->state = TRACK_SHOWN;
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

/* Starts the call. Its callers that are due are started before it. */
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
write_waiting(struct track_log *log, struct open_call *call, struct buffer *text)
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
    tracked->state = TRACK_SHOWN;
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

/* Writes the lines of a WAITING call and of its WAITING callers, because an event met the call's
 * condition. */
static void
track_log_want_call(struct track_log *log, struct open_call *call, struct buffer *text)
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
        } else if (tracked != NULL && tracked->state == TRACK_SHOWN) {
            break;
        }
    }
    for (; top != NULL; top = top->shown_next) {
        write_waiting(log, top, text);
    }
}

/* `is_apart`: the last lines are of another call, so this line names its own. */
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

/* The name of an exception type, in the form of tracebacks. */
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

#define SOURCE_LIMIT 120

/* ---- source lines ---- */

/* Whether the line was written already. Several sites of a line share one text; a repeated visit
 * of a site means that the line ran again. */
static bool is_reported(const struct track_call *tracked,
                        uint32_t line,
                        uint32_t site,
                        uint32_t visit)
{
    bool is_again = tracked->line_site != SITE_NONE && tracked->line_site == site &&
                    tracked->line_visit != visit;

    return tracked->line == line && !is_again;
}

/* Adds the text of the source line, if the wish has lines and the text was not the last one
 * written. `site` is SITE_NONE for a line that is running. */
static void track_log_add_source(struct track_log *log,
                                 struct open_call *call,
                                 uint32_t line,
                                 uint32_t site,
                                 uint32_t visit,
                                 struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);
    const struct log_module *module = &log->modules[call->module_number];
    struct slice source;

    if (!tracked->wish.has_lines) {
        return;
    }
    if (is_reported(tracked, line, site, visit)) {
        if (tracked->line_site == SITE_NONE) {
            tracked->line_site = site;
            tracked->line_visit = visit;
        }
        return;
    }
    tracked->line = line;
    tracked->line_site = site;
    tracked->line_visit = visit;
    source = source_lines_get_from(&log->sources, module, call->module_number, line);
    struct track_line shown = track_log_begin_line(log, call, text);
    track_log_add_bars(shown.text, tracked->level + 1);
    buffer_add(shown.text, SLICE("├─ "));
    paint_start(shown.text, log->options.has_color, PAINT_FAINT);
    buffer_add_number(shown.text, line);
    buffer_add(shown.text, source.size > 0 ? SLICE("| ") : SLICE("|"));
    text_add_shortened(shown.text, source, SOURCE_LIMIT);
    paint_end(shown.text, log->options.has_color);
    track_log_end_line(call, shown);
}

/* ---- values ---- */

static void add_name(struct buffer *text, const struct log_event_view *event)
{
    text_add_shortened(text, event->name, NAME_LIMIT);
    text_add_shortened(text, event->path, NAME_LIMIT);
}

/* Adds `[Tensor] x@12 → shape=…` or `[Var] n@12 value: 5`. Inputs have the line 0. */
static void add_named(const struct track_log *log,
                      const struct log_event_view *event,
                      uint32_t line,
                      struct buffer *text)
{
    buffer_add_byte(text, '[');
    buffer_add(text, track_value_tag(event));
    buffer_add(text, SLICE("] "));
    add_name(text, event);
    paint_start(text, log->options.has_color, PAINT_PLACE);
    buffer_add_byte(text, '@');
    buffer_add_number(text, line);
    paint_end(text, log->options.has_color);
    buffer_add(text, event->kind == VALUE_TENSOR ? SLICE(" → ") : SLICE(" "));
    track_value_add(text, event, log->options.has_color);
}

static void add_input(struct track_log *log,
                      const struct log_event_view *event,
                      struct open_call *call,
                      struct buffer *text)
{
    const struct track_call *tracked = track_call_of(call);
    struct track_line line = track_log_begin_line(log, call, text);

    track_log_add_bars(line.text, tracked->level);
    buffer_add(line.text, SLICE("├─ "));
    track_labels_add(&tracked->labels, TRACK_LABEL_INPUT, line.text);
    buffer_add_byte(line.text, ' ');
    add_named(log, event, 0, line.text);
    track_log_end_line(call, line);
}

static void add_output(struct track_log *log,
                       const struct log_event_view *event,
                       struct open_call *call,
                       struct buffer *text)
{
    const struct track_call *tracked = track_call_of(call);
    struct track_line line = track_log_begin_line(log, call, text);

    track_log_add_bars(line.text, tracked->level + 1);
    buffer_add(line.text, SLICE("└─ "));
    track_labels_add(&tracked->labels, TRACK_LABEL_OUTPUT, line.text);
    text_add_shortened(line.text, event->path, NAME_LIMIT);
    buffer_add_byte(line.text, ' ');
    track_value_add(line.text, event, log->options.has_color);
    track_log_end_line(call, line);
}

/* The site with that number. NULL: its module has not occurred yet. */
static const struct site *find_alias(const struct track_log *log, uint32_t number)
{
    for (size_t i = 0; i < log->module_capacity; i++) {
        const struct log_module *module = &log->modules[i];

        if (number >= module->first_site &&
            number - module->first_site < module->table.site_count) {
            return &module->table.sites[number - module->first_site];
        }
    }
    return NULL;
}

static void add_change(const struct track_log *log,
                       const struct track_call *tracked,
                       const struct log_event_view *event,
                       const struct track_name *before,
                       struct buffer *text)
{
    const struct site *site = event->change == CHANGE_ALIASED
                                  ? find_alias(log, event->tensor.alias_site)
                                  : NULL;

    buffer_add(text, SLICE(" | "));
    paint_start(text, log->options.has_color, PAINT_CHANGE);
    track_labels_add(&tracked->labels, TRACK_LABEL_CHANGED, text);
    buffer_add(text, SLICE(": "));
    track_change_add(text, event, before, site);
    paint_end(text, log->options.has_color);
}

/* Adds a warning about a change of dtype, which is easily overlooked and often a mistake. */
static void add_warning(struct track_log *log,
                        const struct log_event_view *event,
                        const struct track_name *before,
                        struct open_call *call,
                        struct buffer *text)
{
    struct track_line line = track_log_begin_line(log, call, text);

    track_log_add_bars(line.text, track_call_of(call)->level + 1);
    buffer_add(line.text, SLICE("├─ "));
    paint_start(line.text, log->options.has_color, PAINT_ALARM);
    buffer_add(line.text, SLICE("⚠ "));
    add_name(line.text, event);
    buffer_add_byte(line.text, '@');
    buffer_add_number(line.text, event->site->line);
    buffer_add(line.text, SLICE(" dtype "));
    track_dtype_add(line.text, (struct slice){before->dtype, before->dtype_size},
                    before->is_numpy);
    buffer_add(line.text, SLICE(" → "));
    track_dtype_add(line.text, event->shape->dtype_text,
                    (event->shape->flags & LOG_FORM_NUMPY) != 0);
    paint_end(line.text, log->options.has_color);
    track_log_end_line(call, line);
}

static void add_variable(const struct track_log *log,
                         const struct track_call *tracked,
                         const struct log_event_view *event,
                         const struct track_name *before,
                         enum track_change change,
                         struct buffer *text)
{
    track_log_add_bars(text, tracked->level + 1);
    buffer_add(text, SLICE("├─ "));
    add_named(log, event, event->site->line, text);
    if (change != TRACK_NEW) {
        add_change(log, tracked, event, before, text);
    }
}

/* ---- events ---- */

static bool is_found(const struct track_call *tracked,
                     const struct log_event_view *event,
                     bool is_change)
{
    return tracked->wish.when == TRACK_NAN ? value_has_nonfinite(event) : is_change;
}

static bool is_shown_at_all(const struct track_call *tracked, enum track_change change)
{
    return change == TRACK_OTHER ||
           (change != TRACK_SAME && tracked->wish.when != TRACK_CHANGED);
}

static void record_variable(struct track_log *log,
                            const struct log_event_view *event,
                            struct open_call *call,
                            struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);
    struct track_name known;
    const struct track_name *before =
        track_names_add(&tracked->names, event, &known) ? &known : NULL;
    enum track_change change = track_change_of(event, before);

    if (!track_wish_names(&tracked->wish, event->name, event->path)) {
        return;
    }
    if (is_found(tracked, event, change == TRACK_OTHER)) {
        track_log_want_call(log, call, text);
    }
    if (tracked->wish.is_bare || !is_shown_at_all(tracked, change)) {
        return;
    }
    struct track_line line = track_log_begin_line(log, call, text);
    add_variable(log, tracked, event, before, change, line.text);
    track_log_end_line(call, line);
    if (change == TRACK_OTHER && track_change_is_dtype(event, before)) {
        add_warning(log, event, before, call, text);
    }
}

/* Writes a name that the line only reads, if its value has changed, for example because a
 * function that was called with it wrote to it. */
static void write_read(struct track_log *log,
                       const struct log_event_view *event,
                       struct open_call *call,
                       struct buffer *text)
{
    if (event->change == CHANGE_REBOUND || event->change == CHANGE_MUTATED ||
        event->change == CHANGE_ALIASED) {
        record_variable(log, event, call, text);
    } else {
        track_names_add(&track_call_of(call)->names, event, &(struct track_name){0});
    }
}

static void write_input(struct track_log *log,
                        const struct log_event_view *event,
                        struct open_call *call,
                        struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);
    struct track_name unused;

    track_names_add(&tracked->names, event, &unused);
    if (is_found(tracked, event, false)) {
        track_log_want_call(log, call, text);
    }
    if (!tracked->wish.is_bare) {
        add_input(log, event, call, text);
    }
}

static void write_output(struct track_log *log,
                         const struct log_event_view *event,
                         struct open_call *call,
                         struct buffer *text)
{
    const struct track_call *tracked = track_call_of(call);

    if (is_found(tracked, event, false)) {
        track_log_want_call(log, call, text);
    }
    if (!tracked->wish.is_bare) {
        add_output(log, event, call, text);
    }
}

void track_log_add_event(struct track_log *log,
                         const struct log_event_view *event,
                         struct open_call *call,
                         struct buffer *text)
{
    if ((event->flags & LOG_EVENT_READ) != 0) {
        write_read(log, event, call, text);
        return;
    }
    if (log->options.is_selective) {
        track_log_want_call(log, call, text);
    }
    if (event->site->kind != SITE_ENTER) {
        track_log_add_source(log, call, event->site->line, event->site_number,
                             event->visit, text);
    }
    if (event->kind == VALUE_NOTHING || event->kind == VALUE_MISSING) {
        return;
    }
    if (event->site->kind == SITE_ENTER) {
        write_input(log, event, call, text);
    } else if (event->site->kind == SITE_RETURN) {
        write_output(log, event, call, text);
    } else {
        record_variable(log, event, call, text);
    }
}
