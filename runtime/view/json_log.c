/* A trace as JSON, an object a line. */
#include "runtime/view/json_log.h"

#include "runtime/view/number_text.h"
#include "runtime/view/paint.h"
#include "runtime/view/value_text.h"

#include <math.h>

/* ---- fields ---- */

static void add_key(struct buffer *text, struct slice key)
{
    buffer_add(text, SLICE(",\""));
    buffer_add(text, key);
    buffer_add(text, SLICE("\":"));
}

static void add_text(struct buffer *text, struct slice key, struct slice value)
{
    add_key(text, key);
    buffer_add_byte(text, '"');
    text_add_json(text, value);
    buffer_add_byte(text, '"');
}

static void add_number(struct buffer *text, struct slice key, uint64_t value)
{
    add_key(text, key);
    buffer_add_number(text, value);
}

static void add_integer(struct buffer *text, struct slice key, int64_t value)
{
    add_key(text, key);
    integer_add(text, value);
}

static void add_boolean(struct buffer *text, struct slice key, bool value)
{
    add_key(text, key);
    buffer_add(text, value ? SLICE("true") : SLICE("false"));
}

/* A figure that there is none of, such as the mean of NaNs alone, is null. */
static void add_real(struct buffer *text, struct slice key, double value)
{
    add_key(text, key);
    if (isnan(value)) {
        buffer_add(text, SLICE("null"));
    } else {
        real_add_exact(text, value);
    }
}

static void add_integers(struct buffer *text,
                         struct slice key,
                         const int64_t *values,
                         uint32_t count)
{
    add_key(text, key);
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_add_byte(text, ',');
        }
        integer_add(text, values[i]);
    }
    buffer_add_byte(text, ']');
}

