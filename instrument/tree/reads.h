/* The names that an expression reads, each once, and the sites that bound them. */
#ifndef MONITORCH_INSTRUMENT_TREE_READS_H
#define MONITORCH_INSTRUMENT_TREE_READS_H

#include "instrument/tree/scope.h"
#include "runtime/site/site.h"

#include <stdint.h>

/* The maximum number of different names of one statement. Others are left out. */
#define READS_LIMIT 64

struct reads {
    struct site_read items[READS_LIMIT];
    uint32_t count;
};

/* Adds the names and dotted names that the nodes from `first` up to `end` read. The name of a
 * method is left out (`x.mean()` reads x), and so are the variables of comprehensions and
 * lambdas. */
void reads_add(struct reads *reads,
               const struct scope *scope,
               uint32_t first,
               uint32_t end);

/* The identifier at the root of `a` or `a.b.c`. 0: the node is something else. */
uint32_t reads_root(const struct syntax *syntax, uint32_t node);

/* Whether `node` is an attribute whose text is `a.b.c` without blanks or comments. */
bool reads_is_dotted(const struct syntax *syntax, uint32_t node);

#endif
