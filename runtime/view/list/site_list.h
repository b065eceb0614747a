/* Sites of a trace, from its site tables, for people or as JSON. */
#ifndef MONITORCH_VIEW_LIST_SITE_LIST_H
#define MONITORCH_VIEW_LIST_SITE_LIST_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>

/* Appends a line for site `index` of the module, `path:line:column  kind  function  name`, or a
 * JSON object. `trace` is the file's name if there are several, or "". */
void site_list_add(struct buffer *text,
                   const struct log_module *module,
                   uint32_t index,
                   struct slice trace,
                   bool is_json);

#endif
