/* Tensors written to files and read again: their values whatever the strides, what they are known
 * by, files that are there, and nothing left behind where memory or the disk fails. */
#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"
#include "runtime/saved/pt/pt.h"
#include "runtime/saved/safetensors/safetensors.h"
#include "tests/unit/check.h"
#include "tests/unit/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COLUMNS 300
#define ROWS    400
/* So many are 17 MiB. */
#define LARGE_COUNT 74

static float matrix[ROWS][COLUMNS];

/* The transpose of every other column: nothing of it is contiguous. */
static struct saved_tensor make_strided(void)
{
    static const int64_t shape[] = {COLUMNS / 2, ROWS};
    static const int64_t strides[] = {2 * sizeof(float), COLUMNS * sizeof(float)};

    return (struct saved_tensor){
        .key = {.prefix = SLICE("step0"),
                .module_path = SLICE("encoder"),
                .name = SLICE("q"),
                .call = 3},
        .order = 12,
        .file = SLICE("model.py"),
        .function = SLICE("forward"),
        .line = 7,
        .array = {.data = matrix,
                  .dtype = DTYPE_FLOAT32,
                  .dimension_count = 2,
                  .shape = shape,
                  .strides = strides},
    };
}

static struct saved_tensor make_plain(enum dtype dtype, int64_t *count)
{
    return (struct saved_tensor){
        .key = {.name = SLICE("plain"), .call = (uint64_t)dtype},
        .array = {.data = matrix, .dtype = dtype, .dimension_count = 1, .shape = count},
    };
}

static bool arrays_are_equal(const struct array *one, const struct array *other)
{
    uint64_t count = array_count(one);
    size_t size = count * dtype_size(one->dtype);
    char *bytes = malloc(2 * size + 1);
    bool are = one->dtype == other->dtype && count == array_count(other) &&
               one->dimension_count == other->dimension_count;

    for (uint32_t i = 0; are && i < one->dimension_count; i++) {
        are = one->shape[i] == other->shape[i];
    }
    if (are) {
        array_read(one, 0, count, bytes);
        array_read(other, 0, count, bytes + size);
        are = memcmp(bytes, bytes + size, size) == 0;
    }
    free(bytes);
    return are;
}

static bool keys_are_equal(const struct saved_tensor *one,
                           const struct saved_tensor *other)
{
    return slice_equal(one->key.prefix, other->key.prefix) &&
           slice_equal(one->key.module_path, other->key.module_path) &&
           slice_equal(one->key.name, other->key.name) &&
           one->key.call == other->key.call && one->order == other->order &&
           one->line == other->line && slice_equal(one->file, other->file) &&
           slice_equal(one->function, other->function);
}

static bool holds(const char *path, const struct saved_tensor *tensor)
{
    struct error error = ERROR_INIT;
    struct pt_file *file = pt_file_open(path, &error);
    struct array array;
    bool is_same = file != NULL && keys_are_equal(pt_file_tensor(file), tensor) &&
                   pt_file_read(file, &array, &error) &&
                   arrays_are_equal(&array, &tensor->array);

    pt_file_close(file);
    return is_same;
}

/* ---- .pt ---- */

static void test_pt(void)
{
    struct saved_tensor strided = make_strided();
    struct error error = ERROR_INIT;

    CHECK(pt_write("deep/er/a.pt", &strided, false, &error) == PT_WRITTEN);
    CHECK(holds("deep/er/a.pt", &strided));
    CHECK(unlink("deep/er/a.pt") == 0 && rmdir("deep/er") == 0 && rmdir("deep") == 0);
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        int64_t count = 1 + 3 * dtype;
        struct saved_tensor plain = make_plain((enum dtype)dtype, &count);

        if (pt_has_dtype((enum dtype)dtype)) {
            CHECK(pt_write("a.pt", &plain, true, &error) != PT_FAILED);
            CHECK(holds("a.pt", &plain));
        }
    }
    CHECK(unlink("a.pt") == 0 && entry_count() == 0);
}

static void test_pt_replacing(void)
{
    int64_t one = 1, two = 2;
    struct saved_tensor first = make_plain(DTYPE_FLOAT32, &one);
    struct saved_tensor second = make_plain(DTYPE_FLOAT32, &two);
    struct error error = ERROR_INIT;

    CHECK(pt_write("a.pt", &first, false, &error) == PT_WRITTEN);
    CHECK(pt_write("a.pt", &second, false, &error) == PT_EXISTS);
    CHECK(holds("a.pt", &first));
    CHECK(pt_write("a.pt", &second, true, &error) == PT_REPLACED);
    CHECK(holds("a.pt", &second));
    CHECK(pt_write(".", &second, true, &error) == PT_FAILED && errno == EISDIR);
    CHECK(pt_write("a.pt/b.pt", &second, true, &error) == PT_FAILED &&
          errno == ENOTDIR && error.kind == ERROR_SYSTEM);
    CHECK(unlink("a.pt") == 0 && entry_count() == 0);
}

