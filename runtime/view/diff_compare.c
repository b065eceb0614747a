/* Two values that should be the same. */
#include "runtime/view/diff_compare.h"

#include <math.h>
#include <string.h>

/* A Python number often came out of a tensor of float32. */
#define SCALAR_RTOL 1e-5
#define SCALAR_ATOL 1e-9
/* The sums of the same numbers in another order are no further apart, by the numbers' size. */
#define SAME_NUMBERS 2e-15
/* An array's numbers may be larger than those in its sample by so much. */
#define SAMPLE_SHARE 4

/* ---- tolerances ---- */

static void dtype_tolerance(enum dtype dtype, double *rtol, double *atol)
{
    switch (dtype) {
    case DTYPE_FLOAT64:
    case DTYPE_COMPLEX128:
        *rtol = 1e-7;
        *atol = 1e-9;
        return;
    case DTYPE_FLOAT32:
    case DTYPE_COMPLEX64:
        *rtol = 1e-5;
        *atol = 1e-6;
        return;
    case DTYPE_FLOAT16:
    case DTYPE_COMPLEX32:
        *rtol = 2e-3;
        *atol = 1e-5;
        return;
    case DTYPE_BFLOAT16:
        *rtol = 1.6e-2;
        *atol = 1e-5;
        return;
    case DTYPE_FLOAT8_E4M3FN:
    case DTYPE_FLOAT8_E4M3FNUZ:
        *rtol = 0.125;
        *atol = 2e-3;
        return;
    case DTYPE_FLOAT8_E5M2:
    case DTYPE_FLOAT8_E5M2FNUZ:
        *rtol = 0.25;
        *atol = 1e-4;
        return;
    default:
        *rtol = 0;
        *atol = 0;
    }
}

static bool is_inexact(enum dtype dtype)
{
    enum dtype_class class = dtype_class(dtype);

    return class == DTYPE_CLASS_FLOATING || class == DTYPE_CLASS_COMPLEX;
}

void diff_tolerance_of(const struct diff_tolerance *tolerance,
                       enum dtype a,
                       enum dtype b,
                       double *rtol,
                       double *atol)
{
    double other_rtol, other_atol;

    dtype_tolerance(a, rtol, atol);
    dtype_tolerance(b, &other_rtol, &other_atol);
    *rtol = fmax(*rtol, other_rtol);
    *atol = fmax(*atol, other_atol);
    if (!is_inexact(a) && !is_inexact(b)) {
        return;
    }
    if (tolerance->is_exact) {
        *rtol = 0;
        *atol = 0;
        return;
    }
    *rtol = tolerance->rtol >= 0 ? tolerance->rtol : *rtol;
    *atol = tolerance->atol >= 0 ? tolerance->atol : *atol;
}

bool diff_is_within(double a, double b, double rtol, double atol, double scale)
{
    if (a == b || (isnan(a) && isnan(b))) {
        return true;
    }
    if (!isfinite(a) || !isfinite(b)) {
        return false;
    }
    return fabs(a - b) <= atol + rtol * (fabs(b) + scale);
}

/* ---- forms ---- */

struct slice diff_last_part(struct slice name)
{
    size_t start = name.size;

    while (start > 0 && name.bytes[start - 1] != '.') {
        start--;
    }
    return slice_part(name, start, name.size);
}

/* Types are known by their last part: files, and so modules, may have other names. */
static bool
is_same_type(const struct diff_tolerance *tolerance, struct slice a, struct slice b)
{
    a = diff_last_part(a);
    b = diff_last_part(b);
    for (size_t i = 0; i < tolerance->rename_count; i++) {
        if (slice_equal(diff_last_part(tolerance->renames[i].old_name), a) &&
            slice_equal(diff_last_part(tolerance->renames[i].new_name), b)) {
            return true;
        }
    }
    return slice_equal(a, b);
}

static bool differs_in_kind(const struct diff_tolerance *tolerance,
                            const struct log_shape *a,
                            const struct log_shape *b)
{
    const unsigned kinds = LOG_FORM_NUMPY | LOG_FORM_PARAMETER;

    return ((a->flags ^ b->flags) & kinds) != 0 ||
           !is_same_type(tolerance, a->type, b->type) ||
           !slice_equal(a->layout, b->layout);
}

static bool differs_in_shape(const struct log_shape *a, const struct log_shape *b)
{
    return a->dimension_count != b->dimension_count ||
           (a->dimension_count > 0 &&
            memcmp(a->shape, b->shape, a->dimension_count * sizeof *a->shape) != 0);
}

