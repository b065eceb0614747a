/* Comparison of two folders of saved tensors. */
#include "runtime/view/diff/saved/saved.h"

#include "runtime/array/array.h"
#include "runtime/base/buffer.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"
#include "runtime/saved/folder.h"
#include "runtime/trace/reader.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/sites/sites.h"
#include "runtime/view/diff/values/compare.h"
#include "runtime/view/diff/values/values.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DIFF_SAVED_ALONE SIZE_MAX

/* The partner of a tensor on the other side. */
struct diff_saved_mate {
    size_t index;          /* or DIFF_SAVED_ALONE */
    size_t name_counts[2]; /* tensors of A and B with its full name */
};

struct diff_saved_match {
    size_t counts[2];                 /* tensors of A, of B */
    struct diff_saved_mate *mates[2]; /* owned; indexed like the tensors */
};

/* A saved tensor as an event. Not to be copied: `event` points to `shape`. */
struct saved_event {
    struct log_shape shape; /* borrows the array's */
    struct log_event_view event;
};

struct diff_saved_values {
    struct diff_tolerance tolerance;
    struct diff_values values;
    struct buffer pieces[2]; /* owned: pieces of arrays that are not contiguous */
};

/* ---- pairs of tensors ---- */

/* A tensor of one side, by keys that are the same on both. */
struct place {
    uint64_t name; /* hash of the full name in B's terms */
    uint64_t call;
    size_t index;
};

static void diff_saved_match_release(struct diff_saved_match *match)
{
    memory_free(match->mates[0]);
    memory_free(match->mates[1]);
}

/* Hashes a full name. The path of an item, as in `cache[0]['k']`, is not renamed. */
static uint64_t
hash_name(struct diff_names *names, unsigned side, struct slice full_name)
{
    size_t end = slice_find(full_name, SLICE("["), 0);
    struct slice leaf = slice_part(full_name, end, full_name.size);

    return diff_mix(diff_names_hash(names, side, slice_part(full_name, 0, end)),
                    hash_64(leaf));
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;

    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    if (x->call != y->call) {
        return x->call < y->call ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Returns the places of a side, sorted. Owned by the caller; NULL: out of memory. */
static struct place *
make_places(const struct saved_folder *folder, unsigned side, struct diff_names *names)
{
    size_t count = saved_folder_count(folder);
    struct place *places = memory_allocate(count, sizeof *places);
    struct buffer text = BUFFER_INIT;
    bool has_failed;

    if (places == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const struct saved_key *key = &saved_folder_entry(folder, i)->tensor.key;

        text.size = 0;
        saved_key_add_full_name(key, &text);
        places[i] =
            (struct place){hash_name(names, side, buffer_slice(&text)), key->call, i};
    }
    has_failed = text.has_failed || names->text.has_failed;
    buffer_release(&text);
    if (has_failed) {
        memory_free(places);
        return NULL;
    }
    qsort(places, count, sizeof *places, compare_places);
    return places;
}

/* Returns the end of the tensors of the same name. */
static size_t
find_end(const struct place *places, size_t count, size_t start, uint64_t name)
{
    size_t end = start;

    while (end < count && places[end].name == name) {
        end++;
    }
    return end;
}

/* Pairs all tensors of one name by the numbers of their calls. */
static void match_name(struct diff_saved_match *match,
                       struct place *const places[2],
                       const size_t starts[2],
                       const size_t ends[2])
{
    size_t next = starts[0];

    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = starts[side]; i < ends[side]; i++) {
            match->mates[side][places[side][i].index] = (struct diff_saved_mate){
                DIFF_SAVED_ALONE, {ends[0] - starts[0], ends[1] - starts[1]}};
        }
    }
    for (size_t i = starts[1]; i < ends[1]; i++) {
        const struct place *b = &places[1][i];

        while (next < ends[0] && places[0][next].call < b->call) {
            next++;
        }
        if (next < ends[0] && places[0][next].call == b->call) {
            const struct place *a = &places[0][next++];

            match->mates[0][a->index].index = b->index;
            match->mates[1][b->index].index = a->index;
        }
    }
}

