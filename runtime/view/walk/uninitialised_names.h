/* Names whose memory was uninitialised when they were last recorded, in open calls. For views
 * that read the events once, in order. Memory grows only with the number of such names. */
#ifndef MONITORCH_VIEW_WALK_UNINITIALISED_NAMES_H
#define MONITORCH_VIEW_WALK_UNINITIALISED_NAMES_H

#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct uninitialised_names {
    struct number_map lines; /* owned: line by call and name; 0: written since */
};

void uninitialised_names_init(struct uninitialised_names *names);
void uninitialised_names_release(struct uninitialised_names *names);

/* Updates the names. Must be called with each event, after any query about it. Returns false if
 * memory runs out. */
bool uninitialised_names_follow(struct uninitialised_names *names,
                                const struct log_event_view *event);

/* Finds the first uninitialised name that the event's statement reads and does not write.
 * Returns the line that recorded it as uninitialised; 0: there is none. Sets `*is_part` if its
 * memory was written, but perhaps not all of it. */
uint32_t uninitialised_names_find(const struct uninitialised_names *names,
                                  const struct log_event_view *event,
                                  struct slice *name,
                                  bool *is_part);

#endif