/* Each allocation and each operation on the disk fails in turn. */
static void test_pt_failing(void)
{
    int64_t one = 1;
    struct saved_tensor old = make_plain(DTYPE_FLOAT32, &one);
    struct saved_tensor strided = make_strided();
    struct error error = ERROR_INIT;
    size_t count;

    CHECK(pt_write("a.pt", &old, false, &error) == PT_WRITTEN);
    for (count = 1;; count++) {
        memory_fail_after(count, false);
        enum pt_write_result result = pt_write("a.pt", &strided, true, &error);
        memory_fail_after(0, false);
        if (result != PT_FAILED) {
            break;
        }
        CHECK(error.kind == ERROR_MEMORY && holds("a.pt", &old) && entry_count() == 1);
    }
    CHECK(count > 3 && holds("a.pt", &strided));
    CHECK(pt_write("a.pt", &old, true, &error) == PT_REPLACED);
    for (count = 1;; count++) {
        file_fail_after(count);
        enum pt_write_result result = pt_write("a.pt", &strided, true, &error);
        file_fail_after(0);
        if (result != PT_FAILED) {
            break;
        }
        CHECK(error.kind == ERROR_SYSTEM && errno == ENOSPC && holds("a.pt", &old) &&
              entry_count() == 1);
    }
    CHECK(count > 4 && holds("a.pt", &strided)); /* made, written, closed, renamed */
    CHECK(unlink("a.pt") == 0 && entry_count() == 0);
}

/* ---- safetensors ---- */

static bool
file_holds(const char *path, const struct saved_tensor *tensors, size_t count)
{
    struct error error = ERROR_INIT;
    struct safetensors_file *file = safetensors_file_open(path, &error);
    bool is_same = file != NULL && safetensors_file_count(file) == count;
    struct array array;

    for (size_t i = 0; is_same && i < count; i++) {
        is_same = keys_are_equal(safetensors_file_tensor(file, i), &tensors[i]) &&
                  safetensors_file_read(file, i, &array, &error) &&
                  arrays_are_equal(&array, &tensors[i].array);
    }
    safetensors_file_close(file);
    return is_same;
}

/* Small elements first, so that they have to change places; a name that comes twice. */
static size_t make_many(struct saved_tensor tensors[], int64_t counts[])
{
    size_t count = 0;

    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        if (safetensors_has_dtype((enum dtype)dtype)) {
            counts[count] = 2 * dtype % 7;
            tensors[count] = make_plain((enum dtype)dtype, &counts[count]);
            tensors[count].order = count;
            count++;
        }
    }
    tensors[count] = make_strided();
    tensors[count].order = count;
    return count + 1;
}

static bool add_all(struct safetensors_writer *writer,
                    const struct saved_tensor *tensors,
                    size_t count)
{
    struct error error = ERROR_INIT;

    for (size_t i = 0; i < count; i++) {
        if (!safetensors_writer_add(writer, &tensors[i], &error)) {
            return false;
        }
    }
    return true;
}

static void test_safetensors(void)
{
    struct saved_tensor tensors[DTYPE_COUNT + 1];
    int64_t counts[DTYPE_COUNT], twelve = 12;
    size_t count = make_many(tensors, counts);
    struct saved_tensor other = make_plain(DTYPE_COMPLEX128, &twelve);
    struct saved_tensor same = make_plain(DTYPE_INT16, &twelve);
    struct error error = ERROR_INIT;
    struct safetensors_writer *writer = safetensors_writer_new("a.safetensors", &error);

    CHECK(!safetensors_writer_add(writer, &other, &error));
    CHECK_TEXT(slice_of(error.text), "safetensors has no dtype complex128");
    CHECK(safetensors_writer_add(writer, &same, &error)); /* replaced by its namesake */
    CHECK(add_all(writer, tensors, count));
    CHECK(safetensors_writer_count(writer) == count + 1);
    CHECK(!file_inspect("a.safetensors").is_there);
    CHECK(safetensors_writer_finish(writer, &error));
    CHECK(file_holds("a.safetensors", tensors, count));
    CHECK(unlink("a.safetensors") == 0 && entry_count() == 0);

    writer = safetensors_writer_new("a.safetensors", &error);
    CHECK(safetensors_writer_finish(writer, &error) && entry_count() == 0);
    writer = safetensors_writer_new("a.safetensors", &error);
    CHECK(add_all(writer, tensors, count) && entry_count() == 1);
    safetensors_writer_abandon(writer);
    CHECK(entry_count() == 0);
}

