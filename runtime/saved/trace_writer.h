/* Writes tensors that are saved one by one into a trace, with their whole values. Views show it
 * like any other: each tensor is the event of a `spy` site where the program saved it, in a call of
 * that function; the calls of one context lie in a call that has the context's prefix as its name.
 * The note behind it has what the tensor was saved as, see LOG_NOTE_SAVED. What was added is in the
 * file also where the process is killed then. Callers hold a lock: one thread at a time. */
#ifndef MONITORCH_SAVED_TRACE_WRITER_H
#define MONITORCH_SAVED_TRACE_WRITER_H

#include "runtime/base/error.h"
#include "runtime/record/recorder.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stdint.h>

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
