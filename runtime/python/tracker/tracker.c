/* Tokens of tracked calls: announced, taken by the frame that runs the code, over. */
#include "runtime/python/tracker/tracker.h"

#include "runtime/base/memory.h"
#include "runtime/python/record/session.h"
#include "runtime/python/tracker/callers.h"
#include "runtime/python/tracker/types.h"

#include <string.h>

/* Of the running thread, those whose code has not begun, the newest first; owned. */
static __thread struct track_token *waiting;

struct recorder_tap tracking_tap(const struct tracking *tracking)
{
    if (tracking == NULL) {
        return (struct recorder_tap){NULL, NULL};
    }
    return (struct recorder_tap){track_live_add, tracking->live};
}

void tracking_begin(struct tracking *tracking, const struct recorder *recorder)
{
    if (tracking != NULL) {
        look_slots_clear(tracking->slots);
        track_live_begin(tracking->live, recorder);
    }
}

void tracking_free(struct tracking *tracking)
{
    if (tracking == NULL) {
        return;
    }
    tracking_clear(tracking);
    track_live_free(tracking->live);
    while (tracking->wishes != NULL) {
        struct tracked_wish *wish = tracking->wishes;
        tracking->wishes = wish->next;
        memory_free(wish);
    }
    memory_free(tracking);
}

int tracking_traverse(struct tracking *tracking, visitproc visit, void *arg)
{
    Py_VISIT(tracking->deliver);
    Py_VISIT(tracking->calls_type);
    Py_VISIT(tracking->token_type);
    return 0;
}

void tracking_clear(struct tracking *tracking)
{
    look_slots_clear(tracking->slots);
    Py_CLEAR(tracking->deliver);
    Py_CLEAR(tracking->own_folder);
    Py_CLEAR(tracking->calls_type);
    Py_CLEAR(tracking->token_type);
}

/* ---- waiting ---- */

static void wait_for_code(struct track_token *token)
{
    token->below = waiting;
    token->is_waiting = true;
    waiting = (struct track_token *)Py_NewRef((PyObject *)token);
}

/* Takes the token off this thread's, which may not hold it; gives their reference. */
static PyObject *stop_waiting(struct track_token *token)
{
    struct track_token **link = &waiting;

    while (*link != NULL && *link != token) {
        link = &(*link)->below;
    }
    if (*link == NULL) {
        return NULL; /* it was announced in another thread */
    }
    *link = token->below;
    token->below = NULL;
    token->is_waiting = false;
    return (PyObject *)token;
}

/* One that waits for this code, or knows the frame already; a new reference, or NULL. */
static PyObject *find_token(const struct session *session,
                            const void *frame,
                            const void *code,
                            bool is_joined)
{
    struct track_token *token = waiting;

    for (; token != NULL && !is_joined; token = token->below) {
        if (!token->is_over && token->calls->code == code) {
            return stop_waiting(token);
        }
    }
    token = session->tracking->tokens;
    for (; token != NULL && is_joined; token = token->next) {
        if (token->frame == frame && token->calls->code == code) {
            return Py_NewRef((PyObject *)token);
        }
    }
    return NULL;
}

PyObject *track_take(struct session *session, PyObject *frame, struct call_start *start)
{
    PyObject *found;

    if (tracking_is_idle(session->tracking)) {
        return NULL;
    }
    found = find_token(session, frame, start->code, start->is_joined);
    if (found != NULL) {
        const struct track_token *token = (struct track_token *)found;

        start->tracked = token->calls->wish;
        start->wish =
            (struct slice){token->calls->wish->text, token->calls->wish->size};
        start->callers = buffer_slice(&token->callers);
    }
    return found;
}

void track_began(PyObject *object, const struct session *session, struct call *call)
{
    struct track_token *token = (struct track_token *)object;

    token->recording = session->number;
    token->call = call;
    token->call_number = call->number;
    token->frame = call->frame;
}

