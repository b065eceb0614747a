/* Numbers as text. printf gives correct texts too, but would take most of the time of a listing. */
#include "runtime/view/words/number_text.h"

#include <math.h>
#include <stdio.h>

#define SIGNIFICAND_BITS 52
#define HIDDEN_BIT       (UINT64_C(1) << SIGNIFICAND_BITS)
#define EXPONENT_BIAS    (1023 + SIGNIFICAND_BITS)

/* The digits of a number without a point, and the power of ten of the first digit. */
struct decimal {
    char digits[20];
    int count;
    int exponent;
};

void integer_add(struct buffer *text, int64_t number)
{
    uint64_t magnitude = (uint64_t)number;

    if (number < 0) {
        buffer_add_byte(text, '-');
        magnitude = 0 - magnitude;
    }
    buffer_add_number(text, magnitude);
}

void integers_add(struct buffer *text, const int64_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        integer_add(text, numbers[i]);
    }
}

#define SHOWN_ENDS 6 /* numbers shown at each end of a long list */

void dimensions_add(struct buffer *text, const int64_t *numbers, uint32_t count)
{
    buffer_add_byte(text, '[');
    if (count <= 2 * SHOWN_ENDS) {
        integers_add(text, numbers, count);
    } else {
        integers_add(text, numbers, SHOWN_ENDS);
        buffer_add(text, SLICE(", \xE2\x80\xA6, "));
        integers_add(text, numbers + count - SHOWN_ENDS, SHOWN_ENDS);
    }
    buffer_add_byte(text, ']');
}

/* ---- layout of digits ---- */

static void decimal_trim(struct decimal *decimal)
{
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0') {
        decimal->count--;
    }
}

static void decimal_set(struct decimal *decimal, uint64_t digits)
{
    char reversed[20];
    int count = 0;

    do {
        reversed[count++] = (char)('0' + digits % 10);
        digits /= 10;
    } while (digits > 0);
    decimal->count = count;
    for (int i = 0; i < count; i++) {
        decimal->digits[i] = reversed[count - 1 - i];
    }
}

static void add_zeros(struct buffer *text, int count)
{
    for (int i = 0; i < count; i++) {
        buffer_add_byte(text, '0');
    }
}

static void decimal_add_plain(const struct decimal *decimal, struct buffer *text)
{
    int before = decimal->exponent + 1; /* number of digits before the point */

    if (before <= 0) {
        buffer_add(text, SLICE("0."));
        add_zeros(text, -before);
        buffer_add_bytes(text, decimal->digits, (size_t)decimal->count);
    } else if (before >= decimal->count) {
        buffer_add_bytes(text, decimal->digits, (size_t)decimal->count);
        add_zeros(text, before - decimal->count);
    } else {
        buffer_add_bytes(text, decimal->digits, (size_t)before);
        buffer_add_byte(text, '.');
        buffer_add_bytes(text, decimal->digits + before,
                         (size_t)(decimal->count - before));
    }
}

static void decimal_add_scientific(const struct decimal *decimal, struct buffer *text)
{
    buffer_add_byte(text, decimal->digits[0]);
    if (decimal->count > 1) {
        buffer_add_byte(text, '.');
        buffer_add_bytes(text, decimal->digits + 1, (size_t)decimal->count - 1);
    }
    buffer_add_byte(text, 'e');
    integer_add(text, decimal->exponent);
}

/* ---- short texts ---- */

/* Powers of ten that a double represents exactly. */
static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define EXACT_POWER_MAX 22

/* `number` times a power of ten that is exact, so the result is rounded only once. */
static double scale(double number, int power)
{
    return power >= 0 ? number * exact_powers[power] : number / exact_powers[-power];
}

static uint64_t power_of_ten(int power)
{
    uint64_t result = 1;

    while (power-- > 0) {
        result *= 10;
    }
    return result;
}

/* The number of digits to keep if the first one has the power of ten `exponent`. */
static int digits_wanted(int exponent, int digits)
{
    return exponent >= digits && exponent < 6 ? exponent + 1 : digits;
}

