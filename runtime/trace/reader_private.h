/* The struct log_reader, and functions shared by the reader's files: reader.c (opening,
 * properties, the stream), index.c (the places of chunks), definitions.c and decode.c (records
 * to items). */
#ifndef MONITORCH_TRACE_READER_PRIVATE_H
#define MONITORCH_TRACE_READER_PRIVATE_H

#include "runtime/base/file/mapping.h"
#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"

/* A chunk of the stream, with its header as it was when the trace was opened. */
struct log_index_entry {
    uint64_t number;
    uint64_t offset;
    uint64_t size;
    uint64_t first_event;
};

/* A chunk of definitions, kept in memory: texts and shapes point into it. */
struct log_definitions_chunk {
    char *bytes; /* owned; `size` bytes */
    size_t size;
    size_t parsed; /* bytes that are parsed */
    uint64_t offset;
    bool is_done; /* sealed or damaged: there are no more records */
};

/* An entry of a list sorted by number. The numbers have gaps if the file is damaged. */
struct log_numbered {
    uint32_t number;
    const void *thing; /* borrowed from the arena */
};

struct log_numbered_list {
    struct log_numbered *entries; /* owned */
    size_t count;
    size_t capacity;
};

struct log_damage {
    uint64_t offset;
    const char *message; /* borrowed from the arena */
};

/* The position in the stream, and its loaded chunk. */
struct log_stream {
    char *bytes;  /* owned; LOG_CHUNK_MAX bytes, aligned for any record */
    size_t index; /* of the next chunk to load */
    size_t size;  /* of the loaded bytes; 0: no chunk is loaded */
    size_t position;
    uint64_t offset; /* of the chunk in the file */
    uint64_t next_event;
    uint64_t training_step; /* the current one at `position` */
    bool is_counting;       /* next_event was counted from the previous chunks */
    bool is_sealed;
    bool has_bad_record; /* one was reported in this chunk */
};

struct log_reader {
    struct mapping file;
    char *path; /* owned */
    struct log_header header;
    struct arena arena; /* holds texts, shapes, modules, site tables and messages */

    uint64_t file_size;
    uint64_t scanned;              /* end of the part of the file that is indexed */
    struct log_index_entry *index; /* owned; in the order of the stream */
    size_t index_count;
    size_t index_capacity;

    struct log_definitions_chunk *definitions; /* owned; in the order of the file */
    size_t definitions_count;
    size_t definitions_capacity;
    struct log_numbered_list modules;   /* struct log_module */
    struct log_numbered_list texts;     /* struct slice */
    struct log_numbered_list shapes;    /* struct log_shape */
    struct log_numbered_list threads;   /* struct slice: the name */
    struct log_left_out_view *left_out; /* owned */
    size_t left_out_count;
    size_t left_out_capacity;
    struct number_map left_out_sites; /* owned: index in left_out, by site */
    struct log_setting *settings;     /* owned */
    size_t setting_count;
    size_t setting_capacity;

    struct log_damage *damage; /* owned; in the order of offsets */
    size_t damage_count;
    size_t damage_capacity;
    bool is_memory_out; /* reported as damage too */

    struct log_stream stream;
    bool is_unknown_kind_reported;
    bool is_end_checked;
    bool has_jumped; /* events were skipped since the start of the stream */
    /* Ring mode: earlier events are hidden, and so are calls that ended before this event. */
    uint64_t first_shown;
    bool has_parameters;   /* log_reader_next returns events of parameters */
    uint64_t oldest_given; /* the lowest returned event number; UINT64_MAX: none */
    uint32_t *ended_calls; /* owned; sorted; may be NULL */
    size_t ended_count;
    size_t ended_capacity;
};

/* ---- reader.c ---- */

/* Adds the message `offset N: …`, unless it was added before. */
void log_reader_report(struct log_reader *reader,
                       uint64_t offset,
                       const char *format,
                       ...) __attribute__((format(printf, 3, 4)));

/* ---- index.c ---- */

/* Finds all chunks. Returns false if memory runs out or the file cannot be read. */
bool log_index_build(struct log_reader *reader, struct error *error);
/* Adds the chunks of definitions that were written since. */
void log_index_extend(struct log_reader *reader);
/* Whether the header is valid for a chunk at `offset`. */
bool log_chunk_is_sane(const struct log_chunk *chunk, uint64_t offset);

/* ---- index.c: one chunk ---- */

/* Reads a chunk's header. Bytes after the end of the file are zero. Returns false if the file
 * cannot be read. */
bool log_chunk_read_header(const struct log_reader *reader,
                           uint64_t offset,
                           struct log_chunk *header,
                           struct error *error);

/* The header and the valid part of a chunk that was read while a writer may have been writing to
 * it. */
struct log_chunk_read {
    struct log_chunk header;
    size_t loaded; /* bytes that exist, from the chunk's start */
    size_t end;    /* end of the whole records; the rest is not valid yet */
};

/* Reads bytes `start` to `size` of the chunk at `offset` into the same positions of `bytes`.
 * `start` must not be inside the header. */
bool log_chunk_read(const struct log_reader *reader,
                    uint64_t offset,
                    char *bytes,
                    size_t start,
                    size_t size,
                    struct log_chunk_read *read,
                    struct error *error);

/* ---- definitions.c ---- */

/* Adds a chunk of definitions; log_definitions_load reads it. */
bool log_definitions_add(struct log_reader *reader, uint64_t offset, uint64_t size);
/* Reads all definitions that were written since the last call. */
void log_definitions_load(struct log_reader *reader);
void log_definitions_release(struct log_reader *reader);

/* Returns the thing with that number. NULL if there is none. */
const void *log_numbered_find(const struct log_numbered_list *list, uint32_t number);
/* Finds a text by its number; text 0 is the empty one. Returns false if there is none. */
bool log_text_find(const struct log_reader *reader,
                   uint32_t number,
                   struct slice *text);
/* The module of a site of the trace. NULL if there is no such site. */
const struct log_module *log_site_module(const struct log_reader *reader,
                                         uint32_t site,
                                         uint32_t *module_number);
/* The module of a table's number. NULL if there is none. */
const struct log_module *log_table_module(const struct log_reader *reader,
                                          uint32_t table,
                                          uint32_t *module_number);

/* ---- decode.c ---- */

/* Decodes a whole record of the stream of a known kind at `bytes`, which is aligned to 8.
 * `next_event` is the number of the next event, or of this one if it is an event. Returns NULL,
 * or a description of the problem. */
const char *log_decode(const struct log_reader *reader,
                       const char *bytes,
                       uint64_t next_event,
                       struct log_item *item);

#endif
