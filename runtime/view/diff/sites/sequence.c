/* Alignment of two sequences. It matches equal ends; then members whose key occurs once in each
 * sequence as anchors; and between these the members with the largest total score. */
#include "runtime/view/diff/sites/sequence.h"

#include "runtime/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Ranges of at most this many pairs are aligned by comparing all pairs. */
#define CELLS_MAX ((uint64_t)1 << 20)
/* Length of the pieces into which a long range without anchors is cut. */
#define PIECE 512

struct range {
    uint32_t start[2];
    uint32_t end[2];
};

struct work {
    const struct diff_sequence *sequence; /* borrowed */
    uint32_t *partners;                   /* borrowed */
    uint8_t *ways;                        /* owned: enum way for each cell */
    size_t way_capacity;
    uint32_t *rows; /* owned: two rows of scores */
    size_t row_capacity;
    struct anchor *anchors; /* owned */
    size_t anchor_capacity;
    struct range *ranges; /* owned: ranges to be aligned */
    size_t range_capacity;
    size_t range_count;
};

/* A member with its key. */
struct anchor {
    uint64_t key;
    uint32_t index;
    uint32_t side;
    /* Fields of a member that is once in each sequence. */
    uint32_t partner;
    uint32_t before; /* the anchor before it in the longest chain, or NONE */
};

static uint32_t length(const struct range *range, unsigned side)
{
    return range->end[side] - range->start[side];
}

static bool push(struct work *work, struct range range)
{
    void *items = work->ranges;

    if (length(&range, 0) == 0 || length(&range, 1) == 0) {
        return true;
    }
    if (!memory_grow(&items, &work->range_capacity, work->range_count + 1,
                     sizeof *work->ranges)) {
        return false;
    }
    work->ranges = items;
    work->ranges[work->range_count++] = range;
    return true;
}

/* ---- equal ends ---- */

static void trim(struct work *work, struct range *range)
{
    const uint64_t *a = work->sequence->keys[0];
    const uint64_t *b = work->sequence->keys[1];

    while (length(range, 0) > 0 && length(range, 1) > 0 &&
           a[range->start[0]] == b[range->start[1]]) {
        work->partners[range->start[0]++] = range->start[1]++;
    }
    while (length(range, 0) > 0 && length(range, 1) > 0 &&
           a[range->end[0] - 1] == b[range->end[1] - 1]) {
        work->partners[--range->end[0]] = --range->end[1];
    }
}

/* ---- all pairs ---- */

enum way { WAY_PAIR, WAY_A, WAY_B };

static bool reserve_cells(struct work *work, const struct range *range)
{
    size_t cells = (size_t)length(range, 0) * length(range, 1);
    void *ways = work->ways;
    void *rows = work->rows;
    bool is_done = memory_grow(&ways, &work->way_capacity, cells, 1);

    work->ways = ways;
    if (is_done) {
        is_done = memory_grow(&rows, &work->row_capacity,
                              ((size_t)length(range, 1) + 1) * 2, sizeof *work->rows);
        work->rows = rows;
    }
    return is_done;
}

/* Computes the best score of the rest from each cell, from the ends to the starts, so that the
 * best way can be followed forwards. */
static void weigh(struct work *work, const struct range *range)
{
    const struct diff_sequence *sequence = work->sequence;
    uint32_t columns = length(range, 1);
    uint32_t *below = work->rows;
    uint32_t *row = work->rows + columns + 1;

    memset(below, 0, ((size_t)columns + 1) * sizeof *below);
    for (uint32_t i = length(range, 0); i-- > 0;) {
        uint8_t *ways = work->ways + (size_t)i * columns;
        uint32_t *swapped = below;

        row[columns] = 0;
        for (uint32_t k = columns; k-- > 0;) {
            uint32_t score = sequence->score(sequence->context, range->start[0] + i,
                                             range->start[1] + k);
            uint32_t best = below[k];

            ways[k] = WAY_A;
            if (row[k + 1] > best) {
                best = row[k + 1];
                ways[k] = WAY_B;
            }
            if (score > 0 && below[k + 1] + score >= best) {
                best = below[k + 1] + score;
                ways[k] = WAY_PAIR;
            }
            row[k] = best;
        }
        below = row;
        row = swapped;
    }
}

static bool align_all(struct work *work, const struct range *range)
{
    uint32_t columns = length(range, 1);
    uint32_t i = 0;
    uint32_t k = 0;

    if (!reserve_cells(work, range)) {
        return false;
    }
    weigh(work, range);
    while (i < length(range, 0) && k < columns) {
        switch (work->ways[(size_t)i * columns + k]) {
        case WAY_PAIR:
            work->partners[range->start[0] + i++] = range->start[1] + k++;
            break;
        case WAY_A:
            i++;
            break;
        default:
            k++;
            break;
        }
    }
    return true;
}

