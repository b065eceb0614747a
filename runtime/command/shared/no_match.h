/* The message that no event of a trace passed the filters. */
#ifndef MONITORCH_COMMAND_SHARED_NO_MATCH_H
#define MONITORCH_COMMAND_SHARED_NO_MATCH_H

#include "runtime/view/walk/event_filter.h"

/* Prints, for each glob, kind, range of lines and call that matches nothing in the trace, a line with
 * the names that are nearest to it, or some of those that there are. Reads the trace once more.
 * Prints nothing where the trace cannot be read: the caller has said so. */
void print_nearest(const char *path, const struct event_filter *filter);

/* The same for the globs of names of another option, of one trace or of two: one that matches nothing
 * in any of them. `paths` has two places, the second of which may be NULL. */
void print_unmatched_names(const char *const *paths,
                           const char *option,
                           const struct slice *globs,
                           size_t count);

#endif
