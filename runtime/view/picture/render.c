/* Renders a trace or a graph as a picture file. */
#include "runtime/view/picture/render.h"

#include "runtime/trace/reader.h"
#include "runtime/view/picture/dot/dot.h"
#include "runtime/view/picture/paint/cairo/painter.h"
#include "runtime/view/picture/paint/paint.h"

#include <math.h>
#include <stdio.h>

static const char *const format_names[RENDER_FORMAT_COUNT] = {
    [RENDER_PNG] = "png",
    [RENDER_SVG] = "svg",
    [RENDER_PDF] = "pdf",
    [RENDER_DOT] = "dot",
};

const char *render_format_name(enum render_format format)
{
    return format_names[format];
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

bool render_format_read(struct slice name, enum render_format *format)
{
    for (int i = 0; i < RENDER_FORMAT_COUNT; i++) {
        struct slice known = slice_of(format_names[i]);
        size_t k = 0;

        while (k < name.size && k < known.size &&
               lower(name.bytes[k]) == known.bytes[k]) {
            k++;
        }
        if (k == name.size && k == known.size) {
            *format = (enum render_format)i;
            return true;
        }
    }
    return false;
}

bool render_format_of(struct slice path,
                      enum render_format *format,
                      struct error *error)
{
    size_t start = path.size;
    size_t shown = path.size < 200 ? path.size : 200;

    while (start > 0 && path.bytes[start - 1] != '.' && path.bytes[start - 1] != '/') {
        start--;
    }
    if (start > 1 && path.bytes[start - 1] == '.' && path.bytes[start - 2] != '/' &&
        render_format_read(slice_part(path, start, path.size), format)) {
        return true;
    }
    error_set(error, ERROR_USAGE, "%.*s: the name must end in .png, .svg, .pdf or .dot",
              (int)shown, path.bytes);
    return false;
}

/* ---- from a graph ---- */

static bool report_progress(const struct render_options *options,
                            enum render_stage stage,
                            const struct flow_graph *graph,
                            struct error *error)
{
    if (options->progress == NULL ||
        options->progress(options->progress_context, stage, graph->node_count)) {
        return true;
    }
    error_set(error, ERROR_SYSTEM, "drawing was interrupted");
    return false;
}

static bool paint(const struct picture *picture,
                  const struct render_options *options,
                  struct buffer *bytes,
                  struct error *error)
{
    double dpi = options->dpi > 0 ? options->dpi : CAIRO_PAINTER_DPI;
    bool has_pages = options->picture.has_pages;
    struct paint_options paint_options = {
        .format = options->format,
        .dpi = dpi * picture->scale,
        .page_width = has_pages ? options->picture.page_width : 0,
        .page_height = has_pages ? options->picture.page_height : 0,
    };

    return picture_paint(picture, &paint_options, bytes, error);
}

static bool draw_picture(const struct flow_graph *graph,
                         const struct render_options *options,
                         struct buffer *bytes,
                         struct error *error)
{
    struct picture picture;
    bool is_done;

    picture_init(&picture);
    is_done = report_progress(options, RENDER_PLACING, graph, error) &&
              picture_draw(&picture, graph, &options->picture, error) &&
              report_progress(options, RENDER_PAINTING, graph, error) &&
              paint(&picture, options, bytes, error);
    picture_release(&picture);
    return is_done;
}

static bool draw_dark(const struct flow_graph *graph,
                      const struct render_options *options,
                      struct error *error)
{
    struct render_options dark = *options;

    dark.picture.theme = PICTURE_DARK;
    return draw_picture(graph, &dark, options->dark, error) &&
           (!options->dark->has_failed || error_set_memory(error));
}

bool render_graph(const struct flow_graph *graph,
                  const struct render_options *options,
                  struct buffer *bytes,
                  struct error *error)
{
    size_t start = bytes->size;
    bool is_done;

    if (graph->node_count == 0) {
        return true;
    }
    if (options->format == RENDER_DOT) {
        is_done = report_progress(options, RENDER_PAINTING, graph, error) &&
                  dot_text_add(graph, &options->picture, bytes, error);
    } else {
        is_done = draw_picture(graph, options, bytes, error) &&
                  (options->dark == NULL || draw_dark(graph, options, error));
    }
    if (is_done && bytes->has_failed) {
        is_done = error_set_memory(error);
    }
    if (!is_done) {
        bytes->size = start;
    }
    return is_done;
}

/* ---- from a trace ---- */

struct render {
    const struct render_options *options; /* borrowed */
    struct log_reader *reader;            /* owned */
    struct source_lines sources;          /* owned */
    struct flow_graph graph;              /* owned */
    struct flow_reading *
        reading; /* owned: the events of the trace, if several graphs are tried; may be NULL */
    uint32_t depth; /* as in render_result */
};

static bool report_reading(void *context, uint64_t events)
{
    const struct render_options *options = context;

    return options->progress(options->progress_context, RENDER_READING, events);
}

static struct flow_options flow_of(const struct render *render,
                                   struct flow_options flow)
{
    flow.progress = render->options->progress == NULL ? NULL : report_reading;
    flow.progress_context = (void *)render->options;
    return flow;
}

static bool check_node_count(const struct render *render, struct error *error)
{
    const struct render_options *options = render->options;

    if (options->node_limit > 0 && render->graph.node_count > options->node_limit) {
        error_set(error, ERROR_USAGE,
                  "%lu nodes are too many to draw (limit: %lu): choose some by "
                  "--function, --line, --name or --module, fold more by --fold all, "
                  "draw the last N by --max-nodes N, or all by --max-nodes 0",
                  (unsigned long)render->graph.node_count,
                  (unsigned long)options->node_limit);
        return false;
    }
    return true;
}

static bool build_graph(struct render *render, struct error *error)
{
    struct flow_options flow = flow_of(render, render->options->flow);

    return flow_graph_build(&render->graph, render->reader, &render->sources, &flow,
                            error) &&
           check_node_count(render, error);
}

/* ---- from a trace, fitted to about a screen ---- */

/* One and a half screens of 1,280 x 800 pixels, stacked; in points. */
#define FITTED_WIDTH  960.0
#define FITTED_HEIGHT 900.0
/* A graph of more nodes never fits. */
#define FITTED_NODE_MAX 150
/* The deepest call depth that is tried if the whole does not fit. */
#define FITTED_DEPTH 3
/* A picture that never fits, but is at most this much too large, is scaled down. */
#define FITTED_EXCESS (4.0 / 3)

/* One way to draw the trace. */
struct fitting {
    struct flow_options flow;
    struct picture_options picture;
    bool drops_names; /* drop names of a value that has another name */
};

/* Makes a new graph from the events that were read. Values are read only if the graph can fit. */
static bool
remake_graph(struct render *render, const struct fitting *fitting, struct error *error)
{
    struct flow_options options = flow_of(render, fitting->flow);

    options.values_limit = FITTED_NODE_MAX;
    return flow_reading_graph(render->reading, &options, &render->graph, error) &&
           (!fitting->drops_names || flow_graph_drop_names(&render->graph, error));
}

/* Finds the ratio of the picture's longest excess to the screens. It fits if that is at most 1. */
static bool measure_picture(const struct flow_graph *graph,
                            const struct picture_options *options,
                            double *excess,
                            struct error *error)
{
    struct picture picture;
    bool is_done;

    *excess = INFINITY;
    if (graph->node_count > FITTED_NODE_MAX) {
        return true;
    }
    picture_init(&picture);
    is_done = picture_draw(&picture, graph, options, error);
    if (is_done) {
        *excess = fmax(picture.width / FITTED_WIDTH, picture.height / FITTED_HEIGHT);
    }
    picture_release(&picture);
    return is_done;
}

static bool measure(struct render *render,
                    const struct fitting *fitting,
                    double *excess,
                    struct error *error)
{
    return measure_picture(&render->graph, &fitting->picture, excess, error);
}

bool render_fits(const struct flow_graph *graph,
                 const struct picture_options *options,
                 bool *fits,
                 struct error *error)
{
    double excess;

    if (!measure_picture(graph, options, &excess, error)) {
        return false;
    }
    *fits = excess <= 1;
    return true;
}

/* The ways to draw a graph, in order of how much they show. */
static const struct way {
    enum picture_tables tables;
    double proportion; /* 0: as in the options */
    bool is_dense;
} ways[] = {
    {PICTURE_TABLES_ALL, 0, false},    {PICTURE_TABLES_ALL, 0.9, false},
    {PICTURE_TABLES_ENDS, 0, false},   {PICTURE_TABLES_ENDS, 0.9, false},
    {PICTURE_TABLES_NONE, 0, false},   {PICTURE_TABLES_NONE, 0.9, false},
    {PICTURE_TABLES_NONE, 0, true},    {PICTURE_TABLES_NONE, 0.9, true},
    {PICTURE_TABLES_NONE, 1.05, true}, {PICTURE_TABLES_NONE, 0.8, true},
    {PICTURE_TABLES_NONE, 1.2, true},  {PICTURE_TABLES_NONE, 0.6, true},
};

/* Index in `ways`. */
#define FIRST_WITHOUT_TABLES 4

static void use_way(struct render *render, struct fitting *fitting, size_t index)
{
    const struct render_options *options = render->options;

    fitting->picture.tables =
        options->keeps_tables ? options->picture.tables : ways[index].tables;
    fitting->picture.is_dense = ways[index].is_dense;
    fitting->picture.proportion = ways[index].proportion > 0
                                      ? ways[index].proportion
                                      : options->picture.proportion;
}

/* Finds the first way, from `first` on, that fits, or else the one with the least excess. It
 * fits if `*excess` is at most 1. */
static bool try_ways(struct render *render,
                     struct fitting *fitting,
                     size_t first,
                     double *excess,
                     struct error *error)
{
    size_t best = sizeof ways / sizeof *ways - 1;
    double least = INFINITY;

    for (size_t i = first; i < sizeof ways / sizeof *ways && least > 1; i++) {
        double found;

        if (render->options->keeps_tables && ways[i].tables != PICTURE_TABLES_NONE) {
            continue;
        }
        use_way(render, fitting, i);
        if (!measure(render, fitting, &found, error)) {
            return false;
        }
        if (found < least) {
            least = found;
            best = i;
        }
    }
    use_way(render, fitting, best);
    *excess = least;
    return true;
}

/* Tries call depths from `depth` down to `least`, as long as the graph has nodes. Tries only the
 * given depth if the options keep it. */
static bool try_depths(struct render *render,
                       struct fitting *fitting,
                       uint32_t depth,
                       uint32_t least,
                       bool *fits,
                       struct error *error)
{
    bool keeps_depth = render->options->keeps_depth;
    double excess = INFINITY;

    for (uint32_t i = depth + 1; i > least && excess > 1; i--) {
        if (!keeps_depth) {
            fitting->flow.has_depth = true;
            fitting->flow.depth = i - 1;
        }
        if (!remake_graph(render, fitting, error) ||
            !try_ways(render, fitting, 0, &excess, error)) {
            return false;
        }
        if (keeps_depth || render->graph.node_count == 0) {
            break;
        }
    }
    *fits = excess <= 1;
    if (!keeps_depth && render->graph.node_count == 0) {
        fitting->flow.depth++; /* the outermost calls have no nodes */
        return remake_graph(render, fitting, error);
    }
    return true;
}

/* ---- opening calls while there is room ---- */

#define OPENED_MAX 16
/* A picture with fewer new values than this shows little if its largest box has more values
 * inside than the picture has boxes. That box is opened even if the picture must be scaled down
 * a little. */
#define FEW_VALUES 8

/* The functions whose calls are opened. */
struct opening {
    uint64_t opened[OPENED_MAX];
    uint32_t count;
};

static bool shows_little(const struct flow_graph *graph,
                         const struct flow_node *largest)
{
    uint32_t count = 0;
    uint32_t named =
        FLOW_NONE; /* the last target of an edge between names of one value */

    for (uint32_t i = 0; i < graph->node_count; i++) {
        count += (graph->nodes[i].flags & FLOW_NODE_SOURCE) == 0;
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct flow_edge *edge = &graph->edges[i];

        if (edge->kind == GRAPH_SAME && edge->target != named &&
            (graph->nodes[edge->target].flags & FLOW_NODE_CALL) == 0) {
            named = edge->target;
            count--;
        }
    }
    return count < FEW_VALUES &&
           largest->inside_count / largest->count > graph->node_count;
}

/* The call's box with the most values inside. NULL: no calls. */
static const struct flow_node *find_largest(const struct flow_graph *graph)
{
    const struct flow_node *largest = NULL;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct flow_node *node = &graph->nodes[i];

        if ((node->flags & FLOW_NODE_CALL) != 0 &&
            (largest == NULL || node->inside_count > largest->inside_count)) {
            largest = node;
        }
    }
    return largest;
}

