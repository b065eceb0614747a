/* Recorded values as expressions of Python: their elements if all are recorded, or else a tensor
 * with the same figures, which the script makes. */
#include "runtime/view/why/repro/private.h"

#include "runtime/view/words/number_text.h"
#include "runtime/view/words/value_text.h"

#include <math.h>

/* A value of at most this many elements is written as a list. A larger one is written as bytes,
 * up to BYTES_MAX. */
#define LISTED_MAX 1024
#define BYTES_MAX  ((size_t)1 << 20)

void script_value_release(struct script_value *value)
{
    buffer_release(&value->text);
    buffer_release(&value->shown);
}

void script_add_text(struct buffer *text, struct slice added)
{
    buffer_add_byte(text, '"');
    buffer_add_json(text, added);
    buffer_add_byte(text, '"');
}

/* ---- elements ---- */

static void add_real(struct buffer *text, double number, int digits)
{
    if (isnan(number)) {
        buffer_add(text, SLICE("float(\"nan\")"));
    } else if (isinf(number)) {
        buffer_add(text,
                   number > 0 ? SLICE("float(\"inf\")") : SLICE("-float(\"inf\")"));
    } else {
        size_t before = text->size;
        struct slice added;

        buffer_add_format(text, "%.*g", digits, number);
        added = slice_part(buffer_slice(text), before, text->size);
        if (slice_find(added, SLICE("."), 0) == added.size &&
            slice_find(added, SLICE("e"), 0) == added.size) {
            buffer_add(text, SLICE(".0"));
        }
    }
}

static void add_element(struct buffer *text, enum dtype dtype, const char *bytes)
{
    struct dtype_value value = dtype_read(dtype, bytes);
    int digits = dtype_size(dtype) > 4 ? 17 : 9;

    if (dtype == DTYPE_BOOL) {
        buffer_add(text, value.natural != 0 ? SLICE("True") : SLICE("False"));
        return;
    }
    switch (value.class) {
    case DTYPE_CLASS_SIGNED:
        buffer_add_format(text, "%lld", (long long)value.integer);
        break;
    case DTYPE_CLASS_UNSIGNED:
        buffer_add_number(text, value.natural);
        break;
    case DTYPE_CLASS_COMPLEX:
        buffer_add(text, SLICE("complex("));
        add_real(text, value.real, 17);
        buffer_add(text, SLICE(", "));
        add_real(text, value.imaginary, 17);
        buffer_add_byte(text, ')');
        break;
    default:
        add_real(text, value.real, digits);
        break;
    }
}

static void add_shape(struct buffer *text, const struct log_shape *shape)
{
    buffer_add_byte(text, '[');
    integers_add(text, shape->shape, shape->dimension_count);
    buffer_add_byte(text, ']');
}

static uint64_t count_of(const struct log_shape *shape)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        count *= (uint64_t)shape->shape[i];
    }
    return count;
}

static void add_dtype(struct buffer *text, const struct log_shape *shape)
{
    buffer_add(text, SLICE("torch."));
    buffer_add(text, shape->dtype_text);
}

/* Appends the end of the expression, and finds whether autograd follows the value. */
static void end_tensor(struct script_value *value, const struct log_shape *shape)
{
    if ((shape->flags & LOG_FORM_NUMPY) != 0) {
        buffer_add(&value->text, SLICE(".numpy()"));
    }
    value->is_followed = (shape->flags & LOG_FORM_REQUIRES_GRAD) != 0;
}

/* Appends the arguments after the elements of a tensor. */
static void end_whole(struct script_value *value, const struct log_shape *shape)
{
    buffer_add(&value->text, SLICE(" dtype="));
    add_dtype(&value->text, shape);
    buffer_add(&value->text, SLICE(").reshape("));
    add_shape(&value->text, shape);
    buffer_add_byte(&value->text, ')');
    end_tensor(value, shape);
    value->source = SCRIPT_WHOLE;
}

static void add_listed(struct script_value *value,
                       const struct log_shape *shape,
                       const char *elements,
                       uint64_t count)
{
    struct buffer *text = &value->text;

    buffer_add(text, SLICE("torch.tensor(["));
    for (uint64_t i = 0; i < count; i++) {
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        add_element(text, shape->dtype, elements + i * dtype_size(shape->dtype));
    }
    buffer_add(text, SLICE("],"));
    end_whole(value, shape);
}

static void add_as_bytes(struct script_value *value,
                         const struct log_shape *shape,
                         struct slice bytes)
{
    struct buffer *text = &value->text;

    buffer_add(text, SLICE("torch.frombuffer(bytearray.fromhex(\""));
    for (size_t i = 0; i < bytes.size; i++) {
        buffer_add_hex(text, (unsigned char)bytes.bytes[i], 2);
    }
    buffer_add(text, SLICE("\"),"));
    end_whole(value, shape);
}

/* ---- figures ---- */

static void add_figure(struct buffer *text, const char *name, double number)
{
    buffer_add_format(text, ", %s=", name);
    add_real(text, number, 17);
}

static void add_count(struct buffer *text, const char *name, uint64_t count)
{
    if (count > 0) {
        buffer_add_format(text, ", %s=", name);
        buffer_add_number(text, count);
    }
}

