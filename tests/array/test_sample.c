/* The grid of a sample: which indices it has, and that the values are those there. */
#include "runtime/array/sample.h"
#include "tests/unit/check.h"

#include <string.h>

static struct sample_grid
grid_of(const int64_t *shape, uint32_t dimension_count, uint32_t limit)
{
    struct sample_grid grid;

    sample_grid_init(&grid, shape, dimension_count, limit);
    return grid;
}

/* What holds of every grid: the first and the last index, and each larger than the one before. */
static bool is_sound(const struct sample_grid *grid, uint32_t limit)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < grid->dimension_count; i++) {
        int64_t before = -1;

        count *= grid->counts[i];
        for (uint32_t j = 0; j < grid->counts[i]; j++) {
            int64_t index = sample_grid_index(grid, i, j);

            if (index <= before || index >= grid->shape[i]) {
                return false;
            }
            before = index;
        }
        if (grid->counts[i] > 1 &&
            (sample_grid_index(grid, i, 0) != 0 || before != grid->shape[i] - 1)) {
            return false;
        }
    }
    return count == grid->count && grid->count <= limit;
}

static void test_all_small_shapes(void)
{
    size_t wrong = 0;

    for (uint32_t limit = 1; limit <= 130; limit += limit < 20 ? 1 : 11) {
        for (int code = 0; code < 7 * 7 * 7 * 7; code++) {
            static const int64_t lengths[] = {1, 2, 3, 5, 8, 17, 100};
            int64_t shape[4] = {lengths[code % 7], lengths[code / 7 % 7],
                                lengths[code / 49 % 7], lengths[code / 343]};

            for (uint32_t count = 1; count <= 4; count++) {
                struct sample_grid grid = grid_of(shape, count, limit);

                wrong += !is_sound(&grid, limit) || grid.count == 0;
            }
        }
    }
    CHECK(wrong == 0);
}

static void test_one_dimension(void)
{
    int64_t shape[] = {100};
    struct sample_grid grid = grid_of(shape, 1, 4);

    CHECK(grid.counts[0] == 4 && grid.count == 4);
    CHECK(sample_grid_index(&grid, 0, 1) == 33 && sample_grid_index(&grid, 0, 2) == 66);
    grid = grid_of(shape, 1, 1000);
    CHECK(grid.count == 100 && sample_grid_index(&grid, 0, 57) == 57);
    grid = grid_of(shape, 1, 1);
    CHECK(grid.count == 1 && sample_grid_index(&grid, 0, 0) == 0);
}

static void check_counts(const int64_t *shape,
                         uint32_t dimension_count,
                         uint32_t limit,
                         const uint32_t *counts)
{
    struct sample_grid grid = grid_of(shape, dimension_count, limit);

    CHECK(memcmp(grid.counts, counts, dimension_count * sizeof(counts[0])) == 0);
}

static void test_matrices(void)
{
    check_counts((int64_t[]){50, 50}, 2, 64, (uint32_t[]){8, 8});
    check_counts((int64_t[]){50, 50}, 2, 63, (uint32_t[]){7, 7});
    check_counts((int64_t[]){2, 100}, 2, 64, (uint32_t[]){2, 32});
    check_counts((int64_t[]){100, 3}, 2, 64, (uint32_t[]){21, 3});
    check_counts((int64_t[]){2, 5}, 2, 64, (uint32_t[]){2, 5});
    check_counts((int64_t[]){1, 1000}, 2, 64, (uint32_t[]){1, 64});
}

static void test_slices(void)
{
    check_counts((int64_t[]){9, 50, 50}, 3, 64, (uint32_t[]){4, 4, 4});
    check_counts((int64_t[]){2, 50, 50}, 3, 64, (uint32_t[]){2, 4, 4});
    check_counts((int64_t[]){100, 2, 3}, 3, 64, (uint32_t[]){10, 2, 3});
    check_counts((int64_t[]){9, 50, 50}, 3, 10, (uint32_t[]){1, 3, 3});
    check_counts((int64_t[]){8, 8, 50, 50}, 4, 64, (uint32_t[]){2, 2, 4, 4});
    check_counts((int64_t[]){1, 8, 50, 50}, 4, 64, (uint32_t[]){1, 4, 4, 4});
}

