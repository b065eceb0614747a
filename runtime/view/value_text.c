/* An event's value and what happened to it, in a few words for people. */
#include "runtime/view/value_text.h"

#include "runtime/base/utf8.h"
#include "runtime/view/number_text.h"
#include "runtime/view/paint.h"

#include <math.h>

#define SHORT_DIGITS    4  /* of statistics */
#define SCALAR_DIGITS   6  /* of a program's own numbers */
#define TEXT_LIMIT      80 /* bytes of a string that are shown */
#define TYPE_LIMIT      60
#define DIMENSION_LIMIT 12 /* of longer shapes the ends are shown */

struct slice type_without_main(struct slice type)
{
    struct slice main = SLICE("__main__.");

    return slice_starts(type, main) ? slice_part(type, main.size, type.size) : type;
}

/* ---- tensors ---- */

static void add_dimensions(struct buffer *text, const int64_t *numbers, uint32_t count)
{
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_add(text, SLICE(", "));
        }
        if (count > DIMENSION_LIMIT && i == DIMENSION_LIMIT / 2) {
            buffer_add(text, SLICE("\xE2\x80\xA6, "));
            i = count - DIMENSION_LIMIT / 2;
        }
        integer_add(text, numbers[i]);
    }
    buffer_add_byte(text, ']');
}

bool shape_is_contiguous(const struct log_shape *shape)
{
    int64_t wanted = 1;

    if (shape->strides == NULL || shape->strides_are_bytes) {
        return shape->strides == NULL;
    }
    for (uint32_t i = shape->dimension_count; i-- > 0;) {
        if (shape->shape[i] == 0) {
            return true;
        }
    }
    for (uint32_t i = shape->dimension_count; i-- > 0;) {
        if (shape->shape[i] != 1 && shape->strides[i] != wanted) {
            return false;
        }
        if (__builtin_mul_overflow(wanted, shape->shape[i], &wanted)) {
            return false;
        }
    }
    return true;
}

static void add_form(struct buffer *text, const struct log_shape *shape, bool has_color)
{
    paint_start(text, has_color, PAINT_FORM);
    if (shape->type.size > 0) {
        text_add_shortened(text, type_without_main(shape->type), TYPE_LIMIT);
        buffer_add_byte(text, ' ');
    } else if ((shape->flags & LOG_FORM_PARAMETER) != 0) {
        buffer_add(text, SLICE("Parameter "));
    } else if ((shape->flags & LOG_FORM_NUMPY) != 0) {
        buffer_add(text, SLICE("numpy "));
    }
    text_add_shortened(text, shape->dtype_text, TYPE_LIMIT);
    buffer_add_byte(text, ' ');
    add_dimensions(text, shape->shape, shape->dimension_count);
    paint_end(text, has_color);
    if (!slice_equal(shape->layout, SLICE("strided"))) {
        buffer_add_byte(text, ' ');
        text_add_shortened(text, shape->layout, TYPE_LIMIT);
    }
    if (!slice_equal(shape->device, SLICE("cpu"))) {
        buffer_add(text, SLICE(" on "));
        text_add_shortened(text, shape->device, TYPE_LIMIT);
    }
    if ((shape->flags & LOG_FORM_REQUIRES_GRAD) != 0) {
        buffer_add(text, SLICE(" grad"));
    }
    if ((shape->flags & LOG_FORM_CONJUGATED) != 0) {
        buffer_add(text, SLICE(" conjugated"));
    }
    if ((shape->flags & LOG_FORM_NEGATED) != 0) {
        buffer_add(text, SLICE(" negated"));
    }
    if (!shape_is_contiguous(shape)) {
        buffer_add(text, SLICE(" strides "));
        add_dimensions(text, shape->strides, shape->dimension_count);
        if (shape->strides_are_bytes) {
            buffer_add(text, SLICE(" bytes"));
        }
    }
}

