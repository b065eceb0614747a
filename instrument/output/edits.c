/* Sorting and applying insertions. */
#include "instrument/output/edits.h"

#include "runtime/base/memory.h"

#include <string.h>

#define RANK_SHIFT  60
#define LEVEL_SHIFT 16

void edits_init(struct edits *edits)
{
    *edits = (struct edits){.text = BUFFER_INIT};
}

void edits_release(struct edits *edits)
{
    memory_free(edits->items);
    buffer_release(&edits->text);
    edits_init(edits);
}

size_t edits_begin(const struct edits *edits)
{
    return edits->text.size;
}

static void add(struct edits *edits, size_t begin, uint32_t offset, uint64_t order)
{
    void *items = edits->items;

    if (edits->text.size > INSTRUMENT_INSERTED_LIMIT) {
        edits->text.size = begin;
        edits->is_too_large = true;
        return;
    }
    if (!memory_grow(&items, &edits->capacity, edits->count + 1,
                     sizeof *edits->items)) {
        edits->has_failed = true;
        return;
    }
    edits->items = items;
    edits->items[edits->count++] = (struct edit){
        order,
        {.offset = offset,
         .text = (uint32_t)begin,
         .size = (uint32_t)(edits->text.size - begin)},
    };
}

enum edit_rank edits_rank(const struct edit *edit)
{
    return (enum edit_rank)(edit->order >> RANK_SHIFT);
}

void edits_end(struct edits *edits, size_t begin, uint32_t offset, enum edit_rank rank)
{
    add(edits, begin, offset, (uint64_t)rank << RANK_SHIFT | edits->count);
}

void edits_add(struct edits *edits,
               uint32_t offset,
               enum edit_rank rank,
               struct slice text)
{
    size_t begin = edits_begin(edits);

    buffer_add(&edits->text, text);
    edits_end(edits, begin, offset, rank);
}

/* Outer ranges end later, so they open first. */
void edits_end_open(
    struct edits *edits, size_t begin, uint32_t start, uint32_t end, uint32_t level)
{
    add(edits, begin, start,
        (uint64_t)EDIT_OPEN << RANK_SHIFT |
            (uint64_t)(UINT32_MAX - end) << LEVEL_SHIFT | level);
}

/* Inner ranges start later, so they close first. */
void edits_end_close(
    struct edits *edits, size_t begin, uint32_t start, uint32_t end, uint32_t level)
{
    add(edits, begin, end,
        (uint64_t)EDIT_CLOSE << RANK_SHIFT |
            (uint64_t)(UINT32_MAX - start) << LEVEL_SHIFT | (UINT16_MAX - level));
}

void edits_anchor(struct edits *edits, uint32_t start, uint32_t end)
{
    if (edits->count > 0) {
        edits->items[edits->count - 1].insertion.anchor_start = start;
        edits->items[edits->count - 1].insertion.anchor_end = end;
    }
}

static bool is_after(const struct edit *a, const struct edit *b)
{
    if (a->insertion.offset != b->insertion.offset) {
        return a->insertion.offset > b->insertion.offset;
    }
    return a->order > b->order;
}

static void merge(
    const struct edit *from, struct edit *to, size_t left, size_t middle, size_t right)
{
    size_t a = left;
    size_t b = middle;

    for (size_t i = left; i < right; i++) {
        if (a < middle && (b >= right || !is_after(&from[a], &from[b]))) {
            to[i] = from[a++];
        } else {
            to[i] = from[b++];
        }
    }
}

/* A merge sort from runs of eight: stable, and never slow on odd input. Most runs are sorted
 * already, since statements are visited in the order of the text. */
bool edits_sort(struct edits *edits)
{
    const size_t run = 8;
    struct edit *from = edits->items;
    struct edit *to;
    struct edit *spare;

    if (edits->has_failed || edits->text.has_failed) {
        return false;
    }
    if (edits->count == 0) {
        return true;
    }
    spare = memory_allocate(edits->count, sizeof *spare);
    if (spare == NULL) {
        return false;
    }
    for (size_t i = 1; i < edits->count; i++) {
        struct edit item = from[i];
        size_t at = i;

        while (at % run != 0 && is_after(&from[at - 1], &item)) {
            from[at] = from[at - 1];
            at--;
        }
        from[at] = item;
    }
    to = spare;
    for (size_t width = run; width < edits->count; width *= 2) {
        struct edit *swap = from;

        for (size_t left = 0; left < edits->count; left += 2 * width) {
            size_t middle = left + width < edits->count ? left + width : edits->count;
            size_t right =
                left + 2 * width < edits->count ? left + 2 * width : edits->count;

            merge(from, to, left, middle, right);
        }
        from = to;
        to = swap;
    }
    if (from != edits->items) {
        memcpy(edits->items, from, edits->count * sizeof *from);
    }
    memory_free(spare);
    return true;
}

bool edits_apply(const struct edits *edits, struct slice text, struct buffer *output)
{
    size_t done = 0;

    if (!buffer_reserve(output, text.size + edits->text.size)) {
        return false;
    }
    for (size_t i = 0; i < edits->count; i++) {
        const struct insertion *insertion = &edits->items[i].insertion;

        buffer_add_bytes(output, text.bytes + done, insertion->offset - done);
        buffer_add_bytes(output, edits->text.bytes + insertion->text, insertion->size);
        done = insertion->offset;
    }
    buffer_add_bytes(output, text.bytes + done, text.size - done);
    return !output->has_failed;
}