/* Of dimensions of one element no stride counts, and none of an empty array. */
static bool differs_in_strides(const struct log_shape *a, const struct log_shape *b)
{
    if (a->strides == NULL || b->strides == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < a->dimension_count; i++) {
        if (a->shape[i] == 0) {
            return false;
        }
    }
    if (a->strides_are_bytes != b->strides_are_bytes) {
        return true;
    }
    for (uint32_t i = 0; i < a->dimension_count; i++) {
        if (a->shape[i] != 1 && a->strides[i] != b->strides[i]) {
            return true;
        }
    }
    return false;
}

static enum diff_cause compare_forms(const struct diff_tolerance *tolerance,
                                     const struct log_shape *a,
                                     const struct log_shape *b)
{
    bool is_other_dtype =
        a->dtype != b->dtype || !slice_equal(a->dtype_text, b->dtype_text);

    if (differs_in_kind(tolerance, a, b)) {
        return DIFF_CAUSE_KIND;
    }
    if (is_other_dtype && !(tolerance->is_across_precision && is_inexact(a->dtype) &&
                            dtype_class(a->dtype) == dtype_class(b->dtype))) {
        return DIFF_CAUSE_DTYPE;
    }
    if (differs_in_shape(a, b)) {
        return DIFF_CAUSE_SHAPE;
    }
    if (!slice_equal(a->device, b->device)) {
        return DIFF_CAUSE_DEVICE;
    }
    return differs_in_strides(a, b) ? DIFF_CAUSE_STRIDES : DIFF_CAUSE_NONE;
}

static const struct diff_form_pair *find_pair(struct diff_compare *compare,
                                              const struct log_shape *a,
                                              const struct log_shape *b)
{
    uintptr_t mixed = ((uintptr_t)a >> 4) * 31 + ((uintptr_t)b >> 4);
    struct diff_form_pair *pair =
        &compare->pairs[(mixed ^ mixed >> 10) % DIFF_FORM_PAIRS];

    if (pair->shapes[0] != a || pair->shapes[1] != b) {
        *pair = (struct diff_form_pair){
            .shapes = {a, b},
            .cause = compare_forms(&compare->tolerance, a, b),
            .differs_in_grad = ((a->flags ^ b->flags) & LOG_FORM_REQUIRES_GRAD) != 0,
        };
    }
    return pair;
}

/* ---- numbers, texts ---- */

