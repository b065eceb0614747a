/* Packed weights, and their pieces in the other run.
 *
 * A weight without a partner is compared with series of the other side's weights: those in the
 * order of their container from some weight on, at a constant stride, until they have as many
 * elements. The figures of a concatenation follow from the figures of its pieces, so one
 * comparison decides, whatever the order, axis or layout. The samples then show the place of
 * each piece. */
#include "runtime/view/diff/match/match.h"

#include "runtime/array/dtype.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The maximum distance between consecutive pieces in their container. */
#define STRIDE_MAX 16
/* The maximum number of weights without a partner that are compared. */
#define LOOSE_MAX 4096
/* The relative difference allowed between sums of the same elements. */
#define SUM_SLACK 1e-6
/* The number of samples on which two weights must agree. */
#define SAMPLES_LEAST 2

/* The weights of a side that the other side does not have, in the order of their container. */
struct loose {
    uint32_t items[LOOSE_MAX]; /* contents */
    size_t count;
};

struct search {
    struct match_packs *packs;
    struct match_contents *contents;
    unsigned side; /* of the packed weights */
    struct loose pieces;
};

static const struct match_value *value_of(const struct match_contents *contents,
                                          uint32_t content)
{
    assert(content < contents->count);
    return &contents->run->values[contents->items[content].first];
}

/* ---- figures ---- */

static double sum_of(const struct statistics *figures)
{
    return figures->mean * (double)figures->count;
}

static double squares_of(const struct statistics *figures)
{
    double spread = figures->count > 1 ? figures->std * figures->std : 0;

    return spread * ((double)figures->count - 1) +
           figures->mean * figures->mean * (double)figures->count;
}

struct total {
    uint64_t count, zeros;
    double sum, squares, low, high;
};

static void add_figures(struct total *total, const struct match_value *value)
{
    const struct statistics *figures = value->statistics;
    enum dtype dtype = value->shape->dtype;

    total->count += figures->count;
    total->zeros += figures->zero_count;
    total->sum += sum_of(figures);
    total->squares += squares_of(figures);
    total->low = fmin(total->low, statistics_bound_real(dtype, figures->min));
    total->high = fmax(total->high, statistics_bound_real(dtype, figures->max));
}

static bool is_total(const struct total *total, const struct match_value *whole)
{
    struct total own = {.low = INFINITY, .high = -INFINITY};
    double bound;

    add_figures(&own, whole);
    bound = SUM_SLACK * sqrt(own.squares * (double)own.count);
    return total->count == own.count && total->zeros == own.zeros &&
           total->low == own.low && total->high == own.high &&
           fabs(total->sum - own.sum) <= bound &&
           fabs(total->squares - own.squares) <= SUM_SLACK * own.squares;
}

/* ---- the place of a piece ---- */

#define AXES_MAX 4

/* A value's shape without axes of one element, and the places of its samples. */
struct sampled {
    const struct match_value *value;
    const char *sample;
    struct sample_grid grid;
    uint32_t axes[ARRAY_DIMENSION_MAX];
    uint32_t count;
};

static bool sampled_init(struct sampled *sampled,
                         const struct match_run *run,
                         const struct match_value *value)
{
    *sampled = (struct sampled){.value = value, .grid = match_run_grid(run, value)};
    sampled->sample = match_run_sample(run, value);
    for (uint32_t i = 0; i < value->shape->dimension_count; i++) {
        if (value->shape->shape[i] != 1) {
            sampled->axes[sampled->count++] = i;
        }
    }
    return sampled->grid.count > 0 && sampled->count > 0 && sampled->count <= AXES_MAX;
}

static int64_t size_along(const struct sampled *sampled, uint32_t axis)
{
    return sampled->value->shape->shape[sampled->axes[axis]];
}

static double element_of(const struct sampled *sampled, uint64_t place)
{
    enum dtype dtype = sampled->value->shape->dtype;
    struct dtype_value read =
        dtype_read(dtype, sampled->sample + place * dtype_size(dtype));

    return dtype_value_real(&read);
}

