/* Statistics filled in behind an event that is in the trace already. */
#include "runtime/trace/late.h"

#include <string.h>

/* Where the statistics are: behind the part of a tensor. */
static size_t room_of(const struct log_event *event)
{
    size_t head = event->record.kind == LOG_GRADIENT ? sizeof(struct log_gradient)
                                                     : sizeof(struct log_event);

    return head + sizeof(struct log_tensor);
}

void log_late_fill(struct log_event *event, const struct statistics *statistics)
{
    char *room = (char *)event + room_of(event);
    struct log_nonfinite nonfinite = {statistics->nan_count, statistics->posinf_count,
                                      statistics->neginf_count};
    struct log_statistics record = {
        .mean = statistics->mean,
        .std = statistics->std,
        .zero_count = statistics->zero_count,
    };
    uint8_t flags = event->record.flags | LOG_EVENT_STATISTICS | LOG_EVENT_NONFINITE;

    memcpy(&record.min, &statistics->min, sizeof(record.min));
    memcpy(&record.max, &statistics->max, sizeof(record.max));
    memcpy(room, &record, sizeof(record));
    memcpy(room + sizeof(record), &nonfinite, sizeof(nonfinite));
    __atomic_store_n(&event->record.flags, flags, __ATOMIC_RELEASE);
}

bool log_late_read(const struct log_event *event, struct log_nonfinite *counts)
{
    const char *room = (const char *)event + room_of(event);

    if ((event->record.flags & LOG_EVENT_NONFINITE) == 0) {
        return false;
    }
    memcpy(counts, room + sizeof(struct log_statistics), sizeof(*counts));
    return true;
}
