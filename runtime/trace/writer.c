/* Trace writer: writes records in place into the mapped file. */
#include "runtime/trace/writer.h"

#include "runtime/base/file/mapping.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/intern.h"
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"

#include <assert.h>
#include <time.h>
#include <unistd.h>

static void log_writer_stop(struct log_writer *writer, const struct error *error);

/* The mapped chunk that is being written. All bytes after `used` are zero, except those of a
 * record that is started and not committed. */
struct log_open_chunk {
    struct log_chunk *header; /* NULL: no chunk is open */
    size_t used;              /* bytes including the header; a multiple of 8 */
    size_t size;
    uint64_t offset; /* in the file */
    void *mapped;    /* start of the header's unit; for the first chunk, of the file */
    size_t mapped_size;
};

/* A chunk in a ring. */
struct log_ring_chunk {
    uint64_t offset;
    uint64_t first_event;
    uint64_t first_step; /* the training step when the chunk was opened */
};

struct log_writer {
    /* The fields that each record needs are first, so that they share few cache lines. */
    struct log_open_chunk stream;
    size_t begun_size; /* padded size of the started record; 0: none */
    uint64_t event_count;
    uint64_t lost_count;
    uint64_t training_step; /* the current one */
    bool is_stopped;
    bool is_unkept; /* no file: `stream` is plain memory with space for one record */

    struct log_open_chunk definitions;
    uint64_t definitions_size; /* of all chunks of definitions */
    uint64_t stream_size;
    uint64_t chunk_count; /* of the stream; a reused chunk counts again */
    struct mapping file;
    uint64_t file_size;  /* end of the file's last chunk */
    uint64_t last_chunk; /* the offset of that chunk */
    struct log_header header;
    uint64_t size_limit;
    uint64_t kept_free; /* bytes of the disk to leave free; 0: none */
    bool leaves_space;
    void (*before_seal)(void *context); /* may be NULL */
    void *seal_context;

    /* Ring mode: the chunks with records as a circular list, oldest first. */
    size_t ring_chunk_size;      /* 0: not in ring mode */
    struct log_ring_chunk *ring; /* owned */
    size_t ring_capacity;
    size_t ring_first;
    size_t ring_count;

    struct intern intern;
    uint32_t text_count;
    uint32_t form_count;
    char *path; /* owned */
    struct error stopped;
};

static inline size_t log_open_chunk_left(const struct log_open_chunk *chunk)
{
    assert(chunk->used <= chunk->size);
    return chunk->size - chunk->used;
}

/* The address of the next record. */
static inline void *log_open_chunk_place(const struct log_open_chunk *chunk)
{
    return (char *)chunk->header + chunk->used;
}

/* ---- chunks ---- */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    #error "traces are written in place, by little-endian machines alone"
#endif

_Static_assert(LOG_CHUNK_UNIT % MAPPING_UNIT == 0, "a chunk can be mapped");

#define LEAST_KEPT_FREE UINT64_C(1000000000)

/* Stores a record's head. The rest of the record must be complete. */
static void log_record_publish(void *place, struct log_record record)
{
    uint64_t head;

    assert((uintptr_t)place % sizeof head == 0);
    /* One store: a reader sees the whole head or none of it. */
    memcpy(&head, &record, sizeof head);
    __atomic_store_n((uint64_t *)place, head, __ATOMIC_RELEASE);
}

/* Unmaps a chunk without sealing it. */
static void log_chunk_drop(struct log_open_chunk *chunk)
{
    if (chunk->header != NULL) {
        mapping_unmap(chunk->mapped, chunk->mapped_size);
    }
    *chunk = (struct log_open_chunk){0};
}

/* Marks a chunk as complete, and unmaps it. Does nothing if none is open. */
static void log_chunk_seal(struct log_open_chunk *chunk)
{
    struct log_chunk *header = chunk->header;

    if (header != NULL) {
        assert(chunk->used >= sizeof *header && chunk->used <= chunk->size);
        header->checksum = hash_64(
            (struct slice){(const char *)(header + 1), chunk->used - sizeof *header});
        /* used_size is stored last: a chunk that has one also has a checksum. */
        __atomic_store_n(&header->used_size, chunk->used, __ATOMIC_RELEASE);
    }
    log_chunk_drop(chunk);
}

