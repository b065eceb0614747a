/* What runs at each line of a traced program. */
#ifndef MONITORCH_BASE_HOT_H
#define MONITORCH_BASE_HOT_H

/* Such functions lie together: between two lines the program runs through megabytes of others' code,
 * after which each page and cache line of ours has to be fetched anew. */
#define HOT __attribute__((hot))

#endif
