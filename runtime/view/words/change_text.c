/* The change of a name since its last value, in a few words. */
#include "runtime/view/words/change_text.h"

#include "runtime/view/words/paint.h"

#include <assert.h>

#define NAME_LIMIT 60 /* in bytes, of a path or name */

/* In the order of the output. */
static const struct {
    enum log_difference difference;
    const char *text;
} parts[] = {
    {LOG_DIFFERS_TYPE, "type"},       {LOG_DIFFERS_SHAPE, "shape"},
    {LOG_DIFFERS_DTYPE, "dtype"},     {LOG_DIFFERS_DEVICE, "device"},
    {LOG_DIFFERS_STRIDES, "strides"}, {LOG_DIFFERS_REQUIRES_GRAD, "requires_grad"},
    {LOG_DIFFERS_VALUES, "values"},
};

const char *difference_text(enum log_difference difference)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].difference == difference) {
            return parts[i].text;
        }
    }
    assert(!"a difference without a word");
    return "";
}

void differences_add(struct buffer *text,
                     unsigned differences,
                     struct slice separator,
                     struct slice quote)
{
    bool is_first = true;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if ((differences & (unsigned)parts[i].difference) == 0) {
            continue;
        }
        if (!is_first) {
            buffer_add(text, separator);
        }
        buffer_add(text, quote);
        buffer_add(text, slice_of(parts[i].text));
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
    text_add_path(text, module->table.path, NAME_LIMIT);
    buffer_add_byte(text, ':');
    buffer_add_number(text, site->line);
    if (site->write_count > 0) {
        buffer_add(text, SLICE(" by "));
        text_add_shortened(text, site->writes[0].name, NAME_LIMIT);
    }
}

void change_text_add(struct buffer *text,
                     const struct log_event_view *event,
                     const struct log_reader *reader,
                     bool has_color)
{
    unsigned difference = event->difference;
    /* A function's parameters are new in each call, so that is not reported. */
    bool is_reported = event->change != CHANGE_NONE &&
                       (event->change != CHANGE_NEW || event->site->kind != SITE_ENTER);
    bool is_loud = event->change == CHANGE_MUTATED || event->change == CHANGE_ALIASED ||
                   (event->change == CHANGE_REBOUND && event->difference != 0);

    if (!is_reported) {
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
    /* Changed values are named only for a rebound tensor: other values are printed in full, and
     * an in-place write implies it. */
    if (event->kind != VALUE_TENSOR || event->change != CHANGE_REBOUND) {
        difference &= ~(unsigned)LOG_DIFFERS_VALUES;
    }
    if (difference != 0) {
        buffer_add(text, event->change == CHANGE_ALIASED ? SLICE("; ") : SLICE(": "));
        differences_add(text, difference, SLICE(", "), SLICE(""));
    }
    paint_end(text, has_color);
}
