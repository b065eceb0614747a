/* Gauges: statistics and histograms of several arrays, merged. */
#include "runtime/array/statistics/gauge.h"

#include "runtime/array/pieces.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Histograms of values. */

#define BLOCK_COUNT 1024

/* Limits of magnitudes: up to `zero` a number becomes 0, below `normal` it is subnormal, and
 * from `infinite` on it is infinite. Ties are rounded to even. */
static const struct format_limits {
    double zero, normal, infinite;
} limits[SPREAD_FORMAT_COUNT] = {
    [SPREAD_FP16] = {0x1p-25, 0x1p-14 - 0x1p-25, 65520},
    [SPREAD_BF16] = {0x1p-134, 0x1p-126 - 0x1p-134, 0x1.FFp127},
};

double spread_edge(unsigned index)
{
    int side = SPREAD_SIDE_COUNT;
    int place = (int)index - 1; /* among the finite edges */

    if (index == 0) {
        return -(double)INFINITY;
    }
    if (place < side) {
        return -ldexp(1, SPREAD_EXPONENT_MAX - place);
    }
    if (place < 2 * side) {
        return ldexp(1, SPREAD_EXPONENT_MIN + place - side);
    }
    return (double)INFINITY;
}

/* The exponent of a double, from its bits. */
static int exponent_of(uint64_t magnitude)
{
    return (int)(magnitude >> 52) - 1023;
}

static unsigned find_bin(double value)
{
    uint64_t bits;
    int steps;

    memcpy(&bits, &value, sizeof bits);
    if (bits >> 63 == 0) {
        steps = exponent_of(bits) - SPREAD_EXPONENT_MIN + 1;
        steps = steps < 0 ? 0 : steps > SPREAD_SIDE_COUNT ? SPREAD_SIDE_COUNT : steps;
        return (unsigned)(SPREAD_SIDE_COUNT + steps);
    }
    bits &= UINT64_MAX >> 1;
    if (bits == 0) {
        return SPREAD_SIDE_COUNT;
    }
    /* A bin of negative numbers includes its lower edge, which has the larger magnitude. */
    steps = exponent_of(bits - 1) - SPREAD_EXPONENT_MIN + 1;
    steps = steps < 0 ? 0 : steps > SPREAD_SIDE_COUNT ? SPREAD_SIDE_COUNT : steps;
    return (unsigned)(SPREAD_SIDE_COUNT - steps);
}

static void count_bins(struct spread *spread, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i])) {
            spread->bins[find_bin(values[i])]++;
        }
    }
}

static void count_format(struct spread_format_counts *counts,
                         const struct format_limits *format,
                         const double *values,
                         size_t count)
{
    uint64_t underflows = 0, subnormals = 0, overflows = 0;

    for (size_t i = 0; i < count; i++) {
        double magnitude = fabs(values[i]);

        underflows += (magnitude > 0) & (magnitude <= format->zero);
        subnormals += (magnitude > format->zero) & (magnitude < format->normal);
        overflows += (magnitude >= format->infinite) & (magnitude < (double)INFINITY);
    }
    counts->underflow_count += underflows;
    counts->subnormal_count += subnormals;
    counts->overflow_count += overflows;
}

static double number_of(enum dtype dtype, const char *bytes)
{
    struct dtype_value value = dtype_read(dtype, bytes);

    return value.class == DTYPE_CLASS_COMPLEX ? hypot(value.real, value.imaginary)
                                              : dtype_value_real(&value);
}

