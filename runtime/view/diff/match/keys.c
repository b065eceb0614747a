/* The attributes of `self` and the computed keys that a statement reads. Keys are computed from
 * the recorded texts and numbers: `prefix + "q"`, `f"{i}.up"`. */
#include "runtime/view/diff/match/run.h"

#include "runtime/base/memory.h"
#include "runtime/site/statement_text.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>

/* ---- attributes of `self` that statements use ---- */

void match_attributes_init(struct match_attributes *attributes,
                           struct source_lines *sources)
{
    *attributes = (struct match_attributes){.sources = sources, .text = BUFFER_INIT};
    number_map_init(&attributes->places);
    arena_init(&attributes->arena);
}

void match_attributes_release(struct match_attributes *attributes)
{
    number_map_release(&attributes->places);
    memory_free(attributes->firsts);
    arena_release(&attributes->arena);
    buffer_release(&attributes->text);
}

void match_statement_add(struct source_lines *sources,
                         uint32_t module,
                         uint32_t line,
                         struct buffer *text)
{
    int depth = 0;

    text->size = 0;
    for (uint32_t i = 0; i < STATEMENT_LINES_MAX; i++) {
        struct slice source = source_lines_get(sources, module, line + i);

        buffer_add(text, source);
        buffer_add_byte(text, ' ');
        depth += statement_depth(source);
        if (depth <= 0) {
            return;
        }
    }
}

static bool is_name_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

/* The end of the dotted name that begins at `start`. */
static size_t end_of_name(struct slice text, size_t start)
{
    size_t end = start;

    while (end < text.size && (is_name_byte(text.bytes[end]) ||
                               (text.bytes[end] == '.' && end + 1 < text.size &&
                                is_name_byte(text.bytes[end + 1])))) {
        end++;
    }
    return end;
}

static bool add(struct match_attributes *attributes,
                struct slice text,
                size_t at,
                struct match_attribute **first)
{
    size_t end = end_of_name(text, at);
    struct match_attribute *attribute =
        arena_allocate(&attributes->arena, 1, sizeof *attribute);

    if (attribute == NULL) {
        return false;
    }
    *attribute = (struct match_attribute){
        .name = arena_copy(&attributes->arena, slice_part(text, at, end)),
        .is_called = end < text.size && text.bytes[end] == '(',
        .next = *first,
    };
    *first = attribute;
    return attribute->name.bytes != NULL;
}

/* The position of the bracket that closes the one at `at`, or the text's end if there is none. */
static size_t find_close(struct slice text, size_t at)
{
    char quote = '\0';
    int depth = 0;

    for (; at < text.size; at++) {
        char byte = text.bytes[at];

        if (quote != '\0') {
            quote = byte == quote ? '\0' : quote;
        } else if (byte == '"' || byte == '\'') {
            quote = byte;
        } else {
            depth += byte == '[';
            depth -= byte == ']';
            if (depth == 0) {
                return at;
            }
        }
    }
    return at;
}

/* Adds the subscript that opens at `open` if its key is a computed text. Returns false if out of
 * memory. */
static bool add_subscript(struct match_attributes *attributes,
                          struct slice text,
                          size_t open,
                          struct match_attribute **first)
{
    size_t start = open, close = find_close(text, open);
    struct slice key = slice_part(text, open + 1, close);
    struct match_attribute *attribute;
    bool is_text = slice_find(key, SLICE("\""), 0) < key.size ||
                   slice_find(key, SLICE("'"), 0) < key.size;

    while (start > 0 &&
           (is_name_byte(text.bytes[start - 1]) || text.bytes[start - 1] == '.')) {
        start--;
    }
    if (start == open || close == text.size || !is_text ||
        (slice_find(key, SLICE("+"), 0) == key.size && key.bytes[0] != 'f')) {
        return true;
    }
    attribute = arena_allocate(&attributes->arena, 1, sizeof *attribute);
    if (attribute == NULL) {
        return false;
    }
    *attribute = (struct match_attribute){
        .name = arena_copy(&attributes->arena, slice_part(text, start, open)),
        .key = arena_copy(&attributes->arena, key),
        .next = *first,
    };
    *first = attribute;
    return attribute->name.bytes != NULL && attribute->key.bytes != NULL;
}

static bool read(struct match_attributes *attributes,
                 uint32_t module,
                 uint32_t line,
                 struct match_attribute **first)
{
    struct slice text, self = SLICE("self.");

    match_statement_add(attributes->sources, module, line, &attributes->text);
    text = buffer_slice(&attributes->text);
    *first = NULL;
    for (size_t at = slice_find(text, self, 0); at < text.size;
         at = slice_find(text, self, at + self.size)) {
        if ((at == 0 || !is_name_byte(text.bytes[at - 1])) &&
            !add(attributes, text, at, first)) {
            return false;
        }
    }
    for (size_t at = slice_find(text, SLICE("["), 0); at < text.size;
         at = slice_find(text, SLICE("["), at + 1)) {
        if (!add_subscript(attributes, text, at, first)) {
            return false;
        }
    }
    return !attributes->text.has_failed;
}

bool match_attributes_find(struct match_attributes *attributes,
                           uint32_t module,
                           uint32_t line,
                           const struct match_attribute **first)
{
    uint64_t key = number_map_key(module, line);
    uint32_t place = number_map_get(&attributes->places, key);
    void *items = attributes->firsts;

    if (place != NUMBER_MAP_NONE) {
        *first = attributes->firsts[place];
        return true;
    }
    if (!memory_grow(&items, &attributes->capacity, attributes->count + 1,
                     sizeof(struct match_attribute *))) {
        return false;
    }
    attributes->firsts = items;
    if (!read(attributes, module, line, &attributes->firsts[attributes->count])) {
        return false;
    }
    *first = attributes->firsts[attributes->count];
    return number_map_put(&attributes->places, key, (uint32_t)attributes->count++);
}

/* ---- computed keys ---- */

/* The number of values before the reader that are searched for a name. */
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

/* Adds a literal that begins after its quote. Returns the position after the closing quote, or 0
 * on failure. */
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

/* Adds one operand. Returns the position after it, or 0 on failure. */
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