static void test_tables(void)
{
    uint32_t limit = sample_tables(32, 8, 6);
    uint32_t least = sample_tables(0, 0, 0);
    uint32_t most = sample_tables(UINT64_MAX, UINT64_MAX, UINT64_MAX);

    check_counts((int64_t[]){100}, 1, limit, (uint32_t[]){32});
    check_counts((int64_t[]){5}, 1, limit, (uint32_t[]){5});
    check_counts((int64_t[]){50, 3}, 2, limit, (uint32_t[]){8, 3});
    check_counts((int64_t[]){4, 50, 50}, 3, limit, (uint32_t[]){4, 8, 8});
    check_counts((int64_t[]){5, 50, 50}, 3, limit, (uint32_t[]){5, 4, 4});
    check_counts((int64_t[]){90, 50, 2}, 3, limit, (uint32_t[]){6, 4, 2});
    check_counts((int64_t[]){8, 3, 50, 50}, 4, limit, (uint32_t[]){2, 3, 4, 4});
    check_counts((int64_t[]){1, 64, 50, 50}, 4, limit, (uint32_t[]){1, 6, 4, 4});
    check_counts((int64_t[]){2, 2, 50, 50}, 4, limit, (uint32_t[]){2, 2, 8, 8});
    check_counts((int64_t[]){9, 9, 9, 9, 9}, 5, limit, (uint32_t[]){1, 1, 6, 4, 4});
    check_counts((int64_t[]){9}, 1, least, (uint32_t[]){1});
    check_counts((int64_t[]){9, 9, 9}, 3, least, (uint32_t[]){1, 1, 1});
    CHECK(grid_of((int64_t[]){4, 99, 99}, 3, most).count == SAMPLE_MAX);
    CHECK(grid_of((int64_t[]){99, 99, 99}, 3, most).count == SAMPLE_MAX);
    CHECK(grid_of((int64_t[]){99, 99}, 2, most).count == SAMPLE_MAX);
    CHECK(grid_of((int64_t[]){9999}, 1, most).count == SAMPLE_MAX - 1);
    CHECK(grid_of((int64_t[]){0, 5}, 2, limit).count == 0);
    CHECK(grid_of(NULL, 0, limit).count == 1);
}

/* A limit that a damaged file may hold. */
static void test_any_limit(void)
{
    uint64_t state = 88172645463325252u;
    size_t wrong = 0;

    for (int turn = 0; turn < 20000; turn++) {
        int64_t shape[4];

        for (uint32_t i = 0; i < 4; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            shape[i] = 1 + (int64_t)(state % 100);
        }
        for (uint32_t count = 1; count <= 4; count++) {
            struct sample_grid grid =
                grid_of(shape, count, SAMPLE_TABLES | (uint32_t)(state >> 32));

            wrong += !is_sound(&grid, SAMPLE_MAX) || grid.count == 0;
        }
    }
    CHECK(wrong == 0);
}

static void test_leading_dimensions(void)
{
    int64_t shape[] = {7, 4, 2, 2, 9, 9};
    struct sample_grid grid = grid_of(shape, 6, 64);

    CHECK(grid.counts[0] == 1 && grid.counts[1] == 1);
    CHECK(sample_grid_index(&grid, 0, 0) == 3 && sample_grid_index(&grid, 1, 0) == 2);
    CHECK(sample_grid_index(&grid, 2, 0) == 0 && sample_grid_index(&grid, 2, 1) == 1);
    CHECK(grid.count == 64);
}

/* Every array of up to 25 elements, and of the others what the limit says. */
static void test_whole(void)
{
    static const uint32_t limits[] = {0, 1, 25, 64};
    size_t wrong = 0;

    for (size_t turn = 0; turn < sizeof limits / sizeof *limits; turn++) {
        for (int code = 0; code < 6 * 6 * 6 * 6; code++) {
            static const int64_t lengths[] = {1, 2, 3, 5, 12, 30};
            int64_t shape[6] = {1,
                                1,
                                lengths[code % 6],
                                lengths[code / 6 % 6],
                                lengths[code / 36 % 6],
                                lengths[code / 216]};
            int64_t all = shape[2] * shape[3] * shape[4] * shape[5];
            struct sample_grid whole = grid_of(shape, 6, limits[turn] | SAMPLE_WHOLE);
            struct sample_grid plain = grid_of(shape, 6, limits[turn]);

            wrong += all <= 25 ? whole.count != (uint64_t)all
                               : whole.count != plain.count ||
                                     memcmp(whole.counts, plain.counts,
                                            sizeof whole.counts) != 0;
            wrong += all <= 25 && !is_sound(&whole, 25);
        }
    }
    CHECK(wrong == 0);
    CHECK(grid_of((int64_t[]){2, 1, 1, 1, 2}, 5, 64 | SAMPLE_WHOLE).counts[0] == 1);
    CHECK(grid_of((int64_t[]){5, 5}, 2, SAMPLE_TABLES | 3 | SAMPLE_WHOLE).count == 25);
    CHECK(grid_of((int64_t[]){5, 0}, 2, SAMPLE_WHOLE).count == 0);
    CHECK(grid_of(NULL, 0, SAMPLE_WHOLE).count == 1);
}

static void test_nothing_to_sample(void)
{
    int64_t empty[] = {3, 0, 5};
    int64_t full[] = {3, 4, 5};
    unsigned char untouched = 0x5a;
    struct array array = {.dtype = DTYPE_FLOAT32, .dimension_count = 3, .shape = empty};
    struct sample_grid grid = grid_of(empty, 3, 64);

    CHECK(grid.count == 0 && grid.counts[0] == 0);
    sample_copy(&grid, &array, &untouched);
    CHECK(untouched == 0x5a);
    CHECK(grid_of(full, 3, 0).count == 0);
    CHECK(grid_of(full, 0, 0).count == 0);
}

