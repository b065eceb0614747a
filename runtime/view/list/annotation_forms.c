/* The shapes and dtypes that the values of a name had. */
#include "runtime/view/list/annotation.h"
#include "runtime/view/words/value_text.h"

#include <math.h>
#include <string.h>

static uint32_t number_count(const struct log_event_view *event)
{
    switch (event->kind) {
    case VALUE_TENSOR:
        return event->shape->dimension_count;
    case VALUE_INT:
    case VALUE_BOOL:
    case VALUE_CONTAINER:
        return 1;
    default:
        return 0;
    }
}

static const int64_t *numbers_of(const struct log_event_view *event)
{
    return event->kind == VALUE_TENSOR ? event->shape->shape : &event->integer;
}

static struct slice type_of(const struct log_event_view *event)
{
    if (event->kind == VALUE_TENSOR) {
        return event->shape->dtype_text;
    }
    return event->kind == VALUE_CONTAINER || event->kind == VALUE_OBJECT ? event->type
                                                                         : SLICE("");
}

static bool is_alike(const struct seen_form *form, const struct log_event_view *event)
{
    return form->kind == event->kind && form->dimension_count == number_count(event) &&
           slice_equal(form->type, type_of(event));
}

/* Of numbers and containers the range is told from the first one on. */
static bool holds(const struct seen_value *value,
                  const struct seen_form *form,
                  const struct log_event_view *event)
{
    return is_alike(form, event) &&
           (value->is_ranged || form->kind != VALUE_TENSOR ||
            form->dimension_count == 0 ||
            memcmp(form->low, numbers_of(event),
                   form->dimension_count * sizeof *form->low) == 0);
}

static void widen(struct seen_form *form, const int64_t *low, const int64_t *high)
{
    for (uint32_t i = 0; i < form->dimension_count; i++) {
        form->low[i] = low[i] < form->low[i] ? low[i] : form->low[i];
        form->high[i] = high[i] > form->high[i] ? high[i] : form->high[i];
    }
}

/* There are too many: forms that differ in the lengths of their dimensions alone become one. */
static void merge_forms(struct seen_value *value)
{
    uint32_t kept = 0;

    value->is_ranged = true;
    for (uint32_t i = 0; i < value->form_count; i++) {
        struct seen_form form = value->forms[i];
        uint32_t k = 0;

        while (k < kept && (value->forms[k].kind != form.kind ||
                            value->forms[k].dimension_count != form.dimension_count ||
                            !slice_equal(value->forms[k].type, form.type))) {
            k++;
        }
        if (k == kept) {
            value->forms[kept++] = form;
        } else {
            widen(&value->forms[k], form.low, form.high);
            value->forms[k].count += form.count;
        }
    }
    value->form_count = kept;
}

/* NULL: memory ran out. */
static struct seen_form *add_form(struct arena *arena,
                                  struct seen_value *value,
                                  const struct log_event_view *event)
{
    struct seen_form *form = &value->forms[value->form_count];
    uint32_t count = number_count(event);
    int64_t *numbers = arena_allocate(arena, 2 * (size_t)count + 1, sizeof *numbers);
    struct slice type = arena_copy(arena, type_of(event));

    if (numbers == NULL || type.bytes == NULL) {
        return NULL;
    }
    *form = (struct seen_form){.kind = event->kind,
                               .type = type,
                               .dimension_count = count,
                               .low = numbers,
                               .high = numbers + count};
    if (count > 0) {
        memcpy(form->low, numbers_of(event), count * sizeof *numbers);
        memcpy(form->high, numbers_of(event), count * sizeof *numbers);
    }
    value->form_count++;
    return form;
}

/* The form that the event has; NULL where memory ran out, or where there is no room: then
 * `is_full`. */
static struct seen_form *find_form(struct arena *arena,
                                   struct seen_value *value,
                                   const struct log_event_view *event,
                                   bool *is_full)
{
    *is_full = false;
    for (;;) {
        for (uint32_t i = 0; i < value->form_count; i++) {
            if (holds(value, &value->forms[i], event)) {
                return &value->forms[i];
            }
        }
        if (value->form_count < ANNOTATION_FORMS_MAX) {
            return add_form(arena, value, event);
        }
        if (value->is_ranged) {
            *is_full = true;
            return NULL;
        }
        merge_forms(value);
    }
}

static void count_real(struct seen_form *form, double real)
{
    if (!isfinite(real)) {
        return;
    }
    form->least = form->has_range && form->least < real ? form->least : real;
    form->most = form->has_range && form->most > real ? form->most : real;
    form->has_range = true;
}

static void count_nonfinite(struct seen_value *value,
                            const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;

    if (!value_has_nonfinite(event)) {
        return;
    }
    if (event->kind == VALUE_TENSOR) {
        value->nan_count += statistics->nan_count > 0;
        value->infinite_count +=
            statistics->posinf_count + statistics->neginf_count > 0;
    } else {
        value->nan_count += isnan(event->real) || isnan(event->imaginary);
        value->infinite_count += isinf(event->real) || isinf(event->imaginary);
    }
}

bool seen_value_count(struct seen_value *value,
                      const struct log_event_view *event,
                      struct arena *arena)
{
    struct seen_form *form;
    bool is_full;

    value->count++;
    if (event->kind == VALUE_NOTHING) {
        return true;
    }
    form = find_form(arena, value, event, &is_full);
    if (form == NULL) {
        value->other_count += is_full;
        return is_full;
    }
    form->count++;
    if (form->kind != VALUE_TENSOR || value->is_ranged) {
        widen(form, numbers_of(event), numbers_of(event));
    }
    if (form->kind == VALUE_FLOAT) {
        count_real(form, event->real);
    }
    count_nonfinite(value, event);
    return true;
}