/* Maps a chunk whose bytes are all zero. The first chunk follows the file's header and shares
 * its unit. */
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
    /* A reused chunk becomes valid by its number. */
    __atomic_store_n(&header->number, number, __ATOMIC_RELEASE);
    __atomic_store_n(&header->magic, LOG_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

/* Chooses how much of the disk to leave free: a tenth of it, or half of the free space if less
 * than a tenth is free; at least 1 GB. */
static void log_chunks_find_space(struct log_writer *writer)
{
    uint64_t size, free;

    if (writer->leaves_space && mapping_disk(&writer->file, &size, &free)) {
        writer->kept_free = free > size / 10 ? size / 10 : free / 2;
        if (writer->kept_free < LEAST_KEPT_FREE) {
            writer->kept_free = LEAST_KEPT_FREE;
        }
    }
}

/* Whether enough of the disk stays free for other programs after the file has grown. Short
 * recordings never reach this check, since their chunks exist from the start. */
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

/* Appends a chunk to the file. */
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
    assert((offset + size) % LOG_CHUNK_UNIT == 0);
    writer->last_chunk = offset;
    writer->file_size = offset + size;
    return true;
}

/* Chooses the size of a new chunk: the size of all chunks of its kind so far, so that the total
 * doubles, up to LOG_CHUNK_MAX; less near the file's limit. Returns 0 if there is no space left. */
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

/* Opens the file's first chunk, for definitions. The header is written before. */
static bool log_chunks_start(struct log_writer *writer, struct error *error)
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

static bool log_chunks_next_definitions(struct log_writer *writer,
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
    assert(index <= writer->ring_count && writer->ring_count <= writer->ring_capacity);
    return &writer->ring[(writer->ring_first + index) % writer->ring_capacity];
}

/* Makes space for one more chunk in the list. */
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

/* Whether the oldest chunk can be dropped: all wanted events are in the third chunk or later.
 * The second one must be kept too. The records of open calls are repeated in each chunk, but an
 * event at the start of a chunk can precede the repetition. */
static bool ring_can_drop(const struct log_writer *writer)
{
    const struct log_ring_chunk *third;

    if (writer->ring_count < 3) {
        return false;
    }
    third = ring_at(writer, 2);
    if (writer->header.last_steps == 0) {
        return writer->event_count - third->first_event >= writer->header.last;
    }
    /* The step may have started before the chunk was opened. */
    return writer->training_step > writer->header.last_steps &&
           third->first_step < writer->training_step - writer->header.last_steps;
}

/* Empties the oldest chunk and opens it. Anyone who reads the file meanwhile, or after this
 * process was killed here, finds an empty chunk and never an old record in a new chunk. */
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

/* Notifies the owner that the stream's chunk is about to be sealed. */
static void log_writer_note_seal(const struct log_writer *writer)
{
    if (writer->before_seal != NULL && writer->stream.header != NULL) {
        writer->before_seal(writer->seal_context);
    }
}

/* Opens another chunk of the stream with space for a record, and seals the current one. */
static bool log_chunks_next_stream(struct log_writer *writer, struct error *error)
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
        assert(writer->ring_count < writer->ring_capacity);
        *ring_at(writer, writer->ring_count) = (struct log_ring_chunk){
            chunk.offset, writer->event_count, writer->training_step};
        writer->ring_count++;
        assert(writer->ring_count <= writer->chunk_count);
    }
    return true;
}

/* ---- definitions ---- */

#define REPLACEMENT "\xef\xbf\xbd"

bool log_writer_define(struct log_writer *writer,
                       const void *head,
                       size_t head_size,
                       struct slice rest)
{
    struct error error = ERROR_INIT;
    struct log_record record;
    size_t padded;
    char *place;

    if (writer->is_stopped || rest.size > LOG_DEFINITIONS_MAX / 2) {
        return false;
    }
    if (writer->is_unkept) {
        return true;
    }
    padded = log_record_padded(head_size + rest.size);
    if (padded > log_open_chunk_left(&writer->definitions) &&
        !log_chunks_next_definitions(writer, padded, &error)) {
        log_writer_stop(writer, &error);
        return false;
    }
    assert(padded <= log_open_chunk_left(&writer->definitions));
    place = log_open_chunk_place(&writer->definitions);
    memcpy(&record, head, sizeof record);
    record.size = (uint32_t)(head_size + rest.size);
    memcpy(place + sizeof record, (const char *)head + sizeof record,
           head_size - sizeof record);
    if (rest.size > 0) {
        memcpy(place + head_size, rest.bytes, rest.size);
    }
    log_record_publish(place, record);
    writer->definitions.used += padded;
    return true;
}

