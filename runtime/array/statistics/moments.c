#include "runtime/array/statistics/moments.h"

#include <assert.h>
#include <math.h>

static void moments_scale(struct moments *moments, int exponent)
{
    int down = moments->exponent - exponent;

    moments->mean = ldexp(moments->mean, down);
    moments->squares = ldexp(moments->squares, 2 * down);
    moments->exponent = exponent;
}

/* Scales both to the larger exponent, which may lose the last bits of the smaller numbers. Zeros
 * are the same at every scale. */
static void moments_align(struct moments *a, struct moments *b)
{
    if (a->mean == 0 && a->squares == 0) {
        a->exponent = b->exponent;
    } else if (b->mean == 0 && b->squares == 0) {
        b->exponent = a->exponent;
    } else if (a->exponent < b->exponent) {
        moments_scale(a, b->exponent);
    } else {
        moments_scale(b, a->exponent);
    }
}

/* Chan, Golub and LeVeque: updating formulae for the sample variance. */
void moments_add(struct moments *moments, const struct moments *added)
{
    struct moments other = *added;
    double total;
    double difference;

    assert(moments->squares >= 0 && other.squares >= 0);
    if (other.count == 0) {
        return;
    }
    if (moments->count == 0) {
        *moments = other;
        return;
    }
    if (moments->exponent != other.exponent) {
        moments_align(moments, &other);
    }
    total = (double)(moments->count + other.count);
    difference = other.mean - moments->mean;
    moments->squares +=
        other.squares + difference * difference *
                            ((double)moments->count * ((double)other.count / total));
    moments->mean += difference * ((double)other.count / total);
    moments->count += other.count;
    assert(moments->squares >= 0);
}

double moments_mean(const struct moments *moments)
{
    return moments->count == 0 ? (double)NAN : ldexp(moments->mean, moments->exponent);
}

double moments_deviation(const struct moments *moments)
{
    if (moments->count < 2) {
        return (double)NAN;
    }
    return ldexp(sqrt(moments->squares / (double)(moments->count - 1)),
                 moments->exponent);
}
