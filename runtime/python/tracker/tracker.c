/* Tracked calls: their tokens, the files of their lines, and the inspection of variables that
 * they read. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/python/tracker/tracker.h"

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/memory.h"
#include "runtime/base/slice.h"
#include "runtime/python/record/session.h"
#include "runtime/python/tracker/types.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/visit/walk.h"
#include "runtime/view/tracklog/tracklog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An open file, identified by device and inode. A program may close descriptors that are not its
 * own, and get the same number for another file. That file is never written to. */
struct track_file {
    int descriptor; /* -1: not open */
    uint64_t device, inode;
};

#define TRACK_FILE_CLOSED ((struct track_file){-1, 0, 0})

/* ---- the file of a thread, which grows by whole lines ---- */

#define PATH_SIZE 4096

/* Whether the descriptor is still that of the file. */
static bool track_file_is_open(const struct track_file *file)
{
    struct stat status;

    return file->descriptor >= 0 && fstat(file->descriptor, &status) == 0 &&
           (uint64_t)status.st_dev == file->device &&
           (uint64_t)status.st_ino == file->inode;
}

static void track_file_close(struct track_file *file)
{
    if (track_file_is_open(file)) {
        close(file->descriptor);
    }
    *file = TRACK_FILE_CLOSED;
}

/* Makes the folders of the path. Errors are not reported here: opening the file fails then. */
static void make_folders(const char *path)
{
    char part[PATH_SIZE];
    size_t size = strlen(path);

    for (size_t i = 1; i < size && i < sizeof part; i++) {
        if (path[i] == '/') {
            memcpy(part, path, i);
            part[i] = '\0';
            mkdir(part, 0777);
        }
    }
}

static int open_to_append(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                0666);
}

/* Returns a descriptor above the first three numbers, which belong to the program even if it has
 * closed them. */
static int move_up(int descriptor)
{
    int moved = descriptor;

    if (descriptor >= 0 && descriptor <= STDERR_FILENO) {
        moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(descriptor);
    }
    return moved;
}

static bool fail_open(const char *path, const char *problem, struct error *error)
{
    error_set(error, ERROR_SYSTEM, "%s: cannot be opened: %s", path, problem);
    return false;
}

/* Opens a file for appending. Makes the file and its folders if they are missing. Returns false
 * if that fails; `error` says why. */
static bool
track_file_open(struct track_file *file, const char *path, struct error *error)
{
    struct stat status;
    int descriptor = open_to_append(path);

    if (descriptor < 0 && errno == ENOENT) {
        make_folders(path);
        descriptor = open_to_append(path);
    }
    descriptor = move_up(descriptor);
    if (descriptor < 0) {
        return fail_open(path, strerror(errno), error);
    }
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(descriptor);
        return fail_open(path, "is not a regular file", error);
    }
    *file = (struct track_file){descriptor, (uint64_t)status.st_dev,
                                (uint64_t)status.st_ino};
    return true;
}

/* Appends the text to the open file. Returns false if that fails; `error` says why. */
static bool
track_file_append(const struct track_file *file, struct slice text, struct error *error)
{
    size_t done = 0;

    while (done < text.size) {
        ssize_t size = write(file->descriptor, text.bytes + done, text.size - done);

        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0) {
            error_set(error, ERROR_SYSTEM, "a log file cannot be written: %s",
                      size == 0 ? "no bytes were written" : strerror(errno));
            return false;
        }
        done += (size_t)size;
    }
    return true;
}

static void track_live_free(struct track_live *live);
static void track_live_flush(struct track_live *live);

/* ---- lines of a recording's items, in the files of their threads ---- */

#define OPEN_FILE_MAX 32 /* limit of open files */

/* The log file of a thread. */
struct stream {
    uint64_t native;
    struct track_file file;
    struct buffer lines; /* not written yet */
    uint64_t used;       /* number of the flush in which it was last written */
};

struct track_live {
    char *folder;        /* owned; "": no files */
    char *label_changes; /* owned */
    bool is_canonical;
    bool is_kept;
    unsigned fork_count;             /* the last session_fork_count() that was seen */
    const struct recorder *recorder; /* borrowed; NULL: no recording has started yet */
    struct track_log *log;           /* owned; may be NULL */
    struct stream *streams;          /* owned */
    size_t stream_count;
    size_t stream_capacity;
    size_t open_count;
    uint64_t flush_count;
    struct buffer scratch;
    struct buffer kept; /* lines that were not delivered yet */
    bool has_unwritten;
    bool has_complained;
};

