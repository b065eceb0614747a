/* Writes a trace: every record that was finished is in the file, also when the process is
 * killed the moment after. One writer is used by one thread at a time: callers hold a lock. */
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
    uint32_t
        last_steps; /* keep this many newest whole training steps; 0: all. Not with `last` */
    uint64_t size_limit; /* of the file in bytes; 0: none. Beyond it recording stops */
    /* Without a size_limit, recording stops before the disk is full: see docs/reference/recording.md. */
    bool leaves_space;
    uint32_t sample;          /* noted in the header */
    uint32_t parent;          /* noted in the header */
    struct log_origin origin; /* noted in the header */
    /* Called before a chunk of the stream is left: the last moment to fill in what its records
     * left room for. May be NULL; must not write records. */
    void (*before_seal)(void *context);
    void *seal_context;
};

/* Whether the file is a ring, whose oldest chunk is used again. */
static inline bool log_options_keep_newest(const struct log_options *options)
{
    return options->last != 0 || options->last_steps != 0;
}

struct log_writer;

/* Makes the file (and replaces one of that name, unless another process is writing it: then
 * an error of kind ERROR_USAGE says so, and nothing is touched). */
struct log_writer *log_writer_new(const char *path,
                                  const struct log_options *options,
                                  struct error *error);
/* One without a file, for those who read along: a record is gone once it is committed; texts and forms have
 * their numbers. Keeps no newest events. NULL: no memory. */
struct log_writer *log_writer_new_unkept(const struct log_options *options,
                                         struct error *error);
/* Whether it has a file: else no record can be filled in later. */
bool log_writer_is_kept(const struct log_writer *writer);
/* Seals and cuts the file to its size. A failure is in `error` (may be NULL); the writer is freed
 * in any case. */
bool log_writer_close(struct log_writer *writer, struct error *error);
/* In the child after a fork: lets go of the parent's file, touches nothing in it. */
void log_writer_abandon(struct log_writer *writer);

/* Room for a record of `size` bytes (its head included, at most LOG_RECORD_MAX), zeroed up to
 * its head; NULL where recording has stopped. Until the commit the file does not hold it. At
 * most one record is begun at a time. */
void *log_writer_begin(struct log_writer *writer, size_t size);
/* The same for records beside the events: it is not counted where it is lost. */
void *log_writer_begin_beside(struct log_writer *writer, size_t size);
/* A training step begins: what is written from now on is of it. For rings of whole steps. */
void log_writer_begin_step(struct log_writer *writer, uint64_t step);
/* Publishes the record begun last. record.size may be smaller than what was asked for. */
void log_writer_commit(struct log_writer *writer, struct log_record record);

/* The origin of a recording that is made by a child of this one's process. */
struct log_origin log_writer_child_origin(const struct log_writer *writer);
/* Fields of the header: times in records count from it. Nanoseconds of CLOCK_MONOTONIC. */
uint64_t log_writer_start_clock(const struct log_writer *writer);

/* The number of the events committed so far: the next one gets it. */
uint64_t log_writer_event_count(const struct log_writer *writer);
/* The number of the stream chunk being written, and of the oldest that a ring still has. */
uint64_t log_writer_chunk(const struct log_writer *writer);
uint64_t log_writer_oldest_chunk(const struct log_writer *writer);

/* Numbers for texts and forms: the same for equal content, defined in the file when new. 0
 * where recording has stopped. A text is cut to LOG_TEXT_MAX bytes, between characters; bytes
 * that are no UTF-8 become U+FFFD. `form` is followed in memory by its shape and strides;
 * its number and record.size are filled in. */
#define LOG_TEXT_MAX 4096
uint32_t log_writer_text(struct log_writer *writer, struct slice text);
uint32_t log_writer_form(struct log_writer *writer, struct log_form *form, size_t size);
/* Writes a setting of the run, or its newer value. */
void log_writer_setting(struct log_writer *writer,
                        struct slice name,
                        struct slice value);
/* Other definitions, each written once by the caller: `head` is the fixed part (a struct
 * log_table, log_source or log_thread), `rest` what follows it; of any size. */
bool log_writer_define(struct log_writer *writer,
                       const void *head,
                       size_t head_size,
                       struct slice rest);

/* Why recording has stopped by itself (a full disk, the size limit): its message, or NULL while it
 * records. Records that could not be begun since then are counted. */
const char *log_writer_stopped(const struct log_writer *writer);
uint64_t log_writer_lost_count(const struct log_writer *writer);

#endif
