/* The active recording: its start, its end, and the number of running hooks. */
#include "runtime/python/record/session.h"

#include "runtime/array/sample.h"
#include "runtime/base/file/mapping.h"
#include "runtime/base/memory.h"
#include "runtime/python/gradient/gradient.h"
#include "runtime/python/record/change.h"
#include "runtime/python/record/fresh.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/weights.h"
#include "runtime/record/left_out.h"
#include "runtime/trace/late.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- processes forked from a recording one ---- */

atomic_uint session_forks;

static void count_fork(void)
{
    atomic_fetch_add(&session_forks, 1);
}

/* Starts to count forks for session_fork_count. Called once in a process. */
static void session_watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

/* Inserts the process number before the suffix: `run.mtrace` and 4711 become `run.4711.mtrace`.
 * NULL: out of memory. */
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
/* Starts a new recording for tracked calls in the child. Open calls join it. */
static void follow_fork_anew(struct session *session, unsigned user_count)
{
    session_abandon(session);
    if (!session_start_own(session)) {
        PyErr_Clear();
    }
    session->user_count = user_count;
}

/* Handles a fork of a recording process: the child records into a file of its own. `user_count`
 * is the number of running hooks of this thread. */
static void session_follow_fork(struct session *session, unsigned user_count)
{
    struct error error = ERROR_INIT;
    uint32_t process = (uint32_t)getpid();
    char *path;

    if (session->is_own) {
        follow_fork_anew(session, user_count);
        return;
    }
    path = make_child_path(session->path, process);
    session->fork_count = session_fork_count();
    session->user_count = user_count;
    session->process = process;
    /* Work on devices that the parent started belongs to the parent. */
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
bool session_is_parents(const struct session *session)
{
    return session->fork_count != session_fork_count();
}

/* More threads than this do not read memory faster. */
#define THREAD_LIMIT_MAX 4
/* So many places are listed in the summary. */
#define LEFT_OUT_PLACE_MAX 3

/* Each interpreter of the process has its own session. A thread recognises a recording by its
 * number. */
static atomic_ullong last_session_number;
static atomic_ullong last_thread_key;
static __thread uint64_t thread_key;
static __thread unsigned thread_use_count; /* running hooks of this thread */

uint64_t session_thread_key(void)
{
    if (thread_key == 0) {
        thread_key = atomic_fetch_add(&last_thread_key, 1) + 1;
    }
    return thread_key;
}

static __thread PyObject
    *caller; /* borrowed: the caller of session_set_caller owns it */

PyObject *session_set_caller(PyObject *frame)
{
    PyObject *former = caller;

    caller = frame;
    return former;
}

PyObject *session_caller(void)
{
    return caller;
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

/* Fills in the record of an event whose statistics a device has computed. */
static void fill_late(void *context, void *target, const struct statistics *statistics)
{
    struct session *session = context;

    log_late_fill(target, statistics);
    if (session->recorder != NULL) {
        recorder_count_nan(session->recorder, statistics);
    }
}

/* Fills in all late statistics before the trace's chunk is left, since their records are in it.
 * `context` is the session. */
static void session_flush_devices(void *context)
{
    struct session *session = context;

    device_queue_flush(session->devices);
}

static void close_recorder(struct session *session, struct error *error)
{
    struct recorder *recorder = session->recorder;

    gradient_end(session);
    change_end(session);
    session->recorder = NULL;
    session->is_closing = false;
    session->is_own = false;
    consumers_change(&session->consumers);
    fresh_end(session);
    recorder_close(recorder, error);
    device_queue_free(session->devices);
    session->devices = NULL;
    weights_forget(session);
    frame_forget_lines(session);
}

void session_abandon(struct session *session)
{
    fresh_end(session);
    change_end(session);
    recorder_abandon(session->recorder);
    session->recorder = NULL;
    consumers_change(&session->consumers);
    session->is_closing = false;
    session->is_waiting = false;
    session->is_own = false;
    device_queue_forget(session->devices);
    device_queue_free(session->devices);
    session->devices = NULL;
    weights_forget(session);
    frame_forget_lines(session);
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

/* Starts a recording; none may be active. Writes no trace if `path` is NULL. `is_whole`: the
 * whole program is recorded. Returns None, or NULL with an exception set. */
static PyObject *session_begin(struct session *session,
                               const char *path,
                               const struct recorder_options *options,
                               bool is_one_thread,
                               bool is_whole)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct error error = ERROR_INIT;
    char *copy = copy_text(path == NULL ? "" : path);
    struct recorder *recorder;

    if (copy == NULL) {
        return PyErr_NoMemory();
    }
    session->devices = device_queue_new(session->access, fill_late, session);
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
    consumers_change(&session->consumers);
    session->number = atomic_fetch_add(&last_session_number, 1) + 1;
    session->fork_count = session_fork_count();
    session->user_count = 0;
    session->only_thread = is_one_thread ? session_thread_key() : 0;
    session->thread_limit = count_processors();
    imports_begin(&session->imports, session_thread_key(), is_whole);
    tracking_begin(session->tracking, recorder);
    fresh_begin(session);
    if (options->has_parameters && !gradient_begin(session)) {
        recorder_note(session->recorder, LOG_NOTE_WARNING, SITE_NONE,
                      SLICE("out of memory: no gradients and parameters are recorded"));
    }
    Py_RETURN_NONE;
}

/* Ends a recording that exists for tracked calls only, belongs to the parent process, or has no
 * log. Returns false with an exception set if the program records already. */
static bool session_make_room(struct session *session)
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

/* This recording writes no trace: events of tracked calls are printed as lines at once. */
bool session_start_own(struct session *session)
{
    struct recorder_options options = {
        .log = {.sample = SAMPLE_WHOLE},
        .tap = tracking_tap(session->tracking),
        .has_statistics = true,
        .has_hash = true,
        .every = 1,
    };
    PyObject *result;

    if (session->recorder != NULL) {
        return true;
    }
    result = session_begin(session, NULL, &options, false, true);
    if (result == NULL) {
        return false;
    }
    Py_DECREF(result);
    stop_begin(&session->stop, 0);
    session->is_own = true;
    consumers_change(&session->consumers);
    session->is_quiet = true;
    return true;
}

/* A list of the places with the most visits that were left out: (file, line, count) each. */
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
        "{s:N,s:K,s:K,s:K,s:z,s:K,s:K,s:N}", "path",
        PyUnicode_DecodeFSDefault(session->path), "events",
        (unsigned long long)(log == NULL ? 0 : log_writer_event_count(log)), "nan",
        (unsigned long long)(log == NULL ? 0 : recorder_nan_count(session->recorder)),
        "lost", (unsigned long long)(log == NULL ? 0 : log_writer_lost_count(log)),
        "stopped", stopped, "imports", (unsigned long long)session->imports.left_out,
        "left_out", (unsigned long long)left_out, "left_out_places",
        list_places(places, count));
}

