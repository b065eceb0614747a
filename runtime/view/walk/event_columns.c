/* The columns of an event: the values of one row. */
#include "runtime/view/walk/event_columns.h"

#include "runtime/view/words/change_text.h"
#include "runtime/view/words/number_text.h"

#include <math.h>

const struct column_rule event_columns[EVENT_COLUMN_COUNT] = {
#define EVENT_COLUMN(name, form, what) {#name, COLUMN_FORM_##form, what},
#include "runtime/view/walk/event_columns.def"
#undef EVENT_COLUMN
};

enum column_type column_form_type(enum column_form form)
{
    switch (form) {
    case COLUMN_FORM_INTEGER:
    case COLUMN_FORM_FLAG:
    case COLUMN_FORM_TIME:
        return COLUMN_INTEGER;
    case COLUMN_FORM_REAL:
    case COLUMN_FORM_VALUE:
        return COLUMN_REAL;
    default:
        return COLUMN_TEXT;
    }
}

/* ---- values ---- */

static void set_integer(struct column_value *value, int64_t integer)
{
    *value = (struct column_value){.type = COLUMN_INTEGER, .integer = integer};
}

static void set_real(struct column_value *value, double real)
{
    *value = (struct column_value){.type = COLUMN_REAL, .real = real};
}

static void set_text(struct column_value *value, struct slice text)
{
    *value = (struct column_value){.type = COLUMN_TEXT, .text = text};
}

/* Sets an integer. A number above 2^63 - 1 becomes the nearest real number. */
static void set_natural(struct column_value *value, uint64_t natural)
{
    if (natural <= INT64_MAX) {
        set_integer(value, (int64_t)natural);
    } else {
        set_real(value, (double)natural);
    }
}

/* Sets a real number. NaN means that there is no such figure: the value stays empty. */
static void set_figure(struct column_value *value, double real)
{
    if (!isnan(real)) {
        set_real(value, real);
    }
}

static void set_numbers(struct column_value *value,
                        const int64_t *numbers,
                        uint32_t count,
                        struct buffer *scratch)
{
    buffer_add_byte(scratch, '[');
    for (uint32_t i = 0; i < count; i++) {
        buffer_add(scratch, i > 0 ? SLICE(",") : SLICE(""));
        integer_add(scratch, numbers[i]);
    }
    buffer_add_byte(scratch, ']');
    set_text(value, buffer_slice(scratch));
}

/* ---- the value of an event ---- */

static void get_value(const struct log_event_view *event,
                      struct buffer *scratch,
                      struct column_value *value)
{
    switch (event->kind) {
    case VALUE_BOOL:
    case VALUE_INT:
        set_integer(value, event->integer);
        break;
    case VALUE_FLOAT:
        set_real(value, event->real);
        break;
    case VALUE_COMPLEX:
        buffer_add_byte(scratch, '[');
        real_add_exact(scratch, event->real);
        buffer_add_byte(scratch, ',');
        real_add_exact(scratch, event->imaginary);
        buffer_add_byte(scratch, ']');
        set_text(value, buffer_slice(scratch));
        break;
    case VALUE_BIG_INT:
    case VALUE_TEXT:
        set_text(value, event->text);
        break;
    default:
        break;
    }
}

static void get_type(const struct log_event_view *event, struct column_value *value)
{
    if (event->kind == VALUE_CONTAINER || event->kind == VALUE_OBJECT) {
        set_text(value, event->type);
    } else if (event->shape != NULL && event->shape->type.size > 0) {
        set_text(value, event->shape->type);
    }
}

static void get_length(const struct log_event_view *event, struct column_value *value)
{
    if (event->kind == VALUE_TEXT || event->kind == VALUE_BYTES ||
        event->kind == VALUE_CONTAINER) {
        set_integer(value, event->integer);
    }
}

