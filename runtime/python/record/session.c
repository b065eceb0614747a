/* The recording that goes on: beginning, ending, and the hooks that are at work. */
#include "runtime/python/record/session.h"

#include "runtime/array/sample.h"
#include "runtime/base/hot.h"
#include "runtime/base/memory.h"
#include "runtime/python/record/fresh.h"
#include "runtime/python/visit/weights.h"
#include "runtime/record/left_out.h"
#include "runtime/trace/late.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More threads than this do not read memory faster. */
#define THREAD_LIMIT_MAX 4
/* That the summary names. */
#define LEFT_OUT_PLACE_MAX 3
/* Of a recording that is there for tracked calls alone. */
#define OWN_LAST 16

/* Interpreters of one process have a session each, and threads remember one by its number. */
static atomic_ullong last_session_number;
static atomic_ullong last_thread_key;
static __thread uint64_t thread_key;
static __thread unsigned thread_use_count; /* this thread's hooks at work */

uint64_t session_thread_key(void)
{
    if (thread_key == 0) {
        thread_key = atomic_fetch_add(&last_thread_key, 1) + 1;
    }
    return thread_key;
}

static PyObject *raise_error(const struct error *error)
{
    PyObject *arguments;

    switch (error->kind) {
    case ERROR_MEMORY:
        return PyErr_NoMemory();
    case ERROR_USAGE: /* another process writes the file */
        arguments = Py_BuildValue("(is)", EBUSY, error->text);
        if (arguments != NULL) {
            PyErr_SetObject(PyExc_OSError, arguments);
            Py_DECREF(arguments);
        }
        return NULL;
    default:
        PyErr_SetString(PyExc_OSError, error->text);
        return NULL;
    }
}

static unsigned count_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

    return count > THREAD_LIMIT_MAX ? THREAD_LIMIT_MAX : (unsigned)count;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memory_allocate(size, 1);

    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

static void fill_late(void *target, const struct statistics *statistics)
{
    log_late_fill(target, statistics);
}

void session_flush_devices(void *context)
{
    struct session *session = context;

    device_queue_flush(session->devices);
}

/* A file that has no name, and goes with its last descriptor. The path leads to it until that is
 * closed. */
