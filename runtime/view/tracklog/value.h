/* A value in the form of the tree log: its statistics, or all elements of a small one. */
#ifndef MONITORCH_VIEW_TRACKLOG_VALUE_H
#define MONITORCH_VIEW_TRACKLOG_VALUE_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>

/* "Tensor" for tensors and arrays, else "Var". */
struct slice track_value_tag(const struct log_event_view *event);

/* `shape=torch.Size([4, 8]) | dtype=torch.float32 | sum=… | mean=… | min=… | max=…`, `value: 5`,
 * `len(value): 3`. */
void track_value_add(struct buffer *text,
                     const struct log_event_view *event,
                     bool has_color);

/* Adds `torch.float32`, or `float32` for a NumPy array. */
void track_dtype_add(struct buffer *text, struct slice dtype, bool is_numpy);

#endif
