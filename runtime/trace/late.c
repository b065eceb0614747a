/* Late statistics: filled in after their event is in the trace. */
#include "runtime/trace/late.h"

#include <string.h>

/* The offset of the statistics, after the tensor part. */
static size_t room_of(const struct log_event *event)
{
    size_t head = event->record.kind == LOG_GRADIENT ? sizeof(struct log_gradient)
                                                     : sizeof(struct log_event);

    return head + sizeof(struct log_tensor);
}

struct log_statistics log_statistics_of(const struct statistics *statistics)
{
    struct log_statistics record = {.hash = 0};

#define STATISTIC_NONFINITE(field, name, function)
#define STATISTIC_COUNT(field, name, function) record.field = statistics->field;
#define STATISTIC_BOUND(field, name)           record.field = statistics->field.natural;
#define STATISTIC_REAL(field, name)            record.field = statistics->field;
#include "runtime/array/statistics/statistics.def"
    return record;
}

struct log_nonfinite log_nonfinite_of(const struct statistics *statistics)
{
    return (struct log_nonfinite){
#define STATISTIC_NONFINITE(field, name, function) statistics->field,
#include "runtime/array/statistics/statistics.def"
    };
}

void log_late_fill(struct log_event *event, const struct statistics *statistics)
{
    char *room = (char *)event + room_of(event);
    struct log_nonfinite nonfinite = log_nonfinite_of(statistics);
    struct log_statistics record = log_statistics_of(statistics);
    uint8_t flags = event->record.flags | LOG_EVENT_STATISTICS | LOG_EVENT_NONFINITE;

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
