/* Arrays of many blocks and pieces: threads, forks, and how their hash is made. */
#include "runtime/array/statistics/statistics.h"
#include "runtime/base/hash/hash.h"
#include "tests/unit/check.h"
#include "tests/unit/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_SIZE 100000
#define LARGE_COUNT 3000001

static unsigned char memory[MEMORY_SIZE];

static struct array run_of(const void *data, enum dtype dtype, const int64_t *count)
{
    return (struct array){
        .data = data, .dtype = dtype, .dimension_count = 1, .shape = count};
}

static void test_streams(void)
{
    for (size_t i = 0; i < MEMORY_SIZE; i++) {
        memory[i] = (unsigned char)random_next();
    }
    for (size_t size = 0; size < MEMORY_SIZE; size = size * 3 / 2 + 1) {
        struct slice whole = {(const char *)memory, size};

        for (size_t step = 1; step <= size + 1; step = step * 5 + 1) {
            struct hash_stream stream;

            hash_stream_init(&stream);
            for (size_t at = 0; at < size; at += step) {
                hash_stream_add(
                    &stream,
                    slice_part(whole, at, at + step < size ? at + step : size));
            }
            CHECK(hash_stream_finish(&stream) == hash_64(whole));
        }
    }
    /* Published results of XXH3 with 64 bits. */
    CHECK(hash_64(SLICE("")) == 0x2d06800538d394c2);
}

static bool is_bitwise_equal(const struct statistics *a, const struct statistics *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* Any number of threads gives the same bits, and so does gathering the elements first. */
static void test_threads(const float *numbers)
{
    int64_t shape[] = {LARGE_COUNT - 1, 2};
    int64_t strides[] = {4, (LARGE_COUNT - 1) * 4};
    int64_t count = LARGE_COUNT;
    struct array array = run_of(numbers, DTYPE_FLOAT32, &count);
    uint64_t hash = 0;
    uint64_t wanted_hash = 1;
    struct statistics wanted;
    struct statistics got;

    for (int round = 0; round < 2; round++) {
        statistics_measure(&array, 3, 1, &wanted, &wanted_hash);
        for (unsigned limit = 0; limit < 9; limit++) {
            statistics_measure(&array, 3, limit, &got, &hash);
            CHECK(hash == wanted_hash && is_bitwise_equal(&got, &wanted));
        }
        shape[0] = LARGE_COUNT / 2;
        strides[1] = LARGE_COUNT / 2 * 4;
        array = (struct array){.data = numbers,
                               .dtype = DTYPE_FLOAT32,
                               .dimension_count = 2,
                               .shape = shape,
                               .strides = strides};
    }
}

/* All pieces count, each with its own numbers. */
static void test_pieces(const float *numbers)
{
    int64_t count = LARGE_COUNT;
    struct array array = run_of(numbers, DTYPE_FLOAT32, &count);
    struct statistics got;
    long double sum = 0;
    long double squares = 0;
    float min = numbers[0];
    float max = numbers[0];
    uint64_t zero_count = 0;

    for (size_t i = 0; i < LARGE_COUNT; i++) {
        sum += numbers[i];
        min = numbers[i] < min ? numbers[i] : min;
        max = numbers[i] > max ? numbers[i] : max;
        zero_count += numbers[i] == 0;
    }
    for (size_t i = 0; i < LARGE_COUNT; i++) {
        long double difference = numbers[i] - sum / LARGE_COUNT;

        squares += difference * difference;
    }
    statistics_measure(&array, STATISTICS_WANT_VALUES, 3, &got, NULL);
    CHECK(got.min.real == min && got.max.real == max && got.zero_count == zero_count);
    CHECK(fabs(got.mean / (double)(sum / LARGE_COUNT) - 1) < 1e-12);
    CHECK(fabs(got.std / (double)sqrtl(squares / (LARGE_COUNT - 1)) - 1) < 1e-12);
}

static void test_tree(const float *numbers)
{
    const size_t piece = 1024 * 1024;
    int64_t count = LARGE_COUNT;
    struct array array = run_of(numbers, DTYPE_FLOAT32, &count);
    struct slice bytes = {(const char *)numbers, LARGE_COUNT * 4};
    uint64_t hashes[12];
    size_t hash_count = 0;
    uint64_t hash;

    for (size_t at = 0; at < bytes.size; at += piece) {
        size_t end = at + piece < bytes.size ? at + piece : bytes.size;

        hashes[hash_count++] = hash_64(slice_part(bytes, at, end));
    }
    statistics_measure(&array, STATISTICS_WANT_HASH, 3, NULL, &hash);
    CHECK(hash == hash_64((struct slice){(const char *)hashes, hash_count * 8}));
    count = (int64_t)(piece / 4);
    statistics_measure(&array, STATISTICS_WANT_HASH, 3, NULL, &hash);
    CHECK(hash == hash_64(slice_part(bytes, 0, piece)));
}

/* More than one batch of pieces, without the memory: one element for all. */
static void test_batches(void)
{
    uint8_t element = 3;
    int64_t count = (int64_t)300 << 20;
    int64_t stride = 0;
    struct array array = run_of(&element, DTYPE_UINT8, &count);
    static unsigned char piece[1024 * 1024];
    static uint64_t hashes[300];
    struct statistics got;
    uint64_t hash;

    array.strides = &stride;
    memset(piece, 3, sizeof(piece));
    for (size_t i = 0; i < 300; i++) {
        hashes[i] = hash_64((struct slice){(const char *)piece, sizeof(piece)});
    }
    statistics_measure(&array, 3, 2, &got, &hash);
    CHECK(got.count == (uint64_t)count && got.mean == 3 && got.std == 0);
    CHECK(hash == hash_64((struct slice){(const char *)hashes, sizeof(hashes)}));
}

static void test_fork(const float *numbers)
{
    int64_t count = LARGE_COUNT;
    struct array array = run_of(numbers, DTYPE_FLOAT32, &count);
    struct statistics wanted;
    int status = 1;
    pid_t child;

    statistics_measure(&array, STATISTICS_WANT_VALUES, 2, &wanted, NULL);
    child = fork();
    if (child == 0) {
        struct statistics got;

        statistics_measure(&array, STATISTICS_WANT_VALUES, 2, &got, NULL);
        _exit(!is_bitwise_equal(&got, &wanted));
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void test_large(void)
{
    float *numbers = malloc(LARGE_COUNT * sizeof(float));

    for (size_t i = 0; i < LARGE_COUNT; i++) {
        numbers[i] =
            (float)(random_next() % 10000) / 1000 - 5 + (float)(i / 1000) / 100;
    }
    test_threads(numbers);
    test_pieces(numbers);
    test_tree(numbers);
    test_fork(numbers);
    free(numbers);
    test_batches();
}

int main(void)
{
    test_streams();
    test_large();
    return check_finish();
}