/* Measures the graph with one more function opened. If it does not fit, and it is small or names
 * are dropped already, tries it again without further names of values. */
static bool try_opened(struct render *render,
                       struct fitting *fitting,
                       bool is_small,
                       double *excess,
                       struct error *error)
{
    bool drops_names = fitting->drops_names || is_small;

    fitting->drops_names = false;
    if (!remake_graph(render, fitting, error) ||
        !try_ways(render, fitting, 0, excess, error)) {
        return false;
    }
    if (*excess <= 1 || !drops_names || render->graph.node_count > FITTED_NODE_MAX) {
        return true;
    }
    fitting->drops_names = true;
    return flow_graph_drop_names(&render->graph, error) &&
           try_ways(render, fitting, FIRST_WITHOUT_TABLES, excess, error);
}

/* Opens the calls of the box's function, and closes them again if the picture no longer fits. */
static bool open_calls_of(struct render *render,
                          struct fitting *fitting,
                          struct opening *opening,
                          const struct flow_node *largest,
                          bool *is_opened,
                          struct error *error)
{
    struct fitting tried = *fitting;
    bool is_small = shows_little(&render->graph, largest);
    double excess = INFINITY;

    opening->opened[opening->count] = largest->callee;
    tried.flow.opened = opening->opened;
    tried.flow.opened_count = opening->count + 1;
    if (!try_opened(render, &tried, is_small, &excess, error)) {
        return false;
    }
    *is_opened = excess <= (is_small ? FITTED_EXCESS : 1);
    if (*is_opened) {
        opening->count++;
        *fitting = tried;
        return true;
    }
    return remake_graph(render, fitting, error);
}

