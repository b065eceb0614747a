/* What is told of a value's shapes and dtypes. */
#include "runtime/view/list/annotation.h"
#include "runtime/view/words/number_text.h"

#define DIGITS 4 /* of a program's own numbers */

static void add_range(struct buffer *text, int64_t low, int64_t high)
{
    integer_add(text, low);
    if (high != low) {
        buffer_add(text, SLICE(".."));
        integer_add(text, high);
    }
}

static void add_shape(struct buffer *text, const struct seen_form *form)
{
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < form->dimension_count; i++) {
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        add_range(text, form->low[i], form->high[i]);
    }
    buffer_add_byte(text, ']');
}

/* `Linear` of `torch.nn.modules.linear.Linear`. */
static void add_float(struct buffer *text, const struct seen_form *form)
{
    buffer_add(text, SLICE("float"));
    if (form->has_range) {
        buffer_add_byte(text, ' ');
        real_add_short(text, form->least, DIGITS);
    }
    if (form->has_range && form->least < form->most) {
        buffer_add(text, SLICE(".."));
        real_add_short(text, form->most, DIGITS);
    }
}

static void add_form(struct buffer *text, const struct seen_form *form)
{
    switch (form->kind) {
    case VALUE_TENSOR:
        buffer_add_printable(text, form->type);
        buffer_add_byte(text, ' ');
        add_shape(text, form);
        break;
    case VALUE_INT:
        buffer_add(text, SLICE("int "));
        add_range(text, form->low[0], form->high[0]);
        break;
    case VALUE_BOOL:
        buffer_add(text, form->low[0] != form->high[0] ? SLICE("bool")
                         : form->low[0] != 0           ? SLICE("True")
                                                       : SLICE("False"));
        break;
    case VALUE_FLOAT:
        add_float(text, form);
        break;
    case VALUE_CONTAINER:
        buffer_add_printable(text, slice_last_part(form->type, '.'));
        buffer_add(text, SLICE(" of "));
        add_range(text, form->low[0], form->high[0]);
        break;
    case VALUE_OBJECT:
        buffer_add_byte(text, '<');
        buffer_add_printable(text, slice_last_part(form->type, '.'));
        buffer_add_byte(text, '>');
        break;
    case VALUE_BIG_INT:
        buffer_add(text, SLICE("int"));
        break;
    case VALUE_MISSING:
        buffer_add(text, SLICE("not found"));
        break;
    default:
        buffer_add(text, slice_of(value_kind_text(form->kind)));
    }
}

static void add_times(struct buffer *text, uint64_t count)
{
    if (count > 1) {
        buffer_add(text, SLICE(" x"));
        buffer_add_number(text, count);
    }
}

static void add_nonfinite(struct buffer *text, const struct seen_value *value)
{
    uint64_t most = value->nan_count > value->infinite_count ? value->nan_count
                                                             : value->infinite_count;

    if (most == 0) {
        return;
    }
    buffer_add(text, SLICE(" !! "));
    buffer_add(text, value->infinite_count == 0 ? SLICE("NaN")
                     : value->nan_count == 0    ? SLICE("Inf")
                                                : SLICE("NaN, Inf"));
    if (most < value->count) {
        buffer_add(text, SLICE(" in "));
        buffer_add_number(text, most);
    }
}

/* `float32 [4, 8] x12, [2, 8]`: a dtype that is that of the form before is not said again. */
static void add_forms(struct buffer *text, const struct seen_value *value)
{
    for (uint32_t i = 0; i < value->form_count; i++) {
        const struct seen_form *form = &value->forms[i];
        bool is_same = i > 0 && form->kind == VALUE_TENSOR &&
                       form[-1].kind == VALUE_TENSOR &&
                       slice_equal(form->type, form[-1].type);

        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        if (is_same) {
            add_shape(text, form);
        } else {
            add_form(text, form);
        }
        add_times(text, form->count);
    }
    if (value->other_count > 0) {
        buffer_add(text, SLICE(", other shapes"));
        add_times(text, value->other_count);
    }
    add_nonfinite(text, value);
}

void seen_value_add_words(const struct seen_value *value, struct buffer *text)
{
    if (value->form_count > 0) {
        add_forms(text, value);
    } else if (value->kind == SITE_BRANCH) {
        buffer_add(text, SLICE("taken"));
        add_times(text, value->count);
    } else if (value->kind == SITE_ENTER) {
        buffer_add(text, SLICE("called"));
        add_times(text, value->count);
    } else if (value->kind == SITE_LOOP) {
        buffer_add_number(text, value->count);
        buffer_add(text, value->count == 1 ? SLICE(" turn") : SLICE(" turns"));
    } else {
        buffer_add_byte(text, 'x');
        buffer_add_number(text, value->count);
    }
}
