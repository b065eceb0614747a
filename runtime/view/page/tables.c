/* Tables: the elements of single values that a page shows. */
#include "runtime/view/page/tables.h"

#include "runtime/base/memory.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/tensor_text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define DIGITS 4

void tables_init(struct tables *tables)
{
    *tables = (struct tables){.open = NULL};
}

void tables_release(struct tables *tables)
{
    buffer_release(&tables->own);
    buffer_release(&tables->others);
    memory_free(tables->wanted);
}

/* ---- numbers ---- */

static void add_real(struct buffer *text, double number)
{
    if (isnan(number)) {
        buffer_add(text, SLICE("\"NaN\""));
    } else if (isinf(number)) {
        buffer_add(text, number > 0 ? SLICE("\"Inf\"") : SLICE("\"-Inf\""));
    } else {
        real_add_short(text, number, DIGITS);
    }
}

/* Adds an integer exactly, or the magnitude of a complex number. */
static void add_element(struct buffer *text, const struct dtype_value *value)
{
    if (value->class == DTYPE_CLASS_SIGNED) {
        integer_add(text, value->integer);
    } else if (value->class == DTYPE_CLASS_COMPLEX) {
        add_real(text, hypot(value->real, value->imaginary));
    } else {
        add_real(text, dtype_value_real(value));
    }
}

static void add_separator(struct buffer *text, uint64_t index)
{
    if (index > 0) {
        buffer_add_byte(text, ',');
    }
}

/* ---- the sample ---- */

static void add_indices(struct buffer *text, const struct sample_grid *grid)
{
    json_key_add(text, SLICE("indices"));
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < grid->dimension_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",[") : SLICE("["));
        for (uint32_t k = 0; k < grid->counts[i]; k++) {
            add_separator(text, k);
            integer_add(text, sample_grid_index(grid, i, k));
        }
        buffer_add_byte(text, ']');
    }
    buffer_add_byte(text, ']');
}

static void add_sample(struct buffer *text, const struct log_event_view *event)
{
    enum dtype dtype = event->shape->dtype;
    size_t size = dtype_size(dtype);

    if (event->sample == NULL || event->grid.count == 0 || size == 0 ||
        dtype_class(dtype) == DTYPE_CLASS_OPAQUE) {
        return;
    }
    add_indices(text, &event->grid);
    json_key_add(text, SLICE("values"));
    buffer_add_byte(text, '[');
    for (uint64_t i = 0; i < event->grid.count; i++) {
        struct dtype_value value =
            dtype_read(dtype, (const char *)event->sample + i * size);

        add_separator(text, i);
        add_element(text, &value);
    }
    buffer_add_byte(text, ']');
}

/* ---- the histogram ---- */

static void begin_histogram(struct tables *tables, const struct log_event_view *event)
{
    struct tables_histogram *histogram = &tables->histogram;
    const struct statistics *figures = &event->statistics;
    enum dtype_class class = dtype_class(event->shape->dtype);

    *histogram = (struct tables_histogram){
        .event = event->number, .dtype = event->shape->dtype, .low = NAN, .high = NAN};
    if (event->has_statistics && statistics_finite_count(figures) > 0 &&
        class != DTYPE_CLASS_COMPLEX && class != DTYPE_CLASS_OPAQUE) {
        histogram->low = statistics_bound_real(event->shape->dtype, figures->min);
        histogram->high = statistics_bound_real(event->shape->dtype, figures->max);
    }
}

static void count_element(struct tables_histogram *histogram, double value)
{
    double width = (histogram->high - histogram->low) / TABLES_BIN_COUNT;
    double place = width > 0 ? (value - histogram->low) / width : 0;

    if (!isfinite(value) || !(place >= 0)) {
        return;
    }
    place = fmin(place, TABLES_BIN_COUNT - 1);
    histogram->bins[(size_t)place]++;
    histogram->count++;
}

void tables_add_data(struct tables *tables, const struct log_item *item)
{
    struct tables_histogram *histogram = &tables->histogram;
    size_t size = dtype_size(histogram->dtype);

    if (tables->open == NULL || item->data.event != histogram->event || size == 0 ||
        isnan(histogram->low)) {
        return;
    }
    for (size_t i = 0; i + size <= item->data.bytes.size; i += size) {
        struct dtype_value value =
            dtype_read(histogram->dtype, item->data.bytes.bytes + i);

        count_element(histogram, dtype_value_real(&value));
    }
}