/* ---- tokens ---- */

static void link_token(struct tracking *tracking, struct track_token *token)
{
    token->next = tracking->tokens;
    if (token->next != NULL) {
        token->next->previous = token;
    }
    tracking->tokens = token;
    tracking->open_count++;
}

static void unlink_token(struct tracking *tracking, struct track_token *token)
{
    if (token->next != NULL) {
        token->next->previous = token->previous;
    }
    if (token->previous != NULL) {
        token->previous->next = token->next;
    } else {
        tracking->tokens = token->next;
    }
    tracking->open_count--;
}

PyObject *token_begin(struct session *session, struct tracked_calls *calls)
{
    struct tracking *tracking = session->tracking;
    allocfunc allocate = (allocfunc)PyType_GetSlot(tracking->token_type, Py_tp_alloc);
    struct track_token *token = (struct track_token *)allocate(tracking->token_type, 0);

    if (token == NULL) {
        return NULL;
    }
    token->session = session;
    token->calls = (struct tracked_calls *)Py_NewRef((PyObject *)calls);
    token->callers = BUFFER_INIT;
    track_callers_add(tracking->own_folder, calls->wish->read.has_stack,
                      &token->callers);
    link_token(tracking, token);
    wait_for_code(token);
    return (PyObject *)token;
}

void token_end(struct track_token *token, struct slice error)
{
    struct session *session = token->session;
    struct call *call = token->call;

    if (token->is_over) {
        return;
    }
    if (token->is_waiting) {
        Py_XDECREF(stop_waiting(token));
    }
    if (call != NULL && session_enter(session)) {
        if (session->number == token->recording && call->number == token->call_number) {
            recorder_end_call(session->recorder, call, error);
        }
        session_leave(session);
    }
    token->is_over = true;
    token->call = NULL;
    unlink_token(session->tracking, token);
}

void token_release(struct track_token *token)
{
    if (token->calls != NULL) {
        token_end(token, SLICE(""));
    }
    Py_CLEAR(token->calls);
    buffer_release(&token->callers);
}

/* ---- lines ---- */

/* What a handler of the program's raises is its own affair; but it may be asked to end. */
static bool let_pass(void)
{
    if (PyErr_Occurred() == NULL) {
        return true;
    }
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
        return true;
    }
    return false;
}

static bool deliver(struct tracking *tracking, const struct buffer *lines)
{
    PyObject *kind, *value, *trace;
    PyObject *text;
    PyObject *result = NULL;
    bool is_good;

    PyErr_Fetch(&kind, &value, &trace);
    text = PyUnicode_DecodeUTF8(lines->bytes, (Py_ssize_t)lines->size, "replace");
    tracking->is_delivering = true;
    tracking->deliverer = session_fork_count();
    if (text != NULL) {
        result = PyObject_CallFunctionObjArgs(tracking->deliver, text, NULL);
    }
    tracking->is_delivering = false;
    Py_XDECREF(text);
    Py_XDECREF(result);
    is_good = let_pass();
    if (is_good) {
        PyErr_Restore(kind, value, trace);
    } else {
        Py_XDECREF(kind);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    }
    return is_good;
}

bool track_tell(struct session *session)
{
    struct tracking *tracking = session->tracking;
    struct buffer lines = BUFFER_INIT;
    bool is_good = true;

    if (!track_live_has_lines(tracking->live)) {
        return true;
    }
    track_live_flush(tracking->live);
    /* In a forked process nobody else is at it. */
    if (tracking->is_delivering && tracking->deliverer == session_fork_count()) {
        return true; /* by another thread, or further down in this one: it goes on there */
    }
    while (is_good && track_live_has_lines(tracking->live)) {
        lines.size = 0;
        track_live_take(tracking->live, &lines);
        if (tracking->deliver != NULL && lines.size > 0) {
            is_good = deliver(tracking, &lines);
        }
    }
    buffer_release(&lines);
    return is_good;
}
