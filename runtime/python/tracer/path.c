/* The paths that have matched, and the state of each in each thread. */
#include "runtime/base/memory.h"

#include "runtime/python/tracer/tracing.h"

void *tracing_allocate(struct arena *arena, size_t count, size_t size)
{
    void *memory = arena_allocate(arena, count, size);

    if (memory == NULL) {
        return PyErr_NoMemory();
    }
    return memset(memory, 0, count * size);
}

static struct traced_path *make_path(struct tracing *tracing, PyObject *name)
{
    void *traced = tracing->traced;
    struct traced_path *path;

    if (!memory_grow(&traced, &tracing->traced_room, tracing->traced_count + 1,
                     sizeof(*tracing->traced))) {
        return (struct traced_path *)PyErr_NoMemory();
    }
    tracing->traced = traced;
    path = tracing_allocate(&tracing->arena, 1, sizeof(*path));
    if (path != NULL) {
        path->name = Py_NewRef(name);
        path->number = tracing->traced_count;
        tracing->traced[tracing->traced_count++] = path;
    }
    return path;
}

static struct traced_path *add_path(struct tracing *tracing, PyObject *name)
{
    PyObject *number = PyLong_FromSize_t(tracing->traced_count);
    struct traced_path *path = NULL;

    if (number != NULL) {
        path = make_path(tracing, name);
        if (path != NULL && PyDict_SetItem(tracing->numbers, name, number) < 0) {
            path = NULL; /* it stays, unused */
        }
        Py_DECREF(number);
    }
    return path;
}

struct traced_path *tracing_find_path(struct tracing *tracing, struct slice name)
{
    PyObject *text =
        PyUnicode_DecodeUTF8(name.bytes, (Py_ssize_t)name.size, "surrogateescape");
    PyObject *number = text == NULL ? NULL : PyDict_GetItem(tracing->numbers, text);
    struct traced_path *path = NULL;

    if (number != NULL) {
        path = tracing->traced[PyLong_AsSize_t(number)];
    } else if (text != NULL) {
        path = add_path(tracing, text);
    }
    Py_XDECREF(text);
    return path;
}

void traced_path_forget(struct traced_path *path)
{
    for (struct traced_state *state = &path->first; state != NULL;
         state = state->next) {
        state->kind = TRACED_NOTHING;
        tracing_replace(&state->last, NULL);
        tracing_replace(&state->held, NULL);
    }
}

void traced_path_release(struct traced_path *path)
{
    traced_path_forget(path);
    Py_XDECREF(path->name);
}

/* One more, or where there are enough the one that was taken over first. */
struct traced_state *
traced_state_add(struct tracing *tracing, struct traced_path *path, uint64_t thread)
{
    struct traced_state *state = &path->first;

    if (path->state_count == TRACED_STATE_MAX) {
        for (unsigned i = path->next_state++ % TRACED_STATE_MAX; i > 0; i--) {
            state = state->next;
        }
        state->kind = TRACED_NOTHING;
        tracing_replace(&state->held, NULL);
    } else if (path->state_count > 0) {
        state = tracing_allocate(&tracing->arena, 1, sizeof(*state));
        if (state == NULL) {
            return NULL;
        }
        state->next = path->first.next;
        path->first.next = state;
    }
    path->state_count += path->state_count < TRACED_STATE_MAX;
    state->thread = thread;
    return state;
}
