/* From a trace to a file that a person looks at: PNG, SVG, PDF or DOT. */
#ifndef MONITORCH_VIEW_RENDER_H
#define MONITORCH_VIEW_RENDER_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/flow_graph.h"
#include "runtime/view/picture.h"

#include <stdbool.h>
#include <stdint.h>

enum render_format {
    RENDER_PNG,
    RENDER_SVG,
    RENDER_PDF,
    RENDER_DOT,
    RENDER_FORMAT_COUNT
};

struct render_options {
    enum render_format format;
    double dpi; /* PNG: 96 where 0 */
    struct flow_options flow;
    struct picture_options picture;
};

/* By the name's suffix, in either case; fails with the suffixes that there are. */
bool render_format_of(struct slice path,
                      enum render_format *format,
                      struct error *error);

struct render_result {
    uint32_t node_count;
    uint64_t event_count;
    struct flow_left_out left_out;
};

/* Appends the file's bytes to `bytes`; nothing where there are no nodes (result->node_count
 * is 0 then, and that is no failure). */
bool render_trace(const char *trace_path,
                  const struct render_options *options,
                  struct buffer *bytes,
                  struct render_result *result,
                  struct error *error);

#endif
