/* Comparison of two values that should be equal. */
#include "runtime/view/diff/values/compare.h"

#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/values/floor.h"
#include "runtime/view/diff/values/values.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- two arrays, by recorded hashes, statistics and samples ---- */

/* Sums of the same numbers in another order differ by less, relative to the numbers' size. */
#define SAME_NUMBERS 2e-15
/* An array's largest number is assumed to be at most this many times that of its sample. */
#define SAMPLE_SHARE 4

/* Compares the statistics. Those that are sums of many elements are as exact as the elements,
 * relative to the elements' usual size. Returns the first figure beyond tolerance. */
static enum diff_seen compare_figures(const struct log_event_view *a,
                                      const struct log_event_view *b,
                                      struct diff_comparison *comparison)
{
    const struct statistics *x = &a->statistics;
    const struct statistics *y = &b->statistics;
    enum dtype dtypes[2] = {a->shape->dtype, b->shape->dtype};
    double size = fmax(diff_usual_size(x), diff_usual_size(y));
    const struct {
        double a, b, scale;
        enum diff_seen seen;
    } figures[] = {
        {statistics_bound_real(dtypes[0], x->min),
         statistics_bound_real(dtypes[1], y->min), 2 * size, DIFF_SEEN_MIN},
        {statistics_bound_real(dtypes[0], x->max),
         statistics_bound_real(dtypes[1], y->max), 2 * size, DIFF_SEEN_MAX},
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

/* Whether two arrays with different hashes have the same numbers in another order: noise would
 * have changed their sums. Arrays with zeros are excluded, since -0 and 0 have different hashes.
 * Only for samples that show no noise. */
static bool is_other_order(const struct statistics *a, const struct statistics *b)
{
    double size = fmax(diff_usual_size(a), diff_usual_size(b));

    return a->count > 1 && a->zero_count == 0 && b->zero_count == 0 &&
           statistics_finite_count(a) > 1 && a->min.natural == b->min.natural &&
           a->max.natural == b->max.natural && a->min.natural != a->max.natural &&
           fabs(a->mean - b->mean) <= SAME_NUMBERS * size &&
           fabs(a->std - b->std) <= SAME_NUMBERS * size;
}

/* Whether the samples of both are from the same positions. */
static bool diff_have_samples(const struct log_event_view *a,
                              const struct log_event_view *b)
{
    return a->sample != NULL && b->sample != NULL && a->grid.count == b->grid.count &&
           a->grid.count > 0 && a->grid.count <= SAMPLE_MAX &&
           dtype_size(a->shape->dtype) > 0 && dtype_size(b->shape->dtype) > 0 &&
           memcmp(a->grid.counts, b->grid.counts,
                  a->grid.dimension_count * sizeof *a->grid.counts) == 0;
}

static double largest_of(const struct log_event_view *event)
{
    enum dtype dtype = event->shape->dtype;
    const struct statistics *statistics = &event->statistics;
    double largest;

    if (!event->has_statistics) {
        return INFINITY;
    }
    largest = fmax(fabs(statistics_bound_real(dtype, statistics->min)),
                   fabs(statistics_bound_real(dtype, statistics->max)));
    return isfinite(largest) ? largest : 0;
}

/* Elements of two samples at the same positions, and their distances. */
struct sample_pairs {
    double a[SAMPLE_MAX], b[SAMPLE_MAX];
    double apart[SAMPLE_MAX];
    double sizes[SAMPLE_MAX]; /* magnitudes of b's elements */
};

static void read_reals(struct sample_pairs *pairs,
                       const struct log_event_view *const events[2])
{
    size_t count = (size_t)events[0]->grid.count;

    diff_reals_read(events[0]->shape->dtype, events[0]->sample, count, pairs->a);
    diff_reals_read(events[1]->shape->dtype, events[1]->sample, count, pairs->b);
    for (size_t i = 0; i < count; i++) {
        pairs->apart[i] = diff_reals_apart(pairs->a[i], pairs->b[i]);
        pairs->sizes[i] = fabs(pairs->b[i]);
    }
}

/* Reads complex numbers, and integers that are too large for a double. */
static void read_elements(struct sample_pairs *pairs,
                          const struct log_event_view *const events[2])
{
    enum dtype dtypes[2] = {events[0]->shape->dtype, events[1]->shape->dtype};
    const char *bytes[2] = {events[0]->sample, events[1]->sample};

    for (size_t i = 0; i < events[0]->grid.count; i++) {
        struct dtype_value x =
            dtype_read(dtypes[0], bytes[0] + i * dtype_size(dtypes[0]));
        struct dtype_value y =
            dtype_read(dtypes[1], bytes[1] + i * dtype_size(dtypes[1]));

        pairs->a[i] = dtype_value_real(&x);
        pairs->b[i] = dtype_value_real(&y);
        pairs->apart[i] = diff_elements_apart(&x, &y, &pairs->sizes[i]);
    }
}

/* Returns the scale of the tolerance: it grows with the largest numbers of the array. Only
 * elements that are known to differ count, so that the fill value of a mask does not hide the
 * others. */
static double sample_scale(const struct sample_pairs *pairs, size_t count, double most)
{
    double largest = 0;

    for (size_t i = 0; i < count; i++) {
        if (pairs->apart[i] != 0 && isfinite(pairs->sizes[i]) &&
            pairs->sizes[i] > largest && pairs->sizes[i] <= most) {
            largest = pairs->sizes[i];
        }
    }
    return fmin(SAMPLE_SHARE * largest, most);
}

/* Sets the tolerance of the smaller numbers if the sample has numbers of two sizes. */
static void find_lower(const struct sample_pairs *pairs,
                       size_t count,
                       struct diff_comparison *comparison)
{
    double split;

    if (comparison->floor > 0) {
        return; /* find_bound set it */
    }
    split = diff_find_split(pairs->a, count);
    if (split > 0) {
        comparison->lower =
            (struct diff_lower){split, comparison->rtol, comparison->atol,
                                sample_scale(pairs, count, split)};
    }
}

/* Returns the tolerance of an element of the sample; `size` is the magnitude of b's. */
static double limit_of(const struct diff_comparison *comparison, double size)
{
    const struct diff_lower *lower = &comparison->lower;

    return lower->split > 0 && size <= lower->split
               ? lower->atol + lower->rtol * (size + lower->scale)
               : comparison->atol + comparison->rtol * (size + comparison->scale);
}

static bool compare_samples(const struct log_event_view *a,
                            const struct log_event_view *b,
                            bool has_scale,
                            struct diff_comparison *comparison)
{
    const struct log_event_view *const events[2] = {a, b};
    size_t count = (size_t)a->grid.count;
    struct sample_pairs pairs;
    double worst = -1;
    bool is_within = true;

    assert(count <= SAMPLE_MAX);
    if (diff_is_real(a->shape->dtype) && diff_is_real(b->shape->dtype)) {
        read_reals(&pairs, events);
    } else {
        read_elements(&pairs, events);
    }
    comparison->scale = 0;
    if (has_scale) {
        comparison->scale = sample_scale(&pairs, count, largest_of(b));
        find_lower(&pairs, count, comparison);
    }
    comparison->sample_count = a->grid.count;
    for (size_t i = 0; i < count; i++) {
        double apart = pairs.apart[i];

        if (apart > 0 &&
            !(isfinite(apart) && apart <= limit_of(comparison, pairs.sizes[i]))) {
            is_within = false;
        }
        if (apart > worst) {
            worst = apart;
            comparison->sample_worst = i;
        }
    }
    comparison->distance.worst_values[0] = pairs.a[comparison->sample_worst];
    comparison->distance.worst_values[1] = pairs.b[comparison->sample_worst];
    comparison->sample_worst_distance = worst;
    comparison->distance.max_abs = fmax(worst, comparison->distance.max_abs);
    return is_within;
}

/* A number of a smaller array may be exact by chance, so its floor does not lower the tolerance. */
#define FLOOR_COUNT_MIN 16

/* Finds the tolerance of the elements: by the noise floor if it is known, else by the dtypes. */
static void find_bound(const struct diff_tolerance *tolerance,
                       const struct log_event_view *a,
                       const struct log_event_view *b,
                       struct diff_comparison *comparison)
{
    double least = 0;

    diff_tolerance_of(tolerance, a->shape->dtype, b->shape->dtype, &comparison->rtol,
                      &comparison->atol);
    if (tolerance->is_exact || diff_tolerance_is_given(tolerance) ||
        !a->has_statistics || !b->has_statistics) {
        return;
    }
    comparison->floor = diff_floor_of(tolerance->floor, a, b);
    if (comparison->floor == 0) {
        return;
    }
    comparison->lower.split = diff_split_of(a);
    if (comparison->lower.split > 0) {
        comparison->lower.atol = DIFF_FLOOR_MULTIPLE * comparison->floor;
        return;
    }
    if (a->statistics.count < FLOOR_COUNT_MIN) {
        least =
            comparison->atol + 2 * comparison->rtol * diff_usual_size(&b->statistics);
    }
    comparison->rtol = 0;
    comparison->atol = fmax(DIFF_FLOOR_MULTIPLE * comparison->floor, least);
}

/* Sets the cause to VALUES if the arrays differ by more than the tolerance. Their forms must be
 * comparable. */
static void diff_compare_arrays(const struct diff_tolerance *tolerance,
                                const struct log_event_view *a,
                                const struct log_event_view *b,
                                struct diff_comparison *comparison)
{
    bool have_hashes = a->has_hash && b->has_hash && a->shape->dtype == b->shape->dtype;
    bool is_exact = tolerance->is_exact || !diff_is_inexact(a->shape->dtype);
    bool is_given = diff_tolerance_is_given(tolerance);
    bool samples_agree = true;

    if (have_hashes && a->hash == b->hash) {
        return;
    }
    find_bound(tolerance, a, b, comparison);
    comparison->distance.floor = comparison->floor;
    comparison->has_distance = a->has_statistics && b->has_statistics;
    if (comparison->has_distance) {
        comparison->seen = compare_figures(a, b, comparison);
    }
    if (diff_have_samples(a, b)) {
        samples_agree =
            compare_samples(a, b,
                            !is_exact && !is_given &&
                                (comparison->floor == 0 || comparison->lower.split > 0),
                            comparison);
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
        } else if (a->has_statistics && b->has_statistics && comparison->atol > 0 &&
                   !(comparison->sample_worst_distance > 0) &&
                   is_other_order(&a->statistics, &b->statistics)) {
            comparison->seen = DIFF_SEEN_ORDER;
        }
    }
    comparison->cause =
        comparison->seen == DIFF_SEEN_NOTHING ? DIFF_CAUSE_NONE : DIFF_CAUSE_VALUES;
}

/* Python numbers often come from a float32 tensor. */
#define SCALAR_RTOL 1e-5
#define SCALAR_ATOL 1e-9

/* ---- forms ---- */

/* Compares two types by the last parts of their names: files, and so modules, may have other
 * names. */
static bool
is_same_type(const struct diff_tolerance *tolerance, struct slice a, struct slice b)
{
    a = slice_last_part(a, '.');
    b = slice_last_part(b, '.');
    for (size_t i = 0; i < tolerance->rename_count; i++) {
        if (slice_equal(slice_last_part(tolerance->renames[i].old_name, '.'), a) &&
            slice_equal(slice_last_part(tolerance->renames[i].new_name, '.'), b)) {
            return true;
        }
    }
    return slice_equal(a, b) ||
           (tolerance->align != NULL && diff_align_is_class(tolerance->align, a, b));
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

/* Whether the strides differ. Strides of dimensions of one element, and of an empty array, do
 * not count. */
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

enum diff_cause diff_compare_forms(const struct diff_tolerance *tolerance,
                                   const struct log_shape *a,
                                   const struct log_shape *b)
{
    bool is_other_dtype =
        a->dtype != b->dtype || !slice_equal(a->dtype_text, b->dtype_text);

    if (differs_in_kind(tolerance, a, b)) {
        return DIFF_CAUSE_KIND;
    }
    if (is_other_dtype &&
        !(tolerance->is_across_precision && diff_is_inexact(a->dtype) &&
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
            .cause = diff_compare_forms(&compare->tolerance, a, b),
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
    double rtol = tolerance->rtol >= 0 ? tolerance->rtol
                                       : fmax(SCALAR_RTOL, tolerance->least_rtol);
    double atol = tolerance->atol >= 0 ? tolerance->atol
                                       : fmax(SCALAR_ATOL, tolerance->least_atol);

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

/* ---- the whole comparison ---- */

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
    /* If one was not measured, the forms are all that can be compared. */
    return !(a->has_statistics && b->has_statistics) && !diff_have_samples(a, b);
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
        diff_tolerance_widen(&compare->tolerance, a->shape->dtype, b->shape->dtype);
        diff_compare_arrays(&compare->tolerance, a, b, comparison);
        comparison->differs_in_values = comparison->cause == DIFF_CAUSE_VALUES;
    }
    if (pair->cause == DIFF_CAUSE_STRIDES) {
        comparison->cause = DIFF_CAUSE_STRIDES;
    }
    if (comparison->cause == DIFF_CAUSE_NONE && pair->differs_in_grad) {
        comparison->cause = DIFF_CAUSE_GRAD;
    }
}
