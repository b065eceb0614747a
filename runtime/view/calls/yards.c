/* Which parts of a call graph's picture stand in a yard of their own. */
#include "runtime/base/memory.h"
#include "runtime/view/calls/frames.h"

/* More frames below one node stand in a yard; */
#define ROW_MOST 9
/* as many where those beside it have a yard. */
#define ROW_LEAST 2

struct finding {
    struct call_frames *frames; /* borrowed */
    uint32_t *parents;      /* for each frame, or LAYOUT_NONE; owned, as the next two */
    uint32_t *child_counts; /* for each frame */
    uint32_t *yards;        /* for each frame: that of its children, or LAYOUT_NONE */
    bool *has_wide_child;   /* for each frame */
};

static bool finding_init(struct finding *finding)
{
    const struct call_frames *frames = finding->frames;
    size_t count = frames->frame_count;

    finding->parents = memory_allocate(count, sizeof *finding->parents);
    finding->child_counts = memory_allocate(count, sizeof *finding->child_counts);
    finding->yards = memory_allocate(count, sizeof *finding->yards);
    finding->has_wide_child =
        memory_allocate_zeroed(count, sizeof *finding->has_wide_child);
    if (finding->parents == NULL || finding->child_counts == NULL ||
        finding->yards == NULL || finding->has_wide_child == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        finding->parents[i] = LAYOUT_NONE;
        finding->child_counts[i] = 0;
        finding->yards[i] = LAYOUT_NONE;
    }
    for (size_t i = 0; i < frames->edge_count; i++) {
        finding->parents[frames->edges[i].target] = frames->edges[i].source;
        finding->child_counts[frames->edges[i].source]++;
    }
    for (size_t i = 0; i < count; i++) {
        if (finding->parents[i] != LAYOUT_NONE && finding->child_counts[i] > ROW_MOST) {
            finding->has_wide_child[finding->parents[i]] = true;
        }
    }
    return true;
}

static void finding_release(struct finding *finding)
{
    memory_free(finding->parents);
    memory_free(finding->child_counts);
    memory_free(finding->yards);
    memory_free(finding->has_wide_child);
}

static bool has_yard(const struct finding *finding, uint32_t frame)
{
    uint32_t parent = finding->parents[frame];
    bool is_beside = parent != LAYOUT_NONE && finding->has_wide_child[parent];

    return finding->child_counts[frame] >= (is_beside ? ROW_LEAST : ROW_MOST + 1);
}

/* Parents stand before their children. */
static void find_yards(struct finding *finding)
{
    struct call_frames *frames = finding->frames;

    for (uint32_t i = 0; i < frames->frame_count; i++) {
        uint32_t parent = finding->parents[i];

        if (parent != LAYOUT_NONE) {
            frames->frames[i].yard = finding->yards[parent] != LAYOUT_NONE
                                         ? finding->yards[parent]
                                         : frames->frames[parent].yard;
        }
        if (has_yard(finding, i)) {
            finding->yards[i] = frames->yard_count++;
        }
    }
}

/* One edge to the yard, instead of those to all that is in it. */
static void lead_to_yards(struct finding *finding)
{
    struct call_frames *frames = finding->frames;
    uint32_t frame_count = frames->frame_count;
    size_t kept_count = 0;

    for (size_t i = 0; i < frames->edge_count; i++) {
        if (finding->yards[frames->edges[i].source] == LAYOUT_NONE) {
            frames->edges[kept_count++] = frames->edges[i];
        }
    }
    for (uint32_t i = 0; i < frame_count; i++) {
        if (finding->yards[i] != LAYOUT_NONE) {
            frames->edges[kept_count++] =
                (struct layout_edge){.source = i, .target = frames->frame_count};
            frames->frames[frames->frame_count++] = (struct call_frame){
                .yard = frames->frames[i].yard, .holds = finding->yards[i]};
        }
    }
    frames->edge_count = kept_count;
}

bool call_yards_find(struct call_frames *frames)
{
    struct finding finding = {.frames = frames};
    bool is_done = finding_init(&finding);

    if (is_done) {
        find_yards(&finding);
        lead_to_yards(&finding);
    }
    finding_release(&finding);
    return is_done;
}
