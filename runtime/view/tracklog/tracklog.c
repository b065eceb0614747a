/* The tree log: decides which calls are logged, and remembers the values of their names. */
#include "runtime/view/tracklog/state.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/hash/mix.h"
#include "runtime/base/memory.h"

/* ---- the last values of a call's names ---- */

#define COUNT_MAX 4096

static void track_names_release(struct track_names *names)
{
    memory_free(names->items);
    number_map_release(&names->places);
    *names = (struct track_names){0};
}

static uint64_t key_of(const struct log_event_view *event)
{
    uint64_t key = hash_64(event->name);

    if (event->path.size > 0) {
        key = hash_mix(key, hash_64(event->path));
    }
    return key;
}

static void remember(struct track_name *known, const struct log_event_view *event)
{
    known->kind = event->kind;
    known->length = event->integer;
    known->text = event->kind == VALUE_TEXT ? hash_64(event->text) : 0;
    known->is_numpy = false;
    known->dtype_size = 0;
    if (event->kind == VALUE_TENSOR) {
        struct slice dtype = event->shape->dtype_text;
        size_t size = dtype.size < TRACK_DTYPE_SIZE ? dtype.size : TRACK_DTYPE_SIZE;

        known->is_numpy = (event->shape->flags & LOG_FORM_NUMPY) != 0;
        known->dtype_size = (uint8_t)size;
        if (size > 0) {
            memcpy(known->dtype, dtype.bytes, size);
        }
    }
}

/* Adds a name. NULL: there are too many names, or memory ran out. */
static struct track_name *add(struct track_names *names, uint64_t key)
{
    void *items = names->items;

    if (names->count >= COUNT_MAX ||
        !memory_grow(&items, &names->capacity, names->count + 1,
                     sizeof *names->items)) {
        return NULL;
    }
    names->items = items;
    if (!number_map_put(&names->places, key, (uint32_t)names->count)) {
        return NULL;
    }
    return &names->items[names->count++];
}

bool track_names_add(struct track_names *names,
                     const struct log_event_view *event,
                     struct track_name *before)
{
    uint64_t key = key_of(event);
    uint32_t place = number_map_get(&names->places, key);
    struct track_name *known;

    if (place == NUMBER_MAP_NONE) {
        known = add(names, key);
        if (known != NULL) {
            remember(known, event);
        }
        return false;
    }
    known = &names->items[place];
    *before = *known;
    remember(known, event);
    return true;
}

/* ---- the state of a call ---- */

/* NULL: out of memory. */
static struct track_call *track_call_add(struct open_call *call)
{
    struct track_call *tracked = memory_allocate_zeroed(1, sizeof *tracked);

    if (tracked != NULL) {
        tracked->line_site = SITE_NONE;
        call->extra = tracked;
    }
    return tracked;
}

/* Stores the wish. The call's labels are `labels`, with the changes of the wish. Returns false
 * if memory runs out. */
static bool track_call_want(struct track_call *tracked,
                            struct slice wish,
                            const struct track_labels *labels)
{
    char *copy = memory_allocate(wish.size, 1);

    if (copy == NULL) {
        return false;
    }
    if (wish.size > 0) {
        memcpy(copy, wish.bytes, wish.size);
    }
    memory_free(tracked->wish_text);
    tracked->wish_text = copy;
    tracked->wish = track_wish_read((struct slice){copy, wish.size});
    tracked->is_conditional = tracked->wish.when != TRACK_ALWAYS;
    if (tracked->wish.depth > tracked->depth) {
        tracked->depth = tracked->wish.depth;
    }
    tracked->labels = *labels;
    track_labels_change(&tracked->labels, tracked->wish.labels);
    return true;
}

struct open_call *track_call_above(const struct open_call *call, bool with_waiting)
{
    for (struct open_call *above = call->parent; above != NULL; above = above->parent) {
        const struct track_call *tracked = track_call_of(above);

        if (tracked != NULL && (tracked->state == TRACK_SHOWN ||
                                (with_waiting && tracked->state == TRACK_WAITING))) {
            return above;
        }
    }
    return NULL;
}

/* Frees everything of the call but `state` and `level`, because no more of it is written. */
static void track_call_forget(struct open_call *call)
{
    struct track_call *tracked = track_call_of(call);

    if (tracked == NULL) {
        return;
    }
    track_names_release(&tracked->names);
    buffer_release(&tracked->waiting);
    memory_free(tracked->wish_text);
    tracked->wish_text = NULL;
    tracked->wish = (struct track_wish){.names = SLICE("")};
    if (tracked->state == TRACK_WAITING || tracked->state == TRACK_DUE) {
        tracked->state = TRACK_IGNORED;
    }
}

struct track_log *track_log_new(const struct track_options *options)
{
    struct track_log *log = memory_allocate_zeroed(1, sizeof *log);

    if (log != NULL) {
        log->options = *options;
        open_calls_init(&log->calls);
        source_lines_init(&log->sources, NULL, options->strip);
    }
    return log;
}

void track_log_free(struct track_log *log)
{
    if (log == NULL) {
        return;
    }
    for (size_t i = 0; i < log->calls.bucket_count; i++) {
        for (struct open_call *call = log->calls.buckets[i]; call != NULL;
             call = call->next) {
            track_call_forget(call);
        }
    }
    open_calls_release(&log->calls);
    source_lines_release(&log->sources);
    memory_free(log->threads);
    memory_free(log->modules);
    memory_free(log);
}

