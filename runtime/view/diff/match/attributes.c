/* The attributes of `self` that statements use. */
#include "runtime/view/diff/match/attributes.h"

#include "runtime/base/memory.h"
#include "runtime/site/statement_text.h"

#include <ctype.h>

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

/* Where the dotted name that begins at `start` ends. */
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
