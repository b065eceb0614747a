/* The parts of a session: adding and releasing them. */
#include "runtime/python/record/parts.h"

#include "runtime/base/memory.h"

int parts_add(struct parts *parts, const struct part_kind *kind)
{
    void *part = memory_allocate_zeroed(1, kind->size);

    if (part == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    assert(parts->count < PART_MAX);
    parts->items[parts->count].kind = kind;
    parts->items[parts->count].part = part;
    parts->count++;
    return 0;
}

int parts_traverse(const struct parts *parts, visitproc visit, void *arg)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct part_kind *kind = parts->items[i].kind;
        int status = kind->traverse == NULL
                         ? 0
                         : kind->traverse(parts->items[i].part, visit, arg);

        if (status != 0) {
            return status;
        }
    }
    return 0;
}

void parts_clear(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->items[i].kind->clear != NULL) {
            parts->items[i].kind->clear(parts->items[i].part);
        }
    }
}

void parts_release(struct parts *parts)
{
    parts_clear(parts);
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->items[i].kind->end != NULL) {
            parts->items[i].kind->end(parts->items[i].part);
        }
        memory_free(parts->items[i].part);
    }
    parts->count = 0;
}