static void round_slowly(struct decimal *decimal, double number, int digits)
{
    char text[40];
    int exponent = 0;

    snprintf(text, sizeof text, "%.*e", digits - 1, number);
    decimal->count = 0;
    for (const char *at = text; *at != '\0' && *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9') {
            decimal->digits[decimal->count++] = *at;
        }
    }
    sscanf(text + strcspn(text, "e"), "e%d", &exponent);
    decimal->exponent = exponent;
}

/* `number` must be finite and above 0. */
static void round_to(struct decimal *decimal, double number, int digits)
{
    int exponent = 0;
    int binary = 0;
    uint64_t rounded;

    frexp(number, &binary);
    /* 1233 / 4096 is nearly log10(2), so the guess is right or one too low. */
    exponent = (int)floor((binary - 1) * (1233.0 / 4096));
    if (exponent < digits - 1 - EXACT_POWER_MAX || exponent > EXACT_POWER_MAX - 2) {
        round_slowly(decimal, number, digits);
        return;
    }
    if (scale(number, -exponent) >= 10) {
        exponent++;
    }
    digits = digits_wanted(exponent, digits);
    rounded = (uint64_t)nearbyint(scale(number, digits - 1 - exponent));
    if (rounded >= power_of_ten(digits)) {
        rounded /= 10;
        exponent++;
    }
    decimal->exponent = exponent;
    decimal_set(decimal, rounded);
}

void real_add_short(struct buffer *text, double number, int digits)
{
    struct decimal decimal;

    if (isnan(number)) {
        buffer_add(text, SLICE("NaN"));
        return;
    }
    if (isinf(number)) {
        buffer_add(text, number > 0 ? SLICE("+Inf") : SLICE("-Inf"));
        return;
    }
    if (number == 0) {
        buffer_add_byte(text, '0');
        return;
    }
    if (number < 0) {
        buffer_add_byte(text, '-');
    }
    round_to(&decimal, fabs(number), digits);
    decimal_trim(&decimal);
    if (decimal.exponent >= -4 && decimal.exponent < 6) {
        decimal_add_plain(&decimal, text);
    } else {
        decimal_add_scientific(&decimal, text);
    }
}

/* ---- exact texts: Grisu2 (F. Loitsch, Printing Floating-Point Numbers Quickly and Accurately
 * with Integers, 2010) ---- */

/* f * 2^e. */
struct scaled {
    uint64_t f;
    int e;
};

static const struct {
    uint64_t f;
    int e;
    int k;
} powers_of_ten[] = {
#define POWER_OF_TEN(f, e, k) {f, e, k},
#include "runtime/view/words/powers_of_ten.def"
#undef POWER_OF_TEN
};
#define POWER_FIRST -348
#define POWER_STEP  8

static struct scaled scaled_normalize(struct scaled number)
{
    int shift = __builtin_clzll(number.f);

    return (struct scaled){number.f << shift, number.e - shift};
}

static struct scaled scaled_multiply(struct scaled a, struct scaled b)
{
    unsigned __int128 product = (unsigned __int128)a.f * b.f;
    uint64_t high = (uint64_t)(product >> 64);

    high += (uint64_t)product >> 63; /* rounds to nearest */
    return (struct scaled){high, a.e + b.e + 64};
}

/* The power of ten that moves a number with the binary exponent `e` near 1. Sets `*k` to the
 * negative of its exponent. */
static struct scaled power_for(int e, int *k)
{
    int wanted = (int)ceil((-61 - e) * 0.30102999566398114);
    int index = (wanted - POWER_FIRST + POWER_STEP - 1) / POWER_STEP;

    *k = -powers_of_ten[index].k;
    return (struct scaled){powers_of_ten[index].f, powers_of_ten[index].e};
}

/* Decrements the last digit as long as that is nearer to the exact number. */
static void round_last(struct decimal *decimal,
                       uint64_t delta,
                       uint64_t rest,
                       uint64_t unit,
                       uint64_t distance)
{
    while (rest < distance && delta - rest >= unit &&
           (rest + unit < distance || distance - rest > rest + unit - distance)) {
        decimal->digits[decimal->count - 1]--;
        rest += unit;
    }
}