/* Opens the largest box of a graph that fits, again and again, while the picture still fits. A
 * module that only calls another one would show nothing otherwise. */
static bool open_largest(struct render *render,
                         struct fitting *fitting,
                         struct opening *opening,
                         struct error *error)
{
    bool is_opened = true;

    while (is_opened && opening->count < OPENED_MAX) {
        const struct flow_node *largest = find_largest(&render->graph);

        if (largest == NULL) {
            return true;
        }
        if (!open_calls_of(render, fitting, opening, largest, &is_opened, error)) {
            return false;
        }
    }
    return true;
}

/* Leaves the first graph that fits: the whole; one step; the call of the module in that step
 * alone. If none fits, leaves the last of these with all calls closed. */
static bool
fit_graph(struct render *render, struct fitting *fitting, struct error *error)
{
    const struct render_options *options = render->options;
    bool is_free = !options->keeps_steps && !options->keeps_depth;
    bool fits = false;
    double excess;

    if (!remake_graph(render, fitting, error) ||
        !measure(render, fitting, &excess, error)) {
        return false;
    }
    if (excess <= 1) {
        return true;
    }
    fitting->picture.has_chips = true;
    if (!try_ways(render, fitting, 0, &excess, error) || excess <= 1) {
        return excess <= 1;
    }
    fitting->picture.how =
        SLICE("choose with --step N and --depth N; everything: --step all --depth all");
    fitting->flow.has_step = fitting->flow.has_step || !options->keeps_steps;
    if (!try_depths(render, fitting, FITTED_DEPTH, is_free ? 1 : 0, &fits, error)) {
        return false;
    }
    if (!fits && is_free && render->graph.step.has_update &&
        !try_depths(render, fitting, 0, 0, &fits, error)) {
        return false; /* depth 0 leaves room for the backward pass */
    }
    if (fits || !is_free) {
        return true;
    }
    fitting->flow.is_step_call = render->graph.step.number > 0;
    return try_depths(render, fitting, FITTED_DEPTH, 0, &fits, error);
}