/* The place among the samples of the element at the coordinates. UINT64_MAX: not sampled. */
static uint64_t find_sample(const struct sampled *sampled, const int64_t *at)
{
    uint64_t place = 0;

    for (uint32_t i = 0; i < sampled->count; i++) {
        uint32_t axis = sampled->axes[i], k = 0;

        while (k < sampled->grid.counts[axis] &&
               sample_grid_index(&sampled->grid, axis, k) != at[i]) {
            k++;
        }
        if (k == sampled->grid.counts[axis]) {
            return UINT64_MAX;
        }
        place = place * sampled->grid.counts[axis] + k;
    }
    return place;
}

/* The coordinates of a sample, without axes of one element. */
static void read_place(const struct sampled *sampled, uint64_t place, int64_t *at)
{
    for (uint32_t i = sampled->count; i-- > 0;) {
        uint32_t axis = sampled->axes[i], count = sampled->grid.counts[axis];

        at[i] = sample_grid_index(&sampled->grid, axis, (uint32_t)(place % count));
        place /= count;
    }
}

/* Counts the samples that agree if the piece begins at `row` of the whole, along the first axis.
 * A stack has one axis more than its pieces. Returns 0 if a sample differs or the shapes do not
 * fit. */
static unsigned count_common(const struct sampled *whole,
                             const struct sampled *piece,
                             int64_t row,
                             bool is_transposed)
{
    bool is_stack = whole->count == piece->count + 1;
    unsigned common = 0;

    if (!is_stack && whole->count != piece->count) {
        return 0;
    }
    for (uint64_t place = 0; place < whole->grid.count; place++) {
        int64_t at[AXES_MAX], in_piece[AXES_MAX];
        uint64_t found;

        read_place(whole, place, at);
        if (is_stack && at[0] != row) {
            continue;
        }
        at[0] -= is_stack ? 0 : row;
        for (uint32_t i = 0; i < piece->count; i++) {
            uint32_t axis = is_transposed ? piece->count - 1 - i : i;

            in_piece[i] = at[axis + is_stack];
            if (in_piece[i] < 0 || in_piece[i] >= size_along(piece, i)) {
                break;
            }
        }
        found = find_sample(piece, in_piece);
        if (found != UINT64_MAX) {
            double x = element_of(whole, place), y = element_of(piece, found);

            if (fabs(x - y) > SUM_SLACK * (fabs(x) + fabs(y))) {
                return 0;
            }
            common++;
        }
    }
    return common;
}

/* The number of rows that the piece has in the whole. */
static int64_t
rows_of(const struct sampled *whole, const struct sampled *piece, bool is_transposed)
{
    return whole->count == piece->count + 1
               ? 1
               : size_along(piece, is_transposed ? piece->count - 1 : 0);
}

/* ---- the order of the pieces ---- */

/* The first piece from `from` on that begins at the row. pack->count: none. */
static uint32_t find_at(const struct search *search,
                        const struct match_pack *pack,
                        const struct sampled *whole,
                        uint32_t from,
                        int64_t *row)
{
    const struct match_contents *others = &search->contents[1 - search->side];
    bool is_transposed = pack->order == MATCH_ORDER_TRANSPOSED;

    for (uint32_t i = from; i < pack->count; i++) {
        struct sampled piece;

        if (sampled_init(&piece, others->run, value_of(others, pack->pieces[i])) &&
            count_common(whole, &piece, *row, is_transposed) >= SAMPLES_LEAST) {
            *row += rows_of(whole, &piece, is_transposed);
            return i;
        }
    }
    return pack->count;
}

/* Sorts the pieces by their place in the whole, if the samples show it. */
static bool order_pieces(const struct search *search,
                         struct match_pack *pack,
                         enum match_order order)
{
    const struct match_contents *own = &search->contents[search->side];
    struct match_pack tried = *pack;
    struct sampled whole;
    int64_t row = 0;

    tried.order = order;
    if (!sampled_init(&whole, own->run, value_of(own, pack->whole))) {
        return false;
    }
    for (uint32_t i = 0; i < tried.count; i++) {
        uint32_t found = find_at(search, &tried, &whole, i, &row), piece;

        if (found == tried.count) {
            if (i > 0) {
                pack->order = order; /* of the first piece whose order is known */
            }
            return i > 0;
        }
        piece = tried.pieces[found];
        memmove(&tried.pieces[i + 1], &tried.pieces[i],
                (found - i) * sizeof *tried.pieces);
        tried.pieces[i] = piece;
        tried.is_permuted |= found != i;
    }
    tried.is_ordered = true;
    *pack = tried;
    return true;
}

