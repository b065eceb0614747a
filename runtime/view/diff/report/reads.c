/* What a statement read: the trace is gone through once more, up to the statement's event. */
#include "runtime/array/uninitialised.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/value_text.h"

#include <string.h>

#define INPUTS_MOST 8
#define NAME_LIMIT  60

struct wanted {
    struct slice name; /* borrowed from the site table of another reader */
    enum site_scope scope;
    bool is_found;
    bool is_uninitialised; /* its memory was not written when it was recorded */
    struct buffer value;   /* owned: of the last event so far */
    uint64_t event;
};

struct look {
    struct wanted names[INPUTS_MOST];
    uint32_t count;
    const struct log_event_view *target; /* borrowed from the other reader */
    const struct open_call *call;        /* of the target, in the other reader */
};

static bool is_attribute(struct slice name)
{
    return slice_starts(name, SLICE("self."));
}

static void want(struct look *look, const struct site_read *read)
{
    for (uint32_t i = 0; i < look->count; i++) {
        if (slice_equal(look->names[i].name, read->name)) {
            return;
        }
    }
    if (look->count < INPUTS_MOST) {
        look->names[look->count++] = (struct wanted){
            .name = read->name, .scope = read->scope, .value = BUFFER_INIT};
    }
}

/* Whether the event tells what the target's statement would read by that name. */
static bool is_meant(const struct look *look,
                     const struct wanted *wanted,
                     const struct log_item *item,
                     const struct open_call *call)
{
    const struct log_event_view *event = &item->event;

    if (event->path.size > 0 || !slice_equal(event->name, wanted->name)) {
        return false;
    }
    if (is_attribute(wanted->name)) {
        return look->call == NULL ||
               (slice_equal(call->class_name, look->call->class_name) &&
                (slice_equal(call->path, look->call->path) || call->path.size == 0));
    }
    switch (wanted->scope) {
    case SITE_SCOPE_LOCAL:
        return event->call == look->target->call;
    case SITE_SCOPE_GLOBAL:
        return event->module_number == look->target->module_number &&
               (event->site->function == 0 || event->call == look->target->call);
    default:
        return event->module_number == look->target->module_number;
    }
}

static bool tells_something(const struct log_event_view *event)
{
    return event->kind != VALUE_NOTHING && event->kind != VALUE_MISSING &&
           event->kind != VALUE_OBJECT;
}

/* Which events are the last ones. */
static bool find_last(struct look *look, struct log_reader *reader)
{
    struct open_calls calls;
    struct log_item item;
    bool is_new, is_done = true;

    open_calls_init(&calls);
    while (is_done && log_reader_next(reader, &item)) {
        struct open_call *call;

        if (item.kind == LOG_CALL) {
            is_done = open_calls_begin(&calls, &item.call, &is_new) != NULL;
        } else if (item.kind == LOG_END) {
            open_calls_end(&calls, open_calls_find(&calls, item.end.call));
        }
        if (item.kind != LOG_EVENT) {
            continue;
        }
        if (item.event.number >= look->target->number) {
            break;
        }
        call = open_calls_of_event(&calls, &item.event, &is_new);
        is_done = call != NULL;
        for (uint32_t i = 0; is_done && i < look->count; i++) {
            if (is_meant(look, &look->names[i], &item, call)) {
                look->names[i].is_found = tells_something(&item.event);
                look->names[i].event = item.event.number;
            }
        }
    }
    open_calls_release(&calls);
    return is_done;
}

static void add_values(struct look *look, struct log_reader *reader, bool has_color)
{
    struct log_item item;

    for (uint32_t i = 0; i < look->count; i++) {
        struct wanted *wanted = &look->names[i];

        if (!wanted->is_found) {
            continue;
        }
        log_reader_go_to_event(reader, wanted->event);
        wanted->is_found = log_reader_next(reader, &item) && item.kind == LOG_EVENT &&
                           item.event.number == wanted->event;
        if (wanted->is_found) {
            value_text_add(&wanted->value, &item.event, has_color);
            wanted->is_uninitialised = item.event.kind == VALUE_TENSOR &&
                                       uninitialised_is_noted(item.event.shape->note);
        }
    }
}

/* What such memory holds is another thing in each run. */
static void add_uninitialised(const struct look *look, struct buffer *text)
{
    for (uint32_t i = 0; i < look->count; i++) {
        if (look->names[i].is_found && look->names[i].is_uninitialised) {
            buffer_add(text, SLICE("  "));
            text_add_shortened(text, look->names[i].name, NAME_LIMIT);
            buffer_add(text,
                       SLICE(" was uninitialised memory, which may hold anything, "
                             "and no recorded line wrote to it\n"));
        }
    }
}

/* Attributes that the statement reads and that hold what no event tells: an nn.Module's
 * parameters, most often. */
static void add_untold(const struct look *look, struct buffer *text)
{
    bool is_first = true;

    for (uint32_t i = 0; i < look->count; i++) {
        if (look->names[i].is_found ||
            !(is_attribute(look->names[i].name) ||
              slice_equal(look->names[i].name, SLICE("self")))) {
            continue;
        }
        buffer_add(text,
                   is_first ? SLICE("  not recorded: values read from ") : SLICE(", "));
        text_add_shortened(text, look->names[i].name, NAME_LIMIT);
        is_first = false;
    }
    if (!is_first) {
        buffer_add_byte(text, '\n');
    }
}

/* A reader tells that memory ran out among what is damaged. */
static bool is_memory_out(const struct log_reader *reader)
{
    for (size_t i = 0; i < log_reader_damage_count(reader); i++) {
        if (strstr(log_reader_damage(reader, i), "out of memory") != NULL) {
            return true;
        }
    }
    return false;
}

static void add_found(struct diff_work *work, struct look *look, struct slice heading)
{
    bool has_heading = false;

    for (uint32_t i = 0; i < look->count; i++) {
        heading = look->names[i].is_uninitialised ? SLICE("  inputs:\n") : heading;
    }
    for (uint32_t i = 0; i < look->count; i++) {
        struct wanted *wanted = &look->names[i];

        if (wanted->is_found) {
            buffer_add(&work->text, has_heading ? SLICE("") : heading);
            has_heading = true;
            buffer_add(&work->text, SLICE("      "));
            text_add_shortened(&work->text, wanted->name, NAME_LIMIT);
            buffer_add(&work->text, SLICE(" = "));
            buffer_add(&work->text, buffer_slice(&wanted->value));
            buffer_add_byte(&work->text, '\n');
        }
        work->text.has_failed = work->text.has_failed || wanted->value.has_failed;
        buffer_release(&wanted->value);
    }
}

void diff_reads_add(struct diff_work *work,
                    unsigned side,
                    const struct open_call *call,
                    const struct log_event_view *event,
                    struct slice heading)
{
    struct look look = {.target = event, .call = call};
    struct error error = ERROR_INIT;
    struct log_reader *reader;

    for (uint32_t i = 0; i < event->site->read_count; i++) {
        want(&look, &event->site->reads[i]);
    }
    if (look.count == 0) {
        return;
    }
    reader = log_reader_new(work->paths[side], &error);
    if (reader == NULL) {
        work->text.has_failed = work->text.has_failed || error.kind == ERROR_MEMORY;
        return;
    }
    if (!find_last(&look, reader)) {
        work->text.has_failed = true;
    } else {
        add_values(&look, reader, work->options->has_color);
    }
    work->text.has_failed = work->text.has_failed || is_memory_out(reader);
    log_reader_free(reader);
    add_found(work, &look, heading);
    add_uninitialised(&look, &work->text);
    add_untold(&look, &work->text);
}
