/* The chunks of a trace that is written: reserving, mapping and sealing them, and using the
 * oldest one again where the trace is a ring. */
#include "runtime/trace/writer_private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    #error "traces are written in place, by little-endian machines alone"
#endif

_Static_assert(LOG_CHUNK_UNIT % MAPPING_UNIT == 0, "a chunk can be mapped");

#define LEAST_KEPT_FREE UINT64_C(1000000000)

void log_record_publish(void *place, struct log_record record)
{
    uint64_t head;

    /* One store: a reader sees the whole head or none of it. */
    memcpy(&head, &record, sizeof head);
    __atomic_store_n((uint64_t *)place, head, __ATOMIC_RELEASE);
}

void log_chunk_drop(struct log_open_chunk *chunk)
{
    if (chunk->header != NULL) {
        mapping_unmap(chunk->mapped, chunk->mapped_size);
    }
    *chunk = (struct log_open_chunk){0};
}

void log_chunk_seal(struct log_open_chunk *chunk)
{
    struct log_chunk *header = chunk->header;

    if (header != NULL) {
        header->checksum = hash_64(
            (struct slice){(const char *)(header + 1), chunk->used - sizeof *header});
        /* A chunk with a used_size has its checksum. */
        __atomic_store_n(&header->used_size, chunk->used, __ATOMIC_RELEASE);
    }
    log_chunk_drop(chunk);
}

/* Maps a chunk whose bytes are all zero. The first one lies behind the file's header and
 * shares its unit. */
static bool chunk_map(struct log_writer *writer,
                      uint64_t offset,
                      size_t size,
                      struct log_open_chunk *chunk,
                      struct error *error)
{
    size_t before = offset % LOG_CHUNK_UNIT;
    void *mapped = mapping_map(&writer->file, offset - before, before + size, error);

    if (mapped == NULL) {
        return false;
    }
    *chunk = (struct log_open_chunk){
        .header = (struct log_chunk *)((char *)mapped + before),
        .used = sizeof(struct log_chunk),
        .size = size,
        .offset = offset,
        .mapped = mapped,
        .mapped_size = before + size,
    };
    return true;
}

