/* How long the tensors are held that paths were last. */
#include "runtime/base/hot.h"
#include "runtime/python/tracer/tracing.h"

void traced_state_refer_weakly(struct traced_state *state, PyObject *value)
{
    tracing_replace(&state->last, PyWeakref_NewRef(value, NULL));
    if (state->last == NULL) {
        PyErr_Clear(); /* without one it is another each time */
    }
}

/* What nobody else has cannot come again; what may is known by a weak reference. */
static void drop(struct traced_state *state, bool may_come_again)
{
    PyObject *held = state->held;

    state->held = NULL;
    if (may_come_again && Py_REFCNT(held) > 1) {
        traced_state_refer_weakly(state, held);
    }
    Py_DECREF(held);
}

static void list(struct tracing *tracing, struct traced_state *state)
{
    if (!state->is_listed) {
        state->is_listed = true;
        state->next_listed = tracing->listed;
        tracing->listed = state;
    }
}

HOT void tracing_let_go(struct tracing *tracing,
                        struct traced_path *path,
                        uint64_t thread,
                        bool is_inner)
{
    struct traced_state *state = traced_state_get(path, thread);

    if (state == NULL || state->held == NULL) {
        return;
    }
    if (is_inner && state->is_small && Py_REFCNT(state->held) > 1) {
        list(tracing, state);
    } else {
        drop(state, true);
    }
}

/* Takes one of the thread's out of the list; NULL: there is none. */
HOT static struct traced_state *take_listed(struct tracing *tracing, uint64_t thread)
{
    struct traced_state **place = &tracing->listed;
    struct traced_state *state;

    while (*place != NULL && (*place)->thread != thread) {
        place = &(*place)->next_listed;
    }
    state = *place;
    if (state != NULL) {
        *place = state->next_listed;
        state->is_listed = false;
    }
    return state;
}

HOT void tracing_let_all_go(struct tracing *tracing, uint64_t thread, bool is_root)
{
    struct traced_state *state;

    while ((state = take_listed(tracing, thread)) != NULL) {
        if (state->held != NULL) {
            drop(state, !is_root);
        }
    }
}
