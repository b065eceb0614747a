/* Ids and ordinals of sites. */
#include "instrument/output/sites.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <string.h>

void sites_init(struct sites *sites, const struct syntax *syntax, struct arena *arena)
{
    *sites = (struct sites){.syntax = syntax, .arena = arena};
}

void sites_release(struct sites *sites)
{
    memory_free(sites->items);
    memory_free(sites->functions);
    number_map_release(&sites->key_counts);
}

void draft_init(struct site_draft *draft,
                enum site_kind kind,
                uint32_t function,
                uint32_t node)
{
    draft->kind = kind;
    draft->function = function;
    draft->node = node;
    draft->arm = 0;
    draft->repeats = false;
    draft->has_condition = false;
    draft->condition = 0;
    draft->write_count = 0;
    draft->reads.count = 0;
    draft->terms.size = 0;
    draft->terms.is_left_out = false;
}

bool draft_write(struct site_draft *draft, struct slice name, enum site_source source)
{
    for (uint32_t i = 0; i < draft->write_count; i++) {
        if (slice_equal(draft->writes[i].name, name)) {
            return false;
        }
    }
    if (draft->write_count == WRITES_LIMIT) {
        return false;
    }
    draft->writes[draft->write_count++] = (struct site_write){name, source};
    return true;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' ||
           byte == '\f' || byte == '\\';
}

void draft_condition(struct site_draft *draft, struct slice text)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < text.size; i++) {
        if (!is_blank(text.bytes[i])) {
            hash = (hash ^ (unsigned char)text.bytes[i]) * 16777619u;
        }
    }
    draft->has_condition = true;
    draft->condition = hash;
}

uint32_t sites_add_function(struct sites *sites, struct slice name, uint32_t line)
{
    void *functions = sites->functions;

    if (!memory_grow(&functions, &sites->function_capacity, sites->function_count + 1,
                     sizeof *sites->functions)) {
        sites->has_failed = true;
        return 0;
    }
    sites->functions = functions;
    sites->functions[sites->function_count] =
        (struct function_draft){.function = {name, line}, .name_hash = hash_64(name)};
    return sites->function_count++;
}

static uint64_t key_hash(const struct sites *sites, const struct site_draft *draft)
{
    uint64_t hash =
        (sites->functions[draft->function].name_hash ^ (uint64_t)draft->kind) *
            0x9E3779B97F4A7C15u +
        draft->condition;

    for (uint32_t i = 0; i < draft->write_count; i++) {
        struct slice name = draft->writes[i].name;

        for (size_t j = 0; j < name.size; j++) {
            hash = (hash ^ (unsigned char)name.bytes[j]) * 0x100000001B3u;
        }
        hash = (hash ^ ',') * 0x100000001B3u;
    }
    return hash;
}

/* Returns the number of earlier sites with this key, and counts this one. */
static uint32_t next_ordinal(struct sites *sites, const struct site_draft *draft)
{
    uint64_t hash;
    uint32_t count;

    if (sites->has_failed) {
        return 0; /* the draft's function may have failed to be added */
    }
    hash = key_hash(sites, draft);
    count = number_map_get(&sites->key_counts, hash);
    if (count == NUMBER_MAP_NONE) {
        count = 0;
    }
    if (!number_map_put(&sites->key_counts, hash, count + 1)) {
        sites->has_failed = true;
        return 0;
    }
    return count;
}

static bool
copy_lists(struct sites *sites, const struct site_draft *draft, struct site *site)
{
    site->write_count = draft->write_count;
    site->read_count = draft->reads.count;
    if (draft->write_count > 0) {
        site->writes =
            arena_allocate(sites->arena, draft->write_count, sizeof *site->writes);
        if (site->writes == NULL) {
            return false;
        }
        memcpy(site->writes, draft->writes, draft->write_count * sizeof *site->writes);
    }
    if (draft->reads.count > 0) {
        site->reads =
            arena_allocate(sites->arena, draft->reads.count, sizeof *site->reads);
        if (site->reads == NULL) {
            return false;
        }
        memcpy(site->reads, draft->reads.items,
               draft->reads.count * sizeof *site->reads);
    }
    site->term = terms_text(&draft->terms);
    if (site->term.size > 0) {
        site->term = arena_copy(sites->arena, site->term);
    }
    return site->term.size == 0 || site->term.bytes != NULL;
}

uint32_t
sites_add(struct sites *sites, const struct site_draft *draft, bool is_selected)
{
    uint32_t ordinal = next_ordinal(sites, draft);
    void *items = sites->items;
    struct site *site;

    assert(sites->has_failed || draft->function < sites->function_count);
    assert(draft->node < sites->syntax->count && draft->write_count <= WRITES_LIMIT);
    if (!is_selected || sites->has_failed) {
        return SITE_NONE;
    }
    if (!memory_grow(&items, &sites->capacity, sites->count + 1,
                     sizeof *sites->items)) {
        sites->has_failed = true;
        return SITE_NONE;
    }
    sites->items = items;
    site = &sites->items[sites->count];
    *site = (struct site){
        .kind = draft->kind,
        .line = sites->syntax->nodes[draft->node].row + 1,
        .column = sites->syntax->nodes[draft->node].column,
        .function = draft->function,
        .ordinal = ordinal,
        .arm = draft->arm,
        .repeats = draft->repeats,
        .has_condition = draft->has_condition,
        .condition = draft->condition,
    };
    if (!copy_lists(sites, draft, site)) {
        sites->has_failed = true;
        return SITE_NONE;
    }
    return sites->count++;
}