static bool is_same_real(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool is_same_text(const struct log_event_view *a, const struct log_event_view *b)
{
    return slice_equal(a->text, b->text);
}

static bool is_same_scalar(const struct diff_tolerance *tolerance,
                           const struct log_event_view *a,
                           const struct log_event_view *b)
{
    switch (a->kind) {
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_BYTES:
        return a->integer == b->integer;
    case VALUE_FLOAT:
        return is_same_real(a->real, b->real);
    case VALUE_COMPLEX:
        return is_same_real(a->real, b->real) &&
               is_same_real(a->imaginary, b->imaginary);
    case VALUE_BIG_INT:
        return is_same_text(a, b);
    case VALUE_TEXT:
        return a->integer == b->integer && is_same_text(a, b);
    case VALUE_CONTAINER:
        return a->integer == b->integer && is_same_type(tolerance, a->type, b->type);
    case VALUE_OBJECT:
        return is_same_type(tolerance, a->type, b->type);
    default:
        return true;
    }
}

static void set_distance(struct diff_comparison *comparison, double a, double b)
{
    struct diff_distance *distance = &comparison->distance;

    comparison->has_distance = true;
    distance->is_exact = true;
    distance->max_abs = fabs(a - b);
    distance->max_rel = b != 0 ? fabs(a - b) / fabs(b) : INFINITY;
    distance->count = 1;
    distance->beyond_count = 1;
    distance->worst_values[0] = a;
    distance->worst_values[1] = b;
}

static void compare_numbers(const struct diff_tolerance *tolerance,
                            const struct log_event_view *a,
                            const struct log_event_view *b,
                            struct diff_comparison *comparison)
{
    double rtol = tolerance->rtol >= 0 ? tolerance->rtol : SCALAR_RTOL;
    double atol = tolerance->atol >= 0 ? tolerance->atol : SCALAR_ATOL;

    comparison->seen = DIFF_SEEN_NUMBER;
    comparison->rtol = rtol;
    comparison->atol = atol;
    if (a->kind == VALUE_BOOL || a->kind == VALUE_INT) {
        comparison->cause = DIFF_CAUSE_VALUES;
        set_distance(comparison, (double)a->integer, (double)b->integer);
        return;
    }
    if (tolerance->is_exact ||
        !diff_is_within(a->real, b->real, rtol, atol, fabs(b->imaginary)) ||
        !diff_is_within(a->imaginary, b->imaginary, rtol, atol, fabs(b->real))) {
        comparison->cause = DIFF_CAUSE_VALUES;
        set_distance(comparison, a->real, b->real);
    }
    comparison->is_close = comparison->cause == DIFF_CAUSE_NONE;
}

static void compare_scalars(const struct diff_tolerance *tolerance,
                            const struct log_event_view *a,
                            const struct log_event_view *b,
                            struct diff_comparison *comparison)
{
    switch (a->kind) {
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
        compare_numbers(tolerance, a, b, comparison);
        return;
    case VALUE_CONTAINER:
        if (!is_same_type(tolerance, a->type, b->type)) {
            comparison->cause = DIFF_CAUSE_KIND;
            return;
        }
        comparison->cause = DIFF_CAUSE_SHAPE;
        comparison->seen = DIFF_SEEN_LENGTH;
        return;
    case VALUE_OBJECT:
        comparison->cause = DIFF_CAUSE_KIND;
        return;
    case VALUE_BYTES:
        comparison->cause = DIFF_CAUSE_VALUES;
        comparison->seen = DIFF_SEEN_LENGTH;
        return;
    default:
        comparison->cause = DIFF_CAUSE_VALUES;
        comparison->seen = DIFF_SEEN_TEXT;
    }
}

/* ---- arrays ---- */

static double bound_real(enum dtype_class class, union statistics_bound bound)
{
    switch (class) {
    case DTYPE_CLASS_UNSIGNED:
        return (double)bound.natural;
    case DTYPE_CLASS_SIGNED:
        return (double)bound.integer;
    default:
        return bound.real;
    }
}

/* The usual size of an array's numbers: the root of their mean square. */
static double usual_size(const struct statistics *statistics)
{
    double size;

    if (isnan(statistics->mean)) {
        return 0;
    }
    size = hypot(statistics->mean, isnan(statistics->std) ? 0 : statistics->std);
    return isfinite(size) ? size : 0;
}

/* The figures, and how far apart they may be: those that are sums of many elements are as exact
 * as the elements are, by the usual size of these. */
static enum diff_seen compare_figures(const struct log_event_view *a,
                                      const struct log_event_view *b,
                                      struct diff_comparison *comparison)
{
    const struct statistics *x = &a->statistics;
    const struct statistics *y = &b->statistics;
    enum dtype_class classes[2] = {dtype_class(a->shape->dtype),
                                   dtype_class(b->shape->dtype)};
    double size = fmax(usual_size(x), usual_size(y));
    const struct {
        double a, b, scale;
        enum diff_seen seen;
    } figures[] = {
        {bound_real(classes[0], x->min), bound_real(classes[1], y->min), 2 * size,
         DIFF_SEEN_MIN},
        {bound_real(classes[0], x->max), bound_real(classes[1], y->max), 2 * size,
         DIFF_SEEN_MAX},
        {x->mean, y->mean, size, DIFF_SEEN_MEAN},
        {x->std, y->std, size, DIFF_SEEN_STD},
    };

    if (x->nan_count != y->nan_count) {
        return DIFF_SEEN_NAN;
    }
    if (x->posinf_count != y->posinf_count || x->neginf_count != y->neginf_count) {
        return DIFF_SEEN_INFINITIES;
    }
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        double apart = fabs(figures[i].a - figures[i].b);

        if (apart > comparison->distance.max_abs) {
            comparison->distance.max_abs = apart;
        }
    }
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (!diff_is_within(figures[i].a, figures[i].b, comparison->rtol,
                            comparison->atol, figures[i].scale)) {
            return figures[i].seen;
        }
    }
    return DIFF_SEEN_NOTHING;
}

/* Other hashes, but sums that noise would have changed: the order is another. Zeros are left
 * out: -0 and 0 have different hashes. Not where the sample has seen noise. */
static bool is_other_order(const struct statistics *a, const struct statistics *b)
{
    double size = fmax(usual_size(a), usual_size(b));

    return a->count > 1 && a->zero_count == 0 && b->zero_count == 0 &&
           statistics_finite_count(a) > 1 && a->min.natural == b->min.natural &&
           a->max.natural == b->max.natural && a->min.natural != a->max.natural &&
           fabs(a->mean - b->mean) <= SAME_NUMBERS * size &&
           fabs(a->std - b->std) <= SAME_NUMBERS * size;
}

