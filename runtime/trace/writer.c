/* Writes a trace in place, into the mapped file. */
#include "runtime/trace/writer_private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <time.h>
#include <unistd.h>

/* A guess at what an event takes with its calls, for choosing the size of a ring's chunks. */
#define RING_EVENT_SIZE 256
/* A ring of about this many chunks wastes little where the oldest is only half wanted. */
#define RING_CHUNKS 8

static uint64_t clock_read(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- making the file ---- */

static bool fail_locked(const struct mapping *file, struct error *error)
{
    struct log_header header = {0};
    struct error ignored = ERROR_INIT;
    size_t size;

    if (mapping_read(file, 0, &header, sizeof header, &size, &ignored) &&
        memcmp(header.magic, LOG_MAGIC, sizeof header.magic) == 0) {
        error_set(error, ERROR_USAGE,
                  "%s: process %lu is recording into this file: give another name",
                  file->path, (unsigned long)header.process);
    } else {
        error_set(error, ERROR_USAGE,
                  "%s: another process uses this file: give another name", file->path);
    }
    return false;
}

/* Nothing but an empty file or a trace may be overwritten. */
static bool check_replaceable(const struct mapping *file, struct error *error)
{
    char magic[sizeof((struct log_header *)NULL)->magic];
    size_t size;

    if (!mapping_read(file, 0, magic, sizeof magic, &size, error)) {
        return false;
    }
    if (size == 0 || (size == sizeof magic && memcmp(magic, LOG_MAGIC, size) == 0)) {
        return true;
    }
    error_set(error, ERROR_INPUT,
              "%s: is no trace, and is not replaced: give the name of a trace or of a "
              "new file",
              file->path);
    return false;
}

static void header_fill(struct log_header *header, const struct log_options *options)
{
    *header = (struct log_header){
        .magic = LOG_MAGIC,
        .version = LOG_VERSION,
        .header_size = LOG_HEADER_SIZE,
        .start_time = clock_read(CLOCK_REALTIME),
        .start_clock = clock_read(CLOCK_MONOTONIC),
        .last = options->last,
        .sample = options->sample,
        .process = (uint32_t)getpid(),
        .parent = options->parent,
        .origin = options->origin,
    };
    header->checksum = hash_64(
        (struct slice){(const char *)header, offsetof(struct log_header, is_closed)});
}

/* The file is empty from here on, then it holds the header, then room is made for chunks: so
 * what is found after a kill is empty or a trace. */
static bool writer_start(struct log_writer *writer, struct error *error)
{
    if (!mapping_cut(&writer->file, 0, error)) {
        return false;
    }
    log_chunks_find_space(writer);
    return mapping_write(&writer->file, 0, &writer->header, sizeof writer->header,
                         error) &&
           log_chunks_start(writer, error) && log_chunks_next_stream(writer, error);
}

static bool writer_open(struct log_writer *writer, struct error *error)
{
    bool is_new;

    if (!mapping_open(&writer->file, writer->path, &is_new, error)) {
        return false;
    }
    if (!mapping_lock(&writer->file)) {
        fail_locked(&writer->file, error);
    } else if (check_replaceable(&writer->file, error)) {
        if (writer_start(writer, error)) {
            return true;
        }
        /* Nothing that was there is left to be saved. */
        (void)mapping_cut(&writer->file, 0, &(struct error){ERROR_NONE, ""});
        if (is_new) {
            unlink(writer->path);
        }
    }
    log_chunk_drop(&writer->stream);
    log_chunk_drop(&writer->definitions);
    mapping_close(&writer->file);
    return false;
}

struct log_origin log_writer_child_origin(const struct log_writer *writer)
{
    const struct log_header *header = &writer->header;
    struct log_origin origin = header->origin;

    if (origin.root_process == 0) {
        origin.root_process = header->process;
        origin.root_start = header->start_time;
    }
    return origin;
}

static size_t ring_choose_size(uint64_t last)
{
    size_t size = LOG_CHUNK_UNIT;

    while (size < LOG_CHUNK_MAX && size < last * RING_EVENT_SIZE / RING_CHUNKS) {
        size *= 2;
    }
    return size;
}

static bool
check_options(const char *path, const struct log_options *options, struct error *error)
{
    uint64_t least = LOG_CHUNK_UNIT;

    least += options->last == 0 ? LOG_CHUNK_UNIT : ring_choose_size(options->last);
    if (options->size_limit != 0 && options->size_limit < least) {
        error_set(error, ERROR_INPUT,
                  "%s: size_limit=%llu, expected at least %llu bytes", path,
                  (unsigned long long)options->size_limit, (unsigned long long)least);
        return false;
    }
    return true;
}

static void writer_free(struct log_writer *writer)
{
    log_intern_release(&writer->intern);
    memory_free(writer->ring);
    memory_free(writer->path);
    memory_free(writer);
}

struct log_writer *
log_writer_new(const char *path, const struct log_options *options, struct error *error)
{
    struct log_writer *writer;
    size_t path_size = strlen(path) + 1;

    if (!check_options(path, options, error)) {
        return NULL;
    }
    writer = memory_allocate_zeroed(1, sizeof *writer);
    if (writer == NULL) {
        error_set_memory(error);
        return NULL;
    }
    writer->path = memory_allocate(path_size, 1);
    if (writer->path == NULL) {
        error_set_memory(error);
        writer_free(writer);
        return NULL;
    }
    memcpy(writer->path, path, path_size);
    writer->size_limit = options->size_limit;
    writer->leaves_space = options->leaves_space && options->size_limit == 0;
    writer->ring_chunk_size = options->last == 0 ? 0 : ring_choose_size(options->last);
    header_fill(&writer->header, options);
    writer->before_seal = options->before_seal;
    writer->seal_context = options->seal_context;
    if (!writer_open(writer, error)) {
        writer_free(writer);
        return NULL;
    }
    return writer;
}

/* ---- closing ---- */

/* The file's last chunk is cut behind its records where it was still being written. */
static uint64_t writer_end(const struct log_writer *writer)
{
    const struct log_open_chunk *chunk = &writer->stream;

    if (writer->definitions.offset == writer->last_chunk) {
        chunk = &writer->definitions;
    }
    return chunk->offset == writer->last_chunk ? chunk->offset + chunk->used
                                               : writer->file_size;
}

bool log_writer_close(struct log_writer *writer, struct error *error)
{
    struct error ignored = ERROR_INIT;
    uint64_t end = writer_end(writer);
    bool is_closed;

    error = error == NULL ? &ignored : error;
    log_writer_note_seal(writer);
    log_chunk_seal(&writer->stream);
    log_chunk_seal(&writer->definitions);
    writer->header.is_closed = 1;
    writer->header.event_count = writer->event_count;
    writer->header.lost_count = writer->lost_count;
    is_closed =
        mapping_cut(&writer->file, end, error) &&
        mapping_write(&writer->file, 0, &writer->header, sizeof writer->header, error);
    mapping_unlock(&writer->file);
    mapping_close(&writer->file);
    writer_free(writer);
    return is_closed;
}

void log_writer_abandon(struct log_writer *writer)
{
    log_chunk_drop(&writer->stream);
    log_chunk_drop(&writer->definitions);
    mapping_close(&writer->file);
    writer_free(writer);
}

void log_writer_stop(struct log_writer *writer, const struct error *error)
{
    struct error ignored = ERROR_INIT;

    if (writer->is_stopped) {
        return;
    }
    writer->is_stopped = true;
    error_set(&writer->stopped, error->kind, "%s; recording has stopped", error->text);
    /* What was reserved for a chunk that could not be opened is given back to the disk. */
    (void)mapping_cut(&writer->file, writer->file_size, &ignored);
}

/* ---- the stream ---- */

/* The rare part of log_writer_begin: a record was given up, or the chunk is full. */
static bool writer_make_room(struct log_writer *writer, size_t size)
{
    struct error error = ERROR_INIT;

    if (writer->begun_size != 0) {
        memset(log_open_chunk_place(&writer->stream), 0, writer->begun_size);
        writer->begun_size = 0;
    }
    if (size <= log_open_chunk_left(&writer->stream)) {
        return true;
    }
    if (!log_chunks_next_stream(writer, &error)) {
        log_writer_stop(writer, &error);
        return false;
    }
    return true;
}

void *log_writer_begin_beside(struct log_writer *writer, size_t size)
{
    size_t padded = log_record_padded(size);

    assert(size >= sizeof(struct log_record) && size <= LOG_RECORD_MAX);
    if (writer->is_stopped) {
        return NULL;
    }
    if (writer->begun_size != 0 || padded > log_open_chunk_left(&writer->stream)) {
        if (!writer_make_room(writer, padded)) {
            return NULL;
        }
    }
    writer->begun_size = padded;
    return log_open_chunk_place(&writer->stream);
}

void *log_writer_begin(struct log_writer *writer, size_t size)
{
    void *place = log_writer_begin_beside(writer, size);

    writer->lost_count += place == NULL;
    return place;
}

void log_writer_commit(struct log_writer *writer, struct log_record record)
{
    char *place = log_open_chunk_place(&writer->stream);
    size_t padded = log_record_padded(record.size);

    assert(record.size >= sizeof record && padded <= writer->begun_size);
    if (padded < writer->begun_size || record.size < padded) {
        memset(place + record.size, 0, writer->begun_size - record.size);
    }
    log_record_publish(place, record);
    writer->stream.used += padded;
    writer->begun_size = 0;
    writer->event_count += record.kind == LOG_EVENT;
}

/* ---- asking ---- */

uint64_t log_writer_start_clock(const struct log_writer *writer)
{
    return writer->header.start_clock;
}

uint64_t log_writer_event_count(const struct log_writer *writer)
{
    return writer->event_count;
}

uint64_t log_writer_chunk(const struct log_writer *writer)
{
    return writer->chunk_count - 1;
}

uint64_t log_writer_oldest_chunk(const struct log_writer *writer)
{
    return writer->ring_chunk_size == 0 ? 0 : writer->chunk_count - writer->ring_count;
}

const char *log_writer_stopped(const struct log_writer *writer)
{
    return writer->is_stopped ? writer->stopped.text : NULL;
}

uint64_t log_writer_lost_count(const struct log_writer *writer)
{
    return writer->lost_count;
}