/* Waits until the hooks that run in other threads have returned. */
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

/* Adds the error to the summary. It is not raised: the program has finished its work. */
static void report_failure(PyObject *summary, const struct error *error)
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
    /* A finalizer may stop the recording inside a hook: then that hook closes it. */
    if (session->user_count == 0) {
        close_recorder(session, &error);
    }
    if (summary != NULL && error.kind != ERROR_NONE) {
        report_failure(summary, &error);
    }
    /* Tracked calls that still run are followed in a recording of their own from now on. */
    if (summary != NULL && session->recorder == NULL &&
        !tracking_is_idle(session->tracking) && !session_start_own(session)) {
        PyErr_Clear();
    }
    return summary;
}

/* ---- The module's function `start`: its arguments ---- */

/* The names as C strings, which are valid as long as `texts`, a tuple of bytes. The caller frees
 * the array. NULL with an exception set. */
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

/* Reads the argument `sample`: a number of values, or the sizes of tables (vector, matrix,
 * slices). Returns false with an exception set. */
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
    if (options->log.last > 0 && options->log.last_steps > 0) {
        PyErr_SetString(PyExc_ValueError, "last and last_steps exclude each other");
        return false;
    }
    if (options->every == 0) {
        PyErr_SetString(PyExc_ValueError, "every must be at least 1, not 0");
        return false;
    }
    return true;
}
/* The arguments of `start`. */
struct request {
    PyObject *path;   /* owned: bytes */
    PyObject *sample; /* borrowed from the call, as the next three; they may be NULL */
    PyObject *globs;
    PyObject *origin;                /* a tuple */
    PyObject *change;                /* a function, or None */
    struct recorder_options options; /* names: owned */
    int is_one_thread, is_quiet, is_whole;
    unsigned stop;
};

