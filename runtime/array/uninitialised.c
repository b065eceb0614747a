/* Uninitialised memory: the known pieces, and samples of their first content. */
#include "runtime/array/uninitialised.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to this many elements of a piece are compared, and those of the sample. */
#define COMPARED_MAX 448
#define PROBE_MAX    (COMPARED_MAX + SAMPLE_MAX)
#define ELEMENT_MAX  16 /* the largest size of an element, in bytes */

struct uninitialised_piece {
    uint64_t begin, end; /* addresses of its first byte, and after its last one */
    uint64_t serial;     /* ascending in the order of adding */
    uint32_t version;
    uint32_t probe_count;
    uint32_t element_size;
    bool is_written;
    void *owner;       /* owned, see struct uninitialised_owners */
    uint64_t *offsets; /* owned: of the compared elements, in bytes from `begin`,
                                ascending */
    /* In the block of `offsets`: the first content of those elements. */
    unsigned char *at_first;
};

struct uninitialised {
    struct uninitialised_owners owners;
    /* Owned, each too; sorted by `begin`, without overlap. */
    struct uninitialised_piece **pieces;
    size_t count, capacity;
    uint64_t serial;
};

bool uninitialised_is_noted(struct slice note)
{
    return slice_equal(note, SLICE(UNINITIALISED_NOTE)) ||
           slice_equal(note, SLICE(UNINITIALISED_PART_NOTE));
}

struct uninitialised *uninitialised_new(struct uninitialised_owners owners)
{
    struct uninitialised *all = memory_allocate_zeroed(1, sizeof *all);

    if (all != NULL) {
        all->owners = owners;
    }
    return all;
}

static void forget(struct uninitialised *all, size_t index)
{
    struct uninitialised_piece *piece = all->pieces[index];

    assert(index < all->count && piece->begin <= piece->end);
    all->count--;
    memmove(&all->pieces[index], &all->pieces[index + 1],
            (all->count - index) * sizeof(struct uninitialised_piece *));
    all->owners.let_go(piece->owner);
    memory_free(piece->offsets);
    memory_free(piece);
}

void uninitialised_free(struct uninitialised *all)
{
    if (all == NULL) {
        return;
    }
    while (all->count > 0) {
        forget(all, all->count - 1);
    }
    memory_free(all->pieces);
    memory_free(all);
}

bool uninitialised_is_empty(const struct uninitialised *all)
{
    return all->count == 0;
}

/* ---- geometry ---- */

/* The strides in bytes; row-major if the array has none. */
static void find_strides(const struct array *array, int64_t *strides)
{
    int64_t stride = (int64_t)dtype_size(array->dtype);

    for (uint32_t i = array->dimension_count; i-- > 0;) {
        strides[i] = array->strides == NULL ? stride : array->strides[i];
        stride *= array->shape[i];
    }
}

/* The addresses of an array's first byte, and after its last one. */
struct extent {
    uint64_t begin, end;
};

static struct extent extent_of(const struct array *array)
{
    int64_t strides[ARRAY_DIMENSION_MAX];
    int64_t low = 0;
    int64_t high = (int64_t)dtype_size(array->dtype);
    uint64_t data = (uint64_t)(uintptr_t)array->data;

    find_strides(array, strides);
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        if (array->shape[i] == 0) {
            return (struct extent){data, data};
        }
        *(strides[i] < 0 ? &low : &high) += strides[i] * (array->shape[i] - 1);
    }
    return (struct extent){data + (uint64_t)low, data + (uint64_t)high};
}

/* The offset of an element from the first one, in bytes. `number` counts in logical order. */
static int64_t
find_element(const struct array *array, const int64_t *strides, uint64_t number)
{
    int64_t offset = 0;

    for (uint32_t i = array->dimension_count; i-- > 0;) {
        uint64_t length = (uint64_t)array->shape[i];
        offset += (int64_t)(number % length) * strides[i];
        number /= length;
    }
    assert(number == 0);
    return offset;
}

static int64_t
find_sampled(const struct sample_grid *grid, const int64_t *strides, uint64_t number)
{
    int64_t offset = 0;

    for (uint32_t i = grid->dimension_count; i-- > 0;) {
        uint32_t length = grid->counts[i];
        offset += sample_grid_index(grid, i, (uint32_t)(number % length)) * strides[i];
        number /= length;
    }
    assert(number == 0);
    return offset;
}

