/* Statistics of several arrays, merged, and the spread of their magnitudes. */
#include "runtime/array/statistics/gauge.h"

#include "tests/unit/check.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct array array_of(const double *values, const int64_t *count)
{
    return (struct array){
        .data = values, .dtype = DTYPE_FLOAT64, .dimension_count = 1, .shape = count};
}

static void
measure(struct gauge *gauge, struct spread *spread, const double *values, size_t n)
{
    int64_t count = (int64_t)n;
    struct array array = array_of(values, &count);
    struct statistics statistics;
    uint64_t hash;

    statistics_measure(&array, STATISTICS_WANT_VALUES, 1, &statistics, &hash);
    gauge_add(gauge, DTYPE_FLOAT64, &statistics);
    CHECK(spread_add(spread, &array));
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static void test_parts_are_one(void)
{
    static const double all[] = {1, -2, 3.5, 0, 8, -7, 0.25, 0, 100};
    struct gauge parts = {0}, whole = {0};
    struct spread spread = {0}, same = {0};

    measure(&parts, &spread, all, 2);
    measure(&parts, &spread, all, 0);
    measure(&parts, &spread, all + 2, 6);
    measure(&parts, &spread, all + 8, 1);
    measure(&whole, &same, all, COUNT(all));
    CHECK(parts.call_count == 4);
    for (int i = 0; i < GAUGE_METRIC_COUNT; i++) {
        if (i != GAUGE_CALLS) {
            CHECK(is_near(gauge_read(&parts, &spread, (enum gauge_metric)i),
                          gauge_read(&whole, &same, (enum gauge_metric)i)));
        }
    }
    CHECK(gauge_read(&parts, NULL, GAUGE_MAX) == 100);
    CHECK(gauge_read(&parts, NULL, GAUGE_ZEROS) == 2);
    CHECK(is_near(gauge_read(&parts, NULL, GAUGE_MEAN), 103.75 / 9));
}

static void test_nothing(void)
{
    struct gauge gauge = {0};

    CHECK(isnan(gauge_read(&gauge, NULL, GAUGE_MEAN)));
    CHECK(isnan(gauge_read(&gauge, NULL, GAUGE_MAX)));
    CHECK(gauge_read(&gauge, NULL, GAUGE_NORM) == 0);
    CHECK(isnan(gauge_read(&gauge, NULL, GAUGE_ZERO_FRACTION)));
}

static void test_names(void)
{
    for (int i = 0; i < GAUGE_METRIC_COUNT; i++) {
        const char *text = gauge_metric_text((enum gauge_metric)i);
        CHECK(gauge_metric_find(slice_of(text)) == (enum gauge_metric)i);
    }
    CHECK(gauge_metric_find(SLICE("median")) == GAUGE_METRIC_COUNT);
    CHECK(gauge_metric_find(SLICE("")) == GAUGE_METRIC_COUNT);
    CHECK(gauge_metric_is_spread(GAUGE_BF16_OVERFLOW));
    CHECK(!gauge_metric_is_spread(GAUGE_MEAN));
}

/* The number of the bin that holds the value, by the edges alone. */
static unsigned bin_of(double value)
{
    unsigned bin = 0;

    while (bin + 1 < SPREAD_BIN_COUNT && value >= spread_edge(bin + 1)) {
        bin++;
    }
    return bin;
}

static void test_bins(void)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int exponent = -30; exponent <= 20; exponent++) {
            double edge = sign * ldexp(1, exponent);
            double values[] = {edge, nextafter(edge, 0), nextafter(edge, 2 * edge)};
            for (size_t i = 0; i < COUNT(values); i++) {
                struct gauge gauge = {0};
                struct spread spread = {0};
                measure(&gauge, &spread, &values[i], 1);
                CHECK(spread.bins[bin_of(values[i])] == 1);
            }
        }
    }
    for (unsigned i = 1; i < SPREAD_EDGE_COUNT; i++) {
        CHECK(spread_edge(i - 1) < spread_edge(i));
    }
}

static void test_formats(void)
{
    static const double values[] = {0x1p-25, 0x1.8p-25, 0x1p-15, 0x1p-14,  65519.9,
                                    65520,   -1e300,    0,       INFINITY, NAN};
    struct gauge gauge = {0};
    struct spread spread = {0};

    measure(&gauge, &spread, values, COUNT(values));
    CHECK(spread.formats[SPREAD_FP16].underflow_count == 1);
    CHECK(spread.formats[SPREAD_FP16].subnormal_count == 2);
    CHECK(spread.formats[SPREAD_FP16].overflow_count == 2);
    CHECK(spread.formats[SPREAD_BF16].underflow_count == 0);
    CHECK(spread.formats[SPREAD_BF16].overflow_count == 1);
}

int main(void)
{
    test_parts_are_one();
    test_nothing();
    test_names();
    test_bins();
    test_formats();
    return check_finish();
}
