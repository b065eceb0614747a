/* What the parts of the trace's writer share: writer.c (opening, closing, the
 * stream), define.c, chunks.c and define.c. */
#ifndef MONITORCH_TRACE_WRITER_PRIVATE_H
#define MONITORCH_TRACE_WRITER_PRIVATE_H

#include "runtime/base/file/mapping.h"
#include "runtime/trace/writer.h"

/* A chunk that is being written, mapped. All of it behind `used` is zero, but for a record that
 * is begun and not committed. */
struct log_open_chunk {
    struct log_chunk *header; /* NULL: none is open */
    size_t used;              /* with the header; a multiple of 8 */
    size_t size;
    uint64_t offset; /* in the file */
    void *mapped;    /* the header's unit or, in the first chunk, the file's header */
    size_t mapped_size;
};

/* A chunk that a ring holds. */
struct log_ring_chunk {
    uint64_t offset;
    uint64_t first_event;
};

/* What has a number already, by a hash of its content. */
struct log_intern_entry {
    uint64_t hash[2];
    uint32_t kind;   /* LOG_TEXT or LOG_FORM */
    uint32_t number; /* 0: a free place */
};

struct log_intern {
    struct log_intern_entry *entries; /* owned; may be NULL where capacity is 0 */
    size_t capacity;                  /* a power of two, or 0 */
    size_t count;
};

struct log_writer {
    /* What each record needs comes first, to share few lines of the cache. */
    struct log_open_chunk stream;
    size_t begun_size; /* of the record that is begun, padded; 0: none is */
    uint64_t event_count;
    uint64_t lost_count;
    bool is_stopped;

    struct log_open_chunk definitions;
    uint64_t definitions_size; /* of all chunks of definitions so far */
    uint64_t stream_size;
    uint64_t chunk_count; /* of the stream, counting those that a ring used again */
    struct mapping file;
    uint64_t file_size;  /* where the last chunk of the file ends */
    uint64_t last_chunk; /* the offset of that chunk */
    struct log_header header;
    uint64_t size_limit;
    uint64_t kept_free; /* so much of the disk is left to others; 0: nothing */
    bool leaves_space;
    void (*before_seal)(void *context); /* may be NULL */
    void *seal_context;

    /* Ring mode: the chunks that hold something, oldest first, wrapping around. */
    size_t ring_chunk_size;      /* 0: not in ring mode */
    struct log_ring_chunk *ring; /* owned */
    size_t ring_capacity;
    size_t ring_first;
    size_t ring_count;

    struct log_intern intern;
    uint32_t text_count;
    uint32_t form_count;
    char *path; /* owned */
    struct error stopped;
};

/* ---- chunks.c ---- */

/* Tells that the stream's chunk is about to be sealed. */
void log_writer_note_seal(const struct log_writer *writer);

static inline size_t log_open_chunk_left(const struct log_open_chunk *chunk)
{
    return chunk->size - chunk->used;
}

/* Where the next record comes. */
static inline void *log_open_chunk_place(const struct log_open_chunk *chunk)
{
    return (char *)chunk->header + chunk->used;
}

/* How much of the disk is left to others; called before the first chunk. */
void log_chunks_find_space(struct log_writer *writer);
/* Opens the file's first chunk, for definitions. The header has been written. */
bool log_chunks_start(struct log_writer *writer, struct error *error);
/* Seals the chunk that is written to and opens another with room for a record. */
bool log_chunks_next_stream(struct log_writer *writer, struct error *error);
bool log_chunks_next_definitions(struct log_writer *writer,
                                 uint64_t record_size,
                                 struct error *error);
/* Notes in a chunk that it is complete, and unmaps it. May be called where none is open. */
void log_chunk_seal(struct log_open_chunk *chunk);
/* Unmaps a chunk and writes nothing. */
void log_chunk_drop(struct log_open_chunk *chunk);

/* Stores a record's head, after everything else of it is in place. */
void log_record_publish(void *place, struct log_record record);

/* ---- define.c ---- */

/* The place of a content's entry: its number is 0 where it is new, and then the caller fills
 * it in. NULL where memory ran out. */
void log_intern_release(struct log_intern *intern);

/* ---- writer.c ---- */

/* Ends recording for good, for the reason that `error` tells. */
void log_writer_stop(struct log_writer *writer, const struct error *error);

#endif