bool track_log_has_failed(const struct track_log *log)
{
    return log->has_failed || log->sources.has_failed;
}

const struct site_function *track_log_function(const struct track_log *log,
                                               const struct open_call *call)
{
    return &log->modules[call->module_number].table.functions[call->function];
}

static bool
keep_module(struct track_log *log, const struct log_module *module, uint32_t number)
{
    void *items = log->modules;

    if (!memory_grow_zeroed(&items, &log->module_capacity, (size_t)number + 1,
                            sizeof *log->modules)) {
        log->has_failed = true;
        return false;
    }
    log->modules = items;
    log->modules[number] = *module;
    return true;
}

/* ---- items ---- */

static void
end_call(struct track_log *log, const struct log_item *item, struct buffer *text)
{
    struct open_call *call = open_calls_find(&log->calls, item->end.call);
    struct track_call *tracked;

    if (call == NULL) {
        return;
    }
    tracked = track_call_of(call);
    if (track_log_is_due(call)) {
        track_log_begin_call(log, call, SLICE(""), text);
    }
    if (tracked != NULL && tracked->state == TRACK_SHOWN) {
        track_log_add_end(log, call, item, text);
    }
    track_call_forget(call);
    open_calls_end(&log->calls, call);
}

/* Stores the wish, and makes the call due. Returns false if memory runs out. */
static bool want(struct track_log *log, struct track_call *tracked, struct slice wish)
{
    if (!track_call_want(tracked, wish, &log->options.labels)) {
        log->has_failed = true;
        return false;
    }
    tracked->is_conditional = tracked->is_conditional || log->options.is_selective;
    tracked->wish.has_lines = tracked->wish.has_lines || log->options.has_lines;
    tracked->state = TRACK_DUE;
    return true;
}

/* Creates the state of a new call, before anything is written about it. */
static void visit(struct track_log *log, struct open_call *call)
{
    struct track_call *tracked = track_call_add(call);
    const struct track_call *parent =
        call->parent == NULL ? NULL : track_call_of(call->parent);

    if (tracked == NULL) {
        log->has_failed = true;
        return;
    }
    tracked->labels = log->options.labels;
    tracked->is_conditional = log->options.is_selective;
    tracked->wish.has_lines = log->options.has_lines;
    tracked->state = log->options.is_all ? TRACK_DUE : TRACK_IGNORED;
    if (parent == NULL || parent->depth == 0) {
        return;
    }
    struct buffer wish = BUFFER_INIT;
    track_wish_write(&parent->wish, &wish);
    log->has_failed = log->has_failed || wish.has_failed;
    if (want(log, tracked, buffer_slice(&wish))) {
        tracked->depth = parent->depth - 1;
    }
    buffer_release(&wish);
}

static void
track(struct track_log *log, const struct log_item *item, struct buffer *text)
{
    struct open_call *call = open_calls_find(&log->calls, item->tracked.call);
    struct track_call *tracked = call == NULL ? NULL : track_call_of(call);

    if (tracked != NULL &&
        (tracked->state == TRACK_IGNORED || tracked->state == TRACK_DUE) &&
        want(log, tracked, item->tracked.wish)) {
        track_log_begin_call(log, call, item->tracked.callers, text);
    }
}

static void
add_event(struct track_log *log, const struct log_item *item, struct buffer *text)
{
    bool is_new = false;
    struct open_call *call = open_calls_of_event(&log->calls, &item->event, &is_new);
    const struct track_call *tracked;

    if (call == NULL) {
        log->has_failed = true;
        return;
    }
    if (is_new) {
        visit(log, call);
    }
    call->thread = item->event.thread;
    tracked = track_call_of(call);
    if (track_log_is_due(call)) {
        track_log_begin_call(log, call, SLICE(""), text);
    }
    if (tracked != NULL && tracked->state != TRACK_IGNORED) {
        track_log_add_event(log, &item->event, call, text);
    }
}

static void begin_call(struct track_log *log, const struct log_item *item)
{
    bool is_new = false;
    struct open_call *call = open_calls_begin(&log->calls, &item->call, &is_new);

    if (call == NULL) {
        log->has_failed = true;
    } else if (is_new) {
        visit(log, call);
    }
}

/* The thread of an item that has no thread number itself. */
static uint16_t thread_of(struct track_log *log, uint32_t call)
{
    const struct open_call *known = open_calls_find(&log->calls, call);

    return known == NULL ? 0 : known->thread;
}

void track_log_add(struct track_log *log,
                   const struct log_item *item,
                   struct buffer *text,
                   uint16_t *thread)
{
    switch (item->kind) {
    case LOG_CALL:
        *thread = item->call.thread;
        if (keep_module(log, item->call.module, item->call.module_number)) {
            begin_call(log, item);
        }
        break;
    case LOG_TRACKED:
        *thread = thread_of(log, item->tracked.call);
        track(log, item, text);
        break;
    case LOG_EVENT:
        *thread = item->event.thread;
        if (keep_module(log, item->event.module, item->event.module_number)) {
            add_event(log, item, text);
        }
        break;
    case LOG_END:
        *thread = thread_of(log, item->end.call);
        end_call(log, item, text);
        break;
    default:
        break;
    }
}
