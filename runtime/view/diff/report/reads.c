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

struct reads_search {
    struct wanted names[INPUTS_MOST];
    uint32_t count;
    const struct log_event_view *target; /* borrowed from the other reader */
    const struct open_call *call;        /* of the target, in the other reader */
};

static bool is_attribute(struct slice name)
{
    return slice_starts(name, SLICE("self."));
}

static void want(struct reads_search *reads_search, const struct site_read *read)
{
    for (uint32_t i = 0; i < reads_search->count; i++) {
        if (slice_equal(reads_search->names[i].name, read->name)) {
            return;
        }
    }
    if (reads_search->count < INPUTS_MOST) {
        reads_search->names[reads_search->count++] = (struct wanted){
            .name = read->name, .scope = read->scope, .value = BUFFER_INIT};
    }
}

/* Whether the event tells what the target's statement would read by that name. */
static bool is_meant(const struct reads_search *reads_search,
                     const struct wanted *wanted,
                     const struct log_item *item,
                     const struct open_call *call)
{
    const struct log_event_view *event = &item->event;

    if (event->path.size > 0 || !slice_equal(event->name, wanted->name)) {
        return false;
    }
    if (is_attribute(wanted->name)) {
        return reads_search->call == NULL ||
               (slice_equal(call->class_name, reads_search->call->class_name) &&
                (slice_equal(call->path, reads_search->call->path) ||
                 call->path.size == 0));
    }
    switch (wanted->scope) {
    case SITE_SCOPE_LOCAL:
        return event->call == reads_search->target->call;
    case SITE_SCOPE_GLOBAL:
        return event->module_number == reads_search->target->module_number &&
               (event->site->function == 0 ||
                event->call == reads_search->target->call);
    default:
        return event->module_number == reads_search->target->module_number;
    }
}

static bool says_something(const struct log_event_view *event)
{
    return event->kind != VALUE_NOTHING && event->kind != VALUE_MISSING &&
           event->kind != VALUE_OBJECT;
}

/* Which events are the last ones. */
static bool find_last(struct reads_search *reads_search, struct log_reader *reader)
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
        if (item.event.number >= reads_search->target->number) {
            break;
        }
        call = open_calls_of_event(&calls, &item.event, &is_new);
        is_done = call != NULL;
        for (uint32_t i = 0; is_done && i < reads_search->count; i++) {
            if (is_meant(reads_search, &reads_search->names[i], &item, call)) {
                reads_search->names[i].is_found = says_something(&item.event);
                reads_search->names[i].event = item.event.number;
            }
        }
    }
    open_calls_release(&calls);
    return is_done;
}

static void
add_values(struct reads_search *reads_search, struct log_reader *reader, bool has_color)
{
    struct log_item item;

    for (uint32_t i = 0; i < reads_search->count; i++) {
        struct wanted *wanted = &reads_search->names[i];

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
static void add_uninitialised(const struct reads_search *reads_search,
                              struct buffer *text)
{
    for (uint32_t i = 0; i < reads_search->count; i++) {
        if (reads_search->names[i].is_found &&
            reads_search->names[i].is_uninitialised) {
            buffer_add(text, SLICE("  "));
            text_add_shortened(text, reads_search->names[i].name, NAME_LIMIT);
            buffer_add(text,
                       SLICE(" was uninitialised memory, which may hold anything, "
                             "and no recorded line wrote to it\n"));
        }
    }
}

/* Attributes that the statement reads and that hold what no event tells: an nn.Module's
 * parameters, most often. */
static void add_unreported(const struct reads_search *reads_search, struct buffer *text)
{
    bool is_first = true;

    for (uint32_t i = 0; i < reads_search->count; i++) {
        if (reads_search->names[i].is_found ||
            !(is_attribute(reads_search->names[i].name) ||
              slice_equal(reads_search->names[i].name, SLICE("self")))) {
            continue;
        }
        buffer_add(text,
                   is_first ? SLICE("  not recorded: values read from ") : SLICE(", "));
        text_add_shortened(text, reads_search->names[i].name, NAME_LIMIT);
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

static void add_found(struct diff_work *work,
                      struct reads_search *reads_search,
                      struct slice heading)
{
    bool has_heading = false;

    for (uint32_t i = 0; i < reads_search->count; i++) {
        heading =
            reads_search->names[i].is_uninitialised ? SLICE("  inputs:\n") : heading;
    }
    for (uint32_t i = 0; i < reads_search->count; i++) {
        struct wanted *wanted = &reads_search->names[i];

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
    struct reads_search reads_search = {.target = event, .call = call};
    struct error error = ERROR_INIT;
    struct log_reader *reader;

    for (uint32_t i = 0; i < event->site->read_count; i++) {
        want(&reads_search, &event->site->reads[i]);
    }
    if (reads_search.count == 0) {
        return;
    }
    reader = log_reader_new(work->paths[side], &error);
    if (reader == NULL) {
        work->text.has_failed = work->text.has_failed || error.kind == ERROR_MEMORY;
        return;
    }
    if (!find_last(&reads_search, reader)) {
        work->text.has_failed = true;
    } else {
        add_values(&reads_search, reader, work->options->has_color);
    }
    work->text.has_failed = work->text.has_failed || is_memory_out(reader);
    log_reader_free(reader);
    add_found(work, &reads_search, heading);
    add_uninitialised(&reads_search, &work->text);
    add_unreported(&reads_search, &work->text);
}
