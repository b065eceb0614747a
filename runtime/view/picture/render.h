/* Rendering of traces and graphs as picture files: PNG, SVG, PDF or DOT. */
#ifndef MONITORCH_VIEW_PICTURE_RENDER_H
#define MONITORCH_VIEW_PICTURE_RENDER_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/picture/picture.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stdint.h>

enum render_format {
    RENDER_PNG,
    RENDER_SVG,
    RENDER_PDF,
    RENDER_DOT,
    RENDER_FORMAT_COUNT
};

/* Dots per inch of a PNG. */
#define RENDER_DPI_LEAST 10
#define RENDER_DPI_MOST  2400

enum render_stage {
    RENDER_READING,  /* count: events read so far */
    RENDER_PLACING,  /* count: nodes, here and in PAINTING */
    RENDER_PAINTING, /* also: writing text */
};

struct render_options {
    enum render_format format;
    double dpi;         /* PNG; 0: 96 */
    source_strip strip; /* as in source_lines.h; may be NULL */
    /* The most nodes. A larger graph is refused with an error that names the options to use. 0:
     * no limit. */
    uint32_t node_limit;
    /* Fits the picture to a screen and a half. If the whole is larger: boxes of the same value
     * become chips and tables are left out if need be, unless keeps_tables; then only one step
     * is drawn, unless keeps_steps; then calls are closed to the depth that fits, unless
     * keeps_depth. Not for DOT. */
    bool is_fitted;
    bool keeps_steps;  /* flow.has_step and flow.step stay as given */
    bool keeps_depth;  /* flow.has_depth and flow.depth stay as given */
    bool keeps_tables; /* picture.tables stays as given */
    /* For why_picture_add: the most boxes around those of the gravest mark. 0: no limit. */
    uint32_t box_limit;
    /* SVG: receives the same picture in dark colours; may be NULL. */
    struct buffer *dark;
    /* render_trace sets flow.progress from `progress`. */
    struct flow_options flow;
    struct picture_options picture;
    /* Called at the start of each stage and now and then during it; may be NULL. If it returns
     * false, the work ends with an error. */
    bool (*progress)(void *context, enum render_stage stage, uint64_t count);
    void *progress_context;
};

/* The name of a format, which is its suffix: "png". */
const char *render_format_name(enum render_format format);

/* Reads the name of a format, in either case. Returns false if there is no such format. */
bool render_format_read(struct slice name, enum render_format *format);

/* Finds the format by the path's suffix, in either case. If there is none, the error lists the
 * suffixes. */
bool render_format_of(struct slice path,
                      enum render_format *format,
                      struct error *error);

struct render_result {
    uint32_t node_count;
    uint64_t event_count;
    struct flow_left_out left_out;
    struct flow_step step; /* its name is not set */
    uint32_t depth;        /* depth to which calls are drawn; FLOW_NONE: all */
    bool is_recording;     /* the trace was still being written when it was read */
    size_t damage_count;   /* places where the trace could not be read */
    char damage[ERROR_TEXT_SIZE]; /* the error at the first of them; "" */
};

/* Sets `*fits`: whether the graph's picture is at most as large as one and a half screens of
 * 1,280 x 800 pixels. Returns false if memory runs out. */
bool render_fits(const struct flow_graph *graph,
                 const struct picture_options *options,
                 bool *fits,
                 struct error *error);

/* Draws an existing graph, for example one with marks or slices. Appends the file's bytes to
 * `bytes`; appends nothing if the graph has no nodes. Ignores options.node_limit, flow and
 * strip. */
bool render_graph(const struct flow_graph *graph,
                  const struct render_options *options,
                  struct buffer *bytes,
                  struct error *error);

/* Reads a trace and draws its graph. Appends the file's bytes to `bytes`; appends nothing if
 * there are no nodes (result->node_count is 0 then; this is not a failure). Thread-safe. */
bool render_trace(const char *trace_path,
                  const struct render_options *options,
                  struct buffer *bytes,
                  struct render_result *result,
                  struct error *error);

#endif
