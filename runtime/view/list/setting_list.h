/* Settings of the run that recorded a trace, and the hashes of its sources. */
#ifndef MONITORCH_VIEW_LIST_SETTING_LIST_H
#define MONITORCH_VIEW_LIST_SETTING_LIST_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends one line for each setting, `name  value`, or one JSON object. Returns their number. To
 * be called after the reader has reached the end. `trace` is the file's name if there are
 * several, or "". */
size_t setting_list_add(struct buffer *text,
                        const struct log_reader *reader,
                        struct slice trace,
                        bool is_json);

#endif
