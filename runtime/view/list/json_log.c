/* A trace as JSON, an object a line. */
#include "runtime/view/list/json_log.h"

#include "runtime/view/list/json_value.h"
#include "runtime/view/words/change_text.h"
#include "runtime/view/words/guess_text.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/number_text.h"

#include <math.h>

static void
start_record(const struct json_log *log, struct slice kind, struct buffer *text)
{
    buffer_add(text, SLICE("{\"record\":\""));
    buffer_add(text, kind);
    buffer_add_byte(text, '"');
    if (log->trace.size > 0) {
        json_text_add(text, SLICE("trace"), log->trace);
    }
}

static void end_record(struct buffer *text)
{
    buffer_add(text, SLICE("}\n"));
}

static void add_place(const struct json_log *log,
                      const struct open_call *call,
                      uint32_t line,
                      struct buffer *text)
{
    const struct log_module *module =
        log_reader_module(log->reader, call->module_number);

    json_text_add(text, SLICE("file"), module->table.path);
    if (line != 0) {
        json_number_add(text, SLICE("line"), line);
    }
    json_text_add(text, SLICE("function"), open_call_function(call, log->reader)->name);
    json_text_add(text, SLICE("module"), call->path);
}

static void add_time(const struct json_log *log, uint64_t time, struct buffer *text)
{
    if (!log->is_canonical) {
        json_number_add(text, SLICE("time"), time);
    }
}

static void add_thread(const struct json_log *log, uint16_t thread, struct buffer *text)
{
    json_number_add(text, SLICE("thread"), log->is_canonical ? log->thread : thread);
}

/* ---- calls ---- */

/* Canonical numbers are those of calls that are there. */
static uint32_t parent_number(const struct json_log *log, const struct open_call *call)
{
    if (call->parent != NULL) {
        return call->parent->shown_number;
    }
    return log->is_canonical ? 0 : call->parent_number;
}

static void
add_call(const struct json_log *log, const struct open_call *call, struct buffer *text)
{
    start_record(log, SLICE("call"), text);
    json_number_add(text, SLICE("call"), call->shown_number);
    json_number_add(text, SLICE("parent"), parent_number(log, call));
    json_number_add(text, SLICE("depth"), call->depth);
    add_thread(log, call->thread, text);
    json_text_add(text, SLICE("thread_name"),
                  log->is_canonical
                      ? log->thread_name
                      : log_reader_thread_name(log->reader, call->thread));
    add_place(log, call, open_call_function(call, log->reader)->line, text);
    json_text_add(text, SLICE("class"), call->class_name);
    json_number_add(text, SLICE("parent_line"), call->line);
    json_boolean_add(text, SLICE("generator"), call->is_generator);
    json_boolean_add(text, SLICE("joined"), call->is_joined);
    json_boolean_add(text, SLICE("begun"), call->is_begun);
    add_time(log, call->time, text);
    end_record(text);
}

void json_log_add_call(const struct json_log *log,
                       struct open_call *call,
                       struct buffer *text)
{
    struct open_call *top = call;

    call->shown_next = NULL;
    while (!top->is_shown && top->parent != NULL && !top->parent->is_shown) {
        top->parent->shown_next = top;
        top = top->parent;
    }
    for (; top != NULL && !top->is_shown; top = top->shown_next) {
        add_call(log, top, text);
        top->is_shown = true;
    }
}

void json_log_add_end(const struct json_log *log,
                      const struct log_item *item,
                      const struct open_call *call,
                      struct buffer *text)
{
    /* Calls that had returned when the recording ended are told in the order of addresses. */
    if (!call->is_shown || (log->is_canonical && item->end.how == LOG_END_RETURNED)) {
        return;
    }
    start_record(log, SLICE("end"), text);
    json_number_add(text, SLICE("call"), call->shown_number);
    json_text_add(text, SLICE("how"),
                  item->end.how == LOG_END_RETURNED ? SLICE("returned")
                                                    : SLICE("left"));
    if (item->end.error.size > 0) {
        json_text_add(text, SLICE("error"), item->end.error);
    }
    add_time(log, item->end.time, text);
    end_record(text);
}

void json_log_add_note(const struct json_log *log,
                       const struct log_item *item,
                       struct buffer *text)
{
    struct guess guess;