static double element_real(const struct dtype_value *value)
{
    return value->class == DTYPE_CLASS_SIGNED     ? (double)value->integer
           : value->class == DTYPE_CLASS_UNSIGNED ? (double)value->natural
                                                  : value->real;
}

/* How far apart two elements are: complex numbers by the size of their difference. */
static double
element_distance(const struct dtype_value *a, const struct dtype_value *b, double *size)
{
    double x = element_real(a);
    double y = element_real(b);

    if (a->class == DTYPE_CLASS_COMPLEX) {
        *size = hypot(b->real, b->imaginary);
        if (isnan(*size) && isnan(hypot(a->real, a->imaginary))) {
            return 0;
        }
        return a->real == b->real && a->imaginary == b->imaginary
                   ? 0
                   : hypot(a->real - b->real, a->imaginary - b->imaginary);
    }
    *size = fabs(y);
    if (x == y || (isnan(x) && isnan(y))) {
        /* Beyond 2^53 integers that are not the same may be equal as doubles. */
        return a->class != DTYPE_CLASS_FLOATING && a->natural != b->natural &&
                       a->integer != b->integer
                   ? 1
                   : 0;
    }
    return fabs(x - y);
}

static bool have_samples(const struct log_event_view *a, const struct log_event_view *b)
{
    return a->sample != NULL && b->sample != NULL && a->grid.count == b->grid.count &&
           a->grid.count > 0 && dtype_size(a->shape->dtype) > 0 &&
           dtype_size(b->shape->dtype) > 0 &&
           memcmp(a->grid.counts, b->grid.counts,
                  a->grid.dimension_count * sizeof *a->grid.counts) == 0;
}

static double largest_of(const struct log_event_view *event)
{
    enum dtype_class class = dtype_class(event->shape->dtype);
    const struct statistics *statistics = &event->statistics;
    double largest;

    if (!event->has_statistics) {
        return INFINITY;
    }
    largest = fmax(fabs(bound_real(class, statistics->min)),
                   fabs(bound_real(class, statistics->max)));
    return isfinite(largest) ? largest : 0;
}

/* What an element may be off by comes of the largest numbers of its array. Of these count those
 * that are not the same in both, as far as was recorded: so what a mask has put in does not hide
 * the others. */
static double sample_scale(const struct log_event_view *a,
                           const struct log_event_view *b)
{
    size_t sizes[2] = {dtype_size(a->shape->dtype), dtype_size(b->shape->dtype)};
    double largest = 0;

    for (uint64_t i = 0; i < a->grid.count; i++) {
        struct dtype_value x =
            dtype_read(a->shape->dtype, (const char *)a->sample + i * sizes[0]);
        struct dtype_value y =
            dtype_read(b->shape->dtype, (const char *)b->sample + i * sizes[1]);
        double size;

        if (element_distance(&x, &y, &size) != 0 && isfinite(size)) {
            largest = fmax(largest, size);
        }
    }
    return fmin(SAMPLE_SHARE * largest, largest_of(b));
}

static bool compare_samples(const struct log_event_view *a,
                            const struct log_event_view *b,
                            bool has_scale,
                            struct diff_comparison *comparison)
{
    size_t sizes[2] = {dtype_size(a->shape->dtype), dtype_size(b->shape->dtype)};
    double scale = has_scale ? sample_scale(a, b) : 0;
    double worst = -1;
    bool is_within = true;

    comparison->scale = scale;
    comparison->sample_count = a->grid.count;
    for (uint64_t i = 0; i < a->grid.count; i++) {
        struct dtype_value x =
            dtype_read(a->shape->dtype, (const char *)a->sample + i * sizes[0]);
        struct dtype_value y =
            dtype_read(b->shape->dtype, (const char *)b->sample + i * sizes[1]);
        double size;
        double apart = element_distance(&x, &y, &size);

        apart = isnan(apart) ? INFINITY : apart;
        if (apart > 0 &&
            !(isfinite(apart) &&
              apart <= comparison->atol + comparison->rtol * (size + scale))) {
            is_within = false;
        }
        if (apart > worst) {
            worst = apart;
            comparison->sample_worst = i;
            comparison->distance.worst_values[0] = element_real(&x);
            comparison->distance.worst_values[1] = element_real(&y);
        }
    }
    comparison->sample_worst_distance = worst;
    comparison->distance.max_abs = fmax(worst, comparison->distance.max_abs);
    return is_within;
}