/* Adds the values of a graph that did not fit and is drawn anyway. */
static bool
add_values(struct render *render, const struct fitting *fitting, struct error *error)
{
    struct flow_options options = flow_of(render, fitting->flow);

    return render->graph.node_count <= FITTED_NODE_MAX ||
           (flow_reading_graph(render->reading, &options, &render->graph, error) &&
            (!fitting->drops_names || flow_graph_drop_names(&render->graph, error)));
}

/* Scales the picture down if it is a little too large. */
static bool
scale_picture(struct render *render, struct fitting *fitting, struct error *error)
{
    double excess;

    if (!measure(render, fitting, &excess, error)) {
        return false;
    }
    if (excess > 1 && excess <= FITTED_EXCESS) {
        fitting->picture.scale = 1 / excess;
    }
    return true;
}

static bool
draw_fitted(struct render *render, struct buffer *bytes, struct error *error)
{
    struct render_options options = *render->options;
    struct fitting fitting = {.flow = options.flow, .picture = options.picture};
    struct opening opening = {.count = 0};
    struct flow_options flow = flow_of(render, options.flow);

    render->reading = flow_reading_new(render->reader, &render->sources, &flow, error);
    if (render->reading == NULL || !fit_graph(render, &fitting, error) ||
        (!options.keeps_depth && !open_largest(render, &fitting, &opening, error)) ||
        !add_values(render, &fitting, error) ||
        !scale_picture(render, &fitting, error) || !check_node_count(render, error) ||
        (render->sources.has_failed && !error_set_memory(error))) {
        return false;
    }
    render->depth =
        fitting.flow.has_depth && opening.count == 0 ? fitting.flow.depth : FLOW_NONE;
    options.picture = fitting.picture;
    return render_graph(&render->graph, &options, bytes, error);
}

