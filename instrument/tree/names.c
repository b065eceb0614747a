/* Numbers the identifiers of a file. */
#include "instrument/tree/names.h"

#include <assert.h>
#include <string.h>

/* A hash table with open addressing. A slot holds a name's number plus one; 0: free. */
struct name_index {
    uint32_t *slots; /* borrowed from the arena */
    uint32_t mask;
};

static uint32_t hash_of(struct slice text)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < text.size; i++) {
        hash = (hash ^ (unsigned char)text.bytes[i]) * 16777619u;
    }
    return hash ^ hash >> 15;
}

static struct name_id
find_or_add(struct names *names, struct name_index *index, struct slice text)
{
    uint32_t at = hash_of(text) & index->mask;

    while (index->slots[at] != 0) {
        uint32_t name = index->slots[at] - 1;

        if (slice_equal(names->items[name].text, text)) {
            return (struct name_id){name};
        }
        at = (at + 1) & index->mask;
    }
    names->items[names->count] = (struct name){.text = text};
    index->slots[at] = ++names->count;
    return (struct name_id){names->count - 1};
}

/* Adds the facts that hold anywhere in the file. */
static void
note_statement(struct names *names, const struct syntax *syntax, uint32_t node)
{
    assert(node < syntax->count);

    enum kind kind = (enum kind)syntax->nodes[node].kind;

    for (uint32_t i = node + 1; i < syntax->nodes[node].next; i++) {
        if (name_is_known(names->of_node[i])) {
            struct name *name = &names->items[names->of_node[i].number];

            name->is_deleted |= kind == KIND_DELETE_STATEMENT;
            name->is_global |= kind == KIND_GLOBAL_STATEMENT;
            name->is_nonlocal |= kind == KIND_NONLOCAL_STATEMENT;
        }
    }
}

bool names_read(struct names *names, const struct syntax *syntax, struct arena *arena)
{
    struct name_index index;
    uint32_t identifier_count = 0;
    uint32_t size = 16;

    for (uint32_t i = 0; i < syntax->count; i++) {
        identifier_count += syntax->nodes[i].kind == KIND_IDENTIFIER;
    }
    while (size < 2 * identifier_count) {
        size *= 2;
    }
    *names = (struct names){.node_count = syntax->count};
    index.mask = size - 1;
    index.slots = arena_allocate(arena, size, sizeof *index.slots);
    names->items = arena_allocate(arena, identifier_count, sizeof *names->items);
    names->of_node = arena_allocate(arena, syntax->count, sizeof *names->of_node);
    names->is_binding = arena_allocate(arena, syntax->count, sizeof *names->is_binding);
    if (names->is_binding == NULL || index.slots == NULL || names->items == NULL ||
        names->of_node == NULL) {
        return false;
    }
    memset(names->is_binding, 0, syntax->count * sizeof *names->is_binding);
    memset(index.slots, 0, size * sizeof *index.slots);
    for (uint32_t i = 0; i < syntax->count; i++) {
        names->of_node[i] = syntax->nodes[i].kind == KIND_IDENTIFIER
                                ? find_or_add(names, &index, syntax_text(syntax, i))
                                : NAME_NONE;
    }
    for (uint32_t i = 0; i < syntax->count; i++) {
        switch (syntax->nodes[i].kind) {
        case KIND_ATTRIBUTE:
            names->of_node[syntax->nodes[i].next - 1] = NAME_NONE;
            break;
        case KIND_KEYWORD_ARGUMENT:
        case KIND_KEYWORD_PATTERN:
            if (i + 1 < syntax->nodes[i].next) {
                names->of_node[i + 1] = NAME_NONE;
            }
            break;
        case KIND_GLOBAL_STATEMENT:
        case KIND_NONLOCAL_STATEMENT:
        case KIND_DELETE_STATEMENT:
            note_statement(names, syntax, i);
            break;
        default:
            break;
        }
    }
    return true;
}