/* ---- starting ---- */

struct track_live *track_live_new(void)
{
    struct track_live *live = memory_allocate_zeroed(1, sizeof *live);

    if (live != NULL) {
        live->fork_count = session_fork_count();
        if (!track_live_configure(
                live, &(struct track_settings){.folder = "", .labels = SLICE("")})) {
            track_live_free(live);
            return NULL;
        }
    }
    return live;
}

static void forget_streams(struct track_live *live)
{
    for (size_t i = 0; i < live->stream_count; i++) {
        track_file_close(&live->streams[i].file);
        buffer_release(&live->streams[i].lines);
    }
    live->stream_count = 0;
    live->open_count = 0;
    live->has_unwritten = false;
    live->kept.size = 0;
}

static void track_live_free(struct track_live *live)
{
    if (live == NULL) {
        return;
    }
    forget_streams(live);
    track_log_free(live->log);
    buffer_release(&live->scratch);
    buffer_release(&live->kept);
    memory_free(live->streams);
    memory_free(live->folder);
    memory_free(live->label_changes);
    memory_free(live);
}

static char *copy_text(struct slice text)
{
    char *copy = memory_allocate(text.size + 1, 1);

    if (copy != NULL) {
        memcpy(copy, text.bytes, text.size);
        copy[text.size] = '\0';
    }
    return copy;
}

static void make_log(struct track_live *live)
{
    struct track_options options = {
        .labels = track_labels_of_environment(),
        .is_canonical = live->is_canonical,
    };

    if (live->label_changes[0] != '\0') {
        track_labels_change(&options.labels, slice_of(live->label_changes));
    }
    track_log_free(live->log);
    live->log = track_log_new(&options);
}

bool track_live_configure(struct track_live *live,
                          const struct track_settings *settings)
{
    char *folder = copy_text(slice_of(settings->folder));
    char *labels = copy_text(settings->labels);

    if (folder == NULL || labels == NULL) {
        memory_free(folder);
        memory_free(labels);
        return false;
    }
    track_live_flush(live);
    for (size_t i = 0; i < live->stream_count; i++) {
        track_file_close(&live->streams[i].file);
    }
    live->open_count = 0;
    memory_free(live->folder);
    /* The log is freed first, since its labels are borrowed from the old text. */
    track_log_free(live->log);
    live->log = NULL;
    memory_free(live->label_changes);
    live->folder = folder;
    live->label_changes = labels;
    live->is_canonical = settings->is_canonical;
    live->is_kept = settings->is_kept;
    if (live->recorder != NULL) {
        make_log(live);
    }
    return true;
}

/* Handles a fork: the files and the unwritten lines belong to the parent. */
static void follow_fork(struct track_live *live)
{
    if (live->fork_count != session_fork_count()) {
        live->fork_count = session_fork_count();
        forget_streams(live);
        if (live->recorder != NULL) {
            make_log(live);
        }
    }
}

/* Called when a recording starts, or continues in a fork. No call of it is known yet. */
static void track_live_begin(struct track_live *live, const struct recorder *recorder)
{
    live->recorder = recorder;
    follow_fork(live);
    make_log(live);
}

/* ---- adding ---- */

static struct stream *find_stream(struct track_live *live, uint64_t native)
{
    void *streams = live->streams;

    for (size_t i = live->stream_count; i > 0; i--) {
        if (live->streams[i - 1].native == native) {
            return &live->streams[i - 1];
        }
    }
    if (!memory_grow(&streams, &live->stream_capacity, live->stream_count + 1,
                     sizeof *live->streams)) {
        return NULL;
    }
    live->streams = streams;
    live->streams[live->stream_count] = (struct stream){
        .native = native, .file = TRACK_FILE_CLOSED, .lines = BUFFER_INIT};
    return &live->streams[live->stream_count++];
}

