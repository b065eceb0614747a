/* A value in the form of the tree log. */
#include "runtime/view/tracklog/value.h"

#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"
#include "runtime/view/words/value_text.h"

#include <math.h>

#define WHOLE_COUNT 25 /* larger arrays are not printed whole */
#define DIGITS      6
#define TEXT_LIMIT  60
/* Above this, a double cannot represent every integer. */
#define EXACT_MAX 0x1p53

struct slice track_value_tag(const struct log_event_view *event)
{
    return event->kind == VALUE_TENSOR ? SLICE("Tensor") : SLICE("Var");
}

/* ---- numbers ---- */

/* Adds the number in Python's form: 2.0, 0.25, 1e-09, nan, -inf. */
static void add_real(struct buffer *text, double number)
{
    size_t start = text->size;

    if (isnan(number)) {
        buffer_add(text, SLICE("nan"));
    } else if (isinf(number)) {
        buffer_add(text, number > 0 ? SLICE("inf") : SLICE("-inf"));
    } else {
        if (number == 0 && signbit(number)) {
            buffer_add_byte(text, '-');
        }
        real_add_short(text, number, DIGITS);
        struct slice added = slice_part(buffer_slice(text), start, text->size);
        if (number == floor(number) && slice_find(added, SLICE("e"), 0) == added.size) {
            buffer_add(text, SLICE(".0"));
        }
    }
}

static void add_complex(struct buffer *text, double real, double imaginary)
{
    buffer_add_byte(text, '(');
    add_real(text, real);
    if (!signbit(imaginary) || isnan(imaginary)) {
        buffer_add_byte(text, '+');
    }
    add_real(text, imaginary);
    buffer_add(text, SLICE("j)"));
}

static void
add_element(struct buffer *text, enum dtype dtype, const struct dtype_value *value)
{
    switch (value->class) {
    case DTYPE_CLASS_SIGNED:
        integer_add(text, value->integer);
        break;
    case DTYPE_CLASS_UNSIGNED:
        if (dtype == DTYPE_BOOL) {
            buffer_add(text, value->natural != 0 ? SLICE("True") : SLICE("False"));
        } else {
            buffer_add_number(text, value->natural);
        }
        break;
    case DTYPE_CLASS_COMPLEX:
        add_complex(text, value->real, value->imaginary);
        break;
    default:
        add_real(text, value->real);
        break;
    }
}

static void
add_bound(struct buffer *text, enum dtype dtype, union statistics_bound bound)
{
    struct dtype_value value = {.class = dtype_class(dtype)};

    value.integer = bound.integer;
    value.natural = bound.natural;
    value.real = bound.real;
    if (value.class == DTYPE_CLASS_COMPLEX) {
        add_real(text, bound.real); /* a magnitude */
    } else {
        add_element(text, dtype, &value);
    }
}

/* ---- arrays ---- */

static bool is_numpy(const struct log_shape *shape)
{
    return (shape->flags & LOG_FORM_NUMPY) != 0;
}

static void add_shape(struct buffer *text, const struct log_shape *shape)
{
    buffer_add(text, is_numpy(shape) ? SLICE("shape=(") : SLICE("shape=torch.Size(["));
    integers_add(text, shape->shape, shape->dimension_count);
    if (is_numpy(shape)) {
        buffer_add(text, shape->dimension_count == 1 ? SLICE(",)") : SLICE(")"));
    } else {
        buffer_add(text, SLICE("])"));
    }
}

void track_dtype_add(struct buffer *text, struct slice dtype, bool is_array)
{
    if (!is_array && !slice_starts(dtype, SLICE("torch."))) {
        buffer_add(text, SLICE("torch."));
    }
    text_add_shortened(text, dtype, TEXT_LIMIT);
}

static void add_part(struct buffer *text, const char *name, struct slice value)
{
    buffer_add(text, SLICE(" | "));
    buffer_add(text, slice_of(name));
    text_add_shortened(text, value, TEXT_LIMIT);
}

/* Adds the parts of the form that differ from those of most tensors. */
static void add_form(struct buffer *text, const struct log_shape *shape)
{
    bool is_scalar = is_numpy(shape) && slice_equal(shape->type, shape->dtype_text);

    if (!slice_equal(shape->device, SLICE("cpu"))) {
        add_part(text, "device=", shape->device);
    }
    if (!slice_equal(shape->layout, SLICE("strided"))) {
        add_part(text, "layout=", shape->layout);
    }
    if (shape->type.size > 0 && !is_scalar) {
        add_part(text, "type=", type_without_main(shape->type));
    }
    if (shape->note.size > 0 && !slice_equal(shape->note, shape->device)) {
        add_part(text, "", shape->note);
    }
}

/* The number of elements. Any number above WHOLE_COUNT may stand for a larger one. */
static uint64_t count_elements(const struct log_shape *shape)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        if (shape->shape[i] == 0) {
            return 0;
        }
        if (count <= WHOLE_COUNT) {
            uint64_t length = (uint64_t)shape->shape[i];
            count *= length <= WHOLE_COUNT ? length : WHOLE_COUNT + 1;
        }
    }
    return count;
}

