/* Folders of saved tensors: what was written in each format is read, in the order of saving,
 * whatever allocation fails, and nothing but it. */
#include "runtime/base/arena.h"
#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"
#include "runtime/saved/folder.h"
#include "runtime/saved/pt/pt.h"
#include "runtime/saved/pt/zip_write.h"
#include "runtime/saved/safetensors/safetensors.h"
#include "tests/unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "saved"

static const float values[] = {1, 2, 3, 4, 5, 6};
static const int64_t shape[] = {2, 3};
static const int64_t turned_shape[] = {3, 2};
static const int64_t turned_strides[] = {4, 12};

static struct saved_tensor tensor_of(const char *name, uint64_t call, uint64_t order)
{
    return (struct saved_tensor){
        .key = {SLICE("step0"), SLICE("encoder.attn"), slice_of(name), call},
        .order = order,
        .file = SLICE("/tmp/a.py"),
        .function = SLICE("A.forward"),
        .line = 7,
        .array = {.data = values,
                  .dtype = DTYPE_FLOAT32,
                  .dimension_count = 2,
                  .shape = shape},
    };
}

static void write_pt(const char *path, const struct saved_tensor *tensor)
{
    struct error error = ERROR_INIT;

    CHECK(pt_write(path, tensor, true, &error) != PT_FAILED);
}

/* q as call 10, 2 and 1 in .pt files, k and v in a file of safetensors. */
static void write_folder(void)
{
    struct saved_tensor tensors[] = {tensor_of("q", 10, 3), tensor_of("q", 2, 1),
                                     tensor_of("q", 1, 2), tensor_of("k", 0, 5),
                                     tensor_of("v", 0, 4)};
    struct error error = ERROR_INIT;
    struct safetensors_writer *writer;

    CHECK(mkdir(FOLDER, 0777) == 0);
    tensors[1].array.shape = turned_shape;
    tensors[1].array.strides = turned_strides;
    write_pt(FOLDER "/q.call10.pt", &tensors[0]);
    write_pt(FOLDER "/q.call2.pt", &tensors[1]);
    write_pt(FOLDER "/q.call1.pt", &tensors[2]);
    writer = safetensors_writer_new(FOLDER "/x.safetensors", &error);
    if (CHECK(writer != NULL)) {
        CHECK(safetensors_writer_add(writer, &tensors[3], &error));
        CHECK(safetensors_writer_add(writer, &tensors[4], &error));
        CHECK(safetensors_writer_finish(writer, &error));
    }
    CHECK(file_write(FOLDER "/broken.pt", SLICE("PK nonsense"), FILE_MODE_DEFAULT,
                     &error));
    CHECK(file_write(FOLDER "/.hidden.pt", SLICE("PK"), FILE_MODE_DEFAULT, &error));
    CHECK(file_write(FOLDER "/notes.txt", SLICE("PK"), FILE_MODE_DEFAULT, &error));
}

static bool has_values(const struct array *array, const float *wanted)
{
    float found[6];

    if (array_count(array) != 6) {
        return false;
    }
    array_read(array, 0, 6, found);
    return memcmp(found, wanted, sizeof found) == 0;
}

static void check_place(const struct saved_entry *entry)
{
    char path[200];
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;

    snprintf(path, sizeof path, FOLDER "/%.*s", (int)entry->file_name.size,
             entry->file_name.bytes);
    CHECK(file_read(path, SIZE_MAX, &bytes, &error));
    CHECK(entry->size == sizeof values && entry->offset + entry->size <= bytes.size &&
          memcmp(bytes.bytes + entry->offset, values, sizeof values) == 0);
    buffer_release(&bytes);
}

