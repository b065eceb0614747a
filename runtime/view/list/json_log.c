/* A trace as JSON, one object for each line. */
#include "runtime/view/list/json_log.h"

#include "runtime/view/words/change_text.h"
#include "runtime/view/words/guess_text.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/number_text.h"

#include <math.h>

/* Fields of a value in a line of JSON. */

/* Appends the value of anything but an array. */
static void json_scalar_add(struct buffer *text, const struct log_event_view *event)
{
    switch (event->kind) {
    case VALUE_BOOL:
        json_boolean_add(text, SLICE("value"), event->integer != 0);
        break;
    case VALUE_INT:
        json_integer_add(text, SLICE("value"), event->integer);
        break;
    case VALUE_FLOAT:
        json_key_add(text, SLICE("value"));
        real_add_exact(text, event->real);
        break;
    case VALUE_COMPLEX:
        json_key_add(text, SLICE("value"));
        buffer_add_byte(text, '[');
        real_add_exact(text, event->real);
        buffer_add_byte(text, ',');
        real_add_exact(text, event->imaginary);
        buffer_add_byte(text, ']');
        break;
    case VALUE_NONE:
        json_key_add(text, SLICE("value"));
        buffer_add(text, SLICE("null"));
        break;
    case VALUE_BIG_INT:
        json_text_add(text, SLICE("value"), event->text);
        break;
    case VALUE_TEXT:
        json_text_add(text, SLICE("value"), event->text);
        json_integer_add(text, SLICE("length"), event->integer);
        break;
    case VALUE_BYTES:
        json_integer_add(text, SLICE("length"), event->integer);
        break;
    case VALUE_CONTAINER:
        json_text_add(text, SLICE("type"), event->type);
        json_integer_add(text, SLICE("length"), event->integer);
        break;
    case VALUE_OBJECT:
        json_text_add(text, SLICE("type"), event->type);
        break;
    default:
        break;
    }
}

static void add_shape(struct buffer *text, const struct log_shape *shape)
{
    json_text_add(text, SLICE("dtype"), shape->dtype_text);
    json_integers_add(text, SLICE("shape"), shape->shape, shape->dimension_count);
    json_text_add(text, SLICE("device"), shape->device);
    if (shape->strides != NULL) {
        json_integers_add(
            text, shape->strides_are_bytes ? SLICE("byte_strides") : SLICE("strides"),
            shape->strides, shape->dimension_count);
    }
    json_boolean_add(text, SLICE("requires_grad"),
                     (shape->flags & LOG_FORM_REQUIRES_GRAD) != 0);
    if (shape->type.size > 0) {
        json_text_add(text, SLICE("type"), shape->type);
    }
    if (!slice_equal(shape->layout, SLICE("strided"))) {
        json_text_add(text, SLICE("layout"), shape->layout);
    }
    if (shape->note.size > 0) {
        json_text_add(text, SLICE("note"), shape->note);
    }
    if ((shape->flags & LOG_FORM_PARAMETER) != 0) {
        json_boolean_add(text, SLICE("parameter"), true);
    }
    if ((shape->flags & LOG_FORM_NUMPY) != 0) {
        json_boolean_add(text, SLICE("numpy"), true);
    }
    if ((shape->flags & LOG_FORM_CONJUGATED) != 0) {
        json_boolean_add(text, SLICE("conjugated"), true);
    }
    if ((shape->flags & LOG_FORM_NEGATED) != 0) {
        json_boolean_add(text, SLICE("negated"), true);
    }
}

static void add_bound(struct buffer *text,
                      struct slice key,
                      enum dtype_class class,
                      union statistics_bound bound)
{
    if (class == DTYPE_CLASS_SIGNED) {
        json_integer_add(text, key, bound.integer);
    } else if (class == DTYPE_CLASS_UNSIGNED) {
        json_number_add(text, key, bound.natural);
    } else {
        json_real_add(text, key, bound.real);
    }
}

