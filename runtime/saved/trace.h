/* The tensors whose whole values are in a trace: those that a saver wrote, and those that a
 * recording had to keep. */
#ifndef MONITORCH_SAVED_TRACE_H
#define MONITORCH_SAVED_TRACE_H

#include "runtime/base/error.h"
#include "runtime/record/recorder.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct saved_trace;

/* Reads the trace once, for what is in it. */
struct saved_trace *saved_trace_open(const char *path, struct error *error);
void saved_trace_close(struct saved_trace *trace); /* may be NULL */

/* A tensor with less than its whole values is none of them. */
size_t saved_trace_count(const struct saved_trace *trace);
/* In the order in which they were recorded. The array's data is NULL, its strides too. */
const struct saved_tensor *saved_trace_tensor(const struct saved_trace *trace,
                                              size_t index);
/* `array` is borrowed from here until the next read. */
bool saved_trace_read(struct saved_trace *trace,
                      size_t index,
                      struct array *array,
                      struct error *error);
/* Frees the values that were read last. */
void saved_trace_forget(struct saved_trace *trace);

/* What is damaged in the trace; NULL behind the last. */
const char *saved_trace_damage(const struct saved_trace *trace, size_t index);

/* Writes tensors that are saved one by one into a trace, with their whole values. Views show it
 * like any other: each tensor is the event of a `spy` site where the program saved it, in a call of
 * that function; the calls of one context lie in a call that has the context's prefix as its name.
 * The note behind it has what the tensor was saved as, see LOG_NOTE_SAVED. What was added is in the
 * file also where the process is killed then. Callers hold a lock: one thread at a time. */

struct saved_trace_writer;

/* Who saves. */
struct saved_trace_thread {
    uint64_t key; /* that no two threads of a process share */
    uint64_t native;
    struct slice name;
};

/* Replaces a file of that name. */
struct saved_trace_writer *saved_trace_writer_new(const char *path,
                                                  struct error *error);
/* `array` describes the tensor; its statistics are computed here, and its hash. The address
 * `object` identifies the tensor. False where the file cannot hold it: what was added before is
 * kept. */
bool saved_trace_writer_add(struct saved_trace_writer *writer,
                            const struct saved_trace_thread *thread,
                            const struct saved_tensor *saved,
                            const struct recorded_array *array,
                            uint64_t object,
                            struct error *error);
/* Ends the file and frees the writer. */
bool saved_trace_writer_finish(struct saved_trace_writer *writer, struct error *error);
/* In the child after a fork: frees the writer, lets the parent's file be. */
void saved_trace_writer_abandon(struct saved_trace_writer *writer);

#endif