static void end_object(struct tables *tables)
{
    struct buffer *text = tables->open;

    if (text == NULL) {
        return;
    }
    if (tables->histogram.count > 0) {
        json_key_add(text, SLICE("bins"));
        buffer_add_byte(text, '[');
        for (size_t i = 0; i < TABLES_BIN_COUNT; i++) {
            add_separator(text, i);
            buffer_add_number(text, tables->histogram.bins[i]);
        }
        buffer_add_byte(text, ']');
    }
    buffer_add(text, SLICE("},"));
    tables->open = NULL;
}

static void begin_object(struct tables *tables,
                         struct buffer *text,
                         uint32_t place,
                         const struct log_event_view *event)
{
    end_object(tables);
    tables->open = text;
    begin_histogram(tables, event);
    buffer_add(text, SLICE("{\"event\":"));
    buffer_add_number(text, place);
    add_sample(text, event);
}

/* ---- values ---- */

bool tables_add(struct tables *tables,
                uint32_t place,
                const struct log_event_view *event,
                uint64_t other)
{
    void *items = tables->wanted;

    if (event->kind != VALUE_TENSOR) {
        return true;
    }
    begin_object(tables, &tables->own, place, event);
    tables->count++;
    if (other == TABLES_EVENT_NONE) {
        return true;
    }
    if (!memory_grow(&items, &tables->wanted_capacity, (size_t)tables->wanted_count + 1,
                     sizeof *tables->wanted)) {
        return false;
    }
    tables->wanted = items;
    tables->wanted[tables->wanted_count++] = (struct tables_other){other, place};
    return true;
}

/* ---- the other trace ---- */

static int other_compare(const void *a, const void *b)
{
    const struct tables_other *left = a;
    const struct tables_other *right = b;

    return left->event < right->event ? -1 : left->event > right->event;
}

static void add_other(struct tables *tables,
                      const struct tables_other *other,
                      const struct log_event_view *event)
{
    const struct statistics *figures = &event->statistics;
    struct buffer *text = &tables->others;
    struct buffer form = BUFFER_INIT;

    if (event->kind != VALUE_TENSOR) {
        return;
    }
    begin_object(tables, text, other->place, event);
    tensor_form_add(&form, event->shape);
    text->has_failed |= form.has_failed;
    json_text_add(text, SLICE("form"), buffer_slice(&form));
    buffer_release(&form);
    if (event->has_statistics && statistics_finite_count(figures) > 0) {
        enum dtype dtype = event->shape->dtype;
        const double numbers[] = {statistics_bound_real(dtype, figures->min),
                                  statistics_bound_real(dtype, figures->max),
                                  figures->mean, figures->std};

        json_key_add(text, SLICE("figures"));
        buffer_add_byte(text, '[');
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            add_separator(text, i);
            add_real(text, numbers[i]);
        }
        buffer_add_byte(text, ']');
    }
}

bool tables_read_others(struct tables *tables,
                        struct log_reader *reader,
                        struct error *error)
{
    struct log_item item;
    uint32_t next = 0;

    end_object(tables);
    if (tables->wanted_count == 0) {
        return true;
    }
    qsort(tables->wanted, tables->wanted_count, sizeof *tables->wanted, other_compare);
    log_reader_rewind(reader);
    while (next < tables->wanted_count && log_reader_next(reader, &item)) {
        const struct tables_other *other = &tables->wanted[next];

        if (item.kind == LOG_DATA) {
            tables_add_data(tables, &item);
        }
        if (item.kind == LOG_EVENT && item.event.number >= other->event) {
            if (item.event.number == other->event) {
                add_other(tables, other, &item.event);
            }
            next++;
        }
    }
    while (log_reader_next(reader, &item) && item.kind == LOG_DATA) {
        tables_add_data(tables, &item);
    }
    end_object(tables);
    return (!tables->others.has_failed && !tables->own.has_failed) ||
           error_set_memory(error);
}

static void add_list(struct buffer *text, struct slice key, const struct buffer *items)
{
    struct slice all = buffer_slice(items);

    json_key_add(text, key);
    buffer_add_byte(text, '[');
    buffer_add(text, slice_part(all, 0, all.size > 0 ? all.size - 1 : 0));
    buffer_add_byte(text, ']');
    text->has_failed |= items->has_failed;
}

void tables_write(struct tables *tables, struct buffer *text)
{
    end_object(tables);
    add_list(text, SLICE("tables"), &tables->own);
    add_list(text, SLICE("others"), &tables->others);
}
