#include "runtime/saved/values_read.h"

#include "runtime/base/file/mapping.h"

bool values_read(
    const char *path, uint64_t offset, uint64_t size, void *bytes, struct error *error)
{
    struct mapping file;
    size_t count = 0;
    bool is_read;

    if (!mapping_open_to_read(&file, path, error)) {
        return false;
    }
    is_read = mapping_read(&file, offset, bytes, (size_t)size, &count, error);
    mapping_close(&file);
    if (is_read && count < size) {
        error_set(error, ERROR_INPUT, "%s: was cut off while it was read", path);
        return false;
    }
    return is_read;
}
