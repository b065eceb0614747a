/* Trace writer: every finished record is in the file, even if the process is killed right after.
 * A writer is used by one thread at a time: the caller holds a lock. */
#ifndef MONITORCH_TRACE_WRITER_H
#define MONITORCH_TRACE_WRITER_H

#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_options {
    uint64_t last; /* keep about this many newest events; 0: all */
    /* Keep this many newest whole training steps; 0: all. Excludes `last`. */
    uint32_t last_steps;
    uint64_t size_limit; /* of the file, in bytes; recording stops there. 0: none */
    /* Without a size_limit, recording stops before the disk is full: see
     * docs/reference/recording.md. */
    bool leaves_space;
    uint32_t sample;          /* copied to the header */
    uint32_t parent;          /* copied to the header */
    struct log_origin origin; /* copied to the header */
    /* Runs before a chunk of the stream is sealed, the last chance to fill in the space that its
     * records reserved. May be NULL; must not write records. */
    void (*before_seal)(void *context);
    void *seal_context;
};

/* Whether the file is a ring, whose oldest chunk is reused. */
static inline bool log_options_keep_newest(const struct log_options *options)
{
    return options->last != 0 || options->last_steps != 0;
}

struct log_writer;

/* Creates the file, or replaces a trace of that name. Returns NULL on failure; `error` says why.
 * If another process is writing the file, it is left untouched (ERROR_USAGE). */
struct log_writer *log_writer_new(const char *path,
                                  const struct log_options *options,
                                  struct error *error);
/* Returns a writer without a file, for a recording that only a tap reads. A record is gone once
 * it is committed; texts and forms get numbers. Does not support rings or a size limit. NULL:
 * out of memory. */
struct log_writer *log_writer_new_unkept(const struct log_options *options,
                                         struct error *error);
/* Whether the writer has a file. Without one, no record can be filled in later. */
bool log_writer_is_kept(const struct log_writer *writer);
/* Seals the file and cuts it to its size. Returns false on failure; `error`, which may be NULL,
 * says why. The writer is freed in any case. */
bool log_writer_close(struct log_writer *writer, struct error *error);
/* In the child after a fork: frees the writer and leaves the parent's file untouched. */
void log_writer_abandon(struct log_writer *writer);

/* Returns space for a record of `size` bytes (including its head, at most LOG_RECORD_MAX),
 * zeroed up to its head. NULL: recording has stopped. The record is not in the file before it is
 * committed. Only one record is started at a time. */
void *log_writer_begin(struct log_writer *writer, size_t size);
/* The same for records that are no events: one that is lost is not counted. */
void *log_writer_begin_beside(struct log_writer *writer, size_t size);
/* Starts a training step, to which later records belong. For rings of whole steps. */
void log_writer_begin_step(struct log_writer *writer, uint64_t step);
/* Publishes the started record. record.size may be smaller than requested. */
void log_writer_commit(struct log_writer *writer, struct log_record record);

/* The origin for a recording of a child of this recording's process. */
struct log_origin log_writer_child_origin(const struct log_writer *writer);
/* The start of the recording, which times in records are relative to: nanoseconds of
 * CLOCK_MONOTONIC. */
uint64_t log_writer_start_clock(const struct log_writer *writer);

/* The number of events committed so far, which is the number of the next one. */
uint64_t log_writer_event_count(const struct log_writer *writer);
/* The numbers of the stream's current chunk, and of the oldest one that a ring still holds. */
uint64_t log_writer_chunk(const struct log_writer *writer);
uint64_t log_writer_oldest_chunk(const struct log_writer *writer);

/* Return a number for a text or form, the same for equal content; new content is defined in the
 * file. 0: recording has stopped. A text is cut to LOG_TEXT_MAX bytes, between characters; bytes
 * that are no UTF-8 become U+FFFD. `form` is followed in memory by its shape and strides; its
 * number and record.size are filled in. */
#define LOG_TEXT_MAX 4096
uint32_t log_writer_text(struct log_writer *writer, struct slice text);
uint32_t log_writer_form(struct log_writer *writer, struct log_form *form, size_t size);
/* Writes a setting of the run, or its new value. */
void log_writer_setting(struct log_writer *writer,
                        struct slice name,
                        struct slice value);
/* Writes another definition, which the caller defines only once. `head` is the fixed part (such
 * as struct log_table), `rest` the bytes after it, of any number. Returns false if recording has
 * stopped. */
bool log_writer_define(struct log_writer *writer,
                       const void *head,
                       size_t head_size,
                       struct slice rest);

/* The message why recording has stopped (a full disk, the size limit), or NULL while it records.
 * Events that are lost since then are counted. */
const char *log_writer_stopped(const struct log_writer *writer);
uint64_t log_writer_lost_count(const struct log_writer *writer);

#endif