/* The dimensions of an array sorted by stride, the largest first, to find elements by address.
 * No two elements of the array share an address. */
struct reach {
    uint64_t data;
    uint32_t count;
    int64_t strides[ARRAY_DIMENSION_MAX];
    int64_t lengths[ARRAY_DIMENSION_MAX];
};

static void reach_init(struct reach *reach, const struct array *array)
{
    int64_t strides[ARRAY_DIMENSION_MAX];

    find_strides(array, strides);
    reach->data = (uint64_t)(uintptr_t)array->data;
    reach->count = 0;
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        int64_t stride = strides[i];
        uint32_t place = reach->count;

        if (array->shape[i] <= 1 || stride == 0) {
            continue;
        }
        if (stride < 0) { /* the same elements, counted from the other end */
            reach->data += (uint64_t)(stride * (array->shape[i] - 1));
            stride = -stride;
        }
        for (; place > 0 && reach->strides[place - 1] < stride; place--) {
            reach->strides[place] = reach->strides[place - 1];
            reach->lengths[place] = reach->lengths[place - 1];
        }
        assert(stride > 0 && (place == 0 || reach->strides[place - 1] >= stride));
        reach->strides[place] = stride;
        reach->lengths[place] = array->shape[i];
        reach->count++;
    }
}

/* Whether an element of the array is at the address. */
static bool reach_has(const struct reach *reach, uint64_t address)
{
    int64_t rest = (int64_t)(address - reach->data);

    for (uint32_t i = 0; i < reach->count && rest > 0; i++) {
        int64_t index = rest / reach->strides[i];

        if (index >= reach->lengths[i]) {
            index = reach->lengths[i] - 1;
        }
        rest -= index * reach->strides[i];
    }
    return rest == 0;
}

/* ---- adding ---- */

/* The index of the first piece that ends after the address. */
static size_t find_index(const struct uninitialised *all, uint64_t address)
{
    size_t low = 0, high = all->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->pieces[middle]->end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int compare_offsets(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The element number of the i-th probe. The probes are spread evenly but at irregular distances,
 * so that each slice with a step contains some. The first and the last element are included. */
static uint64_t spread_one(uint64_t count, uint64_t i)
{
    uint64_t step = count / COMPARED_MAX;
    uint64_t start = i * step + i * (count % COMPARED_MAX) / COMPARED_MAX;

    if (i == 0 || i == COMPARED_MAX - 1) {
        return i == 0 ? 0 : count - 1;
    }
    return start + ((i * 0x9e3779b97f4a7c15u) >> 33) % step;
}

/* Chooses the offsets of the compared elements, in bytes from `low`. Returns their number. */
static uint32_t choose_offsets(const struct array *array,
                               const int64_t *strides,
                               int64_t low,
                               uint32_t limit,
                               uint64_t *offsets)
{
    uint64_t element_count = array_count(array);
    uint64_t spread_count = element_count < COMPARED_MAX ? element_count : COMPARED_MAX;
    struct sample_grid grid;
    uint32_t count = 0, kept = 0;

    for (uint64_t i = 0; i < spread_count; i++) {
        uint64_t number =
            element_count <= COMPARED_MAX ? i : spread_one(element_count, i);
        offsets[count++] = (uint64_t)(find_element(array, strides, number) - low);
    }
    sample_grid_init(&grid, array->shape, array->dimension_count, limit);
    for (uint64_t i = 0; i < grid.count && count < PROBE_MAX; i++) {
        offsets[count++] = (uint64_t)(find_sampled(&grid, strides, i) - low);
    }
    qsort(offsets, count, sizeof *offsets, compare_offsets);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || offsets[kept - 1] != offsets[i]) {
            offsets[kept++] = offsets[i];
        }
    }
    return kept;
}

static const unsigned char *address_of(const struct uninitialised_piece *piece,
                                       uint32_t probe)
{
    return (const unsigned char *)(uintptr_t)(piece->begin + piece->offsets[probe]);
}

