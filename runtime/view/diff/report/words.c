/* Difference of two values in words. */
#include "runtime/view/diff/report/words.h"

#include "runtime/view/words/change_text.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"
#include "runtime/view/words/value_text.h"

#include <math.h>

#define DIGITS     5
#define TEXT_LIMIT 60

const char *diff_cause_text(enum diff_cause cause)
{
    switch (cause) {
    case DIFF_CAUSE_FLOW:
        return "control flow";
    case DIFF_CAUSE_KIND:
        return difference_text(LOG_DIFFERS_TYPE);
    case DIFF_CAUSE_DTYPE:
        return difference_text(LOG_DIFFERS_DTYPE);
    case DIFF_CAUSE_SHAPE:
        return difference_text(LOG_DIFFERS_SHAPE);
    case DIFF_CAUSE_DEVICE:
        return difference_text(LOG_DIFFERS_DEVICE);
    case DIFF_CAUSE_STRIDES:
        return difference_text(LOG_DIFFERS_STRIDES);
    case DIFF_CAUSE_VALUES:
        return difference_text(LOG_DIFFERS_VALUES);
    case DIFF_CAUSE_GRAD:
        return difference_text(LOG_DIFFERS_REQUIRES_GRAD);
    case DIFF_CAUSE_CODE:
        return "code";
    case DIFF_CAUSE_GRADIENT:
        return "gradient";
    case DIFF_CAUSE_STEP:
        return "step";
    default:
        return "";
    }
}

const char *diff_class_text(enum diff_class class_)
{
    static const char *const texts[] = {
        [DIFF_EQUAL] = "equal", [DIFF_INHERITED] = "inherited", [DIFF_OWN] = "own",
        [DIFF_ONLY] = "only",   [DIFF_STEP] = "step",
    };

    return texts[class_];
}

static void add_integers(struct buffer *text, const int64_t *numbers, uint32_t count)
{
    if (numbers == NULL && count > 0) {
        buffer_add(text, SLICE("none"));
        return;
    }
    dimensions_add(text, numbers, count);
}

static void add_strides(struct buffer *text, const struct log_shape *shape)
{
    add_integers(text, shape->strides, shape->dimension_count);
    if (shape->strides_are_bytes) {
        buffer_add(text, SLICE(" bytes"));
    }
    if (!shape_is_contiguous(shape)) {
        buffer_add(text, SLICE(" (not contiguous)"));
    }
}

/* Adds the kind of the value, without its contents. */
static void add_kind(struct buffer *text, const struct log_event_view *event)
{
    const struct log_shape *shape = event->shape;

    switch (event->kind) {
    case VALUE_TENSOR:
        if (shape->type.size > 0) {
            text_add_shortened(text, type_without_main(shape->type), TEXT_LIMIT);
        } else if ((shape->flags & LOG_FORM_PARAMETER) != 0) {
            buffer_add(text, SLICE("a Parameter"));
        } else if ((shape->flags & LOG_FORM_NUMPY) != 0) {
            buffer_add(text, SLICE("a numpy array"));
        } else {
            buffer_add(text, SLICE("a tensor"));
        }
        if (!slice_equal(shape->layout, SLICE("strided"))) {
            buffer_add_byte(text, ' ');
            text_add_shortened(text, shape->layout, TEXT_LIMIT);
        }
        return;
    case VALUE_OBJECT:
    case VALUE_CONTAINER:
        text_add_shortened(text, type_without_main(event->type), TEXT_LIMIT);
        return;
    case VALUE_NOTHING:
    case VALUE_MISSING:
    case VALUE_NONE:
        value_text_add(text, event, false);
        return;
    default:
        buffer_add(text, slice_of(value_kind_text(event->kind)));
    }
}

static void add_figures(struct buffer *text,
                        const char *name,
                        const struct log_event_view *a,
                        const struct log_event_view *b,
                        enum diff_seen seen)
{
    const struct statistics *x = &a->statistics;
    const struct statistics *y = &b->statistics;
    bool is_min = seen == DIFF_SEEN_MIN;

    buffer_add(text, slice_of(name));
    buffer_add_byte(text, ' ');
    if (seen == DIFF_SEEN_MIN || seen == DIFF_SEEN_MAX) {
        bound_text_add(text, dtype_class(b->shape->dtype), is_min ? y->min : y->max,
                       DIGITS);
        buffer_add(text, SLICE(", A has "));
        bound_text_add(text, dtype_class(a->shape->dtype), is_min ? x->min : x->max,
                       DIGITS);
        return;
    }
    real_add_short(text, seen == DIFF_SEEN_MEAN ? y->mean : y->std, DIGITS);
    buffer_add(text, SLICE(", A has "));
    real_add_short(text, seen == DIFF_SEEN_MEAN ? x->mean : x->std, DIGITS);
}