/* Finds or adds the entry of a content. NULL: recording has stopped. */
static struct intern_entry *
writer_find(struct log_writer *writer, enum log_kind kind, struct slice content)
{
    struct intern_entry *entry;

    if (writer->is_stopped) {
        return NULL;
    }
    entry = intern_find(&writer->intern, kind, content);
    if (entry == NULL) {
        struct error error = ERROR_INIT;

        error_set(&error, ERROR_MEMORY, "%s: out of memory", writer->path);
        log_writer_stop(writer, &error);
    }
    return entry;
}

/* Counts up. If the numbers are used up, recording stops and false is returned. */
static bool number_next(struct log_writer *writer, uint32_t *count)
{
    struct error error = ERROR_INIT;

    if (*count < UINT32_MAX - 1) {
        ++*count;
        return true;
    }
    error_set(&error, ERROR_USAGE, "%s: holds too many different texts", writer->path);
    log_writer_stop(writer, &error);
    return false;
}

/* Copies text into `clean`, which has room for LOG_TEXT_MAX bytes, as valid UTF-8. */
static struct slice text_clean(struct slice text, char *clean)
{
    size_t size = 0;

    for (size_t i = 0; i < text.size;) {
        uint32_t code;
        size_t step = utf8_read(text, i, &code);
        struct slice character =
            step == 0 ? SLICE(REPLACEMENT) : slice_part(text, i, i + step);

        if (size + character.size > LOG_TEXT_MAX) {
            break;
        }
        memcpy(clean + size, character.bytes, character.size);
        size += character.size;
        assert(size <= LOG_TEXT_MAX);
        i += step == 0 ? 1 : step;
    }
    return (struct slice){clean, size};
}

uint32_t log_writer_text(struct log_writer *writer, struct slice text)
{
    struct log_text head = {.record = {.kind = LOG_TEXT}};
    struct intern_entry *entry;
    char clean[LOG_TEXT_MAX];

    if (text.size == 0) {
        return 0;
    }
    if (text.size > LOG_TEXT_MAX || utf8_find_invalid(text) < text.size) {
        text = text_clean(text, clean);
    }
    entry = writer_find(writer, LOG_TEXT, text);
    if (entry == NULL || entry->number != 0) {
        return entry == NULL ? 0 : entry->number;
    }
    head.number = writer->text_count;
    if (!number_next(writer, &head.number) ||
        !log_writer_define(writer, &head, sizeof head, text)) {
        return 0;
    }
    writer->text_count = head.number;
    writer->intern.count++;
    entry->number = head.number;
    return head.number;
}

uint32_t log_writer_form(struct log_writer *writer, struct log_form *form, size_t size)
{
    struct slice content = {(const char *)form, size};
    struct intern_entry *entry;

    form->record.kind = LOG_FORM;
    form->record.size = (uint32_t)size;
    form->number = 0;
    entry = writer_find(writer, LOG_FORM, content);
    if (entry == NULL || entry->number != 0) {
        form->number = entry == NULL ? 0 : entry->number;
        return form->number;
    }
    form->number = writer->form_count;
    if (!number_next(writer, &form->number) ||
        !log_writer_define(writer, form, sizeof *form,
                           slice_part(content, sizeof *form, size))) {
        form->number = 0;
        return 0;
    }
    writer->form_count = form->number;
    writer->intern.count++;
    entry->number = form->number;
    return form->number;
}

void log_writer_setting(struct log_writer *writer,
                        struct slice name,
                        struct slice value)
{
    struct log_setting_record head = {
        .record = {.kind = LOG_SETTING},
        .name = log_writer_text(writer, name),
        .value = log_writer_text(writer, value),
    };

    (void)log_writer_define(writer, &head, sizeof head, SLICE(""));
}

/* An estimate of an event's size with its calls, used to choose the size of a ring's chunks. */
#define RING_EVENT_SIZE 256
/* With about this many chunks, a ring wastes little space on the unwanted part of its oldest
 * one. */
#define RING_CHUNKS 8
/* An estimate of the number of events in a ring of whole steps. */
#define RING_STEPS_GUESS 8192

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

/* Only an empty file or a trace may be overwritten. */
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
        .last = options->last_steps > 0 ? UINT64_MAX : options->last,
        .last_steps = options->last_steps,
        .sample = options->sample,
        .process = (uint32_t)getpid(),
        .parent = options->parent,
        .origin = options->origin,
    };
    header->checksum = hash_64(
        (struct slice){(const char *)header, offsetof(struct log_header, is_closed)});
}

