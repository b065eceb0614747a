/* Marks of NaN: the values that have one though no recorded input does, and those that have one as
 * an input of theirs does. Works on the raw nodes that are drawn, after the outline. */
#include "runtime/view/flow/build.h"

#include "runtime/base/memory.h"

#include <assert.h>

enum { HAS_NAN = 1, HAS_NAN_INPUT = 2 };

/* A call that is one node has a NaN if a value in it has one. */
static void find_nans(const struct flow_builder *builder, uint8_t *nans)
{
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        const struct flow_raw *node = &builder->raws[i];

        if (node->has_nan) {
            nans[i] |= HAS_NAN;
            if (node->inside != FLOW_NONE) {
                assert(node->inside < builder->raw_count);
                nans[node->inside] |= HAS_NAN;
            }
        }
    }
    for (uint32_t i = 0; i < builder->edge_count; i++) {
        const struct flow_raw_edge *edge = &builder->edges[i];

        if (edge->kind != FLOW_EDGE_FORM && (nans[edge->source] & HAS_NAN) != 0) {
            nans[edge->target] |= HAS_NAN_INPUT;
        }
    }
}

bool flow_mark_nans(struct flow_builder *builder)
{
    uint8_t *nans;

    if (!builder->options->has_nan_marks || builder->raw_count == 0) {
        return true;
    }
    nans = memory_allocate_zeroed(builder->raw_count, sizeof *nans);
    if (nans == NULL) {
        return flow_out_of_memory(builder);
    }
    find_nans(builder, nans);
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        if ((nans[i] & HAS_NAN) != 0 && !builder->raws[i].is_hidden) {
            builder->raws[i].mark =
                (nans[i] & HAS_NAN_INPUT) != 0 ? FLOW_MARK_PASSED : FLOW_MARK_FIRST;
        }
    }
    memory_free(nans);
    return true;
}
