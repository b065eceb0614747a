/* Tensors read from a file of the format safetensors: the size of the header in 8 bytes, the
 * header, which is JSON, and the values. */
#include "runtime/base/file/mapping.h"
#include "runtime/base/memory.h"
#include "runtime/saved/safetensors/index.h"
#include "runtime/saved/safetensors/safetensors.h"
#include "runtime/saved/values_read.h"

#define HEADER_MAX ((uint64_t)100 << 20) /* the format's own limit */
#define SIZE_BYTES 8

struct safetensors_file {
    struct arena arena;
    struct safetensors_index index;
    uint64_t values;     /* where the values begin in the file */
    struct buffer bytes; /* of the tensor that was read last */
};

static bool
fail(const struct safetensors_file *file, struct error *error, const char *what)
{
    error_set(error, ERROR_INPUT, "%s: %s", file->index.path, what);
    return false;
}

static bool load_header(struct safetensors_file *file,
                        const struct mapping *mapping,
                        struct slice *text,
                        struct error *error)
{
    unsigned char start[SIZE_BYTES];
    uint64_t size = 0;
    uint64_t file_size;
    size_t count;
    char *bytes;

    if (!mapping_size(mapping, &file_size, error) ||
        !mapping_read(mapping, 0, start, SIZE_BYTES, &count, error)) {
        return false;
    }
    for (size_t i = 0; i < SIZE_BYTES; i++) {
        size |= (uint64_t)start[i] << (8 * i);
    }
    if (count < SIZE_BYTES || size > HEADER_MAX || size > file_size - SIZE_BYTES) {
        return fail(file, error, "no file of safetensors, or one that is cut off");
    }
    bytes = arena_allocate(&file->arena, (size_t)size, 1);
    if (bytes == NULL) {
        return error_set_memory(error);
    }
    if (!mapping_read(mapping, SIZE_BYTES, bytes, (size_t)size, &count, error)) {
        return false;
    }
    file->values = SIZE_BYTES + size;
    file->index.values_size = file_size - file->values;
    *text = (struct slice){bytes, count};
    return true;
}

static bool
open_file(struct safetensors_file *file, const char *path, struct error *error)
{
    struct mapping mapping;
    struct slice text;
    bool is_read;

    file->index.arena = &file->arena;
    file->index.path = arena_copy(&file->arena, slice_of(path)).bytes;
    if (file->index.path == NULL) {
        return error_set_memory(error);
    }
    if (!mapping_open_to_read(&mapping, file->index.path, error)) {
        return false;
    }
    is_read = load_header(file, &mapping, &text, error) &&
              safetensors_index_read(&file->index, text, error);
    mapping_close(&mapping);
    return is_read;
}

/* ---- for those who read ---- */

struct safetensors_file *safetensors_file_open(const char *path, struct error *error)
{
    struct safetensors_file *file = memory_allocate_zeroed(1, sizeof *file);

    if (file == NULL) {
        error_set_memory(error);
        return NULL;
    }
    arena_init(&file->arena);
    if (!open_file(file, path, error)) {
        safetensors_file_close(file);
        return NULL;
    }
    return file;
}

void safetensors_file_close(struct safetensors_file *file)
{
    if (file == NULL) {
        return;
    }
    buffer_release(&file->bytes);
    safetensors_index_release(&file->index);
    arena_release(&file->arena);
    memory_free(file);
}

size_t safetensors_file_count(const struct safetensors_file *file)
{
    return file->index.count;
}

const struct saved_tensor *safetensors_file_tensor(const struct safetensors_file *file,
                                                   size_t index)
{
    return &file->index.stored[index].tensor;
}

void safetensors_file_place(const struct safetensors_file *file,
                            size_t index,
                            uint64_t *offset,
                            uint64_t *size)
{
    *offset = file->values + file->index.stored[index].offset;
    *size = file->index.stored[index].size;
}

bool safetensors_file_read_into(const struct safetensors_file *file,
                                size_t index,
                                void *bytes,
                                struct error *error)
{
    uint64_t offset, size;

    safetensors_file_place(file, index, &offset, &size);
    return values_read(file->index.path, offset, size, bytes, error);
}

bool safetensors_file_read(struct safetensors_file *file,
                           size_t index,
                           struct array *array,
                           struct error *error)
{
    file->bytes.size = 0;
    if (!buffer_reserve(&file->bytes, (size_t)file->index.stored[index].size)) {
        return error_set_memory(error);
    }
    if (!safetensors_file_read_into(file, index, file->bytes.bytes, error)) {
        return false;
    }
    *array = file->index.stored[index].tensor.array;
    array->data = buffer_slice(&file->bytes).bytes;
    return true;
}

void safetensors_file_forget(struct safetensors_file *file)
{
    buffer_release(&file->bytes);
}