/* Adds the indices of the element at a position in the sample. */
static void
add_sample_place(struct buffer *text, const struct sample_grid *grid, uint64_t place)
{
    uint64_t steps = grid->count;

    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < grid->dimension_count; i++) {
        steps /= grid->counts[i];
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        integer_add(text, sample_grid_index(grid, i, (uint32_t)(place / steps)));
        place %= steps;
    }
    buffer_add_byte(text, ']');
}

/* Adds two numbers with enough digits to show that they differ. */
static void add_numbers(struct buffer *text, double a, double b)
{
    struct buffer texts[2] = {BUFFER_INIT, BUFFER_INIT};

    for (int digits = DIGITS; digits <= 9; digits++) {
        texts[0].size = 0;
        texts[1].size = 0;
        real_add_short(&texts[0], a, digits);
        real_add_short(&texts[1], b, digits);
        if (!slice_equal(buffer_slice(&texts[0]), buffer_slice(&texts[1]))) {
            break;
        }
    }
    buffer_add(text, buffer_slice(&texts[1]));
    buffer_add(text, SLICE(", A has "));
    buffer_add(text, buffer_slice(&texts[0]));
    text->has_failed = text->has_failed || texts[0].has_failed || texts[1].has_failed;
    buffer_release(&texts[0]);
    buffer_release(&texts[1]);
}

/* Adds the indices of an element whose number is in row-major order. */
static void
add_index(struct buffer *text, const struct log_shape *shape, uint64_t index)
{
    uint64_t steps = 1;

    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        steps *= shape->shape[i] > 0 ? (uint64_t)shape->shape[i] : 1;
    }
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < shape->dimension_count && steps > 0; i++) {
        steps /= shape->shape[i] > 0 ? (uint64_t)shape->shape[i] : 1;
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        buffer_add_number(text, steps > 0 ? index / steps : 0);
        index = steps > 0 ? index % steps : 0;
    }
    buffer_add_byte(text, ']');
}

/* Adds the worst element of both values. */
static void
add_worst(struct buffer *text, const struct diff_distance *distance, enum dtype dtype)
{
    if (dtype == DTYPE_BOOL) {
        buffer_add(text, distance->worst_values[1] != 0 ? SLICE("True, A has False")
                                                        : SLICE("False, A has True"));
        return;
    }
    add_numbers(text, distance->worst_values[0], distance->worst_values[1]);
}

static void add_counts(
    struct buffer *text, uint64_t a, uint64_t b, const char *name, uint64_t count)
{
    buffer_add_number(text, b);
    buffer_add(text, slice_of(name));
    buffer_add(text, SLICE(" of "));
    buffer_add_number(text, count);
    buffer_add(text, SLICE(", A has "));
    if (a == 0) {
        buffer_add(text, SLICE("none"));
    } else {
        buffer_add_number(text, a);
    }
}

static void add_values(struct buffer *text,
                       const struct diff_comparison *comparison,
                       const struct log_event_view *a,
                       const struct log_event_view *b)
{
    const struct statistics *x = &a->statistics;
    const struct statistics *y = &b->statistics;

    switch (comparison->seen) {
    case DIFF_SEEN_NAN:
        add_counts(text, x->nan_count, y->nan_count, " NaN", y->count);
        return;
    case DIFF_SEEN_INFINITIES:
        add_counts(text, x->posinf_count + x->neginf_count,
                   y->posinf_count + y->neginf_count, " Inf", y->count);
        return;
    case DIFF_SEEN_MIN:
        add_figures(text, "min", a, b, comparison->seen);
        return;
    case DIFF_SEEN_MAX:
        add_figures(text, "max", a, b, comparison->seen);
        return;
    case DIFF_SEEN_MEAN:
        add_figures(text, "mean", a, b, comparison->seen);
        return;
    case DIFF_SEEN_STD:
        add_figures(text, "std", a, b, comparison->seen);
        return;
    case DIFF_SEEN_SAMPLE:
        if (b->grid.dimension_count > 0) {
            buffer_add(text, SLICE("at "));
            add_sample_place(text, &b->grid, comparison->sample_worst);
            buffer_add_byte(text, ' ');
        }
        add_worst(text, &comparison->distance, b->shape->dtype);
        return;
    case DIFF_SEEN_VALUES:
        if (b->shape->dimension_count > 0) {
            buffer_add(text, SLICE("at "));
            add_index(text, b->shape, comparison->distance.worst);
            buffer_add_byte(text, ' ');
        }
        add_worst(text, &comparison->distance, b->shape->dtype);
        if (comparison->distance.count > 1) {
            buffer_add(text, SLICE("; "));
            buffer_add_number(text, comparison->distance.beyond_count);
            buffer_add(text, SLICE(" of "));
            buffer_add_number(text, comparison->distance.count);
            buffer_add(text, SLICE(" beyond tolerance"));
        }
        return;
    case DIFF_SEEN_ORDER:
        buffer_add(text, SLICE("the same min, max, mean and std, in another order"));
        return;
    case DIFF_SEEN_HASH:
        buffer_add(text,
                   SLICE("a different hash; min, max, mean and std are the same"));
        return;
    case DIFF_SEEN_BYTES:
        buffer_add(
            text, dtype_class(b->shape->dtype) == DTYPE_CLASS_OPAQUE
                      ? SLICE("different bytes")
                      : SLICE("different bytes, but the same numbers (-0 and 0, NaN)"));
        return;
    case DIFF_SEEN_NUMBER:
        if (b->kind == VALUE_FLOAT) {
            add_numbers(text, a->real, b->real);
            return;
        }
        break;
    default:
        break;
    }
    value_text_add(text, b, false);
    buffer_add(text, SLICE(", A has "));
    value_text_add(text, a, false);
}

