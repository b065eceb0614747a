/* Codes of distinct texts: dictionary encoding. */
#include "runtime/view/walk/text_codes.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"

#include <assert.h>
#include <string.h>

void text_codes_init(struct text_codes *codes)
{
    memset(codes, 0, sizeof *codes);
    arena_init(&codes->arena);
    number_map_init(&codes->numbers);
}

void text_codes_release(struct text_codes *codes)
{
    memory_free(codes->texts);
    number_map_release(&codes->numbers);
    arena_release(&codes->arena);
    buffer_release(&codes->repaired);
}

void text_codes_reset(struct text_codes *codes)
{
    number_map_release(&codes->numbers);
    number_map_init(&codes->numbers);
    arena_reset(&codes->arena);
    codes->count = 0;
    codes->size = 0;
}

static bool add_text(struct text_codes *codes, struct slice text, uint64_t hash)
{
    void *items = codes->texts;
    struct slice kept;

    if (codes->count >= INT32_MAX ||
        !memory_grow(&items, &codes->capacity, codes->count + 1,
                     sizeof *codes->texts)) {
        return false;
    }
    codes->texts = items;
    kept = arena_copy(&codes->arena, text);
    if (kept.bytes == NULL ||
        !number_map_add(&codes->numbers, hash, (uint32_t)codes->count)) {
        return false;
    }
    codes->texts[codes->count++] = kept;
    codes->size += text.size;
    return true;
}

static bool find_hashed(struct text_codes *codes, struct slice text, uint32_t *code)
{
    uint64_t hash = hash_64(text);
    struct number_map_search search = number_map_search(&codes->numbers, hash);

    while (number_map_next(&search)) {
        if (slice_equal(codes->texts[search.number], text)) {
            *code = search.number;
            return true;
        }
    }
    *code = (uint32_t)codes->count;
    return add_text(codes, text, hash);
}

static struct slice repair(struct text_codes *codes, struct slice text)
{
    codes->repaired.size = 0;
    for (size_t start = 0; start < text.size;) {
        struct slice rest = slice_part(text, start, text.size);
        size_t size = utf8_find_invalid(rest);

        buffer_add_bytes(&codes->repaired, rest.bytes, size);
        if (size < rest.size) {
            buffer_add(&codes->repaired, SLICE("\xEF\xBF\xBD"));
        }
        start += size + 1;
    }
    return buffer_slice(&codes->repaired);
}

static bool find_valid(struct text_codes *codes, struct slice text, uint32_t *code)
{
    if (utf8_find_invalid(text) < text.size) {
        text = repair(codes, text);
        if (codes->repaired.has_failed) {
            return false;
        }
    }
    return find_hashed(codes, text, code);
}

bool text_codes_find(struct text_codes *codes, struct slice text, int32_t *code)
{
    uintptr_t place = (uintptr_t)text.bytes;
    uint32_t *near = &codes->near[(place >> 3 ^ place >> 9) % TEXT_CODES_NEAR];

    /* The memory may hold another text by now, so the texts are compared. */
    if (*near >= codes->count || !slice_equal(codes->texts[*near], text)) {
        if (!find_valid(codes, text, near)) {
            return false;
        }
    }
    assert(*near < codes->count);
    *code = (int32_t)*near;
    return true;
}
