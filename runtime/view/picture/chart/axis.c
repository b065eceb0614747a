/* An axis: its range, ticks and numbers. */
#include "runtime/view/picture/chart/parts.h"

#include "runtime/view/words/number_text.h"

#include <math.h>

/* Values above this are clipped: their sums would overflow. */
#define VALUE_MAX 1e300
/* Values whose relative difference is smaller than this count as equal. */
#define SAME 1e-12

static double clamp(double value)
{
    return fmax(-VALUE_MAX, fmin(VALUE_MAX, value));
}

void axis_fit(struct axis *axis, double low, double high, bool is_log, bool has_margin)
{
    *axis = (struct axis){.is_log = is_log};
    low = is_log ? log10(low) : clamp(low);
    high = is_log ? log10(high) : clamp(high);
    if (high - low <= SAME * fmax(fabs(low), fabs(high))) {
        double room = is_log ? 0.5 : fabs(low) * 0.1;

        room = room > 0 ? room : 1;
        axis->low = low - room;
        axis->high = high + room;
        return;
    }
    axis->low = low;
    axis->high = high;
    if (has_margin) {
        double room = (high - low) * 0.05;
        bool has_zero_below = !is_log && low >= 0 && low < (high - low) * 0.4;
        bool has_zero_above = !is_log && high <= 0 && -high < (high - low) * 0.4;

        axis->low = has_zero_below ? 0 : low - room;
        axis->high = has_zero_above ? 0 : high + room;
    }
}

double axis_place(const struct axis *axis, double value)
{
    double at = axis->is_log ? log10(value) : clamp(value);

    return axis->start +
           (at - axis->low) / (axis->high - axis->low) * (axis->end - axis->start);
}

static void add_tick(struct axis *axis, double value, bool is_minor)
{
    if (axis->tick_count < AXIS_TICK_MAX) {
        axis->ticks[axis->tick_count++] =
            (struct axis_tick){value, axis_place(axis, value), is_minor};
    }
}

/* The nearest number of the form 1, 2 or 5 times a power of ten. */
static double round_step(double wanted)
{
    double power = pow(10, floor(log10(wanted)));
    double times = wanted / power;

    return (times < 1.5 ? 1 : times < 3.2 ? 2 : times < 7.2 ? 5 : 10) * power;
}

static void lay_linear(struct axis *axis, double count, bool is_whole)
{
    double range = axis->high - axis->low;
    double step = round_step(range / count);
    double first;

    if (is_whole && step < 1) {
        step = 1;
    }
    axis->step = step;
    first = ceil(axis->low / step - 1e-9);
    for (double i = first; i * step <= axis->high + range * 1e-9; i++) {
        /* Avoids -0. */
        add_tick(axis, i == 0 ? 0 : i * step, false);
        if (axis->tick_count == AXIS_TICK_MAX) {
            return;
        }
    }
}

/* Places ticks at powers of ten. If there is room, adds 2 and 5 times these, or ticks without
 * numbers. */
static void lay_log(struct axis *axis, double count)
{
    static const int few[] = {1, 2, 5};
    double decades = axis->high - axis->low;
    double each = fmax(1, ceil(decades / count));
    bool has_some = decades * 3 <= count * 1.5;

    for (double power = floor(axis->low / each) * each; power <= axis->high;
         power += each) {
        for (int i = 0; i < (each > 1 ? 1 : 3); i++) {
            double value = few[i] * pow(10, power);
            double at = log10(value);

            if (value > 0 && isfinite(value) && at >= axis->low - 1e-9 &&
                at <= axis->high + 1e-9 && (i == 0 || has_some)) {
                add_tick(axis, value, false);
            }
        }
    }
}

void axis_lay(
    struct axis *axis, double start, double end, double distance, bool is_whole)
{
    double count = fmax(2, floor(fabs(end - start) / distance));

    axis->start = start;
    axis->end = end;
    axis->tick_count = 0;
    axis->step = 0;
    if (axis->is_log) {
        lay_log(axis, count);
        if (axis->tick_count >= 2) {
            return;
        }
        axis->tick_count = 0; /* less than a decade: ticks as below */
        for (int i = 1; i <= 9; i++) {
            double value = i * pow(10, floor(axis->low));

            for (int j = 0; j < 2; j++, value *= 10) {
                if (log10(value) >= axis->low && log10(value) <= axis->high) {
                    add_tick(axis, value, false);
                }
            }
        }
        return;
    }
    lay_linear(axis, fmin(count, AXIS_TICK_MAX - 2), is_whole);
}

/* ---- numbers ---- */

static void add_superscript(struct buffer *text, int number)
{
    static const char *const digits[] = {
        "\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",     "\xE2\x81\xB4",
        "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7", "\xE2\x81\xB8", "\xE2\x81\xB9"};
    int rest = number < 0 ? -number : number;

    if (number < 0) {
        buffer_add(text, SLICE("\xE2\x81\xBB"));
    }
    for (int unit = rest >= 100 ? 100 : rest >= 10 ? 10 : 1; unit > 0; unit /= 10) {
        buffer_add(text, slice_of(digits[rest / unit % 10]));
    }
}

static void add_minus(struct buffer *text, double value)
{
    if (value < 0) {
        buffer_add(text, SLICE("\xE2\x88\x92"));
    }
}

/* Adds the value with as many digits after the point as two neighbouring ticks need to differ. */
static void add_decimals(struct buffer *text, double value, double step)
{
    int digits = (int)fmax(0, -floor(log10(step) + 1e-9));

    add_minus(text, value);
    buffer_add_format(text, "%.*f", (int)fmin(digits, 15), fabs(value));
}

/* Adds the value as a factor times a power of ten. `step` is 0 if the powers alone distinguish
 * the ticks. */
static void add_power(struct buffer *text, double value, int power, double step)
{
    double unit = pow(10, power);

    if (step > 0) {
        add_decimals(text, value / unit, step / unit);
        buffer_add(text, SLICE("\xC2\xB7"));
    } else if (fabs(value / unit - 1) > 1e-6) {
        real_add_short(text, value / unit, 3);
        buffer_add(text, SLICE("\xC2\xB7"));
    }
    buffer_add(text, SLICE("10"));
    add_superscript(text, power);
}

void axis_add_number(const struct axis *axis, struct buffer *text, double value)
{
    double largest = fmax(fabs(axis->low), fabs(axis->high));
    int power = (int)floor(log10(axis->is_log ? value : largest) + 1e-9);

    if (value == 0) {
        buffer_add_byte(text, '0');
    } else if (axis->is_log && power >= -3 && power < 4) {
        real_add_short(text, value, 3);
    } else if (axis->is_log) {
        add_power(text, value, power, 0);
    } else if (power < -3 || power >= 9) {
        add_power(text, value, power, axis->step);
    } else if (largest >= 2e6 && axis->step >= 1e3) {
        add_decimals(text, value / 1e6, axis->step / 1e6);
        buffer_add_byte(text, 'M');
    } else if (largest >= 2e4 && axis->step >= 100) {
        add_decimals(text, value / 1e3, axis->step / 1e3);
        buffer_add_byte(text, 'k');
    } else {
        add_decimals(text, value, axis->step);
    }
}
