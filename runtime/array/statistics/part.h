/* Statistics of some of an array's elements, to be merged with those of the others. Private
 * to the statistics. */
#ifndef MONITORCH_ARRAY_STATISTICS_PART_H
#define MONITORCH_ARRAY_STATISTICS_PART_H

#include "runtime/array/statistics/kernels.h"
#include "runtime/array/statistics/moments.h"
#include "runtime/array/statistics/statistics.h"

struct statistics_part {
    struct moments moments; /* of the finite elements; the bounds too */
    union statistics_bound min;
    union statistics_bound max;
    uint64_t zero_count;
    uint64_t nan_count;
    uint64_t posinf_count;
    uint64_t neginf_count;
};

/* How many elements of a dtype make a block: what fits into KERNEL_BLOCK_SIZE, converted to
 * floats or doubles too where no kernel takes them as they are. */
size_t statistics_block_count(enum dtype dtype);

/* Of one block: 1 to statistics_block_count elements one after the other, of no opaque dtype. */
void statistics_part_measure(struct statistics_part *part,
                             const struct kernels *kernels,
                             enum dtype dtype,
                             const unsigned char *data,
                             size_t count);
void statistics_part_merge(struct statistics_part *part,
                           const struct statistics_part *added,
                           enum dtype_class class);
/* Of as many elements, each of them so often. */
void statistics_part_repeat(struct statistics_part *part, uint64_t times);
void statistics_part_finish(const struct statistics_part *part,
                            enum dtype_class class,
                            uint64_t count,
                            struct statistics *statistics);

#endif