static void check_entry(const struct saved_entry *entry, uint64_t order)
{
    static const struct {
        const char *name;
        uint64_t call;
    } wanted[] = {{"q", 2}, {"q", 1}, {"q", 10}, {"v", 0}, {"k", 0}};
    const struct saved_tensor *tensor = &entry->tensor;

    CHECK(tensor->order == order && tensor->key.call == wanted[order - 1].call);
    CHECK_TEXT(tensor->key.name, wanted[order - 1].name);
    CHECK_TEXT(tensor->key.prefix, "step0");
    CHECK_TEXT(tensor->key.module_path, "encoder.attn");
    CHECK_TEXT(tensor->file, "/tmp/a.py");
    CHECK_TEXT(tensor->function, "A.forward");
    CHECK(tensor->line == 7 && tensor->array.data == NULL &&
          tensor->array.dtype == DTYPE_FLOAT32 && tensor->array.dimension_count == 2);
}

static void test_folder(void)
{
    static const float turned[] = {1, 4, 2, 5, 3, 6};
    struct error error = ERROR_INIT;
    struct saved_folder *folder = saved_folder_open(FOLDER, &error);

    if (!CHECK(folder != NULL) || !CHECK(saved_folder_count(folder) == 5)) {
        saved_folder_close(folder);
        return;
    }
    for (size_t i = 0; i < 5; i++) {
        struct array array;

        check_entry(saved_folder_entry(folder, i), i + 1);
        CHECK(saved_folder_read(folder, i, &array, &error));
        CHECK(has_values(&array, i == 0 ? turned : values));
        if (i != 0) {
            check_place(saved_folder_entry(folder, i));
        }
    }
    CHECK_TEXT(slice_of(saved_folder_damage(folder, 0)),
               "broken.pt: no zip archive, expected a file of torch.save");
    CHECK(saved_folder_damage(folder, 1) == NULL);
    saved_folder_close(folder);
}

static void test_one_file(void)
{
    struct error error = ERROR_INIT;
    struct saved_folder *folder = saved_folder_open(FOLDER "/q.call1.pt", &error);
    struct array array;

    CHECK(folder != NULL && saved_folder_count(folder) == 1 &&
          saved_folder_read(folder, 0, &array, &error) && has_values(&array, values));
    saved_folder_close(folder);
    CHECK(rename(FOLDER "/q.call1.pt", FOLDER "/any_name") == 0);
    folder = saved_folder_open(FOLDER "/any_name", &error);
    CHECK(folder != NULL && saved_folder_count(folder) == 1);
    saved_folder_close(folder);
    CHECK(rename(FOLDER "/any_name", FOLDER "/q.call1.pt") == 0);
    CHECK(saved_folder_open(FOLDER "/broken.pt", &error) == NULL);
    CHECK_TEXT(slice_of(error.text),
               FOLDER "/broken.pt: no zip archive, expected a file of torch.save");
    CHECK(saved_folder_open(FOLDER "/none", &error) == NULL &&
          error.kind == ERROR_SYSTEM);
}

/* Whether all was read; false where memory ran out, which has to be told. */
static bool read_folder(void)
{
    struct error error = ERROR_INIT;
    struct saved_folder *folder = saved_folder_open(FOLDER, &error);
    bool is_whole = folder != NULL;

    CHECK(folder != NULL || error.kind == ERROR_MEMORY);
    CHECK(folder == NULL || saved_folder_count(folder) == 5);
    for (size_t i = 0; folder != NULL && i < saved_folder_count(folder); i++) {
        struct array array;

        if (saved_folder_read(folder, i, &array, &error)) {
            CHECK(array_count(&array) == 6);
        } else {
            is_whole = false;
            CHECK(error.kind == ERROR_MEMORY);
        }
    }
    saved_folder_close(folder);
    return is_whole;
}

/* Each allocation in turn fails, once or from then on, until so late that none does. */
static void test_allocations(bool keep_failing)
{
    bool is_whole = false;

    for (size_t n = 1; !is_whole && n < 10000; n++) {
        memory_fail_after(n, keep_failing);
        is_whole = read_folder();
        memory_fail_after(0, false);
    }
    CHECK(is_whole);
}