static void
add_nonfinite(struct buffer *text, const struct statistics *statistics, bool has_color)
{
    const struct {
        uint64_t count;
        struct slice name;
    } parts[] = {
        {statistics->nan_count, SLICE(" NaN")},
        {statistics->posinf_count, SLICE(" +Inf")},
        {statistics->neginf_count, SLICE(" -Inf")},
    };
    bool is_first = true;

    if (statistics->nan_count + statistics->posinf_count + statistics->neginf_count ==
        0) {
        return;
    }
    buffer_add(text, SLICE("  "));
    paint_start(text, has_color, PAINT_ALARM);
    buffer_add(text, SLICE("!! "));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].count > 0) {
            buffer_add(text, is_first ? SLICE("") : SLICE(", "));
            buffer_add_number(text, parts[i].count);
            buffer_add(text, parts[i].name);
            is_first = false;
        }
    }
    buffer_add(text, SLICE(" of "));
    buffer_add_number(text, statistics->count);
    paint_end(text, has_color);
}

static void
add_bound(struct buffer *text, enum dtype_class class, union statistics_bound bound)
{
    if (class == DTYPE_CLASS_SIGNED) {
        integer_add(text, bound.integer);
    } else if (class == DTYPE_CLASS_UNSIGNED) {
        buffer_add_number(text, bound.natural);
    } else {
        real_add_short(text, bound.real, SHORT_DIGITS);
    }
}

static void add_range(struct buffer *text,
                      const struct statistics *statistics,
                      enum dtype_class class)
{
    if (class == DTYPE_CLASS_COMPLEX) {
        buffer_add(text, SLICE("  magnitude"));
    }
    /* Bounds of any class are equal where their bits are, but for the two zeros. */
    if (statistics->min.natural == statistics->max.natural) {
        buffer_add(text, statistics->count == 1 ? SLICE("  value ") : SLICE("  all "));
        add_bound(text, class, statistics->min);
        return;
    }
    buffer_add(text, class == DTYPE_CLASS_COMPLEX ? SLICE(" min ") : SLICE("  min "));
    add_bound(text, class, statistics->min);
    buffer_add(text, SLICE(" max "));
    add_bound(text, class, statistics->max);
    buffer_add(text, SLICE(" mean "));
    real_add_short(text, statistics->mean, SHORT_DIGITS);
    if (!isnan(statistics->std)) {
        buffer_add(text, SLICE(" std "));
        real_add_short(text, statistics->std, SHORT_DIGITS);
    }
    if (statistics->zero_count > 0) {
        buffer_add(text, SLICE(" zeros "));
        buffer_add_number(text, statistics->zero_count);
    }
}

static void
add_statistics(struct buffer *text, const struct log_event_view *event, bool has_color)
{
    const struct statistics *statistics = &event->statistics;
    enum dtype_class class = dtype_class(event->shape->dtype);

    if (statistics->count == 0) {
        buffer_add(text, SLICE("  empty"));
        return;
    }
    if (class == DTYPE_CLASS_OPAQUE) {
        return;
    }
    if (event->shape->dtype == DTYPE_BOOL) {
        buffer_add(text, SLICE("  True "));
        buffer_add_number(text, statistics->count - statistics->zero_count);
        buffer_add(text, SLICE(" of "));
        buffer_add_number(text, statistics->count);
        return;
    }
    add_nonfinite(text, statistics, has_color);
    if (statistics_finite_count(statistics) > 0) {
        add_range(text, statistics, class);
    }
}

static void
add_tensor(struct buffer *text, const struct log_event_view *event, bool has_color)
{
    add_form(text, event->shape, has_color);
    if (event->shape->note.size > 0 &&
        !slice_equal(event->shape->note, event->shape->device)) {
        buffer_add(text, SLICE("  ("));
        text_add_shortened(text, event->shape->note, TEXT_LIMIT);
        buffer_add_byte(text, ')');
    }
    if (event->has_statistics) {
        add_statistics(text, event, has_color);
    }
}

