/* Two saved tensors that should be the same. */
#include "runtime/view/diff/saved/values.h"

#include "runtime/view/diff/saved/saved_event.h"
#include "runtime/view/diff/values/reals.h"

#include <math.h>
#include <string.h>

#define PIECE_SIZE (64 * 1024)

void diff_saved_values_init(struct diff_saved_values *saved,
                            struct diff_tolerance tolerance)
{
    *saved = (struct diff_saved_values){
        .tolerance = tolerance,
        .pieces = {BUFFER_INIT, BUFFER_INIT},
    };
    diff_values_init(&saved->values);
}

void diff_saved_values_release(struct diff_saved_values *saved)
{
    diff_values_release(&saved->values);
    buffer_release(&saved->pieces[0]);
    buffer_release(&saved->pieces[1]);
}

/* ---- pieces ---- */

/* The same elements of both, packed. */
struct pieces {
    const struct array *const *arrays;
    bool are_contiguous[2];
    uint64_t count; /* elements of each */
    uint64_t first; /* the next one that is looked at */
    size_t step;    /* so many at once */
    struct slice bytes[2];
};

static struct pieces pieces_begin(const struct array *const arrays[2])
{
    struct pieces pieces = {.arrays = arrays, .count = array_count(arrays[0])};
    size_t largest = 1;

    for (unsigned side = 0; side < 2; side++) {
        size_t size = dtype_size(arrays[side]->dtype);

        pieces.are_contiguous[side] = array_is_contiguous(arrays[side]) &&
                                      !arrays[side]->is_conjugated &&
                                      !arrays[side]->is_negated;
        largest = size > largest ? size : largest;
    }
    pieces.step = PIECE_SIZE / largest;
    return pieces;
}

/* false at the end, or where memory ran out: the buffers tell. */
static bool pieces_next(struct pieces *pieces, struct buffer buffers[2])
{
    uint64_t left = pieces->count - pieces->first;
    size_t count = left < pieces->step ? (size_t)left : pieces->step;

    if (count == 0) {
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        const struct array *array = pieces->arrays[side];
        size_t size = dtype_size(array->dtype);
        struct buffer *buffer = &buffers[side];

        if (pieces->are_contiguous[side]) {
            pieces->bytes[side] = (struct slice){
                (const char *)array->data + pieces->first * size, count * size};
            continue;
        }
        buffer->size = 0;
        if (!buffer_reserve(buffer, count * size)) {
            return false;
        }
        array_read(array, pieces->first, count, buffer->bytes);
        pieces->bytes[side] = (struct slice){buffer->bytes, count * size};
    }
    pieces->first += count;
    return true;
}

static bool have_failed(const struct diff_saved_values *saved)
{
    return saved->pieces[0].has_failed || saved->pieces[1].has_failed ||
           saved->values.has_failed;
}

/* ---- values ---- */

static bool have_same_bytes(struct diff_saved_values *saved,
                            const struct array *const arrays[2])
{
    struct pieces pieces = pieces_begin(arrays);

    if (arrays[0]->dtype != arrays[1]->dtype) {
        return pieces.count == 0;
    }
    while (pieces_next(&pieces, saved->pieces)) {
        if (!slice_equal(pieces.bytes[0], pieces.bytes[1])) {
            return false;
        }
    }
    return !have_failed(saved);
}

/* What is asked of the elements of both, before it is told how far they are apart. */
struct elements {
    double numbers[2][DIFF_REALS_BLOCK];
    size_t first, count; /* of the piece, that `numbers` hold */
};

/* The next block of a piece, as doubles; false behind the last. */
static bool elements_next(struct elements *elements, const struct pieces *pieces)
{
    size_t count = pieces->bytes[0].size / dtype_size(pieces->arrays[0]->dtype);

    elements->first += elements->count;
    elements->count = count - elements->first;
    if (elements->count > DIFF_REALS_BLOCK) {
        elements->count = DIFF_REALS_BLOCK;
    }
    for (unsigned side = 0; side < 2 && elements->count > 0; side++) {
        enum dtype dtype = pieces->arrays[side]->dtype;

        diff_reals_read(dtype,
                        pieces->bytes[side].bytes + elements->first * dtype_size(dtype),
                        elements->count, elements->numbers[side]);
    }
    return elements->count > 0;
}

static double largest_differing(const struct pieces *pieces, double largest)
{
    struct elements elements = {.first = 0};
    enum dtype dtypes[2] = {pieces->arrays[0]->dtype, pieces->arrays[1]->dtype};
    size_t sizes[2] = {dtype_size(dtypes[0]), dtype_size(dtypes[1])};

    if (diff_is_real(dtypes[0]) && diff_is_real(dtypes[1])) {
        while (elements_next(&elements, pieces)) {
            largest = diff_reals_largest(elements.numbers[0], elements.numbers[1],
                                         elements.count, largest);
        }
        return largest;
    }
    for (size_t i = 0; i < pieces->bytes[0].size / sizes[0]; i++) {
        struct dtype_value a =
            dtype_read(dtypes[0], pieces->bytes[0].bytes + i * sizes[0]);
        struct dtype_value b =
            dtype_read(dtypes[1], pieces->bytes[1].bytes + i * sizes[1]);
        double size;

        if (diff_elements_apart(&a, &b, &size) != 0 && isfinite(size)) {
            largest = fmax(largest, size);
        }
    }
    return largest;
}