/* ---- the search ---- */

static bool add_pack(struct search *search, struct match_pack *pack)
{
    struct match_packs *packs = search->packs;
    void *items = packs->items;

    if (!order_pieces(search, pack, MATCH_ORDER_SAME)) {
        order_pieces(search, pack, MATCH_ORDER_TRANSPOSED);
    }
    if (!memory_grow(&items, &packs->capacity, packs->count + 1,
                     sizeof *packs->items)) {
        return false;
    }
    packs->items = items;
    packs->items[packs->count++] = *pack;
    return true;
}

/* Tries the pieces that begin with the weight at `start`, each `stride` apart. Returns whether
 * they make up the whole. */
static bool try_pieces(const struct search *search,
                       size_t start,
                       size_t stride,
                       struct match_pack *pack)
{
    const struct match_contents *others = &search->contents[1 - search->side];
    const struct match_value *whole =
        value_of(&search->contents[search->side], pack->whole);
    struct total total = {.low = INFINITY, .high = -INFINITY};

    pack->count = 0;
    for (size_t i = start;
         i < search->pieces.count && total.count < whole->statistics->count &&
         pack->count < MATCH_PACK_PIECES_MAX;
         i += stride) {
        const struct match_value *piece = value_of(others, search->pieces.items[i]);

        if (dtype_class(piece->shape->dtype) != dtype_class(whole->shape->dtype)) {
            return false;
        }
        pack->pieces[pack->count++] = search->pieces.items[i];
        add_figures(&total, piece);
    }
    return pack->count > 1 && is_total(&total, whole);
}

static bool find_pack(struct search *search, uint32_t whole)
{
    struct match_pack pack = {
        .side = search->side, .whole = whole, .order = MATCH_ORDER_UNKNOWN};

    for (size_t start = 0; start < search->pieces.count; start++) {
        for (size_t stride = 1; stride <= STRIDE_MAX; stride++) {
            if (try_pieces(search, start, stride, &pack)) {
                return add_pack(search, &pack);
            }
        }
    }
    return true;
}

/* Whether the weight is in the newest state dict and the other run does not have it. */
static bool is_loose(const struct match_contents *contents, unsigned side, uint32_t i)
{
    assert(i < contents[side].count);

    const struct match_content *item = &contents[side].items[i];

    return item->keys > 0 && !item->is_weak &&
           (side == 0 ? item->holders == 0 : item->partner == MATCH_NONE);
}

static void
collect_loose(const struct match_contents *all, unsigned side, struct loose *loose)
{
    const struct match_contents *contents = &all[side];
    const struct match_run *run = contents->run;
    uint32_t newest = match_newest_dict(run);

    loose->count = 0;
    for (uint32_t i = 0; newest != MATCH_NONE && i < run->value_count; i++) {
        if (match_is_beside(&run->values[i], &run->values[newest]) &&
            is_loose(all, side, run->values[i].content) && loose->count < LOOSE_MAX) {
            loose->items[loose->count++] = run->values[i].content;
        }
    }
}

/* ---- the pieces in the contents ---- */

/* Records A's packed weight in its pieces, with their rows if these are known. */
static void note_rows(struct match_contents contents[2], const struct match_pack *pack)
{
    struct sampled whole, piece;
    bool is_known =
        pack->is_ordered &&
        sampled_init(&whole, contents[0].run, value_of(&contents[0], pack->whole));
    int64_t row = 0;

    for (uint32_t i = 0; i < pack->count; i++) {
        struct match_content *item = &contents[1].items[pack->pieces[i]];

        item->whole = pack->whole;
        item->row = is_known ? row : -1;
        contents[0].items[pack->whole].holders += item->keys;
        if (is_known && sampled_init(&piece, contents[1].run,
                                     value_of(&contents[1], pack->pieces[i]))) {
            row += rows_of(&whole, &piece, pack->order == MATCH_ORDER_TRANSPOSED);
        }
    }
}

static void note_pack(struct match_contents contents[2], const struct match_pack *pack)
{
    struct match_content *whole = &contents[1].items[pack->whole];

    if (pack->side == 0) {
        note_rows(contents, pack);
        return;
    }
    whole->whole = pack->pieces[0];
    whole->row = -1;
    for (uint32_t i = 0; i < pack->count; i++) {
        contents[0].items[pack->pieces[i]].holders += whole->keys;
        contents[0].items[pack->pieces[i]].group = pack->pieces[0];
    }
}