/* Empties the file, then writes the header, then reserves chunks. After a kill the file is
 * therefore empty or a trace. */
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
        /* Nothing of the file's old content is left to be saved. */
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

/* The size of a ring's chunks; 0: no ring. The size of a training step is not known yet. */
static size_t ring_choose_size(const struct log_options *options)
{
    uint64_t last = options->last_steps > 0 ? RING_STEPS_GUESS : options->last;
    size_t size = LOG_CHUNK_UNIT;

    if (last == 0) {
        return 0;
    }
    while (size < LOG_CHUNK_MAX && size < last * RING_EVENT_SIZE / RING_CHUNKS) {
        size *= 2;
    }
    return size;
}

static bool
check_options(const char *path, const struct log_options *options, struct error *error)
{
    size_t ring_size = ring_choose_size(options);
    uint64_t least = LOG_CHUNK_UNIT + (ring_size == 0 ? LOG_CHUNK_UNIT : ring_size);

    assert(options->last == 0 || options->last_steps == 0);
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
    if (writer->is_unkept) {
        memory_free(writer->stream.header);
    }
    intern_release(&writer->intern);
    memory_free(writer->ring);
    memory_free(writer->path);
    memory_free(writer);
}

static bool make_unkept(struct log_writer *writer, const struct log_options *options)
{
    size_t size = sizeof(struct log_chunk) + LOG_RECORD_MAX;

    writer->is_unkept = true;
    writer->chunk_count = 1;
    writer->stream.header = memory_allocate_zeroed(size, 1);
    writer->stream.size = size;
    writer->stream.used = sizeof(struct log_chunk);
    writer->path = memory_allocate_zeroed(1, 1);
    header_fill(&writer->header, options);
    return writer->stream.header != NULL && writer->path != NULL;
}

struct log_writer *log_writer_new_unkept(const struct log_options *options,
                                         struct error *error)
{
    struct log_writer *writer = memory_allocate_zeroed(1, sizeof *writer);

    assert(!log_options_keep_newest(options) && options->size_limit == 0);
    if (writer != NULL && !make_unkept(writer, options)) {
        writer_free(writer);
        writer = NULL;
    }
    if (writer == NULL) {
        error_set_memory(error);
    }
    return writer;
}

bool log_writer_is_kept(const struct log_writer *writer)
{
    return !writer->is_unkept;
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
    writer->ring_chunk_size = ring_choose_size(options);
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

/* The end of the file at closing. If the last chunk is still open, the file is cut after its
 * records. */
static uint64_t writer_end(const struct log_writer *writer)
{
    const struct log_open_chunk *chunk = &writer->stream;

    if (writer->definitions.offset == writer->last_chunk) {
        chunk = &writer->definitions;
    }
    assert(writer->last_chunk < writer->file_size);
    return chunk->offset == writer->last_chunk ? chunk->offset + chunk->used
                                               : writer->file_size;
}

bool log_writer_close(struct log_writer *writer, struct error *error)
{
    struct error ignored = ERROR_INIT;
    uint64_t end;
    bool is_closed;

    if (writer->is_unkept) {
        writer_free(writer);
        return true;
    }
    end = writer_end(writer);
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
    if (writer->is_unkept) {
        writer_free(writer);
        return;
    }
    log_chunk_drop(&writer->stream);
    log_chunk_drop(&writer->definitions);
    mapping_close(&writer->file);
    writer_free(writer);
}

/* Stops recording for good; `error` is the reason. */
static void log_writer_stop(struct log_writer *writer, const struct error *error)
{
    struct error ignored = ERROR_INIT;

    if (writer->is_stopped) {
        return;
    }
    writer->is_stopped = true;
    error_set(&writer->stopped, error->kind, "%s; recording has stopped", error->text);
    /* Frees the disk space that was reserved for a chunk that could not be opened. */
    if (!writer->is_unkept) {
        (void)mapping_cut(&writer->file, writer->file_size, &ignored);
    }
}

/* ---- the stream ---- */

/* The rare part of log_writer_begin: the last record was not committed, or the chunk is full. */
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
    assert(padded <= log_open_chunk_left(&writer->stream));
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
    if (writer->is_unkept) {
        memset(place, 0, padded);
    } else {
        log_record_publish(place, record);
        writer->stream.used += padded;
    }
    writer->begun_size = 0;
    writer->event_count += record.kind == LOG_EVENT;
}

void log_writer_begin_step(struct log_writer *writer, uint64_t step)
{
    writer->training_step = step;
}

/* ---- the writer's properties ---- */

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
    assert(writer->chunk_count > 0);
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