static bool
read_arguments(struct request *request, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {
        "path",       "sample",  "last",         "size_limit",  "stats",  "hash",
        "names",      "every",   "max_elements", "one_thread",  "quiet",  "sources",
        "stop",       "imports", "whole",        "all_scalars", "origin", "backward",
        "last_steps", "change",  "parameters",   NULL};
    unsigned long long last = 0, size_limit = 0, every = 1, element_limit = 0;
    int has_statistics = 1, has_hash = 1, has_sources = 0, has_imports = 0,
        has_all_scalars = 0, has_gradients = 0, has_parameters = 0;
    unsigned last_steps = 0;
    struct recorder_options *options = &request->options;

    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "O&|$OKKppO!KKpppIpppO!pIOp:start", names,
            PyUnicode_FSConverter, &request->path, &request->sample, &last, &size_limit,
            &has_statistics, &has_hash, &PyTuple_Type, &request->globs, &every,
            &element_limit, &request->is_one_thread, &request->is_quiet, &has_sources,
            &request->stop, &has_imports, &request->is_whole, &has_all_scalars,
            &PyTuple_Type, &request->origin, &has_gradients, &last_steps,
            &request->change, &has_parameters)) {
        return false;
    }
    options->log.last = last;
    options->log.last_steps = last_steps;
    options->log.size_limit = size_limit;
    options->log.leaves_space = true;
    options->has_statistics = has_statistics;
    options->has_hash = has_hash;
    options->every = every;
    options->has_sources = has_sources;
    options->has_gradients = has_gradients;
    options->has_parameters = has_gradients || has_parameters;
    options->has_imports = has_imports;
    options->leaves_out = !has_all_scalars;
    options->element_limit = element_limit;
    return true;
}

/* Reads the origin: (start and process of the parent's recording, number of the job). Returns
 * false with an exception set. */
static bool read_origin(PyObject *tuple, struct log_origin *origin)
{
    unsigned long long start, job;
    unsigned process;

    if (!PyArg_ParseTuple(tuple, "KIK;origin must be three numbers", &start, &process,
                          &job)) {
        return false;
    }
    *origin =
        (struct log_origin){.root_start = start, .root_process = process, .job = job};
    return true;
}

static bool read_options(struct request *request)
{
    struct recorder_options *options = &request->options;

    if (request->origin != NULL &&
        !read_origin(request->origin, &options->log.origin)) {
        return false;
    }
    options->log.sample = SAMPLE_DEFAULT | SAMPLE_WHOLE;
    if ((request->sample != NULL &&
         !read_sample(request->sample, &options->log.sample)) ||
        !check_options(options)) {
        return false;
    }
    if (request->globs == NULL) {
        return true;
    }
    options->names = read_names(request->globs);
    options->name_count = (size_t)PyTuple_Size(request->globs);
    return options->names != NULL;
}

static PyObject *start(struct session *session, struct request *request)
{
    struct recorder_options *options = &request->options;
    PyObject *result;

    if (!session_make_room(session) || !read_options(request)) {
        return NULL;
    }
    options->log.before_seal = session_flush_devices;
    options->log.seal_context = session;
    options->tap = tracking_tap(session->tracking);
    result = session_begin(session, PyBytes_AsString(request->path), options,
                           request->is_one_thread, request->is_whole);
    session->is_quiet = request->is_quiet;
    if (result != NULL && request->change != NULL && request->change != Py_None &&
        !change_begin(session, request->change)) {
        recorder_note(session->recorder, LOG_NOTE_WARNING, SITE_NONE,
                      SLICE("out of memory: no value is changed"));
    }
    if (result != NULL) {
        stop_begin(&session->stop, options->has_statistics ? request->stop : 0);
    }
    return result;
}

PyObject *session_start(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    struct request request = {0};
    PyObject *result;

    if (!read_arguments(&request, arguments, keywords)) {
        return NULL;
    }
    result = start(PyModule_GetState(module), &request);
    memory_free((void *)request.options.names);
    Py_DECREF(request.path);
    return result;
}

PyObject *session_remove_trace(PyObject *module, PyObject *arguments)
{
    struct error ignored = ERROR_INIT;
    struct mapping file;
    PyObject *path;
    bool is_removed;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "O&:remove_trace", PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    is_removed = mapping_open_to_read(&file, PyBytes_AsString(path), &ignored);
    if (is_removed) {
        is_removed = mapping_lock(&file) && unlink(PyBytes_AsString(path)) == 0;
        mapping_close(&file);
    }
    Py_DECREF(path);
    return PyBool_FromLong(is_removed);
}
