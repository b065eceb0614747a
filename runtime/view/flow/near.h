/* What stands around a node of a graph: for a picture that shows a part of it. */
#ifndef MONITORCH_VIEW_FLOW_NEAR_H
#define MONITORCH_VIEW_FLOW_NEAR_H

#include "runtime/view/flow/flow.h"

/* Sets `kept`, a flag for each node, for `limit` nodes at most around the start: what it was made
 * from, and what was made from it, the nearest first. Beyond what is equal (FLOW_MARK_EQUAL) the
 * way goes up alone: what else was made from it is not of interest. Fails where memory runs
 * out. */
bool flow_graph_near(const struct flow_graph *graph,
                     uint32_t start,
                     uint32_t limit,
                     bool *kept,
                     struct error *error);

#endif
