/* The box of a node in DOT: its label as a table, its colours. Used by dot.c alone. */
#ifndef MONITORCH_VIEW_PICTURE_DOT_NODE_H
#define MONITORCH_VIEW_PICTURE_DOT_NODE_H

#include "runtime/base/buffer.h"
#include "runtime/view/flow/flow.h"

#include <stdint.h>

/* Bytes that are shown. */
#define DOT_NAME_LIMIT 80
#define DOT_CODE_LIMIT 70

void dot_node_add(struct buffer *text, const struct flow_graph *graph, uint32_t index);

/* Printable, and without what is markup in a label; at most so many bytes of it. */
void dot_escaped_add(struct buffer *text, struct slice added, size_t limit);

/* ` x 12`; nothing for 1. */
void dot_times_add(struct buffer *text, uint64_t count);

#endif