static void
start_record(const struct json_log *log, struct slice kind, struct buffer *text)
{
    buffer_add(text, SLICE("{\"record\":\""));
    buffer_add(text, kind);
    buffer_add_byte(text, '"');
    if (log->trace.size > 0) {
        add_text(text, SLICE("trace"), log->trace);
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

    add_text(text, SLICE("file"), module->table.path);
    if (line != 0) {
        add_number(text, SLICE("line"), line);
    }
    add_text(text, SLICE("function"), open_call_function(call, log->reader)->name);
    add_text(text, SLICE("module"), call->path);
}

/* ---- calls ---- */

static void
add_call(const struct json_log *log, const struct open_call *call, struct buffer *text)
{
    start_record(log, SLICE("call"), text);
    add_number(text, SLICE("call"), call->call);
    add_number(text, SLICE("parent"), call->parent_number);
    add_number(text, SLICE("depth"), call->depth);
    add_number(text, SLICE("thread"), call->thread);
    add_text(text, SLICE("thread_name"),
             log_reader_thread_name(log->reader, call->thread));
    add_place(log, call, open_call_function(call, log->reader)->line, text);
    add_text(text, SLICE("class"), call->class_name);
    add_number(text, SLICE("parent_line"), call->line);
    add_boolean(text, SLICE("generator"), call->is_generator);
    add_boolean(text, SLICE("joined"), call->is_joined);
    add_boolean(text, SLICE("begun"), call->is_begun);
    add_number(text, SLICE("time"), call->time);
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
    if (!call->is_shown) {
        return;
    }
    start_record(log, SLICE("end"), text);
    add_number(text, SLICE("call"), item->end.call);
    add_text(text, SLICE("how"),
             item->end.how == LOG_END_RETURNED ? SLICE("returned") : SLICE("left"));
    add_number(text, SLICE("time"), item->end.time);
    end_record(text);
}

void json_log_add_note(const struct json_log *log,
                       const struct log_item *item,
                       struct buffer *text)
{
    start_record(log, SLICE("note"), text);
    add_text(text, SLICE("tag"),
             item->note.tag == LOG_NOTE_WARNING ? SLICE("warning") : SLICE("remark"));
    add_text(text, SLICE("text"), item->note.text);
    if (item->note.module != NULL && item->note.site != NULL) {
        add_text(text, SLICE("file"), item->note.module->table.path);
        add_number(text, SLICE("line"), item->note.site->line);
    }
    add_number(text, SLICE("time"), item->note.time);
    end_record(text);
}

/* ---- values ---- */

static void add_scalar(struct buffer *text, const struct log_event_view *event)
{
    switch (event->kind) {
    case VALUE_BOOL:
        add_boolean(text, SLICE("value"), event->integer != 0);
        break;
    case VALUE_INT:
        add_integer(text, SLICE("value"), event->integer);
        break;
    case VALUE_FLOAT:
        add_key(text, SLICE("value"));
        real_add_exact(text, event->real);
        break;
    case VALUE_COMPLEX:
        add_key(text, SLICE("value"));
        buffer_add_byte(text, '[');
        real_add_exact(text, event->real);
        buffer_add_byte(text, ',');
        real_add_exact(text, event->imaginary);
        buffer_add_byte(text, ']');
        break;
    case VALUE_NONE:
        add_key(text, SLICE("value"));
        buffer_add(text, SLICE("null"));
        break;
    case VALUE_BIG_INT:
        add_text(text, SLICE("value"), event->text);
        break;
    case VALUE_TEXT:
        add_text(text, SLICE("value"), event->text);
        add_integer(text, SLICE("length"), event->integer);
        break;
    case VALUE_BYTES:
        add_integer(text, SLICE("length"), event->integer);
        break;
    case VALUE_CONTAINER:
        add_text(text, SLICE("type"), event->type);
        add_integer(text, SLICE("length"), event->integer);
        break;
    case VALUE_OBJECT:
        add_text(text, SLICE("type"), event->type);
        break;
    default:
        break;
    }
}

static void add_shape(struct buffer *text, const struct log_shape *shape)
{
    add_text(text, SLICE("dtype"), shape->dtype_text);
    add_integers(text, SLICE("shape"), shape->shape, shape->dimension_count);
    add_text(text, SLICE("device"), shape->device);
    if (shape->strides != NULL) {
        add_integers(
            text, shape->strides_are_bytes ? SLICE("byte_strides") : SLICE("strides"),
            shape->strides, shape->dimension_count);
    }
    add_boolean(text, SLICE("requires_grad"),
                (shape->flags & LOG_FORM_REQUIRES_GRAD) != 0);
    if (shape->type.size > 0) {
        add_text(text, SLICE("type"), shape->type);
    }
    if (!slice_equal(shape->layout, SLICE("strided"))) {
        add_text(text, SLICE("layout"), shape->layout);
    }
    if (shape->note.size > 0) {
        add_text(text, SLICE("note"), shape->note);
    }
    if ((shape->flags & LOG_FORM_PARAMETER) != 0) {
        add_boolean(text, SLICE("parameter"), true);
    }
    if ((shape->flags & LOG_FORM_NUMPY) != 0) {
        add_boolean(text, SLICE("numpy"), true);
    }
    if ((shape->flags & LOG_FORM_CONJUGATED) != 0) {
        add_boolean(text, SLICE("conjugated"), true);
    }
    if ((shape->flags & LOG_FORM_NEGATED) != 0) {
        add_boolean(text, SLICE("negated"), true);
    }
}

static void add_bound(struct buffer *text,
                      struct slice key,
                      enum dtype_class class,
                      union statistics_bound bound)
{
    if (class == DTYPE_CLASS_SIGNED) {
        add_integer(text, key, bound.integer);
    } else if (class == DTYPE_CLASS_UNSIGNED) {
        add_number(text, key, bound.natural);
    } else {
        add_real(text, key, bound.real);
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
        add_number(text, SLICE("absmax"), statistics->max.natural);
    } else if (class == DTYPE_CLASS_SIGNED) {
        low = magnitude(statistics->min.integer);
        high = magnitude(statistics->max.integer);
        add_number(text, SLICE("absmax"), low > high ? low : high);
    } else {
        add_real(text, SLICE("absmax"),
                 fmax(fabs(statistics->min.real), fabs(statistics->max.real)));
    }
}

static void add_statistics(struct buffer *text, const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;
    enum dtype_class class = dtype_class(event->shape->dtype);

    add_number(text, SLICE("count"), statistics->count);
    if (class == DTYPE_CLASS_OPAQUE) {
        return;
    }
    if (statistics_finite_count(statistics) > 0) {
        add_bound(text, SLICE("min"), class, statistics->min);
        add_bound(text, SLICE("max"), class, statistics->max);
        add_real(text, SLICE("mean"), statistics->mean);
        add_real(text, SLICE("std"), statistics->std);
        add_absmax(text, statistics, class);
    } else {
        buffer_add(text, SLICE(",\"min\":null,\"max\":null,\"mean\":null,\"std\":null,"
                               "\"absmax\":null"));
    }
    add_number(text, SLICE("nan"), statistics->nan_count);
    add_number(text, SLICE("posinf"), statistics->posinf_count);
    add_number(text, SLICE("neginf"), statistics->neginf_count);
    add_number(text, SLICE("zeros"), statistics->zero_count);
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
    add_key(text, SLICE("sample_at"));
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

static void add_change(const struct json_log *log,
                       const struct log_event_view *event,
                       struct buffer *text)
{
    const struct log_module *module = NULL;
    const struct site *site;

    add_text(text, SLICE("change"), slice_of(change_text(event->change)));
    if (event->difference != 0) {
        add_key(text, SLICE("differs"));
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
            add_number(text, SLICE("alias_site"), event->tensor.alias_site);
            add_text(text, SLICE("alias_file"), module->table.path);
            add_number(text, SLICE("alias_line"), site->line);
        }
    }
    if (event->tensor.origin != 0) {
        add_number(text, SLICE("origin"), event->tensor.origin - 1);
    }
}

/* What differs from run to run of the same program. */
static void add_volatile(struct buffer *text, const struct log_event_view *event)
{
    add_number(text, SLICE("time"), event->time);
    if (event->kind == VALUE_TENSOR) {
        add_number(text, SLICE("object"), event->tensor.object);
        add_number(text, SLICE("data"), event->tensor.data);
    }
}

static void add_tensor(const struct json_log *log,
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
    add_number(text, SLICE("version"), event->tensor.version);
    add_integer(text, SLICE("offset"), event->tensor.offset);
    if (log->has_sample) {
        add_sample(text, event);
    }
}

void json_log_add_event(const struct json_log *log,
                        const struct log_event_view *event,
                        struct open_call *call,
                        struct buffer *text)
{
    json_log_add_call(log, call, text);
    start_record(log, SLICE("event"), text);
    add_number(text, SLICE("seq"), event->number);
    add_number(text, SLICE("thread"), event->thread);
    add_number(text, SLICE("call"), event->call);
    add_number(text, SLICE("iteration"), event->visit);
    add_number(text, SLICE("site"), event->site_number);
    add_text(text, SLICE("kind"), slice_of(site_kind_text(event->site->kind)));
    add_text(text, SLICE("name"), event->name);
    add_text(text, SLICE("path"), event->path);
    add_place(log, call, event->site->line, text);
    if (event->site->kind == SITE_BRANCH) {
        add_number(text, SLICE("arm"), event->site->arm);
    }
    add_change(log, event, text);
    add_text(text, SLICE("value_kind"), slice_of(value_kind_text(event->kind)));
    if (event->kind == VALUE_TENSOR) {
        add_tensor(log, event, text);
    } else {
        add_scalar(text, event);
    }
    if ((event->flags & LOG_EVENT_MORE) != 0) {
        add_boolean(text, SLICE("more"), true);
    }
    if ((event->flags & LOG_EVENT_LATE) != 0) {
        add_boolean(text, SLICE("late"), true);
    }
    add_volatile(text, event);
    end_record(text);
}