static void chunk_publish(struct log_open_chunk *chunk,
                          enum log_chunk_kind kind,
                          uint64_t number,
                          uint64_t first_event)
{
    struct log_chunk *header = chunk->header;

    header->kind = kind;
    header->size = chunk->size;
    header->first_event = first_event;
    header->used_size = 0;
    header->checksum = 0;
    /* In a chunk that is used again, the number is what makes it valid. */
    __atomic_store_n(&header->number, number, __ATOMIC_RELEASE);
    __atomic_store_n(&header->magic, LOG_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

/* A tenth of the disk, but half of what is free where that is less already; at least 1 GB. */
void log_chunks_find_space(struct log_writer *writer)
{
    uint64_t size, free;

    if (writer->leaves_space && mapping_disk(&writer->file, &size, &free)) {
        writer->kept_free = free > size / 10 ? size / 10 : free / 2;
        if (writer->kept_free < LEAST_KEPT_FREE) {
            writer->kept_free = LEAST_KEPT_FREE;
        }
    }
}

/* Whether the disk has as much left as other programs are to have, when the file has grown. Short
 * recordings end before this is asked: their chunks were there from the start. */
static bool
check_space(const struct log_writer *writer, size_t growth, struct error *error)
{
    uint64_t size, free;

    if (writer->kept_free == 0 || writer->stream_size == 0 ||
        !mapping_disk(&writer->file, &size, &free) ||
        free >= writer->kept_free + growth) {
        return true;
    }
    error_set(error, ERROR_SYSTEM,
              "%s: the disk is nearly full: the recording leaves the last %.1f GB to "
              "other files; the option size_limit lets it use them",
              writer->path, (double)writer->kept_free / 1e9);
    return false;
}

/* Makes the file longer by a chunk. */
static bool chunk_append(struct log_writer *writer,
                         size_t size,
                         struct log_open_chunk *chunk,
                         struct error *error)
{
    uint64_t offset = writer->file_size;

    if (!check_space(writer, size, error) ||
        !mapping_reserve(&writer->file, offset, size, error) ||
        !chunk_map(writer, offset, size, chunk, error)) {
        return false;
    }
    writer->last_chunk = offset;
    writer->file_size = offset + size;
    return true;
}

/* The size of a new chunk: as much as there is of its kind so far, so that sizes double up to
 * the largest; less where the file's limit is near. 0 where that leaves no room. */
static size_t
chunk_choose_size(const struct log_writer *writer, uint64_t size_so_far, uint64_t least)
{
    uint64_t size = size_so_far < LOG_CHUNK_MAX ? size_so_far : LOG_CHUNK_MAX;

    size = size < least ? least : size;
    size = (size + LOG_CHUNK_UNIT - 1) / LOG_CHUNK_UNIT * LOG_CHUNK_UNIT;
    if (writer->size_limit != 0 && writer->file_size + size > writer->size_limit) {
        uint64_t left = writer->file_size < writer->size_limit
                            ? writer->size_limit - writer->file_size
                            : 0;

        size = left / LOG_CHUNK_UNIT * LOG_CHUNK_UNIT;
    }
    return size < least ? 0 : (size_t)size;
}

static bool fail_size_limit(const struct log_writer *writer, struct error *error)
{
    error_set(error, ERROR_SYSTEM, "%s: has reached size_limit=%llu bytes",
              writer->path, (unsigned long long)writer->size_limit);
    return false;
}

bool log_chunks_start(struct log_writer *writer, struct error *error)
{
    size_t size = LOG_CHUNK_UNIT - LOG_HEADER_SIZE;

    if (!mapping_reserve(&writer->file, LOG_HEADER_SIZE, size, error) ||
        !chunk_map(writer, LOG_HEADER_SIZE, size, &writer->definitions, error)) {
        return false;
    }
    writer->last_chunk = LOG_HEADER_SIZE;
    writer->file_size = LOG_CHUNK_UNIT;
    writer->definitions_size = size;
    chunk_publish(&writer->definitions, LOG_CHUNK_DEFINITIONS, 0, 0);
    return true;
}

bool log_chunks_next_definitions(struct log_writer *writer,
                                 uint64_t record_size,
                                 struct error *error)
{
    uint64_t least = sizeof(struct log_chunk) + record_size;
    size_t size = chunk_choose_size(writer, writer->definitions_size, least);
    struct log_open_chunk chunk;

    if (size == 0) {
        return fail_size_limit(writer, error);
    }
    if (!chunk_append(writer, size, &chunk, error)) {
        return false;
    }
    log_chunk_seal(&writer->definitions);
    writer->definitions = chunk;
    writer->definitions_size += size;
    chunk_publish(&writer->definitions, LOG_CHUNK_DEFINITIONS, 0, 0);
    return true;
}

/* ---- the ring ---- */

static struct log_ring_chunk *ring_at(const struct log_writer *writer, size_t index)
{
    return &writer->ring[(writer->ring_first + index) % writer->ring_capacity];
}

/* Makes room for one chunk more. */
static bool ring_grow(struct log_writer *writer, struct error *error)
{
    size_t capacity = writer->ring_capacity == 0 ? 8 : 2 * writer->ring_capacity;
    struct log_ring_chunk *ring;

    if (writer->ring_count < writer->ring_capacity) {
        return true;
    }
    ring = memory_allocate(capacity, sizeof *ring);
    if (ring == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 0; i < writer->ring_count; i++) {
        ring[i] = *ring_at(writer, i);
    }
    memory_free(writer->ring);
    writer->ring = ring;
    writer->ring_capacity = capacity;
    writer->ring_first = 0;
    return true;
}

/* Whether the oldest chunk is no longer needed. The one after it is kept as well when it holds
 * none of the events that are wanted: a call that goes on is told again in each chunk, and an
 * event at the beginning of one may come before that. */
static bool ring_can_drop(const struct log_writer *writer)
{
    return writer->ring_count >= 3 &&
           writer->event_count - ring_at(writer, 2)->first_event >= writer->header.last;
}

/* Empties the oldest chunk and opens it. Whoever reads the file meanwhile, or after this
 * process is killed here, finds an empty chunk and never an old record in a new one. */
static bool ring_open_oldest(struct log_writer *writer,
                             struct log_open_chunk *chunk,
                             struct error *error)
{
    uint64_t offset = ring_at(writer, 0)->offset;
    struct log_chunk empty = {.magic = LOG_CHUNK_MAGIC,
                              .kind = LOG_CHUNK_STREAM,
                              .size = writer->ring_chunk_size,
                              .number = LOG_CHUNK_EMPTY};

    writer->ring_first = (writer->ring_first + 1) % writer->ring_capacity;
    writer->ring_count--;
    return mapping_write(&writer->file, offset, &empty, sizeof empty, error) &&
           mapping_clear(&writer->file, offset + sizeof empty,
                         writer->ring_chunk_size - sizeof empty, error) &&
           chunk_map(writer, offset, writer->ring_chunk_size, chunk, error);
}

static bool stream_open(struct log_writer *writer,
                        struct log_open_chunk *chunk,
                        struct error *error)
{
    uint64_t least = sizeof(struct log_chunk) + LOG_RECORD_MAX;
    size_t size;

    if (writer->ring_chunk_size != 0 && ring_can_drop(writer)) {
        return ring_open_oldest(writer, chunk, error);
    }
    size = writer->ring_chunk_size;
    if (size == 0) {
        size = chunk_choose_size(writer, writer->stream_size, least);
    } else if (chunk_choose_size(writer, 0, size) == 0) {
        size = 0;
    }
    if (size == 0) {
        return fail_size_limit(writer, error);
    }
    if (!chunk_append(writer, size, chunk, error)) {
        return false;
    }
    writer->stream_size += size;
    return true;
}

void log_writer_note_seal(const struct log_writer *writer)
{
    if (writer->before_seal != NULL && writer->stream.header != NULL) {
        writer->before_seal(writer->seal_context);
    }
}

bool log_chunks_next_stream(struct log_writer *writer, struct error *error)
{
    struct log_open_chunk chunk;

    if ((writer->ring_chunk_size != 0 && !ring_grow(writer, error)) ||
        !stream_open(writer, &chunk, error)) {
        return false;
    }
    log_writer_note_seal(writer);
    log_chunk_seal(&writer->stream);
    writer->stream = chunk;
    chunk_publish(&writer->stream, LOG_CHUNK_STREAM, writer->chunk_count,
                  writer->event_count);
    writer->chunk_count++;
    if (writer->ring_chunk_size != 0) {
        *ring_at(writer, writer->ring_count) =
            (struct log_ring_chunk){chunk.offset, writer->event_count};
        writer->ring_count++;
    }
    return true;
}