/* ---- other values ---- */

static void add_real(struct buffer *text, double number, bool has_color)
{
    if (isfinite(number)) {
        real_add_short(text, number, SCALAR_DIGITS);
        return;
    }
    paint_start(text, has_color, PAINT_ALARM);
    buffer_add(text, SLICE("!! "));
    real_add_short(text, number, SCALAR_DIGITS);
    paint_end(text, has_color);
}

static void
add_complex(struct buffer *text, const struct log_event_view *event, bool has_color)
{
    add_real(text, event->real, has_color);
    buffer_add(text, signbit(event->imaginary) ? SLICE(" - ") : SLICE(" + "));
    add_real(text, fabs(event->imaginary), has_color);
    buffer_add_byte(text, 'j');
}

static void add_string(struct buffer *text, const struct log_event_view *event)
{
    size_t limit = event->text.size < TEXT_LIMIT ? event->text.size : TEXT_LIMIT;
    size_t size = utf8_cut(event->text, limit);
    struct slice shown = slice_part(event->text, 0, size);
    /* As Python's repr chooses. */
    bool has_single = slice_find(shown, SLICE("'"), 0) < size;
    char quote = has_single && slice_find(shown, SLICE("\""), 0) == size ? '"' : '\'';

    buffer_add_byte(text, quote);
    text_add_shortened(text, shown, TEXT_LIMIT);
    if (event->integer >= 0 && (uint64_t)event->integer > utf8_count(shown)) {
        buffer_add(text, SLICE("\xE2\x80\xA6"));
        buffer_add_byte(text, quote);
        buffer_add(text, SLICE(" ("));
        integer_add(text, event->integer);
        buffer_add(text, SLICE(" characters)"));
    } else {
        buffer_add_byte(text, quote);
    }
}

static void add_counted(struct buffer *text, struct slice type, int64_t count)
{
    text_add_shortened(text, type_without_main(type), TYPE_LIMIT);
    buffer_add(text, SLICE(" of "));
    integer_add(text, count);
}

void value_text_add(struct buffer *text,
                    const struct log_event_view *event,
                    bool has_color)
{
    switch (event->kind) {
    case VALUE_TENSOR:
        add_tensor(text, event, has_color);
        break;
    case VALUE_BOOL:
        buffer_add(text, event->integer != 0 ? SLICE("True") : SLICE("False"));
        break;
    case VALUE_INT:
        integer_add(text, event->integer);
        break;
    case VALUE_BIG_INT:
        buffer_add(text, SLICE("int "));
        text_add_shortened(text, event->text, TEXT_LIMIT);
        break;
    case VALUE_FLOAT:
        add_real(text, event->real, has_color);
        break;
    case VALUE_COMPLEX:
        add_complex(text, event, has_color);
        break;
    case VALUE_TEXT:
        add_string(text, event);
        break;
    case VALUE_BYTES:
        add_counted(text, SLICE("bytes"), event->integer);
        break;
    case VALUE_CONTAINER:
        add_counted(text, event->type, event->integer);
        break;
    case VALUE_OBJECT:
        buffer_add_byte(text, '<');
        text_add_shortened(text, type_without_main(event->type), TYPE_LIMIT);
        buffer_add_byte(text, '>');
        break;
    case VALUE_NONE:
        buffer_add(text, SLICE("None"));
        break;
    case VALUE_MISSING:
        buffer_add(text, SLICE("(not found)"));
        break;
    default:
        buffer_add(text, SLICE("(not recorded)"));
        break;
    }
    if ((event->flags & LOG_EVENT_MORE) != 0) {
        buffer_add(text, SLICE("  (there is more in it)"));
    }
    if ((event->flags & LOG_EVENT_LATE) != 0) {
        buffer_add(text, SLICE("  (told after a compiled region)"));
    }
}