static void test_scalar(void)
{
    double value = 2.5;
    double used = 0;
    struct array array = {.data = &value, .dtype = DTYPE_FLOAT64};
    struct sample_grid grid = grid_of(NULL, 0, 1);

    CHECK(grid.count == 1);
    sample_copy(&grid, &array, &used);
    CHECK(used == 2.5);
}

static void test_huge_lengths(void)
{
    int64_t shape[] = {INT64_MAX, INT64_MAX};
    struct sample_grid grid = grid_of(shape, 2, 1u << 20);

    CHECK(is_sound(&grid, 1u << 20) && grid.counts[0] == 1024);
    CHECK(grid_of(shape, 1, SAMPLE_WHOLE - 1).count == SAMPLE_WHOLE - 1);
    CHECK(grid_of(shape, 1, SAMPLE_TABLES - 1).count == SAMPLE_WHOLE - 1);
    /* From there on a limit tells what tables show, whatever a file has there. */
    CHECK(grid_of(shape, 1, UINT32_MAX).count == SAMPLE_VECTOR_MAX);
    CHECK(grid_of(shape, 2, UINT32_MAX).count == SAMPLE_MATRIX_MAX * SAMPLE_MATRIX_MAX);
}

/* Takes a sample of int16 numbers that say their own indices, at any strides. */
static void check_values(const int64_t *shape,
                         const int64_t *strides,
                         uint32_t dimension_count,
                         int64_t start,
                         uint32_t limit)
{
    static unsigned char memory[40000];
    struct sample_grid grid = grid_of(shape, dimension_count, limit);
    struct array array = {
        .data = memory + start,
        .dtype = DTYPE_INT16,
        .dimension_count = dimension_count,
        .shape = shape,
        .strides = strides,
    };
    int16_t used[256];
    size_t wrong = 0;

    for (size_t i = 0; i + 1 < sizeof(memory); i++) {
        memory[i] = (unsigned char)(i * 2654435761u >> 13);
    }
    sample_copy(&grid, &array, used);
    for (uint64_t i = 0; i < grid.count; i++) {
        uint64_t rest = i;
        int64_t offset = start;
        int16_t wanted;

        for (uint32_t j = dimension_count; j-- > 0;) {
            uint32_t position = (uint32_t)(rest % grid.counts[j]);

            offset += sample_grid_index(&grid, j, position) * strides[j];
            rest /= grid.counts[j];
        }
        memcpy(&wanted, memory + offset, sizeof(wanted));
        wrong += used[i] != wanted;
    }
    CHECK(grid.count > 0 && wrong == 0);
}

static void test_values(void)
{
    check_values((int64_t[]){1000}, (int64_t[]){2}, 1, 0, 64);
    check_values((int64_t[]){1000}, (int64_t[]){-3}, 1, 5001, 64);
    check_values((int64_t[]){100, 90}, (int64_t[]){180, 2}, 2, 0, 64);
    check_values((int64_t[]){90, 100}, (int64_t[]){2, 180}, 2, 1, 50);
    check_values((int64_t[]){3, 20, 30}, (int64_t[]){1200, -60, 2}, 3, 1140, 64);
    check_values((int64_t[]){4, 5, 6, 7}, (int64_t[]){0, 84, 14, 2}, 4, 0, 200);
    check_values((int64_t[]){3, 2, 2, 3, 4, 5}, (int64_t[]){480, 240, 120, 40, 10, 2},
                 6, 0, 64);
}

static void test_left_out_strides(void)
{
    int32_t memory[6] = {1, 2, 3, 4, 5, 6};
    int64_t shape[] = {2, 3};
    int32_t used[4];
    struct array array = {
        .data = memory, .dtype = DTYPE_INT32, .dimension_count = 2, .shape = shape};
    struct sample_grid grid = grid_of(shape, 2, 4);

    sample_copy(&grid, &array, used);
    CHECK(used[0] == 1 && used[1] == 3 && used[2] == 4 && used[3] == 6);
}

static void test_resolved(void)
{
    float memory[4] = {1, 2, 3, -4};
    int64_t shape[] = {2};
    float used[4];
    struct array array = {.data = memory,
                          .dtype = DTYPE_COMPLEX64,
                          .dimension_count = 1,
                          .shape = shape,
                          .is_conjugated = true};
    struct sample_grid grid = grid_of(shape, 1, 8);

    sample_copy(&grid, &array, used);
    CHECK(used[0] == 1 && used[1] == -2 && used[2] == 3 && used[3] == 4);
    array.is_negated = true;
    sample_copy(&grid, &array, used);
    CHECK(used[0] == -1 && used[1] == 2 && used[2] == -3 && used[3] == -4);
}

int main(void)
{
    test_all_small_shapes();
    test_one_dimension();
    test_matrices();
    test_slices();
    test_tables();
    test_any_limit();
    test_leading_dimensions();
    test_whole();
    test_nothing_to_sample();
    test_scalar();
    test_huge_lengths();
    test_values();
    test_left_out_strides();
    test_resolved();
    return check_finish();
}
