#include "runtime/base/slice.h"

size_t slice_find(struct slice text, struct slice part, size_t start)
{
    if (part.size == 0) {
        return start < text.size ? start : text.size;
    }
    while (start < text.size && part.size <= text.size - start) {
        size_t room = text.size - start - part.size + 1;
        const char *found = memchr(text.bytes + start, part.bytes[0], room);

        if (found == NULL) {
            return text.size;
        }
        if (memcmp(found, part.bytes, part.size) == 0) {
            return (size_t)(found - text.bytes);
        }
        start = (size_t)(found - text.bytes) + 1;
    }
    return text.size;
}