static struct uninitialised_piece *piece_new(const struct array *array, uint32_t limit)
{
    uint64_t offsets[PROBE_MAX];
    int64_t strides[ARRAY_DIMENSION_MAX];
    struct extent extent = extent_of(array);
    int64_t low = (int64_t)(extent.begin - (uint64_t)(uintptr_t)array->data);
    size_t size = dtype_size(array->dtype);
    struct uninitialised_piece *piece = memory_allocate_zeroed(1, sizeof *piece);

    if (piece == NULL) {
        return NULL;
    }
    find_strides(array, strides);
    piece->begin = extent.begin;
    piece->end = extent.end;
    piece->element_size = (uint32_t)size;
    piece->probe_count = choose_offsets(array, strides, low, limit, offsets);
    piece->offsets = memory_allocate(piece->probe_count, sizeof(uint64_t) + size);
    if (piece->offsets == NULL) {
        memory_free(piece);
        return NULL;
    }
    memcpy(piece->offsets, offsets, piece->probe_count * sizeof(uint64_t));
    piece->at_first = (unsigned char *)(piece->offsets + piece->probe_count);
    for (uint32_t i = 0; i < piece->probe_count; i++) {
        memcpy(piece->at_first + i * size, address_of(piece, i), size);
    }
    return piece;
}

/* If the list is full, removes the pieces whose memory is gone, and all that are older than the
 * last UNINITIALISED_MAX * 3 / 4 additions. */
static void make_room(struct uninitialised *all)
{
    if (all->count < UNINITIALISED_MAX) {
        return;
    }
    for (size_t i = all->count; i-- > 0;) {
        const struct uninitialised_piece *piece = all->pieces[i];

        if (piece->serial + UNINITIALISED_MAX / 4 * 3 <= all->serial ||
            !all->owners.is_alive(piece->owner, piece->begin)) {
            forget(all, i);
        }
    }
}

static bool insert(struct uninitialised *all, struct uninitialised_piece *piece)
{
    void *pieces = all->pieces;
    size_t index;

    make_room(all);
    if (!memory_grow(&pieces, &all->capacity, all->count + 1,
                     sizeof(struct uninitialised_piece *))) {
        return false;
    }
    all->pieces = pieces;
    index = find_index(all, piece->begin);
    while (index < all->count && all->pieces[index]->begin < piece->end) {
        forget(all, index); /* its memory was freed and belongs to the new piece */
    }
    memmove(&all->pieces[index + 1], &all->pieces[index],
            (all->count - index) * sizeof(struct uninitialised_piece *));
    all->pieces[index] = piece;
    all->count++;
    assert(index == 0 || all->pieces[index - 1]->end <= piece->begin);
    assert(index + 1 == all->count || piece->end <= all->pieces[index + 1]->begin);
    piece->serial = ++all->serial;
    return true;
}

bool uninitialised_add(struct uninitialised *all,
                       const struct array *array,
                       uint32_t version,
                       uint32_t limit,
                       void *owner)
{
    size_t size = dtype_size(array->dtype);
    bool is_measurable = size > 0 && size <= ELEMENT_MAX && array_count(array) > 0;
    struct uninitialised_piece *piece;

    assert(array->data != NULL);
    piece = is_measurable ? piece_new(array, limit) : NULL;
    if (piece == NULL || !insert(all, piece)) {
        if (piece != NULL) {
            memory_free(piece->offsets);
            memory_free(piece);
        }
        all->owners.let_go(owner);
        return !is_measurable;
    }
    piece->version = version;
    piece->owner = owner;
    return true;
}

/* ---- finding ---- */

static bool is_kept(const struct uninitialised_piece *piece, uint32_t probe)
{
    size_t size = piece->element_size;

    return memcmp(piece->at_first + probe * size, address_of(piece, probe), size) == 0;
}

static bool was_zero(const struct uninitialised_piece *piece, uint32_t probe)
{
    static const unsigned char zeros[ELEMENT_MAX];

    return memcmp(piece->at_first + probe * piece->element_size, zeros,
                  piece->element_size) == 0;
}

/* The compared elements of a piece that belong to an array: how many there are, how many have
 * changed, and how many are certainly unwritten. */
struct evidence {
    uint32_t seen, changed, unwritten;
};