/* Adds all values as nested lists. */
static void
add_whole(struct buffer *text, const struct log_event_view *event, uint64_t count)
{
    const struct log_shape *shape = event->shape;
    size_t element = dtype_size(shape->dtype);
    uint32_t depth = shape->dimension_count;

    buffer_add(text, SLICE(" | value="));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t block = 1;
        uint32_t opened = 0;
        for (uint32_t k = depth;
             k-- > 0 && i % (block *= (uint64_t)shape->shape[k]) == 0;) {
            opened++;
        }
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        for (uint32_t k = 0; k < opened; k++) {
            buffer_add_byte(text, '[');
        }
        struct dtype_value value =
            dtype_read(shape->dtype, (const char *)event->sample + i * element);
        add_element(text, shape->dtype, &value);
        block = 1;
        for (uint32_t k = depth;
             k-- > 0 && (i + 1) % (block *= (uint64_t)shape->shape[k]) == 0;) {
            buffer_add_byte(text, ']');
        }
    }
}

/* Adds the sum. It is mean times count; since the mean is a double, a sum of integers is exact
 * unless it is beyond the integers that doubles represent. */
static void add_sum(struct buffer *text, enum dtype dtype, const struct statistics *of)
{
    double count = (double)statistics_finite_count(of);
    double sum = of->mean * count;

    buffer_add(text, SLICE(" | sum="));
    if (dtype == DTYPE_BOOL) {
        buffer_add_number(text, of->count - of->zero_count);
    } else if (dtype_class(dtype) == DTYPE_CLASS_FLOATING) {
        add_real(text, sum);
    } else if (fabs(sum) <= EXACT_MAX) {
        integer_add(text, llrint(sum));
    } else {
        real_add_short(text, sum, DIGITS);
    }
}

static void
add_measured(struct buffer *text, enum dtype dtype, const struct statistics *of)
{
    bool is_complex = dtype_class(dtype) == DTYPE_CLASS_COMPLEX;

    if (statistics_finite_count(of) == 0) {
        return;
    }
    if (is_complex) {
        buffer_add(text, SLICE(" | abs: "));
    } else {
        add_sum(text, dtype, of);
        buffer_add(text, SLICE(" | "));
    }
    buffer_add(text, SLICE("mean="));
    add_real(text, of->mean);
    buffer_add(text, SLICE(" | min="));
    add_bound(text, dtype, of->min);
    buffer_add(text, SLICE(" | max="));
    add_bound(text, dtype, of->max);
}

static void
add_nonfinite(struct buffer *text, const struct statistics *of, bool has_color)
{
    const struct {
        uint64_t count;
        struct slice name;
    } parts[] = {
        {of->nan_count, SLICE("nan=")},
        {of->posinf_count, SLICE("inf=")},
        {of->neginf_count, SLICE("-inf=")},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].count > 0) {
            buffer_add(text, SLICE(" | "));
            paint_start(text, has_color, PAINT_ALARM);
            buffer_add(text, parts[i].name);
            buffer_add_number(text, parts[i].count);
            paint_end(text, has_color);
        }
    }
}

static void
add_array(struct buffer *text, const struct log_event_view *event, bool has_color)
{
    const struct log_shape *shape = event->shape;
    uint64_t count = count_elements(shape);

    paint_start(text, has_color, PAINT_FORM);
    add_shape(text, shape);
    buffer_add(text, SLICE(" | dtype="));
    track_dtype_add(text, shape->dtype_text, is_numpy(shape));
    paint_end(text, has_color);
    add_form(text, shape);
    if (count > 0 && count <= WHOLE_COUNT && event->sample != NULL &&
        event->grid.count == count && dtype_class(shape->dtype) != DTYPE_CLASS_OPAQUE) {
        add_whole(text, event, count);
    } else if (event->has_statistics &&
               dtype_class(shape->dtype) != DTYPE_CLASS_OPAQUE) {
        add_measured(text, shape->dtype, &event->statistics);
        add_nonfinite(text, &event->statistics, has_color);
    }
}

/* ---- all ---- */

static void add_length(struct buffer *text, int64_t length)
{
    buffer_add(text, SLICE("len(value): "));
    integer_add(text, length);
}

void track_value_add(struct buffer *text,
                     const struct log_event_view *event,
                     bool has_color)
{
    if (event->kind == VALUE_TENSOR) {
        add_array(text, event, has_color);
        return;
    }
    if (event->kind == VALUE_CONTAINER || event->kind == VALUE_BYTES) {
        add_length(text, event->integer);
        buffer_add(text, (event->flags & LOG_EVENT_MORE) != 0 ? SLICE(" | \xE2\x80\xA6")
                                                              : SLICE(""));
        return;
    }
    buffer_add(text, SLICE("value: "));
    if (event->kind == VALUE_FLOAT && isfinite(event->real)) {
        real_add_exact(text, event->real);
    } else if (event->kind == VALUE_FLOAT) {
        paint_start(text, has_color, PAINT_ALARM);
        add_real(text, event->real);
        paint_end(text, has_color);
    } else if (event->kind == VALUE_COMPLEX) {
        add_complex(text, event->real, event->imaginary);
    } else {
        value_text_add(text, event, has_color);
    }
}