void track_live_add_text(struct track_live *live,
                         uint64_t native,
                         struct slice text,
                         bool is_kept)
{
    struct stream *stream;

    follow_fork(live);
    stream = live->folder[0] == '\0' ? NULL : find_stream(live, native);
    if (stream != NULL) {
        buffer_add(&stream->lines, text);
        live->has_unwritten = true;
    }
    if (is_kept && live->is_kept) {
        buffer_add(&live->kept, text);
    }
}

/* Adds an item of the active recording. The recorder_tap calls it; `context` is the struct
 * track_live. */
static void track_live_add(void *context, const struct log_item *item)
{
    struct track_live *live = context;
    uint16_t thread = 0;

    follow_fork(live);
    if (live->log == NULL) {
        return;
    }
    live->scratch.size = 0;
    live->scratch.has_failed = false;
    track_log_add(live->log, item, &live->scratch, &thread);
    if (live->scratch.size > 0) {
        track_live_add_text(live, recorder_thread_native(live->recorder, thread),
                            buffer_slice(&live->scratch), true);
    }
}

/* ---- writing ---- */

static void complain(struct track_live *live, const char *text)
{
    if (!live->has_complained) {
        live->has_complained = true;
        fprintf(stderr, "monitorch.tracker: %s; its lines are lost\n", text);
    }
}

/* Closes the file that was not written for the longest time. */
static void close_oldest(struct track_live *live)
{
    struct stream *oldest = NULL;

    for (size_t i = 0; i < live->stream_count; i++) {
        struct stream *stream = &live->streams[i];

        if (stream->file.descriptor >= 0 &&
            (oldest == NULL || stream->used < oldest->used)) {
            oldest = stream;
        }
    }
    if (oldest != NULL) {
        track_file_close(&oldest->file);
        live->open_count--;
    }
}

void track_live_path(const struct track_live *live,
                     uint64_t native,
                     struct buffer *path)
{
    if (live->folder[0] != '\0') {
        buffer_add_format(path, "%s/process_%lu_thread_%llu.log", live->folder,
                          (unsigned long)getpid(), (unsigned long long)native);
    }
}

static bool
open_stream(struct track_live *live, struct stream *stream, struct error *error)
{
    struct buffer path = BUFFER_INIT;
    bool is_open = false;

    if (live->open_count >= OPEN_FILE_MAX) {
        close_oldest(live);
    }
    track_live_path(live, stream->native, &path);
    buffer_add_byte(&path, '\0');
    if (path.has_failed) {
        error_set_memory(error);
    } else {
        is_open = track_file_open(&stream->file, path.bytes, error);
    }
    live->open_count += is_open;
    buffer_release(&path);
    return is_open;
}

static void write_stream(struct track_live *live, struct stream *stream)
{
    struct error error = ERROR_INIT;

    stream->used = live->flush_count;
    if (stream->lines.has_failed) {
        complain(live, "out of memory");
    }
    if (!track_file_is_open(&stream->file)) {
        /* The program may have closed the file. */
        live->open_count -= stream->file.descriptor >= 0;
        stream->file = TRACK_FILE_CLOSED;
        if (!open_stream(live, stream, &error)) {
            complain(live, error.text);
        }
    }
    if (stream->file.descriptor >= 0 &&
        !track_file_append(&stream->file, buffer_slice(&stream->lines), &error)) {
        complain(live, error.text);
    }
    stream->lines.size = 0;
    stream->lines.has_failed = false;
}

/* Writes all new lines to the files. Only the first failure is reported, on stderr. */
static void track_live_flush(struct track_live *live)
{
    if (!live->has_unwritten) {
        return;
    }
    live->has_unwritten = false;
    live->flush_count++;
    for (size_t i = live->stream_count; i > 0; i--) {
        if (live->streams[i - 1].lines.size > 0) {
            write_stream(live, &live->streams[i - 1]);
        }
    }
}

/* Whether some lines were not written, or not delivered. */
static bool track_live_has_lines(const struct track_live *live)
{
    return live->has_unwritten || live->kept.size > 0;
}

/* Appends the undelivered lines of all threads to `text`, in their order. */
static void track_live_detach(struct track_live *live, struct buffer *text)
{
    buffer_add(text, buffer_slice(&live->kept));
    live->kept.size = 0;
    live->kept.has_failed = false;
}

/* ---- values that a statement may have changed though it only reads their names, as `update(x)`
 * may change x ---- */

