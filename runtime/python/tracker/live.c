/* From the items of a recording to lines in the files of their threads. */
#include "runtime/python/tracker/live.h"

#include "runtime/base/memory.h"
#include "runtime/python/record/session.h"
#include "runtime/python/tracker/file.h"
#include "runtime/view/tracklog/tracklog.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPEN_FILE_MAX 32 /* files that are kept open */

/* A thread's file. */
struct stream {
    uint64_t native;
    struct track_file file;
    struct buffer lines; /* that were not written */
    uint64_t used;       /* when it was written last: a count of flushes */
};

struct track_live {
    char *folder;        /* owned; "": no files */
    char *label_changes; /* owned */
    bool is_canonical;
    bool is_kept;
    unsigned fork_count;             /* what session_fork_count() was last */
    const struct recorder *recorder; /* borrowed; NULL: none has begun here */
    struct track_log *log;           /* owned; may be NULL */
    struct stream *streams;          /* owned */
    size_t stream_count;
    size_t stream_capacity;
    size_t open_count;
    uint64_t flush_count;
    struct buffer scratch;
    struct buffer kept; /* lines that were not taken */
    bool has_unwritten;
    bool has_complained;
};

/* ---- beginning ---- */

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

void track_live_free(struct track_live *live)
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
    /* The labels of a log that goes on are borrowed from the old text. */
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

/* In a forked process the files are the parent's, and so is what was not written. */
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

void track_live_begin(struct track_live *live, const struct recorder *recorder)
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

void track_live_add(void *context, const struct log_item *item)
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

/* The one that was written longest ago gives its descriptor back. */
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
        /* The program may have closed it. */
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

void track_live_flush(struct track_live *live)
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

bool track_live_has_lines(const struct track_live *live)
{
    return live->has_unwritten || live->kept.size > 0;
}

void track_live_take(struct track_live *live, struct buffer *text)
{
    buffer_add(text, buffer_slice(&live->kept));
    live->kept.size = 0;
    live->kept.has_failed = false;
}
