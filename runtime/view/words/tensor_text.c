/* The form and the statistics of a tensor, in a few words. */
#include "runtime/view/words/tensor_text.h"

#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <math.h>

#define SHORT_DIGITS 4  /* significant digits of statistics */
#define TEXT_LIMIT   60 /* in bytes, of a type, device or note */

struct slice type_without_main(struct slice type)
{
    struct slice main = SLICE("__main__.");

    return slice_starts(type, main) ? slice_part(type, main.size, type.size) : type;
}

bool shape_is_contiguous(const struct log_shape *shape)
{
    int64_t wanted = 1;

    if (shape->strides == NULL || shape->strides_are_bytes) {
        return shape->strides == NULL;
    }
    for (uint32_t i = shape->dimension_count; i-- > 0;) {
        if (shape->shape[i] == 0) {
            return true;
        }
    }
    for (uint32_t i = shape->dimension_count; i-- > 0;) {
        if (shape->shape[i] != 1 && shape->strides[i] != wanted) {
            return false;
        }
        if (__builtin_mul_overflow(wanted, shape->shape[i], &wanted)) {
            return false;
        }
    }
    return true;
}

static void add_form(struct buffer *text, const struct log_shape *shape, bool has_color)
{
    paint_start(text, has_color, PAINT_FORM);
    /* The type of a NumPy scalar has the same name as its dtype. */
    bool is_scalar = (shape->flags & LOG_FORM_NUMPY) != 0 &&
                     slice_equal(shape->type, shape->dtype_text);
    if (shape->type.size > 0 && !is_scalar) {
        text_add_shortened(text, type_without_main(shape->type), TEXT_LIMIT);
        buffer_add_byte(text, ' ');
    } else if ((shape->flags & LOG_FORM_PARAMETER) != 0) {
        buffer_add(text, SLICE("Parameter "));
    } else if ((shape->flags & LOG_FORM_NUMPY) != 0) {
        buffer_add(text, SLICE("numpy "));
    }
    text_add_shortened(text, shape->dtype_text, TEXT_LIMIT);
    buffer_add_byte(text, ' ');
    dimensions_add(text, shape->shape, shape->dimension_count);
    paint_end(text, has_color);
    if (!slice_equal(shape->layout, SLICE("strided"))) {
        buffer_add_byte(text, ' ');
        text_add_shortened(text, shape->layout, TEXT_LIMIT);
    }
    if (!slice_equal(shape->device, SLICE("cpu"))) {
        buffer_add(text, SLICE(" on "));
        text_add_shortened(text, shape->device, TEXT_LIMIT);
    }
    if ((shape->flags & LOG_FORM_REQUIRES_GRAD) != 0) {
        buffer_add(text, SLICE(" grad"));
    }
    if ((shape->flags & LOG_FORM_CONJUGATED) != 0) {
        buffer_add(text, SLICE(" conjugated"));
    }
    if ((shape->flags & LOG_FORM_NEGATED) != 0) {
        buffer_add(text, SLICE(" negated"));
    }
    if (!shape_is_contiguous(shape)) {
        buffer_add(text, SLICE(" strides "));
        dimensions_add(text, shape->strides, shape->dimension_count);
        if (shape->strides_are_bytes) {
            buffer_add(text, SLICE(" bytes"));
        }
    }
}

void tensor_form_add(struct buffer *text, const struct log_shape *shape)
{
    add_form(text, shape, false);
}

static void
add_nonfinite(struct buffer *text, const struct statistics *statistics, bool has_color)
{
    const struct {
        uint64_t count;
        struct slice name;
    } parts[] = {
        {statistics->nan_count, SLICE(" NaN")},
        {statistics->posinf_count, SLICE(" +Inf")},
        {statistics->neginf_count, SLICE(" -Inf")},
    };
    bool is_first = true;

    if (statistics->nan_count + statistics->posinf_count + statistics->neginf_count ==
        0) {
        return;
    }
    buffer_add(text, SLICE("  "));
    paint_start(text, has_color, PAINT_ALARM);
    buffer_add(text, SLICE("!! "));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].count > 0) {
            buffer_add(text, is_first ? SLICE("") : SLICE(", "));
            buffer_add_number(text, parts[i].count);
            buffer_add(text, parts[i].name);
            is_first = false;
        }
    }
    buffer_add(text, SLICE(" of "));
    buffer_add_number(text, statistics->count);
    paint_end(text, has_color);
}

void bound_text_add(struct buffer *text,
                    enum dtype_class class,
                    union statistics_bound bound,
                    int digits)
{
    if (class == DTYPE_CLASS_SIGNED) {
        integer_add(text, bound.integer);
    } else if (class == DTYPE_CLASS_UNSIGNED) {
        buffer_add_number(text, bound.natural);
    } else {
        real_add_short(text, bound.real, digits);
    }
}

static void add_range(struct buffer *text,
                      const struct statistics *statistics,
                      enum dtype_class class)
{
    if (class == DTYPE_CLASS_COMPLEX) {
        buffer_add(text, SLICE("  magnitude"));
    }
    /* Bounds of any class are equal if their bits are equal, except for the two zeros. */
    if (statistics->min.natural == statistics->max.natural) {
        buffer_add(text, statistics->count == 1 ? SLICE("  value ") : SLICE("  all "));
        bound_text_add(text, class, statistics->min, SHORT_DIGITS);
        return;
    }
    buffer_add(text, class == DTYPE_CLASS_COMPLEX ? SLICE(" min ") : SLICE("  min "));
    bound_text_add(text, class, statistics->min, SHORT_DIGITS);
    buffer_add(text, SLICE(" max "));
    bound_text_add(text, class, statistics->max, SHORT_DIGITS);
    buffer_add(text, SLICE(" mean "));
    real_add_short(text, statistics->mean, SHORT_DIGITS);
    if (!isnan(statistics->std)) {
        buffer_add(text, SLICE(" std "));
        real_add_short(text, statistics->std, SHORT_DIGITS);
    }
    if (statistics->zero_count > 0) {
        buffer_add(text, SLICE(" zeros "));
        buffer_add_number(text, statistics->zero_count);
    }
}

static void
add_statistics(struct buffer *text, const struct log_event_view *event, bool has_color)
{
    const struct statistics *statistics = &event->statistics;
    enum dtype_class class = dtype_class(event->shape->dtype);

    if (statistics->count == 0) {
        buffer_add(text, SLICE("  empty"));
        return;
    }
    if (class == DTYPE_CLASS_OPAQUE) {
        return;
    }
    if (event->shape->dtype == DTYPE_BOOL) {
        buffer_add(text, SLICE("  True "));
        buffer_add_number(text, statistics->count - statistics->zero_count);
        buffer_add(text, SLICE(" of "));
        buffer_add_number(text, statistics->count);
        return;
    }
    add_nonfinite(text, statistics, has_color);
    if (statistics_finite_count(statistics) > 0) {
        add_range(text, statistics, class);
    }
}

void tensor_text_add(struct buffer *text,
                     const struct log_event_view *event,
                     bool has_color)
{
    add_form(text, event->shape, has_color);
    if (event->shape->note.size > 0 &&
        !slice_equal(event->shape->note, event->shape->device)) {
        buffer_add(text, SLICE("  ("));
        text_add_shortened(text, event->shape->note, TEXT_LIMIT);
        buffer_add_byte(text, ')');
    }
    if (event->has_statistics) {
        add_statistics(text, event, has_color);
    }
}
