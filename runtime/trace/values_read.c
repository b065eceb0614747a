/* Values read from where they stand in a file. */
#include "runtime/trace/values_read.h"

#include "runtime/base/mapping.h"

static bool read_from(const struct mapping *file,
                      uint64_t offset,
                      uint64_t size,
                      struct buffer *values,
                      struct error *error)
{
    uint64_t file_size;
    size_t count;

    if (!mapping_size(file, &file_size, error)) {
        return false;
    }
    if (offset > file_size || size > file_size - offset) {
        error_set(error, ERROR_INPUT, "%s: was cut off while it was read", file->path);
        return false;
    }
    values->size = 0;
    if (!buffer_reserve(values, (size_t)size)) {
        error_set_memory(error);
        return false;
    }
    if (!mapping_read(file, offset, values->bytes, (size_t)size, &count, error)) {
        return false;
    }
    values->size = count;
    if (count < size) {
        error_set(error, ERROR_INPUT, "%s: was cut off while it was read", file->path);
        return false;
    }
    return true;
}

bool values_read(const char *path,
                 uint64_t offset,
                 uint64_t size,
                 struct buffer *values,
                 struct error *error)
{
    struct mapping file;
    bool is_read;

    if (!mapping_open_to_read(&file, path, error)) {
        return false;
    }
    is_read = read_from(&file, offset, size, values, error);
    mapping_close(&file);
    return is_read;
}
