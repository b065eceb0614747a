/* Raw nodes to clusters. */
#include "runtime/view/flow_build.h"

#include "runtime/base/memory.h"

bool flow_fold(struct flow_builder *builder)
{
    builder->clusters = memory_allocate(builder->raw_count, sizeof *builder->clusters);
    if (builder->clusters == NULL) {
        return flow_out_of_memory(builder);
    }
    for (uint32_t i = 0; i < builder->raw_count; i++) {
        if (!builder->raws[i].is_hidden) {
            builder->raws[i].cluster = builder->cluster_count;
            builder->clusters[builder->cluster_count++] =
                (struct flow_cluster){1, i, i, FLOW_NONE};
        }
    }
    return true;
}