    start_record(log, SLICE("note"), text);
    switch (item->note.tag) {
    case LOG_NOTE_GUESS:
        guess = guess_read(item->note.text);
        json_text_add(text, SLICE("tag"), SLICE("guess"));
        json_text_add(text, SLICE("function"), guess.function);
        json_text_add(text, SLICE("parameter"), guess.parameter);
        json_text_add(text, SLICE("text"), guess.how);
        break;
    case LOG_NOTE_SAVED:
        json_text_add(text, SLICE("tag"), SLICE("saved"));
        json_text_add(text, SLICE("text"), item->note.text);
        break;
    default:
        json_text_add(text, SLICE("tag"),
                      item->note.tag == LOG_NOTE_WARNING ? SLICE("warning")
                                                         : SLICE("remark"));
        json_text_add(text, SLICE("text"), item->note.text);
    }
    if (item->note.module != NULL && item->note.site != NULL) {
        json_text_add(text, SLICE("file"), item->note.module->table.path);
        json_number_add(text, SLICE("line"), item->note.site->line);
    }
    add_time(log, item->note.time, text);
    end_record(text);
}

void json_log_add_value(const struct json_log *log,
                        const struct log_event_view *event,
                        struct buffer *text)
{
    json_text_add(text, SLICE("value_kind"), slice_of(value_kind_text(event->kind)));
    if (event->kind == VALUE_TENSOR) {
        json_tensor_add(log, event, text);
    } else {
        json_scalar_add(text, event);
    }
    if ((event->flags & LOG_EVENT_MORE) != 0) {
        json_boolean_add(text, SLICE("more"), true);
    }
}

void json_log_add_event(const struct json_log *log,
                        const struct log_event_view *event,
                        struct open_call *call,
                        struct buffer *text)
{
    json_log_add_call(log, call, text);
    start_record(log, SLICE("event"), text);
    json_number_add(text, SLICE("seq"),
                    log->is_canonical ? log->sequence : event->number);
    add_thread(log, event->thread, text);
    json_number_add(text, SLICE("call"), call->shown_number);
    json_number_add(text, SLICE("iteration"), event->visit);
    json_number_add(text, SLICE("training_step"), event->training_step);
    if (!log->is_canonical) {
        /* Modules are numbered as they are met, which threads may do in any order. */
        json_number_add(text, SLICE("site"), event->site_number);
    }
    json_text_add(text, SLICE("kind"), slice_of(site_kind_text(event->site->kind)));
    json_text_add(text, SLICE("name"), event->name);
    json_text_add(text, SLICE("path"), event->path);
    if ((event->flags & LOG_EVENT_READ) != 0) {
        json_boolean_add(text, SLICE("read"), true);
    }
    if ((event->flags & LOG_EVENT_PARAMETER) != 0) {
        json_boolean_add(text, SLICE("parameter"), true);
    }
    add_place(log, call, event->site->line, text);
    if (event->site->kind == SITE_BRANCH) {
        json_number_add(text, SLICE("arm"), event->site->arm);
    }
    json_change_add(log, event, text);
    json_log_add_value(log, event, text);
    if (!log->is_canonical) {
        json_volatile_add(text, event);
    }
    end_record(text);
}

void json_log_add_step(const struct json_log *log,
                       const struct log_step_view *step,
                       struct buffer *text)
{
    start_record(log, SLICE("step"), text);
    json_number_add(text, SLICE("step"), step->number);
    json_text_add(text, SLICE("kind"), log_step_text(step->tag));
    json_text_add(text, SLICE("name"), step->name);
    json_text_add(text, SLICE("file"), step->file);
    json_number_add(text, SLICE("line"), step->line);
    add_time(log, step->time, text);
    end_record(text);
}

void json_log_add_gradient(const struct json_log *log,
                           const struct log_event_view *gradient,
                           struct buffer *text)
{
    const struct site_table *table = &gradient->module->table;

    start_record(log, SLICE("gradient"), text);
    json_number_add(text, SLICE("step"), gradient->step);
    if (!log->is_canonical) {
        json_number_add(text, SLICE("of"), gradient->number);
        json_number_add(text, SLICE("call"), gradient->call);
        add_thread(log, gradient->thread, text);
    }
    json_number_add(text, SLICE("iteration"), gradient->visit);
    json_number_add(text, SLICE("training_step"), gradient->training_step);
    json_text_add(text, SLICE("name"), gradient->name);
    json_text_add(text, SLICE("path"), gradient->path);
    json_boolean_add(text, SLICE("accumulated"),
                     gradient->gradient == LOG_GRADIENT_ACCUMULATED);
    json_text_add(text, SLICE("file"), table->path);
    json_number_add(text, SLICE("line"), gradient->site->line);
    json_text_add(text, SLICE("function"),
                  table->functions[gradient->site->function].name);
    json_log_add_value(log, gradient, text);
    add_time(log, gradient->time, text);
    end_record(text);
}

void json_log_add_nothing(const struct json_log *log,
                          struct slice message,
                          struct buffer *text)
{
    start_record(log, SLICE("nothing"), text);
    json_text_add(text, SLICE("message"), message);
    end_record(text);
}
