/* Traces that keep their newest events: which calls and events of the oldest chunk are left out. */
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/trace/reader_private.h"

#include <stdlib.h>

/* How many calls that have ended a ring's reader keeps in mind; beyond that more calls are
 * shown than need be. */
#define ENDED_MAX (1024 * 1024)

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

static bool is_ended(const struct log_reader *reader, uint32_t call)
{
    return reader->ended_count > 0 &&
           bsearch(&call, reader->ended_calls, reader->ended_count,
                   sizeof *reader->ended_calls, compare_numbers) != NULL;
}

bool log_ring_hides(const struct log_reader *reader, const struct log_item *item)
{
    if (reader->stream.next_event > reader->first_shown) {
        return item->kind == LOG_DATA && item->data.event < reader->first_shown;
    }
    switch (item->kind) {
    case LOG_CALL:
        return is_ended(reader, item->call.call);
    case LOG_END:
        return is_ended(reader, item->end.call);
    case LOG_TRACKED:
        return is_ended(reader, item->tracked.call);
    case LOG_NOTE:
        return reader->stream.next_event < reader->first_shown;
    default:
        return true;
    }
}

static void log_ring_note_ended(struct log_reader *reader, uint32_t call)
{
    void *calls = reader->ended_calls;

    if (reader->ended_count < ENDED_MAX &&
        memory_grow(&calls, &reader->ended_capacity, reader->ended_count + 1,
                    sizeof *reader->ended_calls)) {
        reader->ended_calls = calls;
        reader->ended_calls[reader->ended_count++] = call;
    }
}

/* The number of all events: those up to the last chunk are told by it. */
static uint64_t log_ring_count_events(struct log_reader *reader)
{
    const char *bytes;

    if (reader->index_count == 0) {
        return 0;
    }
    log_stream_start(reader, reader->index_count - 1);
    while ((bytes = log_stream_next(reader)) != NULL) {
        reader->stream.next_event +=
            ((const struct log_record *)(const void *)bytes)->kind == LOG_EVENT;
    }
    return reader->stream.next_event;
}

void log_ring_prepare(struct log_reader *reader)
{
    uint64_t count;
    const char *bytes;

    if (reader->header.last == 0) {
        return;
    }
    count = log_ring_count_events(reader);
    log_stream_start(reader, 0);
    if (count <= reader->header.last) {
        return;
    }
    reader->first_shown = count - reader->header.last;
    while ((bytes = log_stream_next(reader)) != NULL) {
        const struct log_end *end = (const void *)bytes;

        if (end->record.kind == LOG_EVENT &&
            reader->stream.next_event++ >= reader->first_shown) {
            break;
        }
        if (end->record.kind == LOG_END && end->record.size >= sizeof *end) {
            log_ring_note_ended(reader, end->call);
        }
    }
    if (reader->ended_count > 0) {
        qsort(reader->ended_calls, reader->ended_count, sizeof *reader->ended_calls,
              compare_numbers);
    }
    log_stream_start(reader, 0);
}