/* Writes digits of `high` until the rest is below `delta`: the digits then are a number between
 * the bounds. Adds the power of ten of the last digit to `*k`. */
static void generate_digits(struct decimal *decimal,
                            struct scaled number,
                            struct scaled high,
                            uint64_t delta,
                            int *k)
{
    int shift = -high.e;
    uint64_t one = UINT64_C(1) << shift;
    uint64_t distance = high.f - number.f;
    uint64_t whole = high.f >> shift;
    uint64_t part = high.f & (one - 1);
    int left = 1; /* number of digits of `whole` that are left */
    uint64_t unit = 1;

    while (whole / unit >= 10) {
        unit *= 10;
        left++;
    }
    decimal->count = 0;
    for (; left > 0; left--, unit /= 10) {
        uint64_t digit = whole / unit;
        uint64_t rest;

        whole %= unit;
        if (digit != 0 || decimal->count > 0) {
            decimal->digits[decimal->count++] = (char)('0' + digit);
        }
        rest = (whole << shift) + part;
        if (rest <= delta) {
            *k += left - 1;
            round_last(decimal, delta, rest, unit << shift, distance);
            return;
        }
    }
    for (unit = 1;;) {
        uint64_t digit;

        part *= 10;
        delta *= 10;
        unit *= 10;
        digit = part >> shift;
        if (digit != 0 || decimal->count > 0) {
            decimal->digits[decimal->count++] = (char)('0' + digit);
        }
        part &= one - 1;
        left--;
        if (part < delta) {
            *k += left;
            round_last(decimal, delta, part, one, distance * unit);
            return;
        }
    }
}

/* `number` must be finite and above 0. */
static void decimal_find(struct decimal *decimal, double number)
{
    uint64_t bits;
    struct scaled exact;
    struct scaled low;
    struct scaled high;
    struct scaled power;
    int k;

    memcpy(&bits, &number, sizeof bits);
    exact.f = bits & (HIDDEN_BIT - 1);
    exact.e = 1 - EXPONENT_BIAS;
    if (bits >> SIGNIFICAND_BITS != 0) {
        exact.e = (int)(bits >> SIGNIFICAND_BITS) - EXPONENT_BIAS;
        exact.f += HIDDEN_BIT;
    }
    /* The bounds are halfway to the neighbours: any number between them reads as this one. The
     * lower neighbour of a power of two is half as far away. */
    high = scaled_normalize((struct scaled){exact.f * 2 + 1, exact.e - 1});
    low = exact.f == HIDDEN_BIT ? (struct scaled){exact.f * 4 - 1, exact.e - 2}
                                : (struct scaled){exact.f * 2 - 1, exact.e - 1};
    low.f <<= low.e - high.e;
    low.e = high.e;
    power = power_for(high.e, &k);
    exact = scaled_multiply(scaled_normalize(exact), power);
    high = scaled_multiply(high, power);
    low = scaled_multiply(low, power);
    /* The products may be off by one; the narrower bounds are safe. */
    high.f--;
    low.f++;
    generate_digits(decimal, exact, high, high.f - low.f, &k);
    decimal->exponent = k + decimal->count - 1;
}

void real_add_exact(struct buffer *text, double number)
{
    struct decimal decimal;

    if (isnan(number)) {
        buffer_add(text, SLICE("\"NaN\""));
        return;
    }
    if (isinf(number)) {
        buffer_add(text, number > 0 ? SLICE("\"Infinity\"") : SLICE("\"-Infinity\""));
        return;
    }
    if (signbit(number)) {
        buffer_add_byte(text, '-');
    }
    if (number == 0) {
        buffer_add(text, SLICE("0.0"));
        return;
    }
    decimal_find(&decimal, fabs(number));
    decimal_trim(&decimal);
    if (decimal.exponent < -4 || decimal.exponent >= 16) {
        decimal_add_scientific(&decimal, text);
        return;
    }
    decimal_add_plain(&decimal, text);
    if (decimal.exponent + 1 >= decimal.count) {
        buffer_add(text, SLICE(".0"));
    }
}
