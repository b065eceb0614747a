/* Any bytes as a file of saved tensors: refused, or each tensor in it is read, twice the same, and
 * nothing in it leads out of the file.
 *
 * The first byte chooses: 0, the rest is the file; 1, the size of a pickle in two bytes, the
 * pickle, and the bytes of a storage, put together as torch.save does; 2, the header of a
 * safetensors file with some values behind it; 3, a trace (short_trace.h says how). */
#include "runtime/base/hash/hash.h"
#include "runtime/saved/folder.h"
#include "runtime/saved/pt/zip_write.h"
#include "tests/fuzz/claim.h"
#include "tests/fuzz/short_trace.h"

#include <sys/stat.h>

#define VALUES_SIZE 256
#define INSPECTED   64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_archive(int file, const uint8_t *data, size_t size)
{
    struct zip_writer zip = ZIP_WRITER_INIT;
    size_t pickle = size < 2 ? 0 : (size_t)(data[0] | data[1] << 8);
    struct slice rest = {(const char *)data, size};

    rest = slice_part(rest, size < 2 ? size : 2, size);
    pickle = pickle > rest.size ? rest.size : pickle;
    zip_add(&zip, SLICE("archive/data.pkl"), slice_part(rest, 0, pickle));
    zip_add(&zip, SLICE("archive/byteorder"), SLICE("little"));
    zip_add(&zip, SLICE("archive/data/0"), slice_part(rest, pickle, rest.size));
    zip_add(&zip, SLICE("archive/monitorch.json"), slice_part(rest, pickle, rest.size));
    zip_finish(&zip);
    short_trace_put_at(file, 0, zip.pending.bytes, zip.pending.size);
    zip_release(&zip);
}

static void put_safetensors(int file, const uint8_t *data, size_t size)
{
    uint64_t header_size = size;

    short_trace_put_at(file, 0, &header_size, sizeof header_size);
    short_trace_put_at(file, sizeof header_size, data, size);
    if (ftruncate(file, (off_t)(sizeof header_size + size + VALUES_SIZE)) != 0) {
        abort();
    }
}

static void put(int file, const uint8_t *data, size_t size)
{
    uint8_t form = size == 0 ? 0 : data[0];

    data += size > 0;
    size -= size > 0;
    switch (form) {
    case 1:
        put_archive(file, data, size);
        break;
    case 2:
        put_safetensors(file, data, size);
        break;
    case 3:
        short_trace_put(file, data, size);
        break;
    default:
        short_trace_put_at(file, 0, data, size);
    }
}

/* Of the first elements and the last ones. */
static uint64_t inspect_object(const struct array *array)
{
    unsigned char bytes[INSPECTED * 16];
    uint64_t count = array_count(array);
    uint64_t some = count < INSPECTED ? count : INSPECTED;
    struct slice read = {(const char *)bytes, some * dtype_size(array->dtype)};
    uint64_t sum;

    array_read(array, 0, some, bytes);
    sum = hash_64(read);
    array_read(array, count - some, some, bytes);
    return sum * 31 + hash_64(read);
}

static void check_entry(const struct saved_entry *entry, uint64_t file_size)
{
    const struct array *array = &entry->tensor.array;
    uint64_t count = array_count(array);

    claim(array->data == NULL && array->dimension_count <= ARRAY_DIMENSION_MAX);
    claim(array->dtype > DTYPE_OTHER && array->dtype < DTYPE_COUNT);
    claim(count != UINT64_MAX);
    claim(entry->tensor.key.name.bytes != NULL &&
          entry->tensor.key.module_path.bytes != NULL &&
          entry->tensor.key.prefix.bytes != NULL);
    claim(entry->offset <= file_size && entry->size <= file_size - entry->offset);
    claim(entry->size == 0 || entry->size == count * dtype_size(array->dtype));
}

static uint64_t read_all(struct saved_folder *folder, uint64_t file_size)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < saved_folder_count(folder); i++) {
        struct error error = ERROR_INIT;
        struct array array;

        check_entry(saved_folder_entry(folder, i), file_size);
        if (saved_folder_read(folder, i, &array, &error)) {
            claim(array.data != NULL);
            sum = sum * 31 + inspect_object(&array);
        } else {
            claim(error.kind == ERROR_INPUT && error.text[0] != '\0');
        }
    }
    for (size_t i = 0; saved_folder_damage(folder, i) != NULL; i++) {
        sum += hash_64(slice_of(saved_folder_damage(folder, i)));
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[SHORT_TRACE_PATH_SIZE];
    int file = short_trace_file(path);
    struct error error = ERROR_INIT;
    struct saved_folder *folder;
    struct stat status;

    put(file, data, size);
    claim(fstat(file, &status) == 0);
    folder = saved_folder_open(path, &error);
    if (folder == NULL) {
        claim(error.kind == ERROR_INPUT &&
              slice_starts(slice_of(error.text), slice_of(path)));
    } else {
        uint64_t once = read_all(folder, (uint64_t)status.st_size);

        claim(read_all(folder, (uint64_t)status.st_size) == once);
    }
    saved_folder_close(folder);
    close(file);
    return 0;
}
