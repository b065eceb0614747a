/* Keys that a program computes, from the texts and numbers that were recorded: `prefix + "q"`, `f"{i}.up"`. */
#include "runtime/view/diff/match/run.h"

#include <ctype.h>
#include <math.h>

/* So many values back is a number sought. */
#define BACK_MAX 4096

struct key_reading {
    const struct match_run *run;
    uint32_t call, value;
    struct buffer *key;
};

static bool add_text(const struct key_reading *reading, struct slice name)
{
    const struct match_run *run = reading->run;

    for (size_t i = run->text_count; i-- > 0;) {
        const struct match_text *text = &run->texts[i];

        if (text->value <= reading->value && text->call == reading->call &&
            slice_equal(text->name, name)) {
            buffer_add(reading->key, text->text);
            return true;
        }
        if (run->text_count - i > BACK_MAX) {
            return false;
        }
    }
    return false;
}

static bool add_number(const struct key_reading *reading, struct slice name)
{
    const struct match_run *run = reading->run;

    for (uint32_t i = reading->value; i-- > 0 && reading->value - i < BACK_MAX;) {
        const struct match_value *value = &run->values[i];

        if (value->shape == NULL && value->call == reading->call &&
            value->path.size == 0 && slice_equal(value->name, name)) {
            if (!value->is_integer || value->number < 0) {
                return false;
            }
            buffer_add_number(reading->key, (uint64_t)value->number);
            return true;
        }
    }
    return false;
}

static bool add_name(const struct key_reading *reading, struct slice name)
{
    return add_text(reading, name) || add_number(reading, name);
}

/* A literal from behind its quote; gives the place behind the one that ends it, or 0. */
static size_t add_literal(const struct key_reading *reading,
                          struct slice text,
                          size_t at,
                          char quote,
                          bool is_format)
{
    while (at < text.size && text.bytes[at] != quote) {
        size_t end;

        if (text.bytes[at] == '\\') {
            return 0;
        }
        if (!is_format || text.bytes[at] != '{') {
            buffer_add_byte(reading->key, text.bytes[at++]);
            continue;
        }
        end = slice_find(text, SLICE("}"), at);
        if (end >= text.size || !add_name(reading, slice_part(text, at + 1, end))) {
            return 0;
        }
        at = end + 1;
    }
    return at < text.size ? at + 1 : 0;
}

/* One operand; gives the place behind it, or 0. */
static size_t
add_operand(const struct key_reading *reading, struct slice text, size_t at)
{
    size_t end = at;
    bool is_format = at + 1 < text.size && text.bytes[at] == 'f' &&
                     (text.bytes[at + 1] == '"' || text.bytes[at + 1] == '\'');

    at += is_format;
    if (at < text.size && (text.bytes[at] == '"' || text.bytes[at] == '\'')) {
        return add_literal(reading, text, at + 1, text.bytes[at], is_format);
    }
    while (end < text.size &&
           (isalnum((unsigned char)text.bytes[end]) || text.bytes[end] == '_')) {
        end++;
    }
    return end > at && add_name(reading, slice_part(text, at, end)) ? end : 0;
}

bool match_key_add(const struct match_run *run,
                   struct slice expression,
                   uint32_t call,
                   uint32_t value,
                   struct buffer *key)
{
    struct key_reading reading = {.run = run, .call = call, .value = value, .key = key};
    size_t at = 0;

    for (;;) {
        while (at < expression.size && expression.bytes[at] == ' ') {
            at++;
        }
        at = add_operand(&reading, expression, at);
        while (at > 0 && at < expression.size && expression.bytes[at] == ' ') {
            at++;
        }
        if (at == 0 || at == expression.size) {
            return at > 0 && !key->has_failed;
        }
        if (expression.bytes[at++] != '+') {
            return false;
        }
    }
}