static bool draw_whole(struct render *render, struct buffer *bytes, struct error *error)
{
    const struct render_options *options = render->options;

    render->depth = options->flow.has_depth ? options->flow.depth : FLOW_NONE;
    return build_graph(render, error) &&
           (!render->sources.has_failed || error_set_memory(error)) &&
           render_graph(&render->graph, options, bytes, error);
}

static void report_result(const struct render *render, struct render_result *result)
{
    size_t damage_count = log_reader_damage_count(render->reader);

    *result = (struct render_result){
        .node_count = render->graph.node_count,
        .event_count = render->graph.event_count,
        .left_out = render->graph.left_out,
        .step = render->graph.step,
        .depth = render->depth,
        .is_recording = log_reader_header(render->reader)->is_closed == 0,
        .damage_count = damage_count,
    };
    result->step.name = SLICE("");
    if (damage_count > 0) {
        snprintf(result->damage, sizeof result->damage, "%s",
                 log_reader_damage(render->reader, 0));
    }
}

bool render_trace(const char *trace_path,
                  const struct render_options *options,
                  struct buffer *bytes,
                  struct render_result *result,
                  struct error *error)
{
    struct render render = {.options = options};
    bool is_done;

    render.reader = log_reader_new(trace_path, error);
    if (render.reader == NULL) {
        return false;
    }
    source_lines_init(&render.sources, render.reader, options->strip);
    flow_graph_init(&render.graph);
    is_done = options->is_fitted && options->format != RENDER_DOT
                  ? draw_fitted(&render, bytes, error)
                  : draw_whole(&render, bytes, error);
    if (is_done) {
        report_result(&render, result);
    }
    flow_reading_free(render.reading);
    flow_graph_release(&render.graph);
    source_lines_release(&render.sources);
    log_reader_free(render.reader);
    return is_done;
}
