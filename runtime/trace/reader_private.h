/* What the parts of the trace's reader share: reader.c (opening, asking, the stream), index.c
 * (where chunks are), definitions.c and decode.c (records to items). */
#ifndef MONITORCH_TRACE_READER_PRIVATE_H
#define MONITORCH_TRACE_READER_PRIVATE_H

#include "runtime/base/file/mapping.h"
#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"

/* A chunk of the stream, as its header was when the trace was opened. */
struct log_index_entry {
    uint64_t number;
    uint64_t offset;
    uint64_t size;
    uint64_t first_event;
};

/* A chunk of definitions, kept in memory: texts and shapes point into it. */
struct log_definitions_chunk {
    char *bytes; /* owned; `size` of them */
    size_t size;
    size_t parsed; /* how many are understood so far */
    uint64_t offset;
    bool is_done; /* sealed or damaged: nothing more follows */
};

/* A thing that has a number; entries are in the order of their numbers, which may have gaps
 * where the file is damaged. */
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

/* The chunk of the stream that is being read. */
struct log_stream {
    char *bytes;  /* owned; LOG_CHUNK_MAX of them, aligned for any record */
    size_t index; /* of the next chunk to load */
    size_t size;  /* how much of the chunk is there; 0: none is loaded */
    size_t position;
    uint64_t offset; /* of the chunk in the file */
    uint64_t next_event;
    uint64_t training_step; /* that is under way at `position` */
    bool is_counting;       /* next_event is what the chunks read before make it */
    bool is_sealed;
    bool has_bad_record; /* reported for this chunk */
};

struct log_reader {
    struct mapping file;
    char *path; /* owned */
    struct log_header header;
    struct arena arena; /* holds texts, shapes, modules, site tables and messages */

    uint64_t file_size;
    uint64_t scanned;              /* up to here chunks are known */
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
    struct number_map left_out_sites; /* owned: the index of each site's */
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
    bool has_jumped; /* events were passed over since the beginning of the stream */
    /* Ring mode: events before this one are not shown, nor are the calls that ended before
     * it. */
    uint64_t first_shown;
    bool has_parameters;   /* log_reader_next gives their events */
    uint64_t oldest_given; /* UINT64_MAX before one was */
    uint32_t *ended_calls; /* owned; sorted; may be NULL */
    size_t ended_count;
    size_t ended_capacity;
};

/* ---- reader.c ---- */

/* Notes `offset N: …` once. */
void log_reader_report(struct log_reader *reader,
                       uint64_t offset,
                       const char *format,
                       ...) __attribute__((format(printf, 3, 4)));

/* ---- index.c ---- */

/* Finds all chunks. false where memory ran out or the file could not be read. */
bool log_index_build(struct log_reader *reader, struct error *error);
/* Finds the chunks of definitions that were added since. */
void log_index_extend(struct log_reader *reader);
/* Whether a chunk's header makes sense for a chunk at `offset`. */
bool log_chunk_is_sane(const struct log_chunk *chunk, uint64_t offset);

/* ---- index.c: one chunk ---- */

/* Zeros where the file has ended. false where it could not be read. */
bool log_chunk_read_header(const struct log_reader *reader,
                           uint64_t offset,
                           struct log_chunk *header,
                           struct error *error);

/* What a chunk's bytes are worth that were read while a writer may be at it. */
struct log_chunk_read {
    struct log_chunk header;
    size_t loaded; /* so much was there, from the chunk's start */
    size_t end;    /* records before this are whole; the rest is for another time */
};

/* Reads the chunk at `offset` from its byte `start`, no earlier than its header's end, up to
 * `size` into the same places of `bytes`. */
bool log_chunk_read(const struct log_reader *reader,
                    uint64_t offset,
                    char *bytes,
                    size_t start,
                    size_t size,
                    struct log_chunk_read *read,
                    struct error *error);

/* ---- definitions.c ---- */

/* Notes a chunk of definitions; log_definitions_load reads it. */
bool log_definitions_add(struct log_reader *reader, uint64_t offset, uint64_t size);
/* Reads what chunks of definitions hold by now, as far as that is not known yet. */
void log_definitions_load(struct log_reader *reader);
void log_definitions_release(struct log_reader *reader);

/* NULL where nothing has that number. */
const void *log_numbered_find(const struct log_numbered_list *list, uint32_t number);
/* Text 0 is the empty one. false where there is no such text. */
bool log_text_find(const struct log_reader *reader,
                   uint32_t number,
                   struct slice *text);
/* The module of a site of the trace; NULL where there is no such site. */
const struct log_module *log_site_module(const struct log_reader *reader,
                                         uint32_t site,
                                         uint32_t *module_number);
/* The same by a table's number. */
const struct log_module *log_table_module(const struct log_reader *reader,
                                          uint32_t table,
                                          uint32_t *module_number);

/* ---- reader.c ---- */

/* ---- decode.c ---- */

/* Decodes a whole record of the stream at `bytes`, aligned to 8, of a known kind. `next_event`
 * is the number of the next event, this one if it is one. Returns NULL, or what is wrong. */
const char *log_decode(const struct log_reader *reader,
                       const char *bytes,
                       uint64_t next_event,
                       struct log_item *item);

#endif
