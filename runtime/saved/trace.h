/* Tensors with whole values in a trace: those that a saver wrote, and those that a recording
 * kept. */
#ifndef MONITORCH_SAVED_TRACE_H
#define MONITORCH_SAVED_TRACE_H

#include "runtime/base/error.h"
#include "runtime/record/recorder.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct saved_trace;

/* Opens a trace, and reads it once to find its tensors. Returns NULL on failure; `error` says
 * why. */
struct saved_trace *saved_trace_open(const char *path, struct error *error);
void saved_trace_close(struct saved_trace *trace); /* may be NULL */

/* The number of tensors. One with incomplete values does not count. */
size_t saved_trace_count(const struct saved_trace *trace);
/* The tensors are in recorded order. array.data and array.strides are NULL. */
const struct saved_tensor *saved_trace_tensor(const struct saved_trace *trace,
                                              size_t index);
/* Reads a tensor's values. `array` is borrowed from the trace until the next read. */
bool saved_trace_read(struct saved_trace *trace,
                      size_t index,
                      struct array *array,
                      struct error *error);
/* Frees the last values that were read. */
void saved_trace_forget(struct saved_trace *trace);

/* A damage of the trace. NULL after the last one. */
const char *saved_trace_damage(const struct saved_trace *trace, size_t index);

/* Writes saved tensors with their whole values into a trace, which views show like any other.
 * Each tensor is the event of a `spy` site at the line that saved it, in a call of that
 * function. The calls of one context are made by a call that has the context's prefix as its
 * name. A note after the event holds the tensor's key, see LOG_NOTE_SAVED. Added tensors are in
 * the file even if the process is killed. The caller holds a lock: one thread at a time. */

struct saved_trace_writer;

/* The thread that saves. */
struct saved_trace_thread {
    uint64_t key; /* unique among the threads of the process */
    uint64_t native;
    struct slice name;
};

/* Returns NULL on failure; `error` says why. Replaces a trace of that name. */
struct saved_trace_writer *saved_trace_writer_new(const char *path,
                                                  struct error *error);
/* Adds a tensor, described by `array`; its statistics and hash are computed here. The address
 * `object` identifies the tensor. Returns false if the file cannot hold it; earlier tensors are
 * kept. */
bool saved_trace_writer_add(struct saved_trace_writer *writer,
                            const struct saved_trace_thread *thread,
                            const struct saved_tensor *saved,
                            const struct recorded_array *array,
                            uint64_t object,
                            struct error *error);
/* Ends the file and frees the writer. Returns false if the file could not be finished. */
bool saved_trace_writer_finish(struct saved_trace_writer *writer, struct error *error);
/* In the child after a fork: frees the writer and leaves the parent's file untouched. */
void saved_trace_writer_abandon(struct saved_trace_writer *writer);

#endif
