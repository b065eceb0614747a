/* From a trace to a file that a person looks at: PNG, SVG, PDF or DOT. */
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

/* Dots for each inch of a PNG. */
#define RENDER_DPI_LEAST 10
#define RENDER_DPI_MOST  2400

enum render_stage {
    RENDER_READING,  /* count: events so far */
    RENDER_PLACING,  /* count: nodes, here and below */
    RENDER_PAINTING, /* or writing text */
};

struct render_options {
    enum render_format format;
    double dpi;         /* PNG: 96 where 0 */
    source_strip strip; /* as in source_lines.h; may be NULL */
    /* More nodes than that are refused, with an error that names the options to use. 0: no
     * limit. */
    uint32_t node_limit;
    /* Where the whole is larger than a screen and a half: boxes of the same value become chips,
     * tables are left out if need be, unless keeps_tables; then one step alone, unless keeps_steps;
     * calls closed to the depth that fits, unless keeps_depth. Not for DOT. */
    bool is_fitted;
    bool keeps_steps;  /* flow.has_step and flow.step count as they are */
    bool keeps_depth;  /* and these: flow.has_depth, flow.depth */
    bool keeps_tables; /* picture.tables counts as it is */
    /* Boxes around those of the gravest mark, where there are more: for why_picture_add. 0: all. */
    uint32_t box_limit;
    /* The same picture in dark colours is appended to it, SVG; may be NULL. */
    struct buffer *dark;
    /* flow.progress is set by render_trace, from `progress`. */
    struct flow_options flow;
    struct picture_options picture;
    /* Called at each stage, and now and then within it, where not NULL; false ends the work
     * with an error. */
    bool (*progress)(void *context, enum render_stage stage, uint64_t count);
    void *progress_context;
};

/* The names of the formats, as suffixes: "png". */
const char *render_format_name(enum render_format format);

/* Reads such a name, in either case; false where it is none. */
bool render_format_read(struct slice name, enum render_format *format);

/* By the name's suffix, in either case; fails with the suffixes that there are. */
bool render_format_of(struct slice path,
                      enum render_format *format,
                      struct error *error);

struct render_result {
    uint32_t node_count;
    uint64_t event_count;
    struct flow_left_out left_out;
    struct flow_step step;        /* its name is not kept */
    uint32_t depth;               /* to which calls are drawn; FLOW_NONE: all */
    bool is_recording;            /* the trace was not finished when it was read */
    size_t damage_count;          /* places where the trace could not be read */
    char damage[ERROR_TEXT_SIZE]; /* what is wrong at the first of them; "" */
};

/* Whether the graph's picture has at most one and a half screens of 1,280 x 800 pixels. */
bool render_fits(const struct flow_graph *graph,
                 const struct picture_options *options,
                 bool *fits,
                 struct error *error);

/* Draws a graph that is there: one that marks or slices were put to. Appends the file's bytes to
 * `bytes`; nothing where there are no nodes. options.node_limit, flow and strip do not count
 * here. */
bool render_graph(const struct flow_graph *graph,
                  const struct render_options *options,
                  struct buffer *bytes,
                  struct error *error);

/* Appends the file's bytes to `bytes`; nothing where there are no nodes (result->node_count
 * is 0 then, and that is no failure). Several threads may do it at once. */
bool render_trace(const char *trace_path,
                  const struct render_options *options,
                  struct buffer *bytes,
                  struct render_result *result,
                  struct error *error);

#endif