static void match_places(struct diff_saved_match *match, struct place *const places[2])
{
    size_t starts[2] = {0, 0};

    while (starts[0] < match->counts[0] || starts[1] < match->counts[1]) {
        size_t ends[2];
        uint64_t name = UINT64_MAX;

        for (unsigned side = 0; side < 2; side++) {
            if (starts[side] < match->counts[side] &&
                places[side][starts[side]].name < name) {
                name = places[side][starts[side]].name;
            }
        }
        for (unsigned side = 0; side < 2; side++) {
            ends[side] =
                find_end(places[side], match->counts[side], starts[side], name);
        }
        match_name(match, places, starts, ends);
        starts[0] = ends[0];
        starts[1] = ends[1];
    }
}

/* Pairs the tensors of two folders. Returns false if memory ran out. To be released in any case. */
static bool diff_saved_match_init(struct diff_saved_match *match,
                                  const struct saved_folder *const folders[2],
                                  const struct diff_rename *renames,
                                  size_t rename_count)
{
    struct place *places[2] = {NULL, NULL};
    struct diff_names names;
    bool is_done = true;

    *match = (struct diff_saved_match){.counts = {0, 0}};
    diff_names_init(&names, renames, rename_count);
    for (unsigned side = 0; side < 2; side++) {
        match->counts[side] = saved_folder_count(folders[side]);
        match->mates[side] =
            memory_allocate(match->counts[side], sizeof *match->mates[side]);
        places[side] = make_places(folders[side], side, &names);
        is_done = is_done && match->mates[side] != NULL && places[side] != NULL;
    }
    if (is_done) {
        match_places(match, places);
    }
    memory_free(places[0]);
    memory_free(places[1]);
    diff_names_release(&names);
    return is_done;
}

/* ---- a saved tensor as an event of a trace ---- */

/* Makes the event, without statistics, and without strides, which depend on how it was saved. */
static void saved_event_make(struct saved_event *saved, const struct array *array)
{
    saved->shape = (struct log_shape){
        .dtype = array->dtype,
        .dtype_text = slice_of(dtype_text(array->dtype)),
        .dimension_count = array->dimension_count,
        .shape = array->shape,
        .type = SLICE(""),
        .device = SLICE("cpu"),
        .layout = SLICE("strided"),
        .note = SLICE(""),
    };
    saved->event = (struct log_event_view){
        .kind = VALUE_TENSOR,
        .shape = &saved->shape,
    };
}

/* Adds the statistics. Reads all values. */
static void saved_event_measure(struct saved_event *saved, const struct array *array)
{
    uint64_t unwanted_hash;

    statistics_measure(array, STATISTICS_WANT_VALUES, 1, &saved->event.statistics,
                       &unwanted_hash);
    saved->event.has_statistics = true;
}

/* ---- two saved tensors ---- */

#define PIECE_SIZE (64 * 1024)

/* To be released. */
static void diff_saved_values_init(struct diff_saved_values *saved,
                                   struct diff_tolerance tolerance)
{
    *saved = (struct diff_saved_values){
        .tolerance = tolerance,
        .pieces = {BUFFER_INIT, BUFFER_INIT},
    };
    diff_values_init(&saved->values);
}

static void diff_saved_values_release(struct diff_saved_values *saved)
{
    diff_values_release(&saved->values);
    buffer_release(&saved->pieces[0]);
    buffer_release(&saved->pieces[1]);
}

/* ---- pieces ---- */

