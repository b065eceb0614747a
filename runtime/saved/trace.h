/* The tensors whose whole values are in a trace: those that a saver wrote, and those that a
 * recording had to keep. */
#ifndef MONITORCH_SAVED_TRACE_H
#define MONITORCH_SAVED_TRACE_H

#include "runtime/base/error.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
