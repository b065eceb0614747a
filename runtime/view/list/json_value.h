/* Fields of a value in a line of JSON. */
#ifndef MONITORCH_VIEW_LIST_JSON_VALUE_H
#define MONITORCH_VIEW_LIST_JSON_VALUE_H

#include "runtime/view/list/json_log.h"

/* The value of what is no array. */
void json_scalar_add(struct buffer *text, const struct log_event_view *event);

/* What has changed since the name's last value. */
void json_change_add(const struct json_log *log,
                     const struct log_event_view *event,
                     struct buffer *text);

/* What differs from run to run of the same program. */
void json_volatile_add(struct buffer *text, const struct log_event_view *event);

/* How many elements are NaN, infinite, zero. */
void json_counts_add(struct buffer *text, const struct statistics *statistics);

/* Shape, statistics and sample of an array. */
void json_tensor_add(const struct json_log *log,
                     const struct log_event_view *event,
                     struct buffer *text);

#endif