/* An element may be off by what the sum that it came from was off by: the largest number of those
 * that are not the same in both tells how large that was. */
static double scale_of(struct diff_saved_values *saved,
                       const struct array *const arrays[2])
{
    struct pieces pieces = pieces_begin(arrays);
    double largest = 0;

    while (pieces_next(&pieces, saved->pieces)) {
        if (arrays[0]->dtype != arrays[1]->dtype ||
            !slice_equal(pieces.bytes[0], pieces.bytes[1])) {
            largest = largest_differing(&pieces, largest);
        }
    }
    return largest;
}

/* Whether no element is beyond tolerance, where that can be told before they are measured. */
static bool are_within(struct diff_saved_values *saved,
                       const struct array *const arrays[2],
                       const struct diff_comparison *comparison)
{
    struct pieces pieces = pieces_begin(arrays);
    bool are_real = diff_is_real(arrays[0]->dtype) && diff_is_real(arrays[1]->dtype);

    while (are_real && pieces_next(&pieces, saved->pieces)) {
        struct elements elements = {.first = 0};

        while (elements_next(&elements, &pieces)) {
            if (!diff_reals_are_within(elements.numbers[0], elements.numbers[1],
                                       elements.count, comparison->rtol,
                                       comparison->atol, comparison->scale)) {
                return false;
            }
        }
    }
    return are_real;
}

static void measure(struct diff_saved_values *saved,
                    const struct array *const arrays[2],
                    struct diff_comparison *comparison)
{
    const struct diff_tolerance *tolerance = &saved->tolerance;
    struct pieces pieces = pieces_begin(arrays);
    uint64_t offsets[2] = {0, 0};

    diff_values_begin(&saved->values, arrays[0]->dtype, arrays[1]->dtype, pieces.count,
                      comparison->rtol, comparison->atol, comparison->scale);
    while (pieces_next(&pieces, saved->pieces)) {
        for (unsigned side = 0; side < 2; side++) {
            diff_values_add(&saved->values, side, offsets[side], pieces.bytes[side]);
            offsets[side] += pieces.bytes[side].size;
        }
    }
    comparison->has_distance =
        diff_values_finish(&saved->values, &comparison->distance);
    if (!comparison->has_distance) { /* elements that are no numbers */
        comparison->seen = DIFF_SEEN_BYTES;
    } else if (comparison->distance.beyond_count > 0) {
        comparison->seen = DIFF_SEEN_VALUES;
    } else if (tolerance->is_exact) {
        comparison->seen = DIFF_SEEN_BYTES;
    }
}

static void compare_values(struct diff_saved_values *saved,
                           const struct array *const arrays[2],
                           struct diff_comparison *comparison)
{
    const struct diff_tolerance *tolerance = &saved->tolerance;
    bool is_given = diff_tolerance_is_given(tolerance);

    if (have_same_bytes(saved, arrays)) {
        return;
    }
    diff_tolerance_of(tolerance, arrays[0]->dtype, arrays[1]->dtype, &comparison->rtol,
                      &comparison->atol);
    if (!tolerance->is_exact && !is_given && diff_is_inexact(arrays[1]->dtype)) {
        comparison->scale = scale_of(saved, arrays);
    }
    if (tolerance->is_exact || !are_within(saved, arrays, comparison)) {
        measure(saved, arrays, comparison);
    }
    comparison->differs_in_values = comparison->seen != DIFF_SEEN_NOTHING;
    comparison->is_close = !comparison->differs_in_values;
    comparison->cause =
        comparison->differs_in_values ? DIFF_CAUSE_VALUES : DIFF_CAUSE_NONE;
}

bool diff_saved_values_compare(struct diff_saved_values *saved,
                               const struct array *const arrays[2],
                               struct diff_comparison *comparison)
{
    struct saved_event forms[2];

    saved_event_make(&forms[0], arrays[0]);
    saved_event_make(&forms[1], arrays[1]);
    *comparison = (struct diff_comparison){
        .cause =
            diff_compare_forms(&saved->tolerance, &forms[0].shape, &forms[1].shape),
    };
    if (comparison->cause == DIFF_CAUSE_NONE) {
        diff_tolerance_widen(&saved->tolerance, arrays[0]->dtype, arrays[1]->dtype);
        compare_values(saved, arrays, comparison);
    }
    return !have_failed(saved);
}
