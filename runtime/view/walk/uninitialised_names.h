/* Names whose memory nothing had written to when it was recorded last, in calls that go on: for views
 * that read events once, in their order. Memory grows with such names alone. */
#ifndef MONITORCH_VIEW_WALK_UNINITIALISED_NAMES_H
#define MONITORCH_VIEW_WALK_UNINITIALISED_NAMES_H

#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct uninitialised_names {
    struct number_map lines; /* owned: by call and name; 0: it was written since */
};

void uninitialised_names_init(struct uninitialised_names *names);
void uninitialised_names_release(struct uninitialised_names *names);

/* To be called with each event, after anything was asked about it. false: out of memory. */
bool uninitialised_names_follow(struct uninitialised_names *names,
                                const struct log_event_view *event);

/* The first name that the event's statement reads and does not write, and that is uninitialised; the
 * line that recorded it so, 0: there is none. `is_part`: it was written, perhaps not all of it. */
uint32_t uninitialised_names_find(const struct uninitialised_names *names,
                                  const struct log_event_view *event,
                                  struct slice *name,
                                  bool *is_part);

#endif
