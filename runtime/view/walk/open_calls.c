/* The open calls at a place of a trace. */
#include "runtime/view/walk/open_calls.h"

#include "runtime/base/memory.h"

#define FIRST_BUCKET_COUNT 64

void open_calls_init(struct open_calls *calls)
{
    *calls = (struct open_calls){0};
}

void open_calls_release(struct open_calls *calls)
{
    for (size_t i = 0; i < calls->bucket_count; i++) {
        while (calls->buckets[i] != NULL) {
            struct open_call *call = calls->buckets[i];

            calls->buckets[i] = call->next;
            memory_free(call->extra);
            memory_free(call);
        }
    }
    memory_free(calls->buckets);
    *calls = (struct open_calls){0};
}

/* Call numbers are consecutive, so their low bits are a good hash. */
static struct open_call **bucket_of(const struct open_calls *calls, uint32_t call)
{
    return &calls->buckets[call & (calls->bucket_count - 1)];
}

struct open_call *open_calls_find(struct open_calls *calls, uint32_t call)
{
    struct open_call *found = calls->last;

    if (found != NULL && found->call == call) {
        return found;
    }
    if (calls->bucket_count == 0) {
        return NULL;
    }
    found = *bucket_of(calls, call);
    while (found != NULL && found->call != call) {
        found = found->next;
    }
    if (found != NULL) {
        calls->last = found;
    }
    return found;
}

static bool grow(struct open_calls *calls)
{
    size_t old_count = calls->bucket_count;
    struct open_call **old = calls->buckets;
    size_t count = old_count == 0 ? FIRST_BUCKET_COUNT : old_count * 2;
    struct open_call **buckets = memory_allocate_zeroed(count, sizeof *buckets);

    if (buckets == NULL) {
        return false;
    }
    calls->buckets = buckets;
    calls->bucket_count = count;
    for (size_t i = 0; i < old_count; i++) {
        while (old[i] != NULL) {
            struct open_call *call = old[i];
            struct open_call **bucket = bucket_of(calls, call->call);

            old[i] = call->next;
            call->next = *bucket;
            *bucket = call;
        }
    }
    memory_free(old);
    return true;
}

/* Adds a call, with copies of its texts and its place in the tree. NULL: out of memory. */
static struct open_call *add(struct open_calls *calls,
                             const struct open_call *what,
                             struct slice path,
                             struct slice class_name)
{
    struct open_call *call;
    struct open_call **bucket;
    char *texts;

    if (calls->count >= calls->bucket_count && !grow(calls)) {
        return NULL;
    }
    call = memory_allocate(1, sizeof *call + path.size + class_name.size);
    if (call == NULL) {
        return NULL;
    }
    *call = *what;
    call->shown_number = what->call;
    texts = (char *)(call + 1);
    call->path = slice_put(&texts, path);
    call->class_name = slice_put(&texts, class_name);
    if (what->parent_number != 0 && what->parent_number != what->call) {
        call->parent = open_calls_find(calls, what->parent_number);
    }
    if (call->parent != NULL) {
        call->depth = call->parent->depth + 1;
        call->is_within = call->parent->is_within;
        call->parent->child_count++;
    }
    bucket = bucket_of(calls, call->call);
    call->next = *bucket;
    *bucket = call;
    calls->count++;
    calls->last = call;
    return call;
}

struct open_call *open_calls_begin(struct open_calls *calls,
                                   const struct log_call_view *view,
                                   bool *is_new)
{
    struct open_call *known = open_calls_find(calls, view->call);
    struct open_call what = {
        .call = view->call,
        .time = view->time,
        .parent_number = view->parent,
        .module_number = view->module_number,
        .function = (uint32_t)(view->function - view->module->table.functions),
        .line = view->line,
        .thread = view->thread,
        .is_begun = (view->flags & LOG_CALL_AGAIN) == 0,
        .is_joined = (view->flags & LOG_CALL_JOINED) != 0,
        .is_generator = (view->flags & LOG_CALL_GENERATOR) != 0,
    };

    *is_new = known == NULL;
    return known != NULL ? known : add(calls, &what, view->path, view->class_name);
}

struct open_call *open_calls_of_event(struct open_calls *calls,
                                      const struct log_event_view *event,
                                      bool *is_new)
{
    struct open_call *known = open_calls_find(calls, event->call);
    struct open_call what = {
        .call = event->call,
        .time = event->time,
        .module_number = event->module_number,
        .function = event->site->function,
        .thread = event->thread,
    };

    *is_new = known == NULL;
    return known != NULL ? known : add(calls, &what, SLICE(""), SLICE(""));
}

static void forget(struct open_calls *calls, struct open_call *call)
{
    struct open_call **place = bucket_of(calls, call->call);

    while (*place != call) {
        place = &(*place)->next;
    }
    *place = call->next;
    calls->count--;
    if (calls->last == call) {
        calls->last = NULL;
    }
    memory_free(call->extra);
    memory_free(call);
}

void open_calls_end(struct open_calls *calls, struct open_call *call)
{
    if (call != NULL) {
        call->is_ended = true;
    }
    while (call != NULL && call->is_ended && call->child_count == 0) {
        struct open_call *parent = call->parent;

        forget(calls, call);
        if (parent != NULL) {
            parent->child_count--;
        }
        call = parent;
    }
}

const struct site_function *open_call_function(const struct open_call *call,
                                               const struct log_reader *reader)
{
    return &log_reader_module(reader, call->module_number)
                ->table.functions[call->function];
}