static int make_memory_file(char *path, size_t size)
{
    int descriptor = memfd_create("monitorch", MFD_CLOEXEC);

    snprintf(path, size, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

static void close_recorder(struct session *session, struct error *error)
{
    struct recorder *recorder = session->recorder;

    session->recorder = NULL;
    session->is_closing = false;
    session->is_own = false;
    fresh_end(session);
    recorder_close(recorder, error);
    device_queue_free(session->devices);
    session->devices = NULL;
    weights_forget(session);
}

void session_abandon(struct session *session)
{
    fresh_end(session);
    recorder_abandon(session->recorder);
    session->recorder = NULL;
    session->is_closing = false;
    session->is_waiting = false;
    session->is_own = false;
    device_queue_forget(session->devices);
    device_queue_free(session->devices);
    session->devices = NULL;
    weights_forget(session);
}

HOT bool session_enter(struct session *session)
{
    if (session->recorder == NULL || session->is_closing) {
        return false;
    }
    if (session->is_own && tracking_is_idle(session->tracking)) {
        return false;
    }
    if (session_is_parents(session)) {
        session_follow_fork(session, thread_use_count);
        if (session->recorder == NULL) {
            return false;
        }
    }
    if (recorder_log(session->recorder) == NULL ||
        (session->only_thread != 0 && session->only_thread != session_thread_key())) {
        return false;
    }
    session->user_count++;
    thread_use_count++;
    return true;
}

void session_leave(struct session *session)
{
    session->user_count--;
    thread_use_count--;
    if (session->is_closing && !session->is_waiting && session->user_count == 0) {
        close_recorder(session, NULL);
    }
}

PyObject *session_begin(struct session *session,
                        const char *path,
                        const struct recorder_options *options,
                        bool is_one_thread,
                        bool is_whole)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct error error = ERROR_INIT;
    char *copy = copy_text(path);
    struct recorder *recorder;

    if (copy == NULL) {
        return PyErr_NoMemory();
    }
    session->devices = device_queue_new(session->access, fill_late);
    if (session->devices == NULL) {
        memory_free(copy);
        return PyErr_NoMemory();
    }
    recorder = recorder_new(path, options, &error);
    if (recorder == NULL) {
        device_queue_free(session->devices);
        session->devices = NULL;
        memory_free(copy);
        return raise_error(&error);
    }
    pthread_once(&once, session_watch_forks);
    memory_free(session->path);
    session->path = copy;
    session->process = (uint32_t)getpid();
    session->recorder = recorder;
    session->number = atomic_fetch_add(&last_session_number, 1) + 1;
    session->fork_count = session_fork_count();
    session->user_count = 0;
    session->only_thread = is_one_thread ? session_thread_key() : 0;
    session->thread_limit = count_processors();
    imports_begin(&session->imports, session_thread_key(), is_whole);
    tracking_begin(session->tracking, recorder);
    fresh_begin(session);
    Py_RETURN_NONE;
}

bool session_make_room(struct session *session)
{
    session_stop_own(session);
    if (session->recorder != NULL && thread_use_count == 0 &&
        (session_is_parents(session) || recorder_log(session->recorder) == NULL)) {
        session_abandon(session);
    }
    if (session->recorder != NULL) {
        PyErr_Format(PyExc_RuntimeError, "already recording to %s", session->path);
        return false;
    }
    return true;
}

bool session_is_recording(const struct session *session)
{
    return session->recorder != NULL && !session->is_closing && !session->is_own;
}

/* A ring of a few events: nobody reads it. */
bool session_start_own(struct session *session)
{
    struct recorder_options options = {
        .log = {.sample = SAMPLE_WHOLE,
                .last = OWN_LAST,
                .before_seal = session_flush_devices,
                .seal_context = session},
        .tap = tracking_tap(session->tracking),
        .has_statistics = true,
        .has_hash = true,
        .every = 1,
    };
    char path[64];
    int descriptor;
    PyObject *result;

    if (session->recorder != NULL) {
        return true;
    }
    descriptor = make_memory_file(path, sizeof path);
    result = session_begin(session, path, &options, false, true);
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (result == NULL) {
        return false;
    }
    Py_DECREF(result);
    stop_begin(&session->stop, 0);
    session->is_own = true;
    session->is_quiet = true;
    return true;
}

/* The places where most visits were left out: (file, line, count) each. */
static PyObject *list_places(const struct left_out_place *places, size_t count)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *file = PyUnicode_DecodeFSDefaultAndSize(
            places[i].path.bytes, (Py_ssize_t)places[i].path.size);
        PyObject *item =
            file == NULL ? NULL
                         : Py_BuildValue("(NIK)", file, (unsigned int)places[i].line,
                                         (unsigned long long)places[i].count);
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *summarise(struct session *session, const struct log_writer *log)
{
    const char *stopped = log == NULL ? NULL : log_writer_stopped(log);

    struct left_out_place places[LEFT_OUT_PLACE_MAX];
    size_t count;
    uint64_t left_out =
        left_out_sum(session->recorder, places, LEFT_OUT_PLACE_MAX, &count);

    return Py_BuildValue(
        "{s:N,s:K,s:K,s:z,s:K,s:K,s:N}", "path",
        PyUnicode_DecodeFSDefault(session->path), "events",
        (unsigned long long)(log == NULL ? 0 : log_writer_event_count(log)), "lost",
        (unsigned long long)(log == NULL ? 0 : log_writer_lost_count(log)), "stopped",
        stopped, "imports", (unsigned long long)session->imports.left_out, "left_out",
        (unsigned long long)left_out, "left_out_places", list_places(places, count));
}

/* Lets hooks of other threads that are at work come to an end. */
static void wait_for_others(struct session *session)
{
    while (session->user_count > thread_use_count) {
        Py_BEGIN_ALLOW_THREADS;
        usleep(100);
        Py_END_ALLOW_THREADS;
    }
}

void session_stop_own(struct session *session)
{
    if (session->recorder == NULL || !session->is_own || session->is_closing) {
        return;
    }
    if (session_is_parents(session)) {
        if (thread_use_count == 0) {
            session_abandon(session);
        }
        return;
    }
    session->is_closing = true;
    session->is_waiting = true;
    wait_for_others(session);
    session->is_waiting = false;
    if (session->user_count == 0) {
        close_recorder(session, NULL);
    }
}

/* The program has done its work: a disk that fails at the very end is told, not raised. */
static void tell_failure(PyObject *summary, const struct error *error)
{
    PyObject *text;

    if (PyDict_GetItemString(summary, "stopped") != Py_None) {
        return;
    }
    text = PyUnicode_DecodeFSDefault(error->text);
    if (text == NULL || PyDict_SetItemString(summary, "stopped", text) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(text);
}

PyObject *session_stop(PyObject *module, PyObject *unused)
{
    struct session *session = PyModule_GetState(module);
    struct error error = ERROR_INIT;
    PyObject *summary;

    (void)unused;
    if (!session_is_recording(session)) {
        PyErr_SetString(PyExc_RuntimeError, "nothing is being recorded");
        return NULL;
    }
    if (session_is_parents(session)) {
        session_follow_fork(session, thread_use_count);
    }
    session->is_closing = true;
    session->is_waiting = true;
    wait_for_others(session);
    session->is_waiting = false;
    summary = summarise(session, recorder_log(session->recorder));
    /* A finalizer may stop the recording inside a hook: that hook closes it then. */
    if (session->user_count == 0) {
        close_recorder(session, &error);
    }
    if (summary != NULL && error.kind != ERROR_NONE) {
        tell_failure(summary, &error);
    }
    /* Tracked calls that go on are read from a recording of their own now. */
    if (summary != NULL && session->recorder == NULL &&
        !tracking_is_idle(session->tracking) && !session_start_own(session)) {
        PyErr_Clear();
    }
    return summary;
}