static uint64_t magnitude(int64_t number)
{
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

static void add_absmax(struct buffer *text,
                       const struct statistics *statistics,
                       enum dtype_class class)
{
    uint64_t low;
    uint64_t high;

    if (class == DTYPE_CLASS_UNSIGNED) {
        json_number_add(text, SLICE("absmax"), statistics->max.natural);
    } else if (class == DTYPE_CLASS_SIGNED) {
        low = magnitude(statistics->min.integer);
        high = magnitude(statistics->max.integer);
        json_number_add(text, SLICE("absmax"), low > high ? low : high);
    } else {
        json_real_add(text, SLICE("absmax"),
                      fmax(fabs(statistics->min.real), fabs(statistics->max.real)));
    }
}

void json_counts_add(struct buffer *text, const struct statistics *statistics)
{
#define STATISTIC_COUNT(field, name, function)                                         \
    json_number_add(text, SLICE(#name), statistics->field);
#include "runtime/array/statistics/statistics.def"
}

static void add_statistics(struct buffer *text, const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;
    enum dtype_class class = dtype_class(event->shape->dtype);

    json_number_add(text, SLICE("count"), statistics->count);
    if (class == DTYPE_CLASS_OPAQUE) {
        return;
    }
    if (statistics_finite_count(statistics) > 0) {
        add_bound(text, SLICE("min"), class, statistics->min);
        add_bound(text, SLICE("max"), class, statistics->max);
        json_real_add(text, SLICE("mean"), statistics->mean);
        json_real_add(text, SLICE("std"), statistics->std);
        add_absmax(text, statistics, class);
    } else {
        buffer_add(text, SLICE(",\"min\":null,\"max\":null,\"mean\":null,\"std\":null,"
                               "\"absmax\":null"));
    }
    json_counts_add(text, statistics);
}

static void add_element(struct buffer *text, enum dtype dtype, const char *bytes)
{
    struct dtype_value value = dtype_read(dtype, bytes);

    if (dtype == DTYPE_BOOL) {
        buffer_add(text, value.natural != 0 ? SLICE("true") : SLICE("false"));
    } else if (value.class == DTYPE_CLASS_UNSIGNED) {
        buffer_add_number(text, value.natural);
    } else if (value.class == DTYPE_CLASS_SIGNED) {
        integer_add(text, value.integer);
    } else if (value.class == DTYPE_CLASS_FLOATING) {
        real_add_exact(text, value.real);
    } else {
        buffer_add_byte(text, '[');
        real_add_exact(text, value.real);
        buffer_add_byte(text, ',');
        real_add_exact(text, value.imaginary);
        buffer_add_byte(text, ']');
    }
}

static void add_sample(struct buffer *text, const struct log_event_view *event)
{
    const struct sample_grid *grid = &event->grid;
    enum dtype dtype = event->shape->dtype;
    const char *bytes = event->sample;

    if (bytes == NULL || dtype_class(dtype) == DTYPE_CLASS_OPAQUE) {
        return;
    }
    json_key_add(text, SLICE("sample_at"));
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < grid->dimension_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",[") : SLICE("["));
        for (uint32_t k = 0; k < grid->counts[i]; k++) {
            buffer_add(text, k > 0 ? SLICE(",") : SLICE(""));
            integer_add(text, sample_grid_index(grid, i, k));
        }
        buffer_add_byte(text, ']');
    }
    buffer_add(text, SLICE("],\"sample\":["));
    for (uint64_t i = 0; i < grid->count; i++) {
        buffer_add(text, i > 0 ? SLICE(",") : SLICE(""));
        add_element(text, dtype, bytes + i * dtype_size(dtype));
    }
    buffer_add_byte(text, ']');
}

/* Appends the changes since the last value of the name. */
static void json_change_add(const struct json_log *log,
                            const struct log_event_view *event,
                            struct buffer *text)
{
    const struct log_module *module = NULL;
    const struct site *site;

    json_text_add(text, SLICE("change"), slice_of(change_text(event->change)));
    if (event->difference != 0) {
        json_key_add(text, SLICE("differs"));
        buffer_add_byte(text, '[');
        differences_add(text, event->difference, SLICE(","), SLICE("\""));
        buffer_add_byte(text, ']');
    }
    if (event->kind != VALUE_TENSOR) {
        return;
    }
    if (event->change == CHANGE_ALIASED) {
        site = find_site(log->reader, event->tensor.alias_site, &module);
        if (site != NULL) {
            if (!log->is_canonical) {
                json_number_add(text, SLICE("alias_site"), event->tensor.alias_site);
            }
            json_text_add(text, SLICE("alias_file"), module->table.path);
            json_number_add(text, SLICE("alias_line"), site->line);
        }
    }
    if (event->tensor.origin != 0 && !log->is_canonical) {
        json_number_add(text, SLICE("origin"), event->tensor.origin - 1);
    }
}

/* Appends the fields that differ from run to run of the same program. */
static void json_volatile_add(struct buffer *text, const struct log_event_view *event)
{
    json_number_add(text, SLICE("time"), event->time);
    if (event->kind == VALUE_TENSOR) {
        json_number_add(text, SLICE("object"), event->tensor.object);
        json_number_add(text, SLICE("data"), event->tensor.data);
    }
}

/* Appends the shape, statistics and sample of an array. */
static void json_tensor_add(const struct json_log *log,
                            const struct log_event_view *event,
                            struct buffer *text)
{
    add_shape(text, event->shape);
    if (event->has_statistics) {
        add_statistics(text, event);
    }
    if (event->has_hash) {
        buffer_add(text, SLICE(",\"hash\":\""));
        buffer_add_hex(text, event->hash, 16);
        buffer_add_byte(text, '"');
    }
    json_number_add(text, SLICE("version"), event->tensor.version);
    json_integer_add(text, SLICE("offset"), event->tensor.offset);
    if (log->has_sample) {
        add_sample(text, event);
    }
}

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

/* The number of the call's parent. In the canonical form a parent that is not in the trace has
 * no number. */
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
    /* Calls that had returned when the recording ended are recorded in the order of their
     * addresses, which is not canonical. */
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
        /* The order of modules, and so the number of a site, depends on the timing of threads. */
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