static void compare_values(const struct diff_tolerance *tolerance,
                           const struct log_event_view *a,
                           const struct log_event_view *b,
                           struct diff_comparison *comparison)
{
    bool have_hashes = a->has_hash && b->has_hash && a->shape->dtype == b->shape->dtype;
    bool is_exact = tolerance->is_exact || !is_inexact(a->shape->dtype);
    bool is_given = tolerance->rtol >= 0 || tolerance->atol >= 0;
    bool samples_agree = true;

    if (have_hashes && a->hash == b->hash) {
        return;
    }
    diff_tolerance_of(tolerance, a->shape->dtype, b->shape->dtype, &comparison->rtol,
                      &comparison->atol);
    comparison->has_distance = a->has_statistics && b->has_statistics;
    if (comparison->has_distance) {
        comparison->seen = compare_figures(a, b, comparison);
    }
    if (have_samples(a, b)) {
        samples_agree = compare_samples(a, b, !is_exact && !is_given, comparison);
        comparison->has_distance = true;
        if (!samples_agree && comparison->seen != DIFF_SEEN_NAN &&
            comparison->seen != DIFF_SEEN_INFINITIES) {
            comparison->seen = DIFF_SEEN_SAMPLE;
        }
    }
    if (comparison->seen == DIFF_SEEN_NOTHING && have_hashes) {
        comparison->is_close = !is_exact;
        if (is_exact) {
            comparison->seen = DIFF_SEEN_HASH;
        } else if (a->has_statistics && b->has_statistics && comparison->rtol > 0 &&
                   !(comparison->sample_worst_distance > 0) &&
                   is_other_order(&a->statistics, &b->statistics)) {
            comparison->seen = DIFF_SEEN_ORDER;
        }
    }
    comparison->cause =
        comparison->seen == DIFF_SEEN_NOTHING ? DIFF_CAUSE_NONE : DIFF_CAUSE_VALUES;
}

/* ---- the whole ---- */

void diff_compare_init(struct diff_compare *compare, struct diff_tolerance tolerance)
{
    memset(compare, 0, sizeof *compare);
    compare->tolerance = tolerance;
}

bool diff_compare_is_same(struct diff_compare *compare,
                          const struct log_event_view *a,
                          const struct log_event_view *b)
{
    const struct diff_form_pair *pair;

    if (a->kind != b->kind) {
        return false;
    }
    if (a->kind != VALUE_TENSOR) {
        return is_same_scalar(&compare->tolerance, a, b);
    }
    pair = find_pair(compare, a->shape, b->shape);
    if (pair->cause != DIFF_CAUSE_NONE || pair->differs_in_grad) {
        return false;
    }
    if (a->has_hash && b->has_hash && a->shape->dtype == b->shape->dtype) {
        return a->hash == b->hash;
    }
    /* Of one that was not measured nothing more can be told. */
    return !(a->has_statistics && b->has_statistics) && !have_samples(a, b);
}

void diff_compare_events(struct diff_compare *compare,
                         const struct log_event_view *a,
                         const struct log_event_view *b,
                         struct diff_comparison *comparison)
{
    const struct diff_form_pair *pair;

    *comparison = (struct diff_comparison){.cause = DIFF_CAUSE_NONE};
    if (a->kind != b->kind) {
        comparison->cause = DIFF_CAUSE_KIND;
        return;
    }
    if (a->kind != VALUE_TENSOR) {
        if (!is_same_scalar(&compare->tolerance, a, b)) {
            compare_scalars(&compare->tolerance, a, b, comparison);
        }
        return;
    }
    pair = find_pair(compare, a->shape, b->shape);
    comparison->cause = pair->cause;
    if (pair->cause == DIFF_CAUSE_NONE || pair->cause == DIFF_CAUSE_STRIDES) {
        compare_values(&compare->tolerance, a, b, comparison);
        comparison->differs_in_values = comparison->cause == DIFF_CAUSE_VALUES;
    }
    if (pair->cause == DIFF_CAUSE_STRIDES) {
        comparison->cause = DIFF_CAUSE_STRIDES;
    }
    if (comparison->cause == DIFF_CAUSE_NONE && pair->differs_in_grad) {
        comparison->cause = DIFF_CAUSE_GRAD;
    }
}
