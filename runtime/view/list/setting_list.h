/* What the run of a trace was made with: its settings, and the hashes of its sources. */
#ifndef MONITORCH_VIEW_LIST_SETTING_LIST_H
#define MONITORCH_VIEW_LIST_SETTING_LIST_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>

/* A line each, `name  value`, or a JSON object; gives how many. To be called after the reader
 * came to the end. `trace` is the file's name where there are several, or "". */
size_t setting_list_add(struct buffer *text,
                        const struct log_reader *reader,
                        struct slice trace,
                        bool is_json);

#endif
