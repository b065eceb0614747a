/* Statistics and hash of an array.
 *
 * An array is measured in pieces of 1 MiB, which several threads can measure at once, and a
 * piece in blocks, which stay in the cache between the statistics and the hash. Pieces and
 * blocks are always cut in the same way and merged in order. So the result does not depend on
 * the threads, nor on whether the elements are adjacent or gathered first.
 *
 * The hash of up to 1 MiB of elements is their XXH3. The hash of more is the XXH3 of the pieces'
 * hashes (64 bits each, the low byte first). */
#include "runtime/array/statistics/statistics.h"

#include "runtime/array/expanded.h"
#include "runtime/array/number.h"
#include "runtime/array/statistics/kernels.h"
#include "runtime/array/statistics/moments.h"
#include "runtime/array/walk.h"
#include "runtime/base/hash/hash.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The choice of kernels. */

const struct kernels *const *kernels_all(void)
{
    static const struct kernels *const all[] = {
#if defined(KERNELS_X86)
        &kernels_avx512,
        &kernels_avx2,
#elif defined(KERNELS_NEON)
        &kernels_neon,
#endif
        &kernels_portable,
        NULL,
    };

    return all;
}

static const struct kernels *kernels_choose(void)
{
    const char *asked = getenv("MONITORCH_KERNELS");
    const struct kernels *best = NULL;

    for (const struct kernels *const *each = kernels_all(); *each != NULL; each++) {
        if (!(*each)->is_supported()) {
            continue;
        }
        if (asked != NULL && strcmp(asked, (*each)->name) == 0) {
            return *each;
        }
        best = best == NULL ? *each : best;
    }
    return best;
}

/* The kernels in use: the best ones that the processor supports, or those that MONITORCH_KERNELS
 * names if it supports them. */
static const struct kernels *kernels_in_use(void)
{
    /* The first choice is kept. Threads that choose at the same time choose the same kernels. */
    static _Atomic(const struct kernels *) chosen;
    const struct kernels *kernels = atomic_load_explicit(&chosen, memory_order_acquire);

    if (kernels == NULL) {
        kernels = kernels_choose();
        atomic_store_explicit(&chosen, kernels, memory_order_release);
    }
    return kernels;
}

struct float_mode {
    uint64_t control;
    uint64_t status;
};

#if defined(__x86_64__)

    #include <xmmintrin.h>

    #define FLOAT_MODE_FLAGS   0x3fu
    #define FLOAT_MODE_DEFAULT 0x1f80u

static inline struct float_mode float_mode_enter(void)
{
    unsigned control = _mm_getcsr();

    if ((control & ~FLOAT_MODE_FLAGS) != FLOAT_MODE_DEFAULT) {
        _mm_setcsr(FLOAT_MODE_DEFAULT);
    }
    return (struct float_mode){.control = control};
}

static inline void float_mode_leave(struct float_mode before)
{
    if (_mm_getcsr() != before.control) {
        _mm_setcsr((unsigned)before.control);
    }
}

#elif defined(__aarch64__)