static struct evidence find_evidence(const struct uninitialised_piece *piece,
                                     const struct reach *reach)
{
    struct evidence evidence = {0, 0, 0};

    for (uint32_t i = 0; i < piece->probe_count; i++) {
        if (reach != NULL && !reach_has(reach, piece->begin + piece->offsets[i])) {
            continue;
        }
        evidence.seen++;
        if (!is_kept(piece, i)) {
            evidence.changed++;
        } else if (piece->element_size > 1 && !was_zero(piece, i)) {
            evidence.unwritten++;
        }
    }
    return evidence;
}

/* Updates whether the piece was written, and returns its state. */
static enum uninitialised_state judge(struct uninitialised_piece *piece,
                                      struct evidence evidence,
                                      bool is_within,
                                      bool has_other_version)
{
    piece->is_written = piece->is_written || evidence.changed > 0 || has_other_version;
    if (!piece->is_written) {
        return is_within ? UNINITIALISED_WHOLE : UNINITIALISED_PART;
    }
    return evidence.unwritten > 0 ? UNINITIALISED_PART : UNINITIALISED_NONE;
}

enum uninitialised_state uninitialised_find(struct uninitialised *all,
                                            const struct array *array,
                                            bool has_version,
                                            uint32_t version,
                                            const struct uninitialised_piece **found)
{
    struct extent extent = extent_of(array);
    size_t index = find_index(all, extent.begin);
    struct uninitialised_piece *piece = index < all->count ? all->pieces[index] : NULL;
    struct evidence evidence;
    struct reach reach;
    enum uninitialised_state state;

    if (piece == NULL || piece->begin >= extent.end) {
        return UNINITIALISED_NONE;
    }
    if (!all->owners.is_alive(piece->owner, piece->begin)) {
        forget(all, index);
        return UNINITIALISED_NONE;
    }
    reach_init(&reach, array);
    evidence = find_evidence(piece, &reach);
    bool has_all = evidence.seen == piece->probe_count;
    if (evidence.seen == 0) { /* too small a part for a probe: judge the whole piece */
        evidence = find_evidence(piece, NULL);
    }
    state =
        judge(piece, evidence, extent.begin >= piece->begin && extent.end <= piece->end,
              has_version && version > piece->version);
    if (state == UNINITIALISED_NONE && has_all) {
        forget(all, index);
    }
    *found = piece;
    return state;
}

static bool is_nonfinite(enum dtype dtype, const void *bytes)
{
    struct dtype_value value = dtype_read(dtype, bytes);
    bool is_real =
        value.class == DTYPE_CLASS_FLOATING || value.class == DTYPE_CLASS_COMPLEX;

    return is_real && !(isfinite(value.real) && isfinite(value.imaginary));
}

bool uninitialised_wrote_nonfinite(const struct uninitialised_piece *piece,
                                   const struct array *array)
{
    struct reach reach;

    if (dtype_size(array->dtype) != piece->element_size) {
        return false;
    }
    reach_init(&reach, array);
    for (uint32_t i = 0; i < piece->probe_count; i++) {
        if (!is_kept(piece, i) && reach_has(&reach, piece->begin + piece->offsets[i]) &&
            is_nonfinite(array->dtype, address_of(piece, i))) {
            return true;
        }
    }
    return false;
}

static bool is_known_as_written(const struct uninitialised_piece *piece,
                                uint64_t offset)
{
    bool is_within =
        offset < piece->end - piece->begin; /* false before the piece's start, too */
    const uint64_t *found = bsearch(&offset, piece->offsets, piece->probe_count,
                                    sizeof offset, compare_offsets);

    return !is_within ||
           (found != NULL && !is_kept(piece, (uint32_t)(found - piece->offsets)));
}

void uninitialised_hide(const struct uninitialised_piece *piece,
                        const struct array *array,
                        const struct sample_grid *grid,
                        void *sample)
{
    size_t size = dtype_size(array->dtype);
    uint64_t first = (uint64_t)(uintptr_t)array->data - piece->begin;
    int64_t strides[ARRAY_DIMENSION_MAX];

    find_strides(array, strides);
    for (uint64_t i = 0; i < grid->count; i++) {
        uint64_t offset = first + (uint64_t)find_sampled(grid, strides, i);

        if (size != piece->element_size || !is_known_as_written(piece, offset)) {
            memset((unsigned char *)sample + i * size, 0, size);
        }
    }
}
