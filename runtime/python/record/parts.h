/* The parts of a session: data of other folders that belongs to a session, such as the open
 * contexts of savers. Each folder adds its part when the extension module is made; the session
 * knows none of them. */
#ifndef MONITORCH_PYTHON_RECORD_PARTS_H
#define MONITORCH_PYTHON_RECORD_PARTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <assert.h>
#include <stddef.h>

/* A kind of part. A part is zeroed at first. The functions may be NULL. */
struct part_kind {
    size_t size;
    int (*traverse)(void *part, visitproc visit, void *arg);
    void (*clear)(void *part); /* releases Python objects; may be called again */
    void (*end)(void *part);   /* releases the rest, when the session ends */
};

#define PART_MAX 8

struct parts {
    struct {
        const struct part_kind *kind;
        void *part; /* owned */
    } items[PART_MAX];
    size_t count;
};

/* Adds a part of that kind. Returns 0, or -1 with an exception set. */
int parts_add(struct parts *parts, const struct part_kind *kind);
int parts_traverse(const struct parts *parts, visitproc visit, void *arg);
void parts_clear(struct parts *parts);
void parts_release(struct parts *parts);

/* The part of that kind, which must have been added. */
static inline void *parts_get(const struct parts *parts, const struct part_kind *kind)
{
    size_t i = 0;

    while (parts->items[i].kind != kind) {
        i++;
        assert(i < parts->count);
    }
    return parts->items[i].part;
}

#endif
