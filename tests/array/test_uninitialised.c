/* Memory that nothing has written to yet. */
#include "runtime/array/uninitialised.h"
#include "runtime/base/memory.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool owners_live;
static int let_go_count;

static bool is_alive(void *owner, uint64_t begin)
{
    (void)owner;
    (void)begin;
    return owners_live;
}

static void let_go(void *owner)
{
    (void)owner;
    let_go_count++;
}

static struct uninitialised *make(void)
{
    struct uninitialised_owners owners = {is_alive, let_go};

    owners_live = true;
    let_go_count = 0;
    return uninitialised_new(owners);
}

static struct array vector(float *data, const int64_t *length)
{
    return (struct array){
        .data = data, .dtype = DTYPE_FLOAT32, .dimension_count = 1, .shape = length};
}

static enum uninitialised_state
find(struct uninitialised *all, const struct array *array, uint32_t version)
{
    const struct uninitialised_piece *piece;

    return uninitialised_find(all, array, true, version, &piece);
}

static void fill(float *data, size_t count, float value)
{
    for (size_t i = 0; i < count; i++) {
        data[i] = value;
    }
}

static void test_written_at_once(void)
{
    static float data[2000];
    int64_t length = 2000;
    struct array array = vector(data, &length);
    struct uninitialised *all = make();

    fill(data, 2000, 7);
    CHECK(uninitialised_add(all, &array, 3, SAMPLE_DEFAULT, data));
    CHECK(find(all, &array, 3) == UNINITIALISED_WHOLE);
    CHECK(find(all, &array, 3) == UNINITIALISED_WHOLE);
    fill(data, 2000, 8); /* as x.data.fill_() does: the version is not told */
    CHECK(find(all, &array, 3) == UNINITIALISED_NONE);
    CHECK(uninitialised_is_empty(all) && let_go_count == 1);
    uninitialised_free(all);
}

static void test_written_in_parts(void)
{
    static float data[64 * 64];
    int64_t shape[] = {64, 64};
    int64_t strides[] = {64 * 4, 4};
    struct array whole = {.data = data,
                          .dtype = DTYPE_FLOAT32,
                          .dimension_count = 2,
                          .shape = shape,
                          .strides = strides};
    struct uninitialised *all = make();

    fill(data, 64 * 64, -2);
    CHECK(uninitialised_add(all, &whole, 0, SAMPLE_DEFAULT, data));
    for (size_t half = 0; half < 2; half++) {
        for (size_t row = 0; row < 64; row++) {
            fill(data + row * 64 + half * 32, 32, (float)row);
        }
        CHECK(find(all, &whole, (uint32_t)half + 1) ==
              (half == 0 ? UNINITIALISED_PART : UNINITIALISED_NONE));
    }
    uninitialised_free(all);
}

/* Zeros are what fresh pages hold, and what many programs write. */
static void test_zeros_are_no_evidence(void)
{
    static float data[300];
    int64_t length = 300;
    struct array array = vector(data, &length);
    struct uninitialised *all = make();

    fill(data, 300, 0);
    CHECK(uninitialised_add(all, &array, 0, SAMPLE_DEFAULT, data));
    CHECK(find(all, &array, 0) == UNINITIALISED_WHOLE);
    CHECK(find(all, &array, 1) == UNINITIALISED_NONE);
    uninitialised_free(all);
}

static void test_views(void)
{
    static float data[6 * 8];
    int64_t shape[] = {6, 8}, column_shape[] = {6}, turned_shape[] = {8, 6};
    int64_t column_strides[] = {8 * 4}, turned_strides[] = {4, 8 * 4};
    struct array whole = {
        .data = data, .dtype = DTYPE_FLOAT32, .dimension_count = 2, .shape = shape};
    struct array column = {.data = data + 3,
                           .dtype = DTYPE_FLOAT32,
                           .dimension_count = 1,
                           .shape = column_shape,
                           .strides = column_strides};
    struct array turned = {.data = data,
                           .dtype = DTYPE_FLOAT32,
                           .dimension_count = 2,
                           .shape = turned_shape,
                           .strides = turned_strides};
    struct uninitialised *all = make();

    fill(data, 6 * 8, 5);
    CHECK(uninitialised_add(all, &whole, 0, SAMPLE_DEFAULT, data));
    CHECK(find(all, &column, 0) == UNINITIALISED_WHOLE);
    CHECK(find(all, &turned, 0) == UNINITIALISED_WHOLE);
    for (size_t row = 0; row < 6; row++) {
        data[row * 8 + 3] = 1;
    }
    CHECK(find(all, &column, 1) == UNINITIALISED_NONE);
    CHECK(find(all, &turned, 1) == UNINITIALISED_PART);
    uninitialised_free(all);
}

