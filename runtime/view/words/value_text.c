/* The value of an event, in a few words. */
#include "runtime/view/words/value_text.h"

#include "runtime/base/utf8.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"

#include <math.h>

#define SCALAR_DIGITS 6  /* significant digits of a program's own numbers */
#define TEXT_LIMIT    80 /* in bytes, of a string */
#define TYPE_LIMIT    60

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
    /* The quote is chosen as Python's repr does. */
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
        tensor_text_add(text, event, has_color);
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