static void fail_after(bool is_memory, size_t countdown, bool keep_failing)
{
    if (is_memory) {
        memory_fail_after(countdown, keep_failing);
    } else if (keep_failing) {
        file_keep_failing_after(countdown);
    } else {
        file_fail_after(countdown);
    }
}

static void make_numbered(struct saved_tensor tensors[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tensors[i] = make_strided();
        tensors[i].key.call = i;
        tensors[i].order = i;
    }
}

/* Those that were added before and after one that failed are there. */
static void test_adding_fails(bool is_memory)
{
    struct saved_tensor tensors[3];
    struct error error = ERROR_INIT;
    size_t count = 0;
    bool is_added;

    do {
        struct safetensors_writer *writer = safetensors_writer_new("a", &error);
        make_numbered(tensors, 3);
        CHECK(safetensors_writer_add(writer, &tensors[0], &error));
        fail_after(is_memory, ++count, false);
        is_added = safetensors_writer_add(writer, &tensors[1], &error);
        fail_after(is_memory, 0, false);
        CHECK(is_added || error.kind == (is_memory ? ERROR_MEMORY : ERROR_SYSTEM));
        CHECK(safetensors_writer_add(writer, &tensors[2], &error));
        CHECK(safetensors_writer_finish(writer, &error));
        if (!is_added) {
            tensors[1] = tensors[2];
        }
        CHECK(file_holds("a", tensors, is_added ? 3 : 2));
        CHECK(unlink("a") == 0 && entry_count() == 0);
    } while (!is_added);
    CHECK(count > 1); /* it has failed */
}

/* Those that are finished in place, and by a copy. */
static void test_finishing_fails(bool is_memory, size_t tensor_count)
{
    struct saved_tensor tensors[LARGE_COUNT];
    struct error error = ERROR_INIT;
    size_t count = 0;
    bool is_finished;

    make_numbered(tensors, tensor_count);
    do {
        struct safetensors_writer *writer = safetensors_writer_new("a", &error);
        CHECK(add_all(writer, tensors, tensor_count));
        fail_after(is_memory, ++count, true);
        is_finished = safetensors_writer_finish(writer, &error);
        fail_after(is_memory, 0, false);
        CHECK(is_finished || error.kind == (is_memory ? ERROR_MEMORY : ERROR_SYSTEM));
        CHECK(entry_count() == (is_finished ? 1 : 0));
    } while (!is_finished);
    CHECK(count > 2 && file_holds("a", tensors, tensor_count));
    CHECK(unlink("a") == 0 && entry_count() == 0);
}

/* A copy that finds no room is no loss: the file is finished where the values are. */
static void test_no_room_for_a_copy(void)
{
    struct saved_tensor tensors[3];
    struct error error = ERROR_INIT;

    make_numbered(tensors, 3);
    for (size_t count = 1; count < 6; count++) {
        struct safetensors_writer *writer = safetensors_writer_new("a", &error);
        CHECK(add_all(writer, tensors, 3));
        file_fail_after(count);
        CHECK(safetensors_writer_finish(writer, &error));
        file_fail_after(0);
        CHECK(file_holds("a", tensors, 3));
        CHECK(unlink("a") == 0 && entry_count() == 0);
    }
}

/* More than the first room for a header holds, and the second. */
static void test_many(void)
{
    static struct saved_tensor tensors[3000];
    int64_t counts[] = {1};
    struct error error = ERROR_INIT;
    struct safetensors_writer *writer = safetensors_writer_new("a", &error);

    for (size_t i = 0; i < 3000; i++) {
        tensors[i] = make_plain(DTYPE_FLOAT32, counts);
        tensors[i].array.data = &matrix[0][0] + i;
        tensors[i].key.call = i;
        tensors[i].order = i;
    }
    CHECK(add_all(writer, tensors, 3000) && entry_count() == 1);
    CHECK(safetensors_writer_finish(writer, &error));
    CHECK(file_holds("a", tensors, 3000));
    CHECK(unlink("a") == 0 && entry_count() == 0);
}

int main(void)
{
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            matrix[i][j] = (float)(i * COLUMNS + j);
        }
    }
    test_pt();
    test_pt_replacing();
    test_pt_failing();
    test_safetensors();
    test_no_room_for_a_copy();
    test_many();
    for (int is_memory = 0; is_memory < 2; is_memory++) {
        test_adding_fails(is_memory);
        test_finishing_fails(is_memory, 3);
        test_finishing_fails(is_memory, LARGE_COUNT);
    }
    return check_finish();
}
