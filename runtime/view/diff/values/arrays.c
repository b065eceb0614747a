/* Two arrays, by what was recorded of them: hashes, statistics and samples. */
#include "runtime/view/diff/values/arrays.h"

#include <math.h>
#include <string.h>

/* The sums of the same numbers in another order are no further apart, by the numbers' size. */
#define SAME_NUMBERS 2e-15
/* An array's numbers may be larger than those in its sample by so much. */
#define SAMPLE_SHARE 4

/* The figures, and how far apart they may be: those that are sums of many elements are as exact
 * as the elements are, by the usual size of these. */
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

/* Other hashes, but sums that noise would have changed: the order is another. Zeros are left
 * out: -0 and 0 have different hashes. Not where the sample has seen noise. */
static bool is_other_order(const struct statistics *a, const struct statistics *b)
{
    double size = fmax(diff_usual_size(a), diff_usual_size(b));

    return a->count > 1 && a->zero_count == 0 && b->zero_count == 0 &&
           statistics_finite_count(a) > 1 && a->min.natural == b->min.natural &&
           a->max.natural == b->max.natural && a->min.natural != a->max.natural &&
           fabs(a->mean - b->mean) <= SAME_NUMBERS * size &&
           fabs(a->std - b->std) <= SAME_NUMBERS * size;
}

bool diff_have_samples(const struct log_event_view *a, const struct log_event_view *b)
{
    return a->sample != NULL && b->sample != NULL && a->grid.count == b->grid.count &&
           a->grid.count > 0 && dtype_size(a->shape->dtype) > 0 &&
           dtype_size(b->shape->dtype) > 0 &&
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

static struct dtype_value sample_at(const struct log_event_view *event, uint64_t index)
{
    enum dtype dtype = event->shape->dtype;

    return dtype_read(dtype, (const char *)event->sample + index * dtype_size(dtype));
}

/* What an element may be off by comes of the largest numbers of its array. Of these count those
 * that are not the same in both, as far as was recorded: so what a mask has put in does not hide
 * the others. */
static double sample_scale(const struct log_event_view *a,
                           const struct log_event_view *b)
{
    double largest = 0;

    for (uint64_t i = 0; i < a->grid.count; i++) {
        struct dtype_value x = sample_at(a, i);
        struct dtype_value y = sample_at(b, i);
        double size;

        if (diff_elements_apart(&x, &y, &size) != 0 && isfinite(size)) {
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
    double scale = has_scale ? sample_scale(a, b) : 0;
    double worst = -1;
    bool is_within = true;

    comparison->scale = scale;
    comparison->sample_count = a->grid.count;
    for (uint64_t i = 0; i < a->grid.count; i++) {
        struct dtype_value x = sample_at(a, i);
        struct dtype_value y = sample_at(b, i);
        double size;
        double apart = diff_elements_apart(&x, &y, &size);

        if (apart > 0 &&
            !(isfinite(apart) &&
              apart <= comparison->atol + comparison->rtol * (size + scale))) {
            is_within = false;
        }
        if (apart > worst) {
            worst = apart;
            comparison->sample_worst = i;
            comparison->distance.worst_values[0] = dtype_value_real(&x);
            comparison->distance.worst_values[1] = dtype_value_real(&y);
        }
    }
    comparison->sample_worst_distance = worst;
    comparison->distance.max_abs = fmax(worst, comparison->distance.max_abs);
    return is_within;
}

void diff_compare_arrays(const struct diff_tolerance *tolerance,
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
    diff_tolerance_of(tolerance, a->shape->dtype, b->shape->dtype, &comparison->rtol,
                      &comparison->atol);
    comparison->has_distance = a->has_statistics && b->has_statistics;
    if (comparison->has_distance) {
        comparison->seen = compare_figures(a, b, comparison);
    }
    if (diff_have_samples(a, b)) {
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
