/* Values as the texts of a table's cells. */
#include "runtime/view/picture/box/table.h"
#include "runtime/view/words/number_text.h"

#include <float.h>
#include <math.h>

#define SIGNIFICANT 3 /* digits of the largest number that is shown */
/* Numbers between are written with a point alone. */
#define PLAIN_LEAST 1e-3
#define PLAIN_MOST  1e5

struct cell_form {
    double largest;   /* finite magnitude */
    bool is_whole;    /* all finite numbers are whole */
    bool is_fixed;    /* digits behind the point are the same for all */
    int digits_after; /* the point */
};

static double magnitude(const struct dtype_value *value)
{
    switch (value->class) {
    case DTYPE_CLASS_SIGNED:
        return fabs((double)value->integer);
    case DTYPE_CLASS_UNSIGNED:
        return (double)value->natural;
    case DTYPE_CLASS_FLOATING:
        return fabs(value->real);
    case DTYPE_CLASS_COMPLEX:
        /* The parts may be finite where the magnitude is not. */
        return fmin(hypot(value->real, value->imaginary), DBL_MAX);
    case DTYPE_CLASS_OPAQUE:
        break;
    }
    return 0;
}

static enum table_mark mark_of(const struct dtype_value *value)
{
    if (value->class != DTYPE_CLASS_FLOATING && value->class != DTYPE_CLASS_COMPLEX) {
        return TABLE_NUMBER;
    }
    /* As the statistics count them: a complex number with an infinite part is infinite. */
    if (isinf(value->real) || isinf(value->imaginary)) {
        return TABLE_INFINITE;
    }
    return isnan(value->real) || isnan(value->imaginary) ? TABLE_NAN : TABLE_NUMBER;
}

static bool is_whole(const struct dtype_value *value)
{
    return floor(value->real) == value->real &&
           floor(value->imaginary) == value->imaginary;
}

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};

/* How many digits behind the point make SIGNIFICANT ones in all. */
static int digits_after(double largest)
{
    int digits = SIGNIFICANT - 1;

    while (largest < 1) {
        largest *= 10;
        digits++;
    }
    for (; largest >= 10 && digits > 0; digits--) {
        largest /= 10;
    }
    return digits;
}

/* How all are written: with as many digits behind the point as the largest needs. */
static struct cell_form
form_find(enum dtype dtype, const char *const *values, size_t count)
{
    struct cell_form form = {.is_whole = true};

    for (size_t i = 0; i < count; i++) {
        struct dtype_value value = dtype_read(dtype, values[i]);

        if (mark_of(&value) != TABLE_NUMBER) {
            continue;
        }
        form.largest = fmax(form.largest, magnitude(&value));
        form.is_whole = form.is_whole && is_whole(&value);
    }
    form.is_whole = form.is_whole && form.largest < PLAIN_MOST * 10;
    form.is_fixed = form.largest >= PLAIN_LEAST && form.largest < PLAIN_MOST;
    if (form.is_fixed) {
        form.digits_after = digits_after(form.largest);
    }
    return form;
}

/* `number` with a fixed number of digits behind the point, whatever the locale is. */
static void fixed_add(struct buffer *text, double number, int digits_after)
{
    uint64_t scaled = (uint64_t)llround(fabs(number) * powers[digits_after]);
    uint64_t power = (uint64_t)powers[digits_after];

    if (number < 0) {
        buffer_add_byte(text, '-');
    }
    buffer_add_number(text, scaled / power);
    if (digits_after > 0) {
        buffer_add_byte(text, '.');
        for (uint64_t unit = power / 10; unit > 0; unit /= 10) {
            buffer_add_byte(text, (char)('0' + scaled / unit % 10));
        }
    }
}

static void real_add(struct buffer *text, double number, const struct cell_form *form)
{
    if (!isfinite(number)) {
        real_add_short(text, number, SIGNIFICANT);
    } else if (number == 0) {
        buffer_add(text, signbit(number) ? SLICE("-0") : SLICE("0"));
    } else if (form->is_whole) {
        integer_add(text, (int64_t)number);
    } else if (!form->is_fixed) {
        real_add_short(text, number, SIGNIFICANT);
    } else if (fabs(number) * powers[form->digits_after] < 0.5) {
        /* It would be shown as nothing. */
        real_add_short(text, number, 1);
    } else {
        fixed_add(text, number, form->digits_after);
    }
}

static void complex_add(struct buffer *text,
                        const struct dtype_value *value,
                        const struct cell_form *form)
{
    real_add(text, value->real, form);
    /* Infinities bring their own sign. */
    if (isnan(value->imaginary) ||
        (isfinite(value->imaginary) && !signbit(value->imaginary))) {
        buffer_add_byte(text, '+');
    }
    real_add(text, value->imaginary, form);
    buffer_add_byte(text, 'j');
}

static void value_add(struct buffer *text,
                      enum dtype dtype,
                      const struct dtype_value *value,
                      const struct cell_form *form)
{
    if (dtype == DTYPE_BOOL) {
        buffer_add(text, value->natural != 0 ? SLICE("True") : SLICE("False"));
        return;
    }
    switch (value->class) {
    case DTYPE_CLASS_SIGNED:
        integer_add(text, value->integer);
        return;
    case DTYPE_CLASS_UNSIGNED:
        buffer_add_number(text, value->natural);
        return;
    case DTYPE_CLASS_FLOATING:
        real_add(text, value->real, form);
        return;
    case DTYPE_CLASS_COMPLEX:
        complex_add(text, value, form);
        return;
    case DTYPE_CLASS_OPAQUE:
        return;
    }
}

static bool is_negative(const struct dtype_value *value)
{
    return value->class == DTYPE_CLASS_SIGNED     ? value->integer < 0
           : value->class == DTYPE_CLASS_FLOATING ? value->real < 0
                                                  : false;
}

void cells_fill(struct sheet *sheet,
                enum dtype dtype,
                const char *const *values,
                struct table_cell *cells,
                size_t count)
{
    struct cell_form form = form_find(dtype, values, count);

    for (size_t i = 0; i < count; i++) {
        struct dtype_value value = dtype_read(dtype, values[i]);
        struct table_cell *cell = &cells[i];

        *cell = (struct table_cell){.mark = mark_of(&value)};
        /* A value alone is as large as the largest: that says nothing. */
        if (cell->mark == TABLE_NUMBER && form.largest > 0 && count > 1) {
            cell->part = magnitude(&value) / form.largest;
            cell->part = is_negative(&value) ? -cell->part : cell->part;
        }
        sheet->scratch.size = 0;
        value_add(&sheet->scratch, dtype, &value, &form);
        cell->text = sheet_keep(sheet);
    }
}