static void lookup_slots_clear(struct lookup_slot *slots)
{
    for (size_t i = 0; i < LOOKUP_SLOT_COUNT; i++) {
        Py_CLEAR(slots[i].name);
        slots[i].read = NULL;
    }
}

/* The place of a read name in frames of the code; cached. NULL: out of memory. */
static const struct lookup_slot *
find_slot(struct session *session, PyObject *code, const struct site_read *read)
{
    size_t index = ((uintptr_t)read / sizeof *read) % LOOKUP_SLOT_COUNT;
    struct lookup_slot *slot = &session->tracking->slots[index];
    struct slice root =
        slice_part(read->name, 0, slice_find(read->name, SLICE("."), 0));

    if (slot->read == read && slot->code == code) {
        return slot;
    }
    Py_CLEAR(slot->name);
    slot->name = PyUnicode_DecodeUTF8(root.bytes, (Py_ssize_t)root.size, "strict");
    slot->read = slot->name == NULL ? NULL : read;
    slot->code = code;
    if (slot->name != NULL) {
        slot->is_function = frame_is_function(code);
        slot->slot = frame_find_slot(code, slot->name);
    }
    PyErr_Clear();
    return slot->name == NULL ? NULL : slot;
}

/* The current value of a read name. A new reference, or NULL without an exception. */
static PyObject *
find_value(struct session *session, PyObject *frame, const struct site_read *read)
{
    const struct lookup_slot *slot = find_slot(session, frame_code(frame), read);
    struct slice name = read->name;
    PyObject *found = NULL;

    if (slot != NULL) {
        found = frame_find(frame, slot->is_function, slot->name, slot->slot);
    }
    PyErr_Clear();
    if (found != NULL && slice_find(name, SLICE("."), 0) < name.size) {
        PyObject *end = walk_dotted(&session->types, found, name);
        Py_DECREF(found);
        found = end;
    }
    return found;
}

/* Whether the value may have changed since its last event. A tensor of the same version is not
 * measured again. */
static bool may_differ(struct session *session,
                       const struct visit *visit,
                       uint32_t read,
                       PyObject *object)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    bool has_version = info->kind == TYPE_TENSOR && info->tensor != TENSOR_CLASS_NUMPY;
    struct tensor tensor = {.version = 0};

    if (has_version) {
        has_version =
            tensor_describe(session->access, object, info->tensor, &tensor) == 0;
        if (has_version) {
            tensor_release(&tensor);
        }
    }
    return recorder_read_may_differ(visit, read, (uint64_t)(uintptr_t)object,
                                    has_version, tensor.version);
}

void track_inspect(struct session *session, const struct visit *visit)
{
    const struct tracked_wish *wish = visit->call->tracked;
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    struct visit inspect = *visit;

    inspect.is_inspection = true;
    if (wish->read.names.size == 0 || frame == NULL) {
        return;
    }
    for (uint32_t i = 0; i < visit->site->read_count; i++) {
        struct slice name = visit->site->reads[i].name;

        if (visit->site->reads[i].scope == SITE_SCOPE_GLOBAL ||
            site_writes(visit->site, name) ||
            !track_wish_names(&wish->read, name, SLICE("")) ||
            !recorder_read_may_differ(visit, i, 0, false, 0)) {
            continue;
        }
        PyObject *value = find_value(session, frame, &visit->site->reads[i]);
        if (value != NULL && may_differ(session, visit, i, value)) {
            value_record(session, &inspect, RECORDER_READ(i), value);
        }
        Py_XDECREF(value);
    }
}

/* ---- the callers of a tracked call, as a text ---- */

#define NEAREST_COUNT 3
#define ALL_COUNT     64

/* The last part of a path. */
static struct slice base_of(struct slice path)
{
    size_t start = path.size;

    while (start > 0 && path.bytes[start - 1] != '/') {
        start--;
    }
    return slice_part(path, start, path.size);
}

static struct slice text_of(PyObject *object)
{
    Py_ssize_t size = 0;
    const char *bytes = object == NULL || !PyUnicode_Check(object)
                            ? NULL
                            : PyUnicode_AsUTF8AndSize(object, &size);

    PyErr_Clear();
    return bytes == NULL ? SLICE("?") : (struct slice){bytes, (size_t)size};
}