static inline struct float_mode float_mode_enter(void)
{
    struct float_mode before;

    __asm__ volatile("mrs %0, fpcr" : "=r"(before.control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(before.status));
    if (before.control != 0) {
        __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    }
    return before;
}

static inline void float_mode_leave(struct float_mode before)
{
    if (before.control != 0) {
        __asm__ volatile("msr fpcr, %0" : : "r"(before.control));
    }
    __asm__ volatile("msr fpsr, %0" : : "r"(before.status));
}

#else

static inline struct float_mode float_mode_enter(void)
{
    return (struct float_mode){0};
}

static inline void float_mode_leave(struct float_mode before)
{
    (void)before;
}

#endif

struct statistics_part {
    struct moments moments; /* of the finite elements, as are the bounds */
    union statistics_bound min;
    union statistics_bound max;
#define STATISTIC_COUNT(field, name, function) uint64_t field;
#include "runtime/array/statistics/statistics.def"
};

/* ---- statistics of a part of the elements ---- */

/* If the sum of squares is more than this many times the sum of squares around the mean, too
 * many digits are lost: about 6 of 16. */
#define CANCELLATION_LIMIT 0x1p20

#define WIDE_BLOCK_COUNT (KERNEL_BLOCK_SIZE / sizeof(double))

/* The number of elements in a block: as many as fit into KERNEL_BLOCK_SIZE, also after a
 * conversion to floats or doubles for dtypes without a kernel. */
static size_t statistics_block_count(enum dtype dtype)
{
    size_t size = dtype_size(dtype);

    if (dtype_class(dtype) == DTYPE_CLASS_COMPLEX && size < sizeof(double)) {
        size = sizeof(double); /* of a magnitude */
    }
    return size < 4 ? KERNEL_BLOCK_COUNT : KERNEL_BLOCK_SIZE / size;
}

static double first_value(enum dtype dtype, const unsigned char *data)
{
    struct dtype_value value = dtype_read(dtype, data);

    return dtype_value_real(&value);
}

/* The sum of squares around the mean, computed from the sums around the shift. */
static double squares_left(const struct block_sums *sums, uint64_t count)
{
    double squares = sums->square_sum - sums->sum * (sums->sum / (double)count);

    return squares > 0 ? squares : 0;
}

static uint64_t finite_count(const struct block_sums *sums, size_t count)
{
    uint64_t finite = count;

#define STATISTIC_NONFINITE(field, name, function) finite -= sums->field;
#include "runtime/array/statistics/statistics.def"
    assert(finite <= count);
    return finite;
}

/* Computes the sums. The shift is the first element. If that is not finite, the shift is 0, and
 * the smallest element is tried if 0 turns out to be too far from the mean. */
static void sums_find(kernel_sums find,
                      enum dtype dtype,
                      const unsigned char *data,
                      size_t count,
                      double *shift,
                      struct block_sums *sums)
{
    double first = first_value(dtype, data);
    uint64_t left;

    *shift = isfinite(first) ? first : 0;
    find(data, count, *shift, false, sums);
    if (!isfinite(sums->sum) || !isfinite(sums->square_sum)) {
        find(data, count, *shift, true, sums);
    }
    left = finite_count(sums, count);
    if (!isfinite(first) && left > 0 &&
        squares_left(sums, left) * CANCELLATION_LIMIT < sums->square_sum) {
        *shift = sums->min;
        find(data, count, *shift, true, sums);
    }
}

static void part_set_sums(struct statistics_part *part,
                          const struct block_sums *sums,
                          double shift,
                          uint64_t finite)
{
#define STATISTIC_COUNT(field, name, function) part->field = sums->field;
#include "runtime/array/statistics/statistics.def"
    part->moments = (struct moments){.count = finite};
    if (finite > 0) {
        part->moments.mean = shift + sums->sum / (double)finite;
        part->moments.squares = squares_left(sums, finite);
    }
    assert(part->zero_count <= finite);
}

/* Bounds are exact as doubles, except for integers of 64 bits, which have their own kernels.
 * Adding 0.0 removes the sign of a zero. */
static void part_set_bounds(struct statistics_part *part,
                            const struct block_sums *sums,
                            enum dtype dtype)
{
    if (part->moments.count == 0 || dtype == DTYPE_INT64 || dtype == DTYPE_UINT64) {
        return;
    }
    assert(sums->min <= sums->max);
    switch (dtype_class(dtype)) {
    case DTYPE_CLASS_UNSIGNED:
        part->min.natural = (uint64_t)sums->min;
        part->max.natural = (uint64_t)sums->max;
        break;
    case DTYPE_CLASS_SIGNED:
        part->min.integer = (int64_t)sums->min;
        part->max.integer = (int64_t)sums->max;
        break;
    default:
        part->min.real = sums->min + 0.0;
        part->max.real = sums->max + 0.0;
        break;
    }
}

/* Computes the moments again, with numbers scaled so that their squares are doubles. */
static __attribute__((noinline)) void measure_scaled(struct statistics_part *part,
                                                     const struct kernels *kernels,
                                                     const unsigned char *data,
                                                     size_t count,
                                                     int exponent)
{
    double scale = ldexp(1, -exponent);
    double scaled[WIDE_BLOCK_COUNT];
    struct block_sums sums;
    double shift;

    for (size_t i = 0; i < count; i++) {
        scaled[i] = number_float64(data + i * sizeof(double)) * scale;
    }
    sums_find(kernels->sums[DTYPE_FLOAT64], DTYPE_FLOAT64,
              (const unsigned char *)scaled, count, &shift, &sums);
    part->moments.mean = shift + sums.sum / (double)part->moments.count;
    part->moments.squares = squares_left(&sums, part->moments.count);
    part->moments.exponent = exponent;
}

static void measure_float64(struct statistics_part *part,
                            const struct kernels *kernels,
                            const unsigned char *data,
                            size_t count)
{
    struct block_sums sums;
    double shift;
    double range;

    sums_find(kernels->sums[DTYPE_FLOAT64], DTYPE_FLOAT64, data, count, &shift, &sums);
    part_set_sums(part, &sums, shift, finite_count(&sums, count));
    part_set_bounds(part, &sums, DTYPE_FLOAT64);
    if (part->moments.count == 0) {
        return;
    }
    range = fmax(fabs(sums.min), fabs(sums.max));
    if (range > MOMENTS_LARGE) {
        measure_scaled(part, kernels, data, count, MOMENTS_EXPONENT);
    } else if (range < MOMENTS_SMALL && range > 0) {
        measure_scaled(part, kernels, data, count, -MOMENTS_EXPONENT);
    }
}

/* Whether no square of a magnitude or of a relevant part has overflowed or underflowed. */
static bool are_squares_sound(const struct statistics_part *part, size_t count)
{
    return part->moments.count == count && part->min.real > 0x1p-450 &&
           part->max.real < 0x1p450;
}

static void measure_complex(struct statistics_part *part,
                            const struct kernels *kernels,
                            enum dtype dtype,
                            const unsigned char *data,
                            size_t count)
{
    double magnitudes[WIDE_BLOCK_COUNT];

    kernels->magnitudes[dtype](data, count, magnitudes);
    measure_float64(part, kernels, (const unsigned char *)magnitudes, count);
    if (dtype != DTYPE_COMPLEX128 || are_squares_sound(part, count)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned char *bytes = data + i * 2 * sizeof(double);

        magnitudes[i] = hypot(number_float64(bytes), number_float64(bytes + 8));
    }
    measure_float64(part, kernels, (const unsigned char *)magnitudes, count);
}

static void measure_with(struct statistics_part *part,
                         const struct kernels *kernels,
                         enum dtype dtype,
                         const unsigned char *data,
                         size_t count)
{
    struct block_sums sums;
    double shift;

    sums_find(kernels->sums[dtype], dtype, data, count, &shift, &sums);
    part_set_sums(part, &sums, shift, finite_count(&sums, count));
    part_set_bounds(part, &sums, dtype);
}

/* Measures float8 by converting it to floats, for larger blocks with a table. */
static void measure_float8(struct statistics_part *part,
                           const struct kernels *kernels,
                           enum dtype dtype,
                           const unsigned char *data,
                           size_t count)
{
    float values[KERNEL_BLOCK_COUNT];
    float table[256];

    if (count < 256) {
        for (size_t i = 0; i < count; i++) {
            values[i] = (float)dtype_read(dtype, data + i).real;
        }
    } else {
        for (unsigned i = 0; i < 256; i++) {
            unsigned char byte = (unsigned char)i;

            table[i] = (float)dtype_read(dtype, &byte).real;
        }
        for (size_t i = 0; i < count; i++) {
            values[i] = table[data[i]];
        }
    }
    measure_with(part, kernels, DTYPE_FLOAT32, (const unsigned char *)values, count);
}

/* Measures one block: 1 to statistics_block_count adjacent elements of a dtype that is not
 * opaque. */
static void statistics_part_measure(struct statistics_part *part,
                                    const struct kernels *kernels,
                                    enum dtype dtype,
                                    const unsigned char *data,
                                    size_t count)
{
    assert(count > 0 && count <= statistics_block_count(dtype));
    if (dtype == DTYPE_FLOAT64) {
        measure_float64(part, kernels, data, count);
    } else if (dtype_class(dtype) == DTYPE_CLASS_COMPLEX) {
        measure_complex(part, kernels, dtype, data, count);
    } else if (kernels->sums[dtype] == NULL) {
        measure_float8(part, kernels, dtype, data, count);
    } else {
        measure_with(part, kernels, dtype, data, count);
    }
    if (dtype == DTYPE_INT64) {
        part->min.integer = INT64_MAX;
        part->max.integer = INT64_MIN;
        kernels->signed_bounds(data, count, &part->min.integer, &part->max.integer);
    } else if (dtype == DTYPE_UINT64) {
        part->min.natural = UINT64_MAX;
        part->max.natural = 0;
        kernels->unsigned_bounds(data, count, &part->min.natural, &part->max.natural);
    }
}

#define LOWER(a, b)  ((b) < (a) ? (b) : (a))
#define HIGHER(a, b) ((b) > (a) ? (b) : (a))

static void statistics_part_merge(struct statistics_part *part,
                                  const struct statistics_part *added,
                                  enum dtype_class class)
{
#define STATISTIC_COUNT(field, name, function) part->field += added->field;
#include "runtime/array/statistics/statistics.def"
    if (added->moments.count == 0) {
        return;
    }
    if (part->moments.count == 0) {
        part->min = added->min;
        part->max = added->max;
    } else if (class == DTYPE_CLASS_UNSIGNED) {
        part->min.natural = LOWER(part->min.natural, added->min.natural);
        part->max.natural = HIGHER(part->max.natural, added->max.natural);
    } else if (class == DTYPE_CLASS_SIGNED) {
        part->min.integer = LOWER(part->min.integer, added->min.integer);
        part->max.integer = HIGHER(part->max.integer, added->max.integer);
    } else {
        part->min.real = LOWER(part->min.real, added->min.real);
        part->max.real = HIGHER(part->max.real, added->max.real);
    }
    moments_add(&part->moments, &added->moments);
}

/* Turns the statistics into those of the same elements, repeated `times` times. */
static void statistics_part_repeat(struct statistics_part *part, uint64_t times)
{
    part->moments.count *= times;
    part->moments.squares *= (double)times;
#define STATISTIC_COUNT(field, name, function) part->field *= times;
#include "runtime/array/statistics/statistics.def"
}

static void statistics_part_finish(const struct statistics_part *part,
                                   enum dtype_class class,
                                   uint64_t count,
                                   struct statistics *statistics)
{
    bool has_bounds = part->moments.count > 0;
    bool is_integer = class == DTYPE_CLASS_SIGNED || class == DTYPE_CLASS_UNSIGNED;

    assert(part->zero_count <= count);
    *statistics = (struct statistics){
        .count = count,
        .mean = moments_mean(&part->moments),
        .std = moments_deviation(&part->moments),
    };
#define STATISTIC_COUNT(field, name, function) statistics->field = part->field;
#include "runtime/array/statistics/statistics.def"
    /* Each element is counted exactly once, in any division into pieces and threads. */
    assert(part->moments.count == 0 ||
           part->moments.count == statistics_finite_count(statistics));
    if (has_bounds) {
        statistics->min = part->min;
        statistics->max = part->max;
    } else if (!is_integer) {
        statistics->min.real = (double)NAN;
        statistics->max.real = (double)NAN;
    }
    if (has_bounds && !is_integer) {
        /* Rounding must not move the mean outside the bounds. */
        statistics->mean =
            fmin(fmax(statistics->mean, statistics->min.real), statistics->max.real);
    }
}

#define PIECE_SIZE ((size_t)1024 * 1024)
/* The number of pieces that are measured before their results are merged. */
#define BATCH_PIECE_COUNT 256
/* One thread is started for this many pieces. For fewer, starting it costs more than it gains. */
#define THREAD_PIECE_COUNT 4
#define THREAD_MAX         64
/* More than the measuring needs; the default is only 128 KiB on some systems. */
#define THREAD_STACK_SIZE ((size_t)1024 * 1024)
/* Elements that are not adjacent are gathered in portions of this many bytes, which is several
 * blocks. A portion of several rows reads a cache line that columns share only once. */
#define GATHER_SIZE ((size_t)64 * 1024)

/* The parameters of a measurement, the same for all threads. */
struct job {
    const struct array *array;
    const struct array_walk *walk; /* NULL if the elements are adjacent */
    const struct kernels *kernels;
    size_t size;             /* of an element */
    uint64_t count;          /* of all elements */
    uint64_t piece_count;    /* elements in a piece */
    size_t block_count;      /* elements in a block */
    bool (*must_stop)(void); /* may be NULL */
    bool *is_stopped;
    bool is_complete; /* the hash is computed however long it takes */
    bool wants_values;
    bool wants_hash;
};

struct piece {
    struct statistics_part part;
    uint64_t hash;
};

static void measure_block(const struct job *job,
                          const unsigned char *data,
                          size_t count,
                          struct statistics_part *part)
{
    struct statistics_part block;

    statistics_part_measure(&block, job->kernels, job->array->dtype, data, count);
    statistics_part_merge(part, &block, dtype_class(job->array->dtype));
}

static void measure_blocks(const struct job *job,
                           const unsigned char *data,
                           uint64_t count,
                           struct statistics_part *part,
                           struct hash_stream *stream)
{
    while (count > 0) {
        size_t here = count < job->block_count ? (size_t)count : job->block_count;
        struct slice bytes = {(const char *)data, here * job->size};

        if (job->wants_values) {
            measure_block(job, data, here, part);
        }
        if (job->wants_hash) {
            hash_stream_add(stream, bytes);
        }
        data += bytes.size;
        count -= here;
    }
}

/* Gathered elements need not end with a block: the rest is kept for the next portion. */
static __attribute__((noinline)) void gather_blocks(const struct job *job,
                                                    uint64_t first,
                                                    uint64_t count,
                                                    struct statistics_part *part,
                                                    struct hash_stream *stream)
{
    unsigned char gathered[GATHER_SIZE] __attribute__((aligned(64)));
    uint64_t room = GATHER_SIZE / job->size;
    uint64_t held = 0;

    while (count > 0) {
        uint64_t fitting = count < room - held ? count : room - held;
        uint64_t here = array_walk_fit(job->walk, first, fitting);
        uint64_t measured;

        assert(here > 0 && here <= fitting);
        array_walk_copy(job->walk, first, here, gathered + held * job->size);
        first += here;
        count -= here;
        held += here;
        measured = count == 0 ? held : held - held % job->block_count;
        measure_blocks(job, gathered, measured, part, stream);
        held -= measured;
        memmove(gathered, gathered + measured * job->size, held * job->size);
    }
}

static void measure_piece(const struct job *job, uint64_t index, struct piece *piece)
{
    const unsigned char *data = job->array->data;
    uint64_t first = index * job->piece_count;
    uint64_t left = job->count - first;
    uint64_t count = left < job->piece_count ? left : job->piece_count;
    struct hash_stream stream;

    assert(first < job->count);
    *piece = (struct piece){0};
    if (job->wants_hash) {
        hash_stream_init(&stream);
    }
    if (job->walk == NULL) {
        measure_blocks(job, data + first * job->size, count, &piece->part, &stream);
    } else {
        gather_blocks(job, first, count, &piece->part, &stream);
    }
    if (job->wants_hash) {
        piece->hash = hash_stream_finish(&stream);
    }
}

/* A run of pieces that threads measure together. */
struct batch {
    const struct job *job;
    struct piece *pieces;
    uint64_t first;
    uint64_t count;
    atomic_uint_fast64_t used;
};

static void *batch_work(void *argument)
{
    struct batch *batch = argument;
    struct float_mode mode = float_mode_enter();

    for (;;) {
        uint64_t index =
            atomic_fetch_add_explicit(&batch->used, 1, memory_order_relaxed);

        if (index >= batch->count) {
            break;
        }
        measure_piece(batch->job, batch->first + index, &batch->pieces[index]);
    }
    float_mode_leave(mode);
    return NULL;
}

/* Starts up to `wanted` threads that work at the batch, and returns how many were started. They
 * block all signals, which belong to the program. */
static unsigned threads_start(struct batch *batch, pthread_t *threads, unsigned wanted)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    unsigned started = 0;

    if (wanted == 0 || pthread_attr_init(&attributes) != 0) {
        return 0;
    }
    pthread_attr_setstacksize(&attributes, THREAD_STACK_SIZE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < wanted &&
           pthread_create(&threads[started], &attributes, batch_work, batch) == 0) {
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

/* Measures the batch with threads that live only as long as it does. So no thread is lost in a
 * fork or delays an exit. Starting one takes 20 us, little compared to measuring 4 MiB. If none
 * can be started, this thread does all the work. */
static void batch_measure(struct batch *batch, unsigned thread_limit)
{
    uint64_t worth = batch->count / THREAD_PIECE_COUNT;
    unsigned limit = thread_limit < THREAD_MAX ? thread_limit : THREAD_MAX;
    unsigned wanted = worth < limit ? (unsigned)worth : limit;
    pthread_t threads[THREAD_MAX];
    unsigned started = threads_start(batch, threads, wanted > 1 ? wanted - 1 : 0);

    batch_work(batch);
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
}

static __attribute__((noinline)) void measure_pieces(const struct job *job,
                                                     uint64_t piece_count,
                                                     unsigned thread_limit,
                                                     struct piece *whole)
{
    enum dtype_class class = dtype_class(job->array->dtype);
    struct piece pieces[BATCH_PIECE_COUNT];
    struct hash_stream hashes;

    hash_stream_init(&hashes);
    for (uint64_t first = 0; first < piece_count; first += BATCH_PIECE_COUNT) {
        uint64_t left = piece_count - first;

        if (job->must_stop != NULL && job->must_stop()) {
            *job->is_stopped = true;
            return;
        }
        struct batch batch = {
            .job = job,
            .pieces = pieces,
            .first = first,
            .count = left < BATCH_PIECE_COUNT ? left : BATCH_PIECE_COUNT,
        };

        batch_measure(&batch, thread_limit);
        for (uint64_t i = 0; i < batch.count; i++) {
            struct slice hash = {(const char *)&pieces[i].hash, sizeof(uint64_t)};

            hash_stream_add(&hashes, hash);
            statistics_part_merge(&whole->part, &pieces[i].part, class);
        }
    }
    whole->hash = hash_stream_finish(&hashes);
}

static __attribute__((noinline)) void
measure_large(struct job *job, unsigned thread_limit, struct piece *whole)
{
    struct array_walk walk;
    uint64_t piece_count = (job->count - 1) / job->piece_count + 1;

    if (!array_is_contiguous(job->array) || !array_is_resolved(job->array)) {
        array_walk_init(&walk, job->array);
        job->walk = &walk;
    }
    if (piece_count == 1) {
        measure_piece(job, 0, whole);
    } else {
        measure_pieces(job, piece_count, thread_limit, whole);
    }
}

static void measure(struct job *job, unsigned thread_limit, struct piece *whole)
{
    bool is_small = job->count <= job->block_count && array_is_contiguous(job->array) &&
                    array_is_resolved(job->array);

    if (!is_small) {
        measure_large(job, thread_limit, whole);
        return;
    }
    if (job->wants_values) {
        statistics_part_measure(&whole->part, job->kernels, job->array->dtype,
                                job->array->data, (size_t)job->count);
    }
    if (job->wants_hash) {
        struct slice bytes = {job->array->data, (size_t)job->count * job->size};

        whole->hash = hash_64(bytes);
    }
}

/* Sets the fields that depend only on the array. Returns false if there is nothing to read. */
static bool job_init(struct job *job, const struct array *array)
{
    job->array = array;
    job->walk = NULL;
    job->size = dtype_size(array->dtype);
    job->count = array_count(array);
    if (array->data == NULL || job->size == 0 || job->count == 0 ||
        job->count == UINT64_MAX) {
        return false;
    }
    job->kernels = kernels_in_use();
    job->block_count = statistics_block_count(array->dtype);
    job->piece_count = PIECE_SIZE / job->size;
    return true;
}

/* ---- expanded arrays ---- */

/* Limits for an expanded array: the number of different pieces that are hashed, and the number
 * of hashes of pieces that are combined. */
#define EXPANDED_PIECE_MAX  BATCH_PIECE_COUNT
#define EXPANDED_HASHES_MAX ((uint64_t)1 << 24)

static uint64_t find_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The period of an expanded array, in elements: its leading dimensions of stride 0 only repeat
 * the rest. */
static uint64_t find_period(const struct array *array, uint64_t count)
{
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        if (array->strides[i] != 0 && array->shape[i] != 1) {
            break;
        }
        count /= (uint64_t)array->shape[i];
    }
    return count;
}

/* Computes the hash of an array whose pieces repeat: hashes each different piece once, and
 * combines the hashes in the order of all pieces. Returns false if there are too many pieces. */
static __attribute__((noinline)) bool hash_expanded(struct job *job, uint64_t *hash)
{
    uint64_t piece_count = (job->count - 1) / job->piece_count + 1;
    uint64_t period = find_period(job->array, job->count);
    uint64_t different = period / find_divisor(period, job->piece_count);
    uint64_t hashes[EXPANDED_PIECE_MAX];
    struct hash_stream stream;
    struct array_walk walk;
    struct piece piece;

    different = different < piece_count ? different : piece_count;
    if (different > EXPANDED_PIECE_MAX || piece_count > EXPANDED_HASHES_MAX) {
        return false;
    }
    assert(different > 0);
    array_walk_init(&walk, job->array);
    job->walk = &walk;
    for (uint64_t i = 0; i < different; i++) {
        measure_piece(job, i, &piece);
        hashes[i] = piece.hash;
    }
    hash_stream_init(&stream);
    for (uint64_t first = 0; first + 1 < piece_count; first += different) {
        uint64_t left = piece_count - 1 - first;
        uint64_t here = left < different ? left : different;

        hash_stream_add(&stream,
                        (struct slice){(const char *)hashes, here * sizeof *hashes});
    }
    /* The last piece may be shorter. */
    measure_piece(job, piece_count - 1, &piece);
    hash_stream_add(&stream,
                    (struct slice){(const char *)&piece.hash, sizeof piece.hash});
    *hash = hash_stream_finish(&stream);
    return true;
}

/* Measures the elements of `once`, and multiplies the counts; hashes the whole array. */
static __attribute__((noinline)) unsigned
measure_expanded(struct job *job,
                 const struct expanded_array *expanded,
                 unsigned thread_limit,
                 struct piece *whole)
{
    struct job once = *job;
    unsigned found = 0;

    if (job->wants_values && job_init(&once, &expanded->once)) {
        once.wants_hash = false;
        measure(&once, thread_limit, whole);
        statistics_part_repeat(&whole->part, expanded->times);
        found |= STATISTICS_WANT_VALUES;
    }
    job->wants_values = false;
    if (job->wants_hash && hash_expanded(job, &whole->hash)) {
        found |= STATISTICS_WANT_HASH;
    } else if (job->wants_hash &&
               (job->is_complete ||
                job->count <= EXPANDED_PIECE_MAX * job->piece_count)) {
        struct piece hashed = {0};

        measure(job, thread_limit, &hashed);
        whole->hash = hashed.hash;
        found |= STATISTICS_WANT_HASH;
    }
    return found;
}

static unsigned measure_job(struct job *job,
                            const struct array *array,
                            unsigned wanted,
                            unsigned thread_limit,
                            struct statistics *statistics,
                            uint64_t *hash)
{
    enum dtype_class class = dtype_class(array->dtype);
    struct expanded_array expanded;
    struct piece whole = {0};

    job->wants_values = wanted & STATISTICS_WANT_VALUES && class != DTYPE_CLASS_OPAQUE;
    job->wants_hash = wanted & STATISTICS_WANT_HASH;
    if (job_init(job, array)) {
        struct float_mode mode = float_mode_enter();

        if (expanded_find(array, &expanded)) {
            wanted &= measure_expanded(job, &expanded, thread_limit, &whole) |
                      (class == DTYPE_CLASS_OPAQUE ? STATISTICS_WANT_VALUES : 0u);
        } else {
            measure(job, thread_limit, &whole);
        }
        float_mode_leave(mode);
    } else {
        whole.hash = hash_64((struct slice){NULL, 0});
    }
    if (job->is_stopped != NULL && *job->is_stopped) {
        wanted = 0; /* only a part of the elements was measured */
    }
    if (wanted & STATISTICS_WANT_VALUES) {
        statistics_part_finish(&whole.part, class, job->count, statistics);
    }
    if (wanted & STATISTICS_WANT_HASH) {
        *hash = whole.hash;
    }
    return wanted;
}

unsigned statistics_measure_until(const struct array *array,
                                  unsigned wanted,
                                  unsigned thread_limit,
                                  bool (*must_stop)(void),
                                  struct statistics *statistics,
                                  uint64_t *hash)
{
    bool is_stopped = false;
    struct job job = {.must_stop = must_stop, .is_stopped = &is_stopped};
    unsigned found = measure_job(&job, array, wanted, thread_limit, statistics, hash);

    if (is_stopped && wanted & STATISTICS_WANT_VALUES) {
        *statistics = (struct statistics){0};
    }
    return found;
}

void statistics_measure(const struct array *array,
                        unsigned wanted,
                        unsigned thread_limit,
                        struct statistics *statistics,
                        uint64_t *hash)
{
    struct job job = {.is_complete = true};

    measure_job(&job, array, wanted, thread_limit, statistics, hash);
}

const char *statistics_kernels(void)
{
    return kernels_in_use()->name;
}
