/* Suggestions for filters that match no event of a trace. */
#ifndef MONITORCH_COMMAND_SHARED_NO_MATCH_H
#define MONITORCH_COMMAND_SHARED_NO_MATCH_H

#include "runtime/view/walk/event_filter.h"

/* Prints a line for each glob, kind, range of lines and call that matches nothing in the trace,
 * with the nearest names, or some names of the trace. Reads the trace once more. Prints nothing
 * if the trace cannot be read: the caller has reported that. */
void print_nearest(const char *path, const struct event_filter *filter);

/* Prints such a line for each glob of another option that matches no name in one or two traces.
 * `paths` has two elements; the second may be NULL. */
void print_unmatched_names(const char *const *paths,
                           const char *option,
                           const struct slice *globs,
                           size_t count);

#endif
