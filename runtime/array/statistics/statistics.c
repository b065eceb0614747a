/* What an array holds, in a few numbers, and a hash of it.
 *
 * An array is measured in pieces of 1 MiB, on which threads can work at once, and a piece in
 * blocks that stay in the cache between the statistics and the hash. Both are cut alike and
 * put together in order whoever has measured them, and whether the elements lie together or
 * are gathered first: so the result depends on none of that.
 *
 * The hash of up to 1 MiB of elements is their XXH3, and of more the XXH3 of the pieces'
 * hashes (64 bits each, the low byte first). */
#include "runtime/array/statistics/statistics.h"

#include "runtime/array/expanded.h"
#include "runtime/array/statistics/float_mode.h"
#include "runtime/array/statistics/part.h"
#include "runtime/array/walk.h"
#include "runtime/base/hash/hash.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define PIECE_SIZE ((size_t)1024 * 1024)
/* How many pieces' results are held at once, and measured before they are put together. */
#define BATCH_PIECE_COUNT 256
/* A thread is made for so many pieces: for fewer, making it costs more than it gains. */
#define THREAD_PIECE_COUNT 4
#define THREAD_MAX         64
/* More than is used here; what threads have if not told is 128 KiB on some systems. */
#define THREAD_STACK_SIZE ((size_t)1024 * 1024)
/* Elements that do not lie together are gathered by so many bytes, some blocks of them. With
 * several rows at once, lines of the cache that columns share are read once. */
#define GATHER_SIZE ((size_t)64 * 1024)

/* What is to be done, the same for all threads. */
struct job {
    const struct array *array;
    const struct array_walk *walk; /* NULL where the elements lie together */
    const struct kernels *kernels;
    size_t size;             /* of an element */
    uint64_t count;          /* of all elements */
    uint64_t piece_count;    /* elements of a piece */
    size_t block_count;      /* elements of a block */
    bool (*must_stop)(void); /* may be NULL */
    bool *is_stopped;
    bool is_complete; /* the hash is found however long it takes */
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

/* What is gathered need not end with a block: the rest waits for what comes next. */
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

/* Some pieces of an array, one after the other, which threads take as they come. */
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

/* Makes up to `wanted` threads that work at the batch, and tells how many there are now. The
 * program's signals are not for them. */
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

/* Threads are made for the batch and are gone when it is done: nothing is left to be lost in a
 * fork or to hold up an exit, and the 20 us that one takes are little next to 4 MiB. Where
 * none can be had, there is this one. */
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

/* The job's parts that depend on the array alone. False: there is nothing to read. */
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

/* So many pieces at most are hashed of an expanded array, and so many hashes of pieces put together. */
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

/* After how many elements those of an expanded array repeat: its leading dimensions of stride 0 do
 * nothing else. */
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

/* The hash of each piece, where pieces repeat: the same as of all, from the different ones. False: there
 * are too many. */
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
    /* The last one may be shorter. */
    measure_piece(job, piece_count - 1, &piece);
    hash_stream_add(&stream,
                    (struct slice){(const char *)&piece.hash, sizeof piece.hash});
    *hash = hash_stream_finish(&stream);
    return true;
}

/* The statistics of `once`, as many times; the hash of the whole. */
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
    return is_stopped ? 0 : found;
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
