/* Fields of a value in a line of JSON. */
#include "runtime/view/list/json_value.h"

#include "runtime/view/words/change_text.h"
#include "runtime/view/words/guess_text.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/number_text.h"

#include <math.h>

void json_scalar_add(struct buffer *text, const struct log_event_view *event)
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
    json_number_add(text, SLICE("nan"), statistics->nan_count);
    json_number_add(text, SLICE("posinf"), statistics->posinf_count);
    json_number_add(text, SLICE("neginf"), statistics->neginf_count);
    json_number_add(text, SLICE("zeros"), statistics->zero_count);
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

void json_change_add(const struct json_log *log,
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

void json_volatile_add(struct buffer *text, const struct log_event_view *event)
{
    json_number_add(text, SLICE("time"), event->time);
    if (event->kind == VALUE_TENSOR) {
        json_number_add(text, SLICE("object"), event->tensor.object);
        json_number_add(text, SLICE("data"), event->tensor.data);
    }
}

void json_tensor_add(const struct json_log *log,
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