void diff_words_add(struct buffer *text,
                    const struct diff_comparison *comparison,
                    const struct log_event_view *a,
                    const struct log_event_view *b)
{
    const struct slice than = SLICE(", A has ");

    if (comparison->cause == DIFF_CAUSE_KIND) {
        add_kind(text, b);
        buffer_add(text, than);
        add_kind(text, a);
        return;
    }
    if (b->kind != VALUE_TENSOR) {
        add_values(text, comparison, a, b);
        return;
    }
    buffer_add(text, slice_of(diff_cause_text(comparison->cause)));
    buffer_add_byte(text, ' ');
    switch (comparison->cause) {
    case DIFF_CAUSE_DTYPE:
        text_add_shortened(text, b->shape->dtype_text, TEXT_LIMIT);
        buffer_add(text, than);
        text_add_shortened(text, a->shape->dtype_text, TEXT_LIMIT);
        return;
    case DIFF_CAUSE_SHAPE:
        add_integers(text, b->shape->shape, b->shape->dimension_count);
        buffer_add(text, than);
        add_integers(text, a->shape->shape, a->shape->dimension_count);
        return;
    case DIFF_CAUSE_DEVICE:
        text_add_shortened(text, b->shape->device, TEXT_LIMIT);
        buffer_add(text, than);
        text_add_shortened(text, a->shape->device, TEXT_LIMIT);
        return;
    case DIFF_CAUSE_STRIDES:
        add_strides(text, b->shape);
        buffer_add(text, than);
        add_strides(text, a->shape);
        if (comparison->differs_in_values) {
            buffer_add(text, SLICE("; values too: "));
            add_values(text, comparison, a, b);
        }
        return;
    case DIFF_CAUSE_GRAD:
        buffer_add(text, (b->shape->flags & LOG_FORM_REQUIRES_GRAD) != 0
                             ? SLICE("True, A has False")
                             : SLICE("False, A has True"));
        return;
    default:
        add_values(text, comparison, a, b);
    }
}

static void add_floor(struct buffer *text, const struct diff_distance *distance)
{
    if (distance->floor > 0 && isfinite(distance->max_abs)) {
        buffer_add(text, SLICE(", "));
        real_add_short(text, distance->max_abs / distance->floor, 3);
        buffer_add(text, SLICE(" times the noise floor"));
    }
}

void diff_distance_add(struct buffer *text,
                       const struct diff_distance *distance,
                       const struct log_shape *shape)
{
    if (!distance->is_exact) {
        buffer_add(text, SLICE("at least "));
        real_add_short(text, distance->max_abs, DIGITS);
        add_floor(text, distance);
        buffer_add(text, SLICE(" (whole values were not recorded)"));
        return;
    }
    buffer_add(text, SLICE("max abs "));
    real_add_short(text, distance->max_abs, DIGITS);
    add_floor(text, distance);
    buffer_add(text, SLICE(", max rel "));
    real_add_short(text, distance->max_rel, DIGITS);
    if (shape == NULL) {
        return;
    }
    buffer_add(text, SLICE(", cosine "));
    real_add_short(text, distance->cosine, 9);
    if (distance->max_ulp > 0) {
        buffer_add(text, SLICE(", "));
        buffer_add_number(text, distance->max_ulp);
        buffer_add(text, SLICE(" ULP"));
    }
    buffer_add(text, SLICE(", "));
    buffer_add_number(text, distance->beyond_count);
    buffer_add(text, SLICE(" of "));
    buffer_add_number(text, distance->count);
    buffer_add(text, SLICE(" beyond tolerance ("));
    real_add_short(text,
                   100.0 * (double)distance->beyond_count / (double)distance->count, 3);
    buffer_add(text, SLICE("%), worst at "));
    add_index(text, shape, distance->worst);
    buffer_add_byte(text, ' ');
    add_worst(text, distance, shape->dtype);
}