static void add_substitute(struct script_value *value,
                           const struct log_event_view *event)
{
    const struct statistics *found = &event->statistics;
    struct buffer *text = &value->text;

    buffer_add(text, SLICE("substitute("));
    add_shape(text, event->shape);
    buffer_add(text, SLICE(", "));
    add_dtype(text, event->shape);
    buffer_add(text, SLICE(", seed="));
    buffer_add_number(text, event->number);
    if (statistics_finite_count(found) > 0) {
        add_figure(text, "least",
                   statistics_bound_real(event->shape->dtype, found->min));
        add_figure(text, "most",
                   statistics_bound_real(event->shape->dtype, found->max));
        add_figure(text, "mean", found->mean);
        if (isfinite(found->std)) {
            add_figure(text, "std", found->std);
        }
    }
    add_count(text, "zeros", found->zero_count);
    add_count(text, "nan", found->nan_count);
    add_count(text, "posinf", found->posinf_count);
    add_count(text, "neginf", found->neginf_count);
    buffer_add_byte(text, ')');
    end_tensor(value, event->shape);
    value->source = SCRIPT_SUBSTITUTE;
}

static bool is_torch_dtype(enum dtype dtype)
{
    return dtype_class(dtype) != DTYPE_CLASS_OPAQUE;
}

static void read_tensor(const struct log_event_view *event, struct script_value *value)
{
    uint64_t count = count_of(event->shape);

    if (!is_torch_dtype(event->shape->dtype)) {
        return;
    }
    if (count == 0 || (event->grid.count == count && event->sample != NULL)) {
        add_listed(value, event->shape, event->sample, count);
    } else if (event->has_statistics) {
        add_substitute(value, event);
    }
}

/* ---- plain values ---- */

static void read_plain(const struct log_event_view *event, struct script_value *value)
{
    struct buffer *text = &value->text;

    value->source = SCRIPT_PLAIN;
    switch (event->kind) {
    case VALUE_NONE:
        buffer_add(text, SLICE("None"));
        break;
    case VALUE_BOOL:
        buffer_add(text, event->integer != 0 ? SLICE("True") : SLICE("False"));
        break;
    case VALUE_INT:
        buffer_add_format(text, "%lld", (long long)event->integer);
        break;
    case VALUE_FLOAT:
        add_real(text, event->real, 17);
        break;
    case VALUE_TEXT:
        script_add_text(text, event->text);
        value->source =
            (uint64_t)event->integer == event->text.size ? SCRIPT_PLAIN : SCRIPT_NONE;
        break;
    default:
        value->source = SCRIPT_NONE;
        break;
    }
}

/* ---- whole values ---- */

/* Reads the pieces of the whole value, which are recorded after the event. The caller compares
 * their size with that of the elements. */
static void read_whole(struct log_reader *reader, uint64_t event, struct buffer *bytes)
{
    struct log_item item;

    while (log_reader_next(reader, &item) && item.kind == LOG_DATA &&
           item.data.event == event && !item.data.is_once &&
           item.data.offset == bytes->size && bytes->size <= BYTES_MAX) {
        buffer_add(bytes, item.data.bytes);
    }
}

static bool find(struct log_reader *reader,
                 uint64_t event,
                 uint32_t backward,
                 struct log_item *item)
{
    if (backward == 0) {
        log_reader_go_to_event(reader, event);
    } else {
        log_reader_rewind(reader);
    }
    while (log_reader_next(reader, item)) {
        if (backward == 0 && item->kind == LOG_EVENT) {
            return item->event.number == event;
        }
        if (backward != 0 && item->kind == LOG_GRADIENT &&
            item->event.step == backward && item->event.number == event) {
            return true;
        }
    }
    return false;
}

void script_value_read(struct log_reader *reader,
                       uint64_t event,
                       uint32_t backward,
                       struct script_value *value)
{
    struct log_item item;
    struct buffer whole = BUFFER_INIT;
    size_t size;

    *value = (struct script_value){.text = BUFFER_INIT, .shown = BUFFER_INIT};
    if (!find(reader, event, backward, &item)) {
        return;
    }
    value_text_add(&value->shown, &item.event, false);
    if (item.event.kind != VALUE_TENSOR) {
        read_plain(&item.event, value);
        return;
    }
    read_tensor(&item.event, value);
    if (value->source != SCRIPT_SUBSTITUTE || backward != 0 ||
        count_of(item.event.shape) > BYTES_MAX) {
        return;
    }
    size = (size_t)count_of(item.event.shape) * dtype_size(item.event.shape->dtype);
    read_whole(reader, event, &whole);
    if (whole.size == size && size <= BYTES_MAX && !whole.has_failed &&
        find(reader, event, backward, &item)) {
        value->text.size = 0;
        if (size <= LISTED_MAX * dtype_size(item.event.shape->dtype)) {
            add_listed(value, item.event.shape, whole.bytes,
                       count_of(item.event.shape));
        } else {
            add_as_bytes(value, item.event.shape, buffer_slice(&whole));
        }
    }
    buffer_release(&whole);
}