/* The next elements of both arrays. */
struct pieces {
    const struct array *const *arrays;
    bool are_contiguous[2];
    uint64_t count; /* elements of each */
    uint64_t first; /* the next element to compare */
    size_t step;    /* elements of a piece */
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

/* Returns false at the end, or if memory ran out: see has_failed of the buffers. */
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

/* Elements of both arrays as doubles, for checks before their distance is measured. */
struct elements {
    double numbers[2][DIFF_REALS_BLOCK];
    size_t first, count; /* elements of the piece that are in `numbers` */
};

/* Reads the next block of a piece as doubles. Returns false at its end. */
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

/* Returns the largest number of those that differ. The error of an element depends on the sum
 * that it was computed from; this number shows how large that was. */
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

/* Whether no element is beyond tolerance. Returns false also if that is only known after they
 * are measured. */
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

/* As are_within, with the scale. The scale can only widen the tolerance, so it is computed only
 * if elements are beyond tolerance without it. */
static bool are_close(struct diff_saved_values *saved,
                      const struct array *const arrays[2],
                      struct diff_comparison *comparison)
{
    if (are_within(saved, arrays, comparison)) {
        return true;
    }
    if (diff_tolerance_is_given(&saved->tolerance) ||
        !diff_is_inexact(arrays[1]->dtype)) {
        return false;
    }
    comparison->scale = scale_of(saved, arrays);
    return are_within(saved, arrays, comparison);
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
    if (!comparison->has_distance) { /* elements that are not numbers */
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

    if (have_same_bytes(saved, arrays)) {
        return;
    }
    diff_tolerance_of(tolerance, arrays[0]->dtype, arrays[1]->dtype, &comparison->rtol,
                      &comparison->atol);
    if (tolerance->is_exact || !are_close(saved, arrays, comparison)) {
        measure(saved, arrays, comparison);
    }
    comparison->differs_in_values = comparison->seen != DIFF_SEEN_NOTHING;
    comparison->is_close = !comparison->differs_in_values;
    comparison->cause =
        comparison->differs_in_values ? DIFF_CAUSE_VALUES : DIFF_CAUSE_NONE;
}

/* Compares A and B. Returns false if memory ran out. */
static bool diff_saved_values_compare(struct diff_saved_values *saved,
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

struct work {
    struct saved_folder *const *folders; /* borrowed */
    const struct diff_saved_options *options;
    struct diff_saved_result *result;
    struct diff_saved_match match;
    struct diff_saved_values values;
    struct buffer text;               /* owned: words, and a full name */
    const struct saved_entry *before; /* last tensor of B that was equal */
    unsigned leader;                  /* side whose order is used */
    bool has_stopped;                 /* `error` says why */
    struct error *error;
};

bool diff_saved_is_equal(const struct diff_saved_result *result)
{
    return result->different == 0 && result->unread == 0 && result->only[0] == 0 &&
           result->only[1] == 0;
}

/* ---- reporting ---- */

static void stop(struct work *work)
{
    work->has_stopped = true;
    if (work->error->kind == ERROR_NONE) {
        error_set_memory(work->error);
    }
}

static void report(struct work *work, struct diff_saved_finding *finding)
{
    const struct diff_saved_options *options = work->options;

    finding->is_first = !work->result->has_first && finding->cause != DIFF_CAUSE_CODE &&
                        finding->cause != DIFF_CAUSE_NONE;
    if (finding->is_first) {
        work->result->has_first = true;
        finding->equal_before = work->result->equal;
        finding->before = work->before;
    }
    finding->words = buffer_slice(&work->text);
    if (work->text.has_failed ||
        (options->found != NULL && !options->found(options->context, finding))) {
        stop(work);
    }
}

static bool is_ignored(struct work *work, const struct saved_key *key)
{
    const struct diff_saved_options *options = work->options;

    work->text.size = 0;
    saved_key_add_full_name(key, &work->text);
    for (size_t i = 0; i < options->ignored_count; i++) {
        if (name_select(key->name, SLICE(""), options->ignored[i]) != NAME_OTHER ||
            glob_match(buffer_slice(&work->text), options->ignored[i])) {
            return true;
        }
    }
    return false;
}

/* ---- one tensor ---- */

static void add_unmatched(struct work *work, unsigned side, size_t index)
{
    const struct diff_saved_mate *mate = &work->match.mates[side][index];
    const struct saved_entry *entry = saved_folder_entry(work->folders[side], index);
    struct diff_saved_finding finding = {
        .cause = mate->name_counts[1 - side] > 0 ? DIFF_CAUSE_FLOW : DIFF_CAUSE_CODE,
    };

    if (is_ignored(work, &entry->tensor.key)) {
        work->result->ignored++;
        return;
    }
    work->result->only[side]++;
    finding.entries[side] = entry;
    work->text.size = 0;
    if (finding.cause == DIFF_CAUSE_FLOW) {
        buffer_add_format(&work->text, "only in %s: B has %zu of that name, A %zu",
                          side == 0 ? "A" : "B", mate->name_counts[1],
                          mate->name_counts[0]);
    }
    report(work, &finding);
}

static void report_different(struct work *work,
                             struct diff_saved_finding *finding,
                             const struct array *const arrays[2],
                             const struct diff_comparison *comparison)
{
    struct saved_event events[2];

    for (unsigned side = 0; side < 2; side++) {
        saved_event_make(&events[side], arrays[side]);
        saved_event_measure(&events[side], arrays[side]);
        finding->events[side] = &events[side].event;
    }
    work->result->different++;
    finding->cause = comparison->cause;
    finding->distance = comparison->has_distance ? &comparison->distance : NULL;
    work->text.size = 0;
    diff_words_add(&work->text, comparison, finding->events[0], finding->events[1]);
    report(work, finding);
}

static void compare_pair(struct work *work, const size_t indices[2])
{
    struct diff_saved_finding finding = {.cause = DIFF_CAUSE_NONE};
    struct diff_comparison comparison;
    struct array arrays[2];
    struct error error = ERROR_INIT;

    for (unsigned side = 0; side < 2; side++) {
        finding.entries[side] = saved_folder_entry(work->folders[side], indices[side]);
    }
    if (is_ignored(work, &finding.entries[1]->tensor.key)) {
        work->result->ignored++;
        return;
    }
    for (unsigned side = 0; side < 2; side++) {
        if (!saved_folder_read(work->folders[side], indices[side], &arrays[side],
                               &error)) {
            work->result->unread++;
            work->text.size = 0;
            buffer_add(&work->text, slice_of(error.text));
            report(work, &finding);
            return;
        }
    }
    if (!diff_saved_values_compare(
            &work->values, (const struct array *const[]){&arrays[0], &arrays[1]},
            &comparison)) {
        stop(work);
    } else if (comparison.cause == DIFF_CAUSE_NONE) {
        work->result->equal++;
        work->result->close += comparison.is_close;
        work->before = finding.entries[1];
    } else {
        report_different(work, &finding,
                         (const struct array *const[]){&arrays[0], &arrays[1]},
                         &comparison);
    }
}

/* ---- all ---- */

/* Pairs two files of one tensor each, whatever their names are. */
static void pair_single(struct diff_saved_match *match)
{
    if (match->counts[0] == 1 && match->counts[1] == 1) {
        match->mates[0][0].index = 0;
        match->mates[1][0].index = 0;
    }
}

/* Whether the order in which tensors were saved is known. The first tensor shows it for all;
 * folders that other programs made have no order. */
static bool is_ordered(const struct saved_folder *folder)
{
    return saved_folder_count(folder) > 0 &&
           saved_folder_entry(folder, 0)->tensor.order != SAVED_ORDER_UNKNOWN;
}

/* Reports the tensors that only the other side has, up to its tensor `end`. */
static void add_others(struct work *work, size_t *next, size_t end)
{
    unsigned other = 1 - work->leader;

    for (; *next < end && !work->has_stopped; (*next)++) {
        if (work->match.mates[other][*next].index == DIFF_SAVED_ALONE) {
            add_unmatched(work, other, *next);
        }
    }
}

static void compare_all(struct work *work)
{
    unsigned leader = work->leader;
    size_t next_other = 0;

    for (size_t i = 0; i < work->match.counts[leader] && !work->has_stopped; i++) {
        size_t mate = work->match.mates[leader][i].index;
        size_t indices[2];

        if (work->options->progress != NULL &&
            !work->options->progress(work->options->progress_context, i)) {
            stop(work);
            return;
        }
        if (mate == DIFF_SAVED_ALONE) {
            add_unmatched(work, leader, i);
            continue;
        }
        add_others(work, &next_other, mate);
        indices[leader] = i;
        indices[1 - leader] = mate;
        compare_pair(work, indices);
    }
    add_others(work, &next_other, work->match.counts[1 - leader]);
}

bool diff_saved(struct saved_folder *const folders[2],
                const struct diff_saved_options *options,
                struct diff_saved_result *result,
                struct error *error)
{
    struct work work = {
        .folders = folders,
        .options = options,
        .result = result,
        .leader = is_ordered(folders[1]) || !is_ordered(folders[0]) ? 1 : 0,
        .error = error,
    };

    *result = (struct diff_saved_result){
        .counts = {saved_folder_count(folders[0]), saved_folder_count(folders[1])},
        .is_ordered = is_ordered(folders[work.leader]),
    };
    diff_saved_values_init(&work.values, options->tolerance);
    if (diff_saved_match_init(
            &work.match, (const struct saved_folder *const[]){folders[0], folders[1]},
            options->tolerance.renames, options->tolerance.rename_count)) {
        if (options->are_files) {
            pair_single(&work.match);
        }
        compare_all(&work);
    } else {
        stop(&work);
    }
    diff_saved_match_release(&work.match);
    diff_saved_values_release(&work.values);
    buffer_release(&work.text);
    return !work.has_stopped;
}