static void test_hidden_sample(void)
{
    float data[20], sample[20];
    int64_t length = 20;
    struct array array = vector(data, &length);
    struct uninitialised *all = make();
    const struct uninitialised_piece *piece;
    struct sample_grid grid;

    fill(data, 20, 9);
    CHECK(uninitialised_add(all, &array, 0, SAMPLE_DEFAULT, data));
    fill(data + 5, 2, 1);
    data[7] = NAN;
    CHECK(uninitialised_find(all, &array, true, 1, &piece) == UNINITIALISED_PART);
    CHECK(uninitialised_wrote_nonfinite(piece, &array));
    data[7] = 3;
    CHECK(!uninitialised_wrote_nonfinite(piece, &array));
    sample_grid_init(&grid, &length, 1, SAMPLE_DEFAULT);
    sample_copy(&grid, &array, sample);
    uninitialised_hide(piece, &array, &grid, sample);
    for (size_t i = 0; i < 20; i++) {
        CHECK(sample[i] == (i < 5 || i > 7 ? 0 : i == 7 ? 3 : 1));
    }
    uninitialised_free(all);
}

/* The first elements of a tensor that has grown were written. */
static void test_grown(void)
{
    static float data[10];
    int64_t length = 10, more = 6;
    struct array array = vector(data, &length), grown = vector(data + 4, &more);
    struct uninitialised *all = make();

    fill(data, 10, 4);
    CHECK(uninitialised_add(all, &grown, 0, SAMPLE_DEFAULT, data));
    CHECK(find(all, &grown, 0) == UNINITIALISED_WHOLE);
    CHECK(find(all, &array, 0) == UNINITIALISED_PART);
    length = 4;
    CHECK(find(all, &array, 0) == UNINITIALISED_NONE);
    uninitialised_free(all);
}

static void test_memory_that_is_gone(void)
{
    static float data[100];
    int64_t length = 100, few = 10;
    struct array array = vector(data, &length), other = vector(data + 50, &few);
    struct uninitialised *all = make();

    fill(data, 100, 6);
    CHECK(uninitialised_add(all, &array, 0, SAMPLE_DEFAULT, data));
    CHECK(uninitialised_add(all, &other, 0, SAMPLE_DEFAULT, data));
    CHECK(let_go_count == 1); /* its memory is the other one's now */
    length = 20;
    CHECK(find(all, &array, 0) == UNINITIALISED_NONE);
    CHECK(find(all, &other, 0) == UNINITIALISED_WHOLE);
    owners_live = false;
    CHECK(find(all, &other, 0) == UNINITIALISED_NONE);
    CHECK(let_go_count == 2 && uninitialised_is_empty(all));
    uninitialised_free(all);
}

static void test_many(void)
{
    static float data[UNINITIALISED_MAX * 2][2];
    int64_t length = 2;
    struct uninitialised *all = make();

    fill(&data[0][0], UNINITIALISED_MAX * 4, 5);
    for (size_t i = 0; i < UNINITIALISED_MAX * 2; i++) {
        struct array array = vector(data[i], &length);
        CHECK(uninitialised_add(all, &array, 0, SAMPLE_DEFAULT, data));
        CHECK(find(all, &array, 0) == UNINITIALISED_WHOLE);
    }
    CHECK(let_go_count >= UNINITIALISED_MAX);
    uninitialised_free(all);
    CHECK(let_go_count == UNINITIALISED_MAX * 2);
}

/* Whatever shape and slices: what was not written is never taken for values while most of it is left,
 * and what was written as a whole always is. */
static void test_random_slices(void)
{
    static float data[5000];

    srand(3);
    for (int turn = 0; turn < 300; turn++) {
        int64_t length = 1 + rand() % 5000;
        int64_t step = 1 + rand() % 9;
        struct array array = vector(data, &length);
        struct uninitialised *all = make();

        fill(data, 5000, NAN);
        CHECK(uninitialised_add(all, &array, 0, SAMPLE_DEFAULT, data));
        for (int64_t first = 0; first < step; first++) {
            for (int64_t i = first; i < length; i += step) {
                data[i] = (float)i;
            }
            if (length > step) {
                CHECK(find(all, &array, 1) ==
                      (first + 1 < step ? UNINITIALISED_PART : UNINITIALISED_NONE));
            }
        }
        uninitialised_free(all);
    }
}

static void test_memory_runs_out(void)
{
    static float data[100];
    int64_t length = 100;
    struct array array = vector(data, &length);

    fill(data, 100, 5);
    for (size_t countdown = 1; countdown <= 3; countdown++) {
        struct uninitialised *all = make();

        memory_fail_after(countdown, false);
        CHECK(!uninitialised_add(all, &array, 0, SAMPLE_DEFAULT, data));
        memory_fail_after(0, false);
        CHECK(let_go_count == 1 && uninitialised_is_empty(all));
        CHECK(find(all, &array, 0) == UNINITIALISED_NONE);
        uninitialised_free(all);
    }
}

int main(void)
{
    test_written_at_once();
    test_written_in_parts();
    test_zeros_are_no_evidence();
    test_views();
    test_hidden_sample();
    test_grown();
    test_memory_that_is_gone();
    test_many();
    test_random_slices();
    test_memory_runs_out();
    return check_finish();
}