static void add_place(struct slice place, uint64_t line, struct buffer *text)
{
    buffer_add_printable(text, place);
    buffer_add_byte(text, ':');
    buffer_add_number(text, line);
}

static void add_frame(
    PyObject *frame, PyObject *file, PyObject *code, bool has_name, struct buffer *text)
{
    PyObject *name = PyObject_GetAttrString(code, "co_name");
    int line = PyFrame_GetLineNumber((PyFrameObject *)frame);
    uint64_t number = line > 0 ? (uint64_t)line : 0;

    PyErr_Clear();
    if (text->size == 0) {
        add_place(text_of(name), number, text);
        buffer_add(text, SLICE(" ("));
    } else {
        buffer_add(text, SLICE(" <- "));
    }
    add_place(base_of(text_of(file)), number, text);
    if (has_name) {
        buffer_add_byte(text, ' ');
        buffer_add_printable(text, text_of(name));
    }
    Py_XDECREF(name);
}

/* Adds the running thread's frames, the nearest first, in the form of struct log_tracked. Frames
 * of files in `own_folder`, which ends with a slash, are skipped. Adds the nearest three frames;
 * with `all`, up to ALL_COUNT frames and the names of their functions. */
static void track_callers_add(PyObject *own_folder, bool all, struct buffer *text)
{
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    int left = all ? ALL_COUNT : NEAREST_COUNT;

    while (frame != NULL && frame != Py_None && left > 0) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
        PyObject *file = PyObject_GetAttrString(code, "co_filename");
        PyObject *back;

        PyErr_Clear();
        if (!slice_starts(text_of(file), text_of(own_folder))) {
            add_frame(frame, file, code, all, text);
            left--;
        }
        Py_XDECREF(file);
        Py_DECREF(code);
        back = PyObject_GetAttrString(frame, "f_back");
        PyErr_Clear();
        Py_DECREF(frame);
        frame = back;
    }
    buffer_add(text, text->size > 0 ? SLICE(")") : SLICE(""));
    Py_XDECREF(frame);
}

/* Tokens of this thread whose code has not started, the newest first; owned. */
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
        lookup_slots_clear(tracking->slots);
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
    lookup_slots_clear(tracking->slots);
    Py_CLEAR(tracking->deliver);
    Py_CLEAR(tracking->own_folder);
    Py_CLEAR(tracking->calls_type);
    Py_CLEAR(tracking->token_type);
}

/* ---- waiting tokens ---- */

static void wait_for_code(struct track_token *token)
{
    token->below = waiting;
    token->is_waiting = true;
    waiting = (struct track_token *)Py_NewRef((PyObject *)token);
}

/* Removes the token from this thread's list, and returns the list's reference to it. NULL: it is
 * not in the list. */
static PyObject *stop_waiting(struct track_token *token)
{
    struct track_token **link = &waiting;

    while (*link != NULL && *link != token) {
        link = &(*link)->below;
    }
    if (*link == NULL) {
        return NULL; /* announced in another thread */
    }
    *link = token->below;
    token->below = NULL;
    token->is_waiting = false;
    return (PyObject *)token;
}

/* The token that waits for this code; with `is_joined`, the token of the frame. A new reference,
 * or NULL. */
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

PyObject *
track_call_begin(struct session *session, PyObject *frame, struct call_start *start)
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

/* Ignores an exception of the program's handler. Returns false if it is no Exception, such as
 * KeyboardInterrupt: it stays set. */
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

bool track_report(struct session *session)
{
    struct tracking *tracking = session->tracking;
    struct buffer lines = BUFFER_INIT;
    bool is_good = true;

    if (!track_live_has_lines(tracking->live)) {
        return true;
    }
    track_live_flush(tracking->live);
    /* In a fork the deliverer belongs to the parent. */
    if (tracking->is_delivering && tracking->deliverer == session_fork_count()) {
        return true; /* another thread or an outer call delivers the rest */
    }
    while (is_good && track_live_has_lines(tracking->live)) {
        lines.size = 0;
        track_live_detach(tracking->live, &lines);
        if (tracking->deliver != NULL && lines.size > 0) {
            is_good = deliver(tracking, &lines);
        }
    }
    buffer_release(&lines);
    return is_good;
}