bool value_has_nonfinite(const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;

    switch (event->kind) {
    case VALUE_TENSOR:
        return event->has_statistics &&
               (statistics->nan_count | statistics->posinf_count |
                statistics->neginf_count) != 0;
    case VALUE_COMPLEX:
        return !isfinite(event->real) || !isfinite(event->imaginary);
    case VALUE_FLOAT:
        return !isfinite(event->real);
    default:
        return false;
    }
}

/* ---- change ---- */

void differences_add(struct buffer *text,
                     unsigned differences,
                     struct slice separator,
                     struct slice quote)
{
    static const struct {
        enum log_difference difference;
        const char *name;
    } parts[] = {
        {LOG_DIFFERS_TYPE, "type"},       {LOG_DIFFERS_SHAPE, "shape"},
        {LOG_DIFFERS_DTYPE, "dtype"},     {LOG_DIFFERS_DEVICE, "device"},
        {LOG_DIFFERS_STRIDES, "strides"}, {LOG_DIFFERS_REQUIRES_GRAD, "requires_grad"},
        {LOG_DIFFERS_VALUES, "values"},
    };
    bool is_first = true;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if ((differences & (unsigned)parts[i].difference) == 0) {
            continue;
        }
        if (!is_first) {
            buffer_add(text, separator);
        }
        buffer_add(text, quote);
        buffer_add(text, slice_of(parts[i].name));
        buffer_add(text, quote);
        is_first = false;
    }
}

const struct site *find_site(const struct log_reader *reader,
                             uint32_t number,
                             const struct log_module **module)
{
    uint32_t count = log_reader_module_count(reader);

    for (uint32_t i = 0; i < count; i++) {
        const struct log_module *found = log_reader_module(reader, i);

        if (number >= found->first_site &&
            number - found->first_site < found->table.site_count) {
            *module = found;
            return &found->table.sites[number - found->first_site];
        }
    }
    return NULL;
}

static void add_alias(struct buffer *text,
                      const struct log_event_view *event,
                      const struct log_reader *reader)
{
    const struct log_module *module = NULL;
    const struct site *site = find_site(reader, event->tensor.alias_site, &module);

    if (site == NULL) {
        return;
    }
    buffer_add(text, SLICE(": written at "));
    text_add_path(text, module->table.path, TYPE_LIMIT);
    buffer_add_byte(text, ':');
    buffer_add_number(text, site->line);
    if (site->write_count > 0) {
        buffer_add(text, SLICE(" by "));
        text_add_shortened(text, site->writes[0].name, TYPE_LIMIT);
    }
}

void change_text_add(struct buffer *text,
                     const struct log_event_view *event,
                     const struct log_reader *reader,
                     bool has_color)
{
    unsigned difference = event->difference;
    /* Parameters are new at each call. */
    bool is_told = event->change != CHANGE_NONE &&
                   (event->change != CHANGE_NEW || event->site->kind != SITE_ENTER);
    bool is_loud = event->change == CHANGE_MUTATED || event->change == CHANGE_ALIASED ||
                   (event->change == CHANGE_REBOUND && event->difference != 0);

    if (!is_told) {
        return;
    }
    buffer_add(text, SLICE("   "));
    paint_start(text, has_color, is_loud ? PAINT_CHANGE : PAINT_FAINT);
    if (event->change == CHANGE_MUTATED) {
        buffer_add(text, SLICE("in place"));
    } else {
        buffer_add(text, slice_of(change_text(event->change)));
    }
    if (event->change == CHANGE_ALIASED) {
        add_alias(text, event, reader);
    }
    if (event->kind != VALUE_TENSOR) {
        difference &= ~(unsigned)LOG_DIFFERS_VALUES; /* the value itself stands there */
    }
    if (difference != 0) {
        buffer_add(text, event->change == CHANGE_ALIASED ? SLICE("; ") : SLICE(": "));
        differences_add(text, difference, SLICE(", "), SLICE(""));
    }
    paint_end(text, has_color);
}