static void
convert(enum dtype dtype, const char *bytes, size_t count, double values[BLOCK_COUNT])
{
    size_t size = dtype_size(dtype);

    if (dtype == DTYPE_FLOAT32) {
        for (size_t i = 0; i < count; i++) {
            float value;

            memcpy(&value, bytes + i * sizeof value, sizeof value);
            values[i] = value;
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = number_of(dtype, bytes + i * size);
    }
}

bool spread_add(struct spread *spread, const struct array *array)
{
    size_t size = dtype_size(array->dtype);
    struct array_pieces pieces;
    struct slice bytes;
    double values[BLOCK_COUNT];

    if (array_count(array) == 0) {
        return true;
    }
    if (!array_pieces_init(&pieces, array)) {
        return false;
    }
    while (array_pieces_next(&pieces, &bytes)) {
        for (size_t first = 0; first < bytes.size; first += BLOCK_COUNT * size) {
            size_t left = (bytes.size - first) / size;
            size_t count = left < BLOCK_COUNT ? left : BLOCK_COUNT;

            convert(array->dtype, bytes.bytes + first, count, values);
            count_bins(spread, values, count);
            for (int i = 0; i < SPREAD_FORMAT_COUNT; i++) {
                count_format(&spread->formats[i], &limits[i], values, count);
            }
        }
    }
    array_pieces_release(&pieces);
    return true;
}

static const struct {
    struct slice text;
    bool is_spread;
} metrics[GAUGE_METRIC_COUNT] = {
#define GAUGE_METRIC(name, text, is_spread) {SLICE(text), is_spread},
#include "runtime/array/statistics/gauge_metrics.def"
#undef GAUGE_METRIC
};

const char *gauge_metric_text(enum gauge_metric metric)
{
    assert(metric < GAUGE_METRIC_COUNT);
    return metrics[metric].text.bytes;
}

enum gauge_metric gauge_metric_find(struct slice text)
{
    enum gauge_metric metric = 0;

    while (metric < GAUGE_METRIC_COUNT && !slice_equal(metrics[metric].text, text)) {
        metric++;
    }
    return metric;
}

bool gauge_metric_is_spread(enum gauge_metric metric)
{
    assert(metric < GAUGE_METRIC_COUNT);
    return metrics[metric].is_spread;
}

void gauge_add(struct gauge *gauge,
               enum dtype dtype,
               const struct statistics *statistics)
{
    uint64_t finite = statistics_finite_count(statistics);
    struct moments added = {.count = finite, .mean = statistics->mean};

    gauge->call_count++;
    gauge->count += statistics->count;
#define STATISTIC_COUNT(field, name, function) gauge->field += statistics->field;
#include "runtime/array/statistics/statistics.def"
    if (finite == 0) {
        return;
    }
    if (finite > 1) {
        added.squares = statistics->std * statistics->std * (double)(finite - 1);
    }
    double min = statistics_bound_real(dtype, statistics->min);
    double max = statistics_bound_real(dtype, statistics->max);
    gauge->min = gauge->moments.count == 0 ? min : fmin(gauge->min, min);
    gauge->max = gauge->moments.count == 0 ? max : fmax(gauge->max, max);
    moments_add(&gauge->moments, &added);
    assert(gauge->min <= gauge->max);
    assert(gauge->moments.count + gauge->nan_count + gauge->posinf_count +
               gauge->neginf_count ==
           gauge->count);
}

static bool has_infinite(const struct gauge *gauge)
{
    return gauge->posinf_count > 0 || gauge->neginf_count > 0;
}

static double read_mean(const struct gauge *gauge)
{
    if (gauge->count == 0 || (gauge->posinf_count > 0 && gauge->neginf_count > 0)) {
        return (double)NAN;
    }
    if (has_infinite(gauge)) {
        return gauge->posinf_count > 0 ? (double)INFINITY : -(double)INFINITY;
    }
    return moments_mean(&gauge->moments);
}

/* The sum of the squares. */
static double read_squares(const struct gauge *gauge)
{
    const struct moments *moments = &gauge->moments;

    if (has_infinite(gauge)) {
        return (double)INFINITY;
    }
    return moments->squares + moments->mean * moments->mean * (double)moments->count;
}

static double read_min(const struct gauge *gauge)
{
    if (gauge->neginf_count > 0) {
        return -(double)INFINITY;
    }
    if (gauge->moments.count > 0) {
        return gauge->min;
    }
    return gauge->posinf_count > 0 ? (double)INFINITY : (double)NAN;
}

static double read_max(const struct gauge *gauge)
{
    if (gauge->posinf_count > 0) {
        return (double)INFINITY;
    }
    if (gauge->moments.count > 0) {
        return gauge->max;
    }
    return gauge->neginf_count > 0 ? -(double)INFINITY : (double)NAN;
}

/* The metrics that are NaN if one of the elements is NaN. */
static double read_value(const struct gauge *gauge, enum gauge_metric metric)
{
    switch (metric) {
    case GAUGE_MEAN:
        return read_mean(gauge);
    case GAUGE_STD:
        return has_infinite(gauge) ? (double)NAN : moments_deviation(&gauge->moments);
    case GAUGE_NORM:
        return sqrt(read_squares(gauge));
    case GAUGE_RMS:
        return gauge->count == 0 ? (double)NAN
                                 : sqrt(read_squares(gauge) / (double)gauge->count);
    case GAUGE_MIN:
        return read_min(gauge);
    case GAUGE_MAX:
        return read_max(gauge);
    default:
        return fmax(fabs(read_min(gauge)), fabs(read_max(gauge)));
    }
}

static double fraction(uint64_t part, uint64_t whole)
{
    return whole == 0 ? (double)NAN : (double)part / (double)whole;
}

double gauge_read(const struct gauge *gauge,
                  const struct spread *spread,
                  enum gauge_metric metric)
{
    uint64_t infinite = gauge->posinf_count + gauge->neginf_count;

    assert(spread != NULL || !gauge_metric_is_spread(metric));
    switch (metric) {
    case GAUGE_NAN:
        return (double)gauge->nan_count;
    case GAUGE_INF:
        return (double)infinite;
    case GAUGE_ZEROS:
        return (double)gauge->zero_count;
    case GAUGE_NAN_FRACTION:
        return fraction(gauge->nan_count, gauge->count);
    case GAUGE_INF_FRACTION:
        return fraction(infinite, gauge->count);
    case GAUGE_ZERO_FRACTION:
        return fraction(gauge->zero_count, gauge->count);
    case GAUGE_COUNT:
        return (double)gauge->count;
    case GAUGE_CALLS:
        return (double)gauge->call_count;
    case GAUGE_RECOMPUTED:
        return (double)gauge->recomputed_count;
    case GAUGE_FP16_UNDERFLOW:
        return fraction(spread->formats[SPREAD_FP16].underflow_count, gauge->count);
    case GAUGE_FP16_SUBNORMAL:
        return fraction(spread->formats[SPREAD_FP16].subnormal_count, gauge->count);
    case GAUGE_FP16_OVERFLOW:
        return fraction(spread->formats[SPREAD_FP16].overflow_count, gauge->count);
    case GAUGE_BF16_UNDERFLOW:
        return fraction(spread->formats[SPREAD_BF16].underflow_count, gauge->count);
    case GAUGE_BF16_SUBNORMAL:
        return fraction(spread->formats[SPREAD_BF16].subnormal_count, gauge->count);
    case GAUGE_BF16_OVERFLOW:
        return fraction(spread->formats[SPREAD_BF16].overflow_count, gauge->count);
    default:
        return gauge->nan_count > 0 ? (double)NAN : read_value(gauge, metric);
    }
}
