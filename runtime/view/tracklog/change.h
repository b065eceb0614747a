/* What has become of a name since its last value, as the tree log tells it. */
#ifndef MONITORCH_VIEW_TRACKLOG_CHANGE_H
#define MONITORCH_VIEW_TRACKLOG_CHANGE_H

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"
#include "runtime/view/tracklog/names.h"

#include <stdbool.h>

enum track_change {
    TRACK_SAME,
    TRACK_NEW,     /* nothing was known of it */
    TRACK_REBOUND, /* another tensor, with the same in it */
    TRACK_OTHER,
};

/* `before` is NULL where nothing is known of the name's last value. */
enum track_change track_change_of(const struct log_event_view *event,
                                  const struct track_name *before);

/* `shape, dtype, value, in place`: of a TRACK_OTHER; `rebound` of a TRACK_REBOUND. `site` is that of the event's alias_site in
 * its module; may be NULL. */
void track_change_add(struct buffer *text,
                      const struct log_event_view *event,
                      const struct track_name *before,
                      const struct site *site);

/* Whether an array has become one of another dtype. */
bool track_change_is_dtype(const struct log_event_view *event,
                           const struct track_name *before);

#endif