/* The row of A's weight at which B's weight begins. -1: A's weight does not have its rows. */
static int64_t find_row(const struct match_contents contents[2], uint32_t a, uint32_t b)
{
    struct sampled whole, piece;
    int64_t rows;

    if (!sampled_init(&whole, contents[0].run, value_of(&contents[0], a)) ||
        !sampled_init(&piece, contents[1].run, value_of(&contents[1], b)) ||
        whole.count != piece.count) {
        return -1;
    }
    rows = size_along(&piece, 0);
    if (size_along(&whole, 0) <= rows || size_along(&whole, 0) % rows != 0) {
        return -1;
    }
    for (int64_t row = 0; row < size_along(&whole, 0); row += rows) {
        if (count_common(&whole, &piece, row, false) >= SAMPLES_LEAST) {
            return row;
        }
    }
    return -1;
}

/* Finds the weights of B that are rows of a weight of A, even if B lacks its other rows. */
static void find_rows(struct match_contents contents[2])
{
    for (uint32_t b = 0; b < contents[1].count; b++) {
        struct match_content *item = &contents[1].items[b];

        for (uint32_t a = 0; is_loose(contents, 1, b) && item->whole == MATCH_NONE &&
                             a < contents[0].count;
             a++) {
            int64_t row =
                contents[0].items[a].keys == 0 ? -1 : find_row(contents, a, b);

            if (row >= 0) {
                item->whole = a;
                item->row = row;
                contents[0].items[a].holders += item->keys;
            }
        }
    }
}

bool match_packs_find(struct match_packs *packs, struct match_contents contents[2])
{
    struct search *search = memory_allocate(1, sizeof *search);
    bool is_done = search != NULL;

    *packs = (struct match_packs){.count = 0};
    for (unsigned side = 0; is_done && side < 2; side++) {
        search->packs = packs;
        search->contents = contents;
        search->side = side;
        collect_loose(contents, 1 - side, &search->pieces);
        for (uint32_t i = 0; is_done && i < contents[side].count; i++) {
            if (is_loose(contents, side, i)) {
                is_done = find_pack(search, i);
            }
        }
    }
    for (size_t i = 0; is_done && i < packs->count; i++) {
        note_pack(contents, &packs->items[i]);
    }
    find_rows(contents);
    memory_free(search);
    return is_done;
}

static bool has_piece(const struct match_pack *pack, uint32_t whole, uint32_t piece)
{
    bool is_found = false;

    for (uint32_t i = 0; i < pack->count; i++) {
        is_found |= pack->pieces[i] == piece;
    }
    return is_found && pack->whole == whole;
}

void match_packs_check(const struct match_packs *packs,
                       const struct match_contents contents[2],
                       const struct match_pins *pins)
{
    for (size_t i = 0; pins != NULL && i < pins->count; i++) {
        struct match_pin *pin = &pins->items[i];

        if (!pin->is_part || !pin->is_found) {
            continue;
        }
        pin->differs = contents[1].items[pin->contents[1]].whole != pin->contents[0];
        for (size_t k = 0; pin->differs && k < packs->count; k++) {
            unsigned side = packs->items[k].side;

            pin->differs = !has_piece(&packs->items[k], pin->contents[side],
                                      pin->contents[1 - side]);
        }
    }
}

void match_packs_release(struct match_packs *packs)
{
    memory_free(packs->items);
}

const struct match_pack *match_packs_of(const struct match_packs *packs, uint32_t whole)
{
    for (size_t i = 0; i < packs->count; i++) {
        if (packs->items[i].side == 1 && packs->items[i].whole == whole) {
            return &packs->items[i];
        }
    }
    return NULL;
}

const struct match_pack *match_packs_with(const struct match_packs *packs,
                                          uint32_t piece)
{
    for (size_t i = 0; i < packs->count; i++) {
        for (uint32_t k = 0; packs->items[i].side == 1 && k < packs->items[i].count;
             k++) {
            if (packs->items[i].pieces[k] == piece) {
                return &packs->items[i];
            }
        }
    }
    return NULL;
}
