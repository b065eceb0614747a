/* The message that no event of a trace passed the filters. */
#ifndef MONITORCH_COMMAND_SHARED_NO_MATCH_H
#define MONITORCH_COMMAND_SHARED_NO_MATCH_H

#include "runtime/view/walk/event_filter.h"

/* Prints, for each glob of functions, names, files and modules that matches nothing in the trace, a
 * line with the names that are nearest to it. Reads the trace once more. Prints nothing where none is
 * near, and where the trace cannot be read: the caller has said so. */
void print_nearest(const char *path, const struct event_filter *filter);

#endif