/* Sets a bound of the finite elements. */
static void get_bound(const struct log_event_view *event,
                      union statistics_bound bound,
                      struct column_value *value)
{
    switch (dtype_class(event->shape->dtype)) {
    case DTYPE_CLASS_UNSIGNED:
        set_natural(value, bound.natural);
        break;
    case DTYPE_CLASS_SIGNED:
        set_integer(value, bound.integer);
        break;
    default:
        set_figure(value, bound.real);
    }
}

static uint64_t magnitude(int64_t number)
{
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

static void get_absmax(const struct log_event_view *event, struct column_value *value)
{
    const struct statistics *statistics = &event->statistics;
    uint64_t low = magnitude(statistics->min.integer);
    uint64_t high = magnitude(statistics->max.integer);

    switch (dtype_class(event->shape->dtype)) {
    case DTYPE_CLASS_UNSIGNED:
        set_natural(value, statistics->max.natural);
        break;
    case DTYPE_CLASS_SIGNED:
        set_natural(value, low > high ? low : high);
        break;
    default:
        set_figure(value, fmax(fabs(statistics->min.real), fabs(statistics->max.real)));
    }
}

static void get_figure(enum event_column column,
                       const struct log_event_view *event,
                       struct column_value *value)
{
    const struct statistics *statistics = &event->statistics;

    if (statistics_finite_count(statistics) == 0) {
        return;
    }
    switch (column) {
#define STATISTIC_BOUND(field, name)                                                   \
    case EVENT_COLUMN_##name:                                                          \
        get_bound(event, statistics->field, value);                                    \
        break;
#define STATISTIC_REAL(field, name)                                                    \
    case EVENT_COLUMN_##name:                                                          \
        set_figure(value, statistics->field);                                          \
        break;
#include "runtime/array/statistics/statistics.def"
    default:
        get_absmax(event, value);
    }
}

static void get_statistic(enum event_column column,
                          const struct log_event_view *event,
                          struct column_value *value)
{
    if (!event->has_statistics) {
        return;
    }
    if (column == EVENT_COLUMN_count) {
        set_natural(value, event->statistics.count);
        return;
    }
    if (dtype_class(event->shape->dtype) == DTYPE_CLASS_OPAQUE) {
        return;
    }
    switch (column) {
#define STATISTIC_COUNT(field, name, function)                                         \
    case EVENT_COLUMN_##name:                                                          \
        set_natural(value, event->statistics.field);                                   \
        break;
#include "runtime/array/statistics/statistics.def"
    default:
        get_figure(column, event, value);
    }
}

bool event_column_numbers(enum event_column column,
                          const struct log_event_view *event,
                          const int64_t **numbers,
                          uint32_t *count)
{
    const struct log_shape *shape = event->shape;

    if (shape == NULL) {
        return false;
    }
    if (column == EVENT_COLUMN_strides &&
        (shape->strides == NULL || shape->strides_are_bytes)) {
        return false;
    }
    *numbers = column == EVENT_COLUMN_strides ? shape->strides : shape->shape;
    *count = shape->dimension_count;
    return true;
}

static void get_numbers(enum event_column column,
                        const struct log_event_view *event,
                        struct buffer *scratch,
                        struct column_value *value)
{
    const int64_t *numbers;
    uint32_t count;

    if (event_column_numbers(column, event, &numbers, &count)) {
        set_numbers(value, numbers, count, scratch);
    }
}

static void get_hash(const struct log_event_view *event,
                     struct buffer *scratch,
                     struct column_value *value)
{
    if (event->has_hash) {
        buffer_add_hex(scratch, event->hash, 16);
        set_text(value, buffer_slice(scratch));
    }
}

/* Gets the columns that only tensors and arrays have. */
static void get_tensor(enum event_column column,
                       const struct log_event_view *event,
                       struct buffer *scratch,
                       struct column_value *value)
{
    const struct log_shape *shape = event->shape;

    if (shape == NULL) {
        return;
    }
    switch (column) {
    case EVENT_COLUMN_dtype:
        set_text(value, shape->dtype_text);
        break;
    case EVENT_COLUMN_shape:
    case EVENT_COLUMN_strides:
        get_numbers(column, event, scratch, value);
        break;
    case EVENT_COLUMN_device:
        set_text(value, shape->device);
        break;
    case EVENT_COLUMN_requires_grad:
        set_integer(value, (shape->flags & LOG_FORM_REQUIRES_GRAD) != 0);
        break;
    case EVENT_COLUMN_hash:
        get_hash(event, scratch, value);
        break;
    case EVENT_COLUMN_version:
        set_integer(value, event->tensor.version);
        break;
    case EVENT_COLUMN_origin:
        if (event->tensor.origin != 0) {
            set_natural(value, event->tensor.origin - 1);
        }
        break;
    case EVENT_COLUMN_object:
        set_natural(value, event->tensor.object);
        break;
    case EVENT_COLUMN_data:
        set_natural(value, event->tensor.data);
        break;
    case EVENT_COLUMN_note:
        if (shape->note.size > 0) {
            set_text(value, shape->note);
        }
        break;
    default:
        get_statistic(column, event, value);
    }
}

/* ---- all columns ---- */

static void get_function(const struct log_event_view *event, struct column_value *value)
{
    const struct site_table *table = &event->module->table;

    set_text(value, table->functions[event->site->function].name);
}

static void get_change(const struct log_event_view *event, struct column_value *value)
{
    if (event->change != CHANGE_NONE) {
        set_text(value, slice_of(change_text(event->change)));
    }
}

static void get_differs(const struct log_event_view *event,
                        struct buffer *scratch,
                        struct column_value *value)
{
    if (event->difference != 0) {
        differences_add(scratch, event->difference, SLICE(","), SLICE(""));
        set_text(value, buffer_slice(scratch));
    }
}

void event_column_get(enum event_column column,
                      const struct log_event_view *event,
                      const struct open_call *call,
                      struct slice trace,
                      struct buffer *scratch,
                      struct column_value *value)
{
    *value = (struct column_value){
        .is_empty = true, .type = column_form_type(event_columns[column].form)};
    scratch->size = 0;
    switch (column) {
    case EVENT_COLUMN_trace:
        set_text(value, trace);
        break;
    case EVENT_COLUMN_seq:
        set_natural(value, event->number);
        break;
    case EVENT_COLUMN_time:
        set_natural(value, event->time);
        break;
    case EVENT_COLUMN_thread:
        set_integer(value, event->thread);
        break;
    case EVENT_COLUMN_call:
        set_integer(value, event->call);
        break;
    case EVENT_COLUMN_iteration:
        set_integer(value, event->visit);
        break;
    case EVENT_COLUMN_training_step:
        set_natural(value, event->training_step);
        break;
    case EVENT_COLUMN_site:
        set_integer(value, event->site_number);
        break;
    case EVENT_COLUMN_kind:
        set_text(value, slice_of(site_kind_text(event->site->kind)));
        break;
    case EVENT_COLUMN_name:
        set_text(value, event->name);
        break;
    case EVENT_COLUMN_path:
        set_text(value, event->path);
        break;
    case EVENT_COLUMN_file:
        set_text(value, event->module->table.path);
        break;
    case EVENT_COLUMN_line:
        set_integer(value, event->site->line);
        break;
    case EVENT_COLUMN_function:
        get_function(event, value);
        break;
    case EVENT_COLUMN_module:
        if (call != NULL) {
            set_text(value, call->path);
        }
        break;
    case EVENT_COLUMN_arm:
        if (event->site->kind == SITE_BRANCH) {
            set_integer(value, event->site->arm);
        }
        break;
    case EVENT_COLUMN_change:
        get_change(event, value);
        break;
    case EVENT_COLUMN_differs:
        get_differs(event, scratch, value);
        break;
    case EVENT_COLUMN_value_kind:
        set_text(value, slice_of(value_kind_text(event->kind)));
        break;
    case EVENT_COLUMN_value:
        get_value(event, scratch, value);
        break;
    case EVENT_COLUMN_type:
        get_type(event, value);
        break;
    case EVENT_COLUMN_length:
        get_length(event, value);
        break;
    default:
        get_tensor(column, event, scratch, value);
    }
}