/* ---- anchors ---- */

static int compare_keys(const void *left, const void *right)
{
    const struct anchor *a = left;
    const struct anchor *b = right;

    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->side != b->side) {
        return a->side < b->side ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

static int compare_places(const void *left, const void *right)
{
    const struct anchor *a = left;
    const struct anchor *b = right;

    return a->index < b->index ? -1 : a->index > b->index;
}

/* Keeps the members whose key is once in each sequence, in the order of A, and returns their
 * number. */
static size_t keep_unique(struct anchor *anchors, size_t count)
{
    size_t kept = 0;

    qsort(anchors, count, sizeof *anchors, compare_keys);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;

        while (end < count && anchors[end].key == anchors[i].key) {
            end++;
        }
        if (end == i + 2 && anchors[i].side != anchors[i + 1].side) {
            anchors[i].partner = anchors[i + 1].index;
            anchors[kept++] = anchors[i];
        }
        i = end;
    }
    qsort(anchors, kept, sizeof *anchors, compare_places);
    return kept;
}

/* Pairs the longest chain of anchors that ascends on both sides, and adds the ranges between
 * them. `ends` has room for `count`. Returns false if memory ran out. */
static bool chain_anchors(struct work *work,
                          struct anchor *anchors,
                          size_t count,
                          uint32_t *ends,
                          struct range range)
{
    size_t chain = 0;
    uint32_t at;

    for (uint32_t i = 0; i < count; i++) {
        size_t low = 0;
        size_t high = chain;

        while (low < high) {
            size_t middle = (low + high) / 2;

            if (anchors[ends[middle]].partner < anchors[i].partner) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        anchors[i].before = low == 0 ? DIFF_SEQUENCE_NONE : ends[low - 1];
        ends[low] = i;
        chain += low == chain;
    }
    for (at = ends[chain - 1]; at != DIFF_SEQUENCE_NONE; at = anchors[at].before) {
        struct range behind = range;

        behind.start[0] = anchors[at].index + 1;
        behind.start[1] = anchors[at].partner + 1;
        work->partners[anchors[at].index] = anchors[at].partner;
        range.end[0] = anchors[at].index;
        range.end[1] = anchors[at].partner;
        if (!push(work, behind)) {
            return false;
        }
    }
    return push(work, range);
}

/* Splits the range at its anchors. `is_split` becomes whether it has some. Returns false if
 * memory ran out. */
static bool split_by_anchors(struct work *work, struct range range, bool *is_split)
{
    size_t count = (size_t)length(&range, 0) + length(&range, 1);
    void *items = work->anchors;
    size_t at = 0;
    uint32_t *ends;
    bool is_done;

    if (!memory_grow(&items, &work->anchor_capacity, count, sizeof *work->anchors)) {
        return false;
    }
    work->anchors = items;
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t i = range.start[side]; i < range.end[side]; i++) {
            work->anchors[at++] = (struct anchor){
                .key = work->sequence->keys[side][i], .index = i, .side = side};
        }
    }
    count = keep_unique(work->anchors, count);
    *is_split = count > 0;
    if (count == 0) {
        return true;
    }
    ends = memory_allocate(count, sizeof *ends);
    is_done = ends != NULL && chain_anchors(work, work->anchors, count, ends, range);
    memory_free(ends);
    return is_done;
}

/* ---- all together ---- */

static bool align_range(struct work *work, struct range range)
{
    bool is_split;

    trim(work, &range);
    if (length(&range, 0) == 0 || length(&range, 1) == 0) {
        return true;
    }
    if ((uint64_t)length(&range, 0) * length(&range, 1) <= CELLS_MAX) {
        return align_all(work, &range);
    }
    if (!split_by_anchors(work, range, &is_split)) {
        return false;
    }
    if (!is_split) {
        struct range rest = range;

        for (unsigned side = 0; side < 2; side++) {
            if (length(&range, side) > PIECE) {
                range.end[side] = rest.start[side] = range.start[side] + PIECE;
            } else {
                rest.start[side] = range.end[side];
            }
        }
        return push(work, rest) && align_all(work, &range);
    }
    return true;
}

bool diff_sequence_align(const struct diff_sequence *sequence, uint32_t *partners)
{
    struct work work = {.sequence = sequence, .partners = partners};
    bool is_done =
        push(&work, (struct range){.end = {sequence->counts[0], sequence->counts[1]}});

    for (uint32_t i = 0; i < sequence->counts[0]; i++) {
        partners[i] = DIFF_SEQUENCE_NONE;
    }
    while (is_done && work.range_count > 0) {
        is_done = align_range(&work, work.ranges[--work.range_count]);
    }
    memory_free(work.ways);
    memory_free(work.rows);
    memory_free(work.anchors);
    memory_free(work.ranges);
    return is_done;
}
