/* Which boxes of a call graph's picture stand by themselves, and which in a column. */
#include "runtime/view/calls/frames.h"

#include "runtime/base/memory.h"

/* So many leaves that follow each other stand in a column. */
#define COLUMN_LEAST 3
/* Longer columns are several. */
#define COLUMN_MOST 24

/* Leaves below one node, with nothing else between them. */
struct run {
    uint32_t length;
    uint32_t frame; /* CALL_NODE_NONE as long as it has none */
};

struct finding {
    struct call_frames *frames;     /* borrowed */
    const struct call_graph *graph; /* borrowed */
    uint32_t *parent_counts;        /* for each node; owned, as all below */
    uint32_t *open_runs; /* for each node: that of its last child, or CALL_NODE_NONE */
    uint32_t *run_of;    /* for each node, or CALL_NODE_NONE */
    struct run *runs;
    uint32_t run_count;
};

static bool finding_init(struct finding *finding, struct arena *arena)
{
    const struct call_graph *graph = finding->graph;
    struct call_frames *frames = finding->frames;
    size_t count = graph->tree->node_count;

    /* A yard has a frame and an edge besides. */
    frames->frames =
        arena_allocate(arena, graph->drawn_count, 2 * sizeof *frames->frames);
    frames->frame_of = arena_allocate(arena, count, sizeof *frames->frame_of);
    frames->has_children = arena_allocate(arena, count, sizeof *frames->has_children);
    frames->edges = arena_allocate(arena, graph->edge_count + graph->drawn_count,
                                   sizeof *frames->edges);
    finding->parent_counts = memory_allocate(count, sizeof *finding->parent_counts);
    finding->open_runs = memory_allocate(count, sizeof *finding->open_runs);
    finding->run_of = memory_allocate(count, sizeof *finding->run_of);
    finding->runs = memory_allocate(graph->edge_count, sizeof *finding->runs);
    if (arena->has_failed || finding->parent_counts == NULL ||
        finding->open_runs == NULL || finding->run_of == NULL ||
        finding->runs == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        frames->has_children[i] = false;
        finding->parent_counts[i] = 0;
        finding->open_runs[i] = CALL_NODE_NONE;
        finding->run_of[i] = CALL_NODE_NONE;
    }
    return true;
}

static void finding_release(struct finding *finding)
{
    memory_free(finding->parent_counts);
    memory_free(finding->open_runs);
    memory_free(finding->run_of);
    memory_free(finding->runs);
}

static void find_runs(struct finding *finding)
{
    const struct call_graph *graph = finding->graph;

    for (size_t i = 0; i < graph->edge_count; i++) {
        finding->parent_counts[graph->edges[i].target]++;
        finding->frames->has_children[graph->edges[i].source] = true;
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        uint32_t target = graph->edges[i].target;
        uint32_t *open = &finding->open_runs[graph->edges[i].source];

        if (finding->parent_counts[target] > 1 ||
            finding->frames->has_children[target]) {
            *open = CALL_NODE_NONE;
            continue;
        }
        if (*open == CALL_NODE_NONE || finding->runs[*open].length == COLUMN_MOST) {
            *open = finding->run_count++;
            finding->runs[*open] = (struct run){.frame = CALL_NODE_NONE};
        }
        finding->runs[*open].length++;
        finding->run_of[target] = *open;
    }
}

static void place_node(struct finding *finding, uint32_t node)
{
    struct call_frames *frames = finding->frames;
    uint32_t run = finding->run_of[node];
    bool is_column = run != CALL_NODE_NONE && finding->runs[run].length >= COLUMN_LEAST;

    if (is_column && finding->runs[run].frame != CALL_NODE_NONE) {
        frames->frame_of[node] = finding->runs[run].frame;
    } else {
        frames->frame_of[node] = frames->frame_count++;
        frames->frames[frames->frame_of[node]] = (struct call_frame){
            .yard = LAYOUT_NONE, .holds = LAYOUT_NONE, .is_column = is_column};
    }
    if (is_column) {
        finding->runs[run].frame = frames->frame_of[node];
    }
    frames->frames[frames->frame_of[node]].box_count++;
}

/* A column gets the edge of its first box. */
static void add_edges(struct finding *finding)
{
    const struct call_graph *graph = finding->graph;
    struct call_frames *frames = finding->frames;

    for (size_t i = 0; i < graph->edge_count; i++) {
        uint32_t target = graph->edges[i].target;
        uint32_t run = finding->run_of[target];

        if (run != CALL_NODE_NONE && finding->runs[run].length >= COLUMN_LEAST) {
            if (finding->runs[run].frame == CALL_NODE_NONE) {
                continue;
            }
            finding->runs[run].frame = CALL_NODE_NONE;
        }
        frames->edges[frames->edge_count++] =
            (struct layout_edge){.source = frames->frame_of[graph->edges[i].source],
                                 .target = frames->frame_of[target]};
    }
}

bool call_frames_find(struct call_frames *frames,
                      const struct call_graph *graph,
                      struct arena *arena)
{
    struct finding finding = {.frames = frames, .graph = graph};
    bool is_done;

    *frames = (struct call_frames){.frame_count = 0};
    is_done = finding_init(&finding, arena);
    if (is_done) {
        find_runs(&finding);
        for (uint32_t i = 0; i < graph->tree->node_count; i++) {
            if (graph->is_drawn[i]) {
                place_node(&finding, i);
            }
        }
        add_edges(&finding);
    }
    finding_release(&finding);
    return is_done && (graph->options.merges_names || call_yards_find(frames));
}
