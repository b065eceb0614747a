/* The recording that goes on: beginning, ending, forks, and the hooks that are at work. */
#include "runtime/python/recorder_session.h"

#include "runtime/base/memory.h"
#include "runtime/trace/log_late.h"
#include "runtime/trace/sample.h"

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
/* Of a recording that is there for tracked calls alone. */
#define OWN_LAST 16

static atomic_uint fork_count;
/* Interpreters of one process have a session each, and threads remember one by its number. */
static atomic_ullong last_session_number;
static atomic_ullong last_thread_key;
static __thread uint64_t thread_key;
static __thread unsigned thread_use_count; /* this thread's hooks at work */

static void count_fork(void)
{
    atomic_fetch_add(&fork_count, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned session_fork_count(void)
{
    return atomic_load_explicit(&fork_count, memory_order_relaxed);
}

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

/* `run.mtrace` and 4711: `run.4711.mtrace`. */
static char *make_child_path(const char *path, uint32_t process)
{
    size_t room = strlen(path) + 16;
    char *child = memory_allocate(room, 1);
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(path, '.');

    if (child == NULL) {
        return NULL;
    }
    if (dot == NULL || dot == path || (slash != NULL && dot <= slash + 1)) {
        dot = path + strlen(path);
    }
    snprintf(child, room, "%.*s.%u%s", (int)(dot - path), path, process, dot);
    return child;
}

static void fill_late(void *target, const struct statistics *statistics)
{
    log_late_fill(target, statistics);
}

/* What devices are still computing belongs into the chunk that is about to be left. */
static void flush_devices(void *context)
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

/* A recording of tracked calls alone begins anew in the child: calls that go on join it. */
static void follow_fork_anew(struct session *session)
{
    unsigned user_count = thread_use_count;

    session_abandon(session);
    if (!session_start_own(session)) {
        PyErr_Clear();
    }
    session->user_count = user_count;
}

/* The process was forked off one that records: it goes on in a file of its own. */
static void follow_fork(struct session *session)
{
    struct error error = ERROR_INIT;
    uint32_t process = (uint32_t)getpid();
    char *path;

    if (session->is_own) {
        follow_fork_anew(session);
        return;
    }
    path = make_child_path(session->path, process);
    session->fork_count = session_fork_count();
    session->user_count = thread_use_count;
    session->process = process;
    /* What the parent's devices compute is the parent's. */
    device_queue_forget(session->devices);
    if (path == NULL) {
        error_set_memory(&error);
    } else if (recorder_fork(session->recorder, path, &error)) {
        memory_free(session->path);
        session->path = path;
        tracking_begin(session->tracking, session->recorder);
        return;
    }
    memory_free(path);
    if (session->is_quiet) {
        return;
    }
    fprintf(stderr, "monitorch: %s; this process is not recorded\n", error.text);
}

static void close_recorder(struct session *session, struct error *error)
{
    struct recorder *recorder = session->recorder;

    session->recorder = NULL;
    session->is_closing = false;
    session->is_own = false;
    recorder_close(recorder, error);
    device_queue_free(session->devices);
    session->devices = NULL;
}

bool session_is_parents(const struct session *session)
{
    return session->fork_count != session_fork_count();
}

void session_abandon(struct session *session)
{
    recorder_abandon(session->recorder);
    session->recorder = NULL;
    session->is_closing = false;
    session->is_waiting = false;
    session->is_own = false;
    device_queue_forget(session->devices);
    device_queue_free(session->devices);
    session->devices = NULL;
}

bool session_enter(struct session *session)
{
    if (session->recorder == NULL || session->is_closing) {
        return false;
    }
    if (session->is_own && tracking_is_idle(session->tracking)) {
        return false;
    }
    if (session_is_parents(session)) {
        follow_fork(session);
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

/* The names as C texts that live as long as `texts`, a tuple of bytes. */
static const char **read_names(PyObject *texts)
{
    Py_ssize_t count = PyTuple_Size(texts);
    const char **names = memory_allocate((size_t)count + 1, sizeof(*names));

    if (names == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        names[i] = PyBytes_AsString(PyTuple_GetItem(texts, i));
        if (names[i] == NULL) {
            memory_free(names);
            return NULL;
        }
    }
    return names;
}

/* A number of values, or what tables show: (vector, matrix, slices). */
static bool read_sample(PyObject *sample, uint32_t *limit)
{
    unsigned long long vector, matrix, slices;
    unsigned long number;

    if (PyTuple_Check(sample)) {
        if (!PyArg_ParseTuple(sample, "KKK;sample must be a number or three", &vector,
                              &matrix, &slices)) {
            return false;
        }
        *limit = sample_tables(vector, matrix, slices);
        return true;
    }
    number = PyLong_AsUnsignedLong(sample);
    if (PyErr_Occurred()) {
        return false;
    }
    if (number > SAMPLE_MAX) {
        PyErr_Format(PyExc_ValueError, "sample must be at most %d, not %lu", SAMPLE_MAX,
                     number);
        return false;
    }
    *limit = (uint32_t)number | (number >= SAMPLE_WHOLE_MAX ? SAMPLE_WHOLE : 0);
    return true;
}

static bool check_options(const struct recorder_options *options)
{
    if (options->every == 0) {
        PyErr_SetString(PyExc_ValueError, "every must be at least 1, not 0");
        return false;
    }
    return true;
}

static PyObject *start_recorder(struct session *session,
                                const char *path,
                                const struct recorder_options *options,
                                bool is_one_thread)
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
    pthread_once(&once, watch_forks);
    memory_free(session->path);
    session->path = copy;
    session->process = (uint32_t)getpid();
    session->recorder = recorder;
    session->number = atomic_fetch_add(&last_session_number, 1) + 1;
    session->fork_count = session_fork_count();
    session->user_count = 0;
    session->only_thread = is_one_thread ? session_thread_key() : 0;
    session->thread_limit = count_processors();
    tracking_begin(session->tracking, recorder);
    Py_RETURN_NONE;
}

PyObject *session_start(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {
        "path",  "sample",       "last",       "size_limit", "stats",   "hash", "names",
        "every", "max_elements", "one_thread", "quiet",      "sources", "stop", NULL};
    struct session *session = PyModule_GetState(module);
    struct recorder_options options = {0};
    PyObject *sample = NULL;
    unsigned long long last = 0, size_limit = 0, every = 1, element_limit = 0;
    int has_statistics = 1, has_hash = 1, is_one_thread = 0, is_quiet = 0;
    int has_sources = 0;
    unsigned int stop = 0;
    PyObject *path = NULL;
    PyObject *globs = NULL;
    PyObject *result;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$OKKppO!KKpppI:start", names,
                                     PyUnicode_FSConverter, &path, &sample, &last,
                                     &size_limit, &has_statistics, &has_hash,
                                     &PyTuple_Type, &globs, &every, &element_limit,
                                     &is_one_thread, &is_quiet, &has_sources, &stop)) {
        return NULL;
    }
    options.log.last = last;
    options.log.size_limit = size_limit;
    options.log.before_seal = flush_devices;
    options.log.seal_context = session;
    options.has_statistics = has_statistics;
    options.has_hash = has_hash;
    options.every = every;
    options.has_sources = has_sources;
    options.element_limit = element_limit;
    options.tap = tracking_tap(session->tracking);
    session_stop_own(session);
    if (session->recorder != NULL && thread_use_count == 0 &&
        (session_is_parents(session) || recorder_log(session->recorder) == NULL)) {
        session_abandon(session);
    }
    if (session->recorder != NULL) {
        PyErr_Format(PyExc_RuntimeError, "already recording to %s", session->path);
        Py_DECREF(path);
        return NULL;
    }
    options.log.sample = SAMPLE_DEFAULT | SAMPLE_WHOLE;
    if ((sample != NULL && !read_sample(sample, &options.log.sample)) ||
        !check_options(&options)) {
        Py_DECREF(path);
        return NULL;
    }
    if (globs != NULL) {
        options.names = read_names(globs);
        if (options.names == NULL) {
            Py_DECREF(path);
            return NULL;
        }
        options.name_count = (size_t)PyTuple_Size(globs);
    }
    result = start_recorder(session, PyBytes_AsString(path), &options, is_one_thread);
    session->is_quiet = is_quiet;
    if (result != NULL) {
        stop_begin(&session->stop, has_statistics ? stop : 0);
    }
    memory_free((void *)options.names);
    Py_DECREF(path);
    return result;
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
                .before_seal = flush_devices,
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
    result = start_recorder(session, path, &options, false);
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

static PyObject *summarise(struct session *session, const struct log_writer *log)
{
    const char *stopped = log == NULL ? NULL : log_writer_stopped(log);

    return Py_BuildValue(
        "{s:N,s:K,s:K,s:z}", "path", PyUnicode_DecodeFSDefault(session->path), "events",
        (unsigned long long)(log == NULL ? 0 : log_writer_event_count(log)), "lost",
        (unsigned long long)(log == NULL ? 0 : log_writer_lost_count(log)), "stopped",
        stopped);
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
        follow_fork(session);
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