/* A file cut anywhere is damage, or whole where only its end is unused. */
static void test_cuts(const char *path)
{
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;

    CHECK(file_read(path, SIZE_MAX, &bytes, &error));
    for (size_t size = 0; size < bytes.size; size++) {
        struct saved_folder *folder;
        struct array array;

        CHECK(file_write(path, slice_part(buffer_slice(&bytes), 0, size),
                         FILE_MODE_DEFAULT, &error));
        folder = saved_folder_open(path, &error);
        CHECK(folder == NULL || (saved_folder_read(folder, 0, &array, &error) &&
                                 has_values(&array, values)));
        CHECK(folder == NULL || size > sizeof values);
        saved_folder_close(folder);
    }
    CHECK(file_write(path, buffer_slice(&bytes), FILE_MODE_DEFAULT, &error));
    buffer_release(&bytes);
}

/* A tuple, and a call of which there is one value alone. */
static void test_pickle_of_too_few_values(void)
{
    static const char path[] = "few.pt";
    struct zip_writer zip = ZIP_WRITER_INIT;
    struct error error = ERROR_INIT;
    FILE *file = fopen(path, "wb");

    zip_add(&zip, SLICE("archive/data.pkl"), SLICE("\x80\x02)R."));
    zip_add(&zip, SLICE("archive/byteorder"), SLICE("little"));
    zip_finish(&zip);
    CHECK(file != NULL &&
          fwrite(zip.pending.bytes, 1, zip.pending.size, file) == zip.pending.size &&
          fclose(file) == 0);
    zip_release(&zip);
    CHECK(saved_folder_open(path, &error) == NULL);
    CHECK(error.kind == ERROR_INPUT);
    CHECK(remove(path) == 0);
}

static void test_names(void)
{
    static const struct {
        const char *file, *module, *name;
        uint64_t call;
    } wanted[] = {
        {"a.b.q.call3.pt", "a.b", "q", 3},
        {"q.pt", "", "q", 0},
        {"q.call.pt", "q", "call", 0},
        {"a.cache[0]['k.j'].call1.pt", "a", "cache[0]['k.j']", 1},
        {"a.b[.call1.pt", "a", "b[", 1},
        {"a%2Fb.%2Ehid.call1.pt", "a/b", ".hid", 1},
        {"%4.%zz%FF.call1.pt", "%4", "%zz%FF", 1},
        {"a.q.call99999999999999999999.pt", "a.q", "call99999999999999999999", 0},
        {"", "", "", 0},
    };
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct saved_tensor tensor = {0};

        CHECK(saved_read_file_name(&tensor, slice_of(wanted[i].file), &arena));
        CHECK_TEXT(tensor.key.module_path, wanted[i].module);
        CHECK_TEXT(tensor.key.name, wanted[i].name);
        CHECK(tensor.key.call == wanted[i].call && tensor.order == SAVED_ORDER_UNKNOWN);
    }
    arena_release(&arena);
}

static void test_lines(void)
{
    struct saved_tensor given = tensor_of("a \"b\"\n\xc3\xa9", 3, 12);
    struct saved_tensor found = {0};
    struct buffer text = BUFFER_INIT;
    struct arena arena;

    arena_init(&arena);
    saved_add_json(&given, &text);
    CHECK(saved_read_json(&found, buffer_slice(&text), &arena));
    CHECK(slice_equal(found.key.name, given.key.name) && found.key.call == 3 &&
          found.order == 12 && found.line == 7);
    CHECK(saved_read_json(
        &found, SLICE("{\"name\": \"q\", \"call\": \"x\", \"a\": []}"), &arena));
    CHECK(found.key.call == 0 && found.order == SAVED_ORDER_UNKNOWN);
    CHECK(!saved_read_json(&found, SLICE("{\"module\": \"q\"}"), &arena));
    CHECK(!saved_read_json(&found, SLICE("[\"name\"]"), &arena));
    CHECK(!saved_read_json(&found, SLICE("{\"name\": \"q\"} x"), &arena));
    buffer_release(&text);
    arena_release(&arena);
}

int main(void)
{
    write_folder();
    test_folder();
    test_one_file();
    test_allocations(false);
    test_allocations(true);
    test_cuts(FOLDER "/q.call10.pt");
    test_cuts(FOLDER "/x.safetensors");
    test_pickle_of_too_few_values();
    test_names();
    test_lines();
    return check_finish();
}
