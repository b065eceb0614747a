/* Trace reader: opens a trace, returns its items one by one, and collects the damage. */
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/trace/reader_private.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the stream, and rings: traces that keep only their newest events ---- */

/* The largest number of ended calls that a ring's reader remembers. If there are more, some
 * calls are shown that should be hidden. */
#define ENDED_MAX (1024 * 1024)

static const char *log_stream_next(struct log_reader *reader);
static void log_stream_start(struct log_reader *reader, size_t index);

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

/* Whether the item, which was read last, is older than the oldest event to show. */
static bool log_ring_hides(const struct log_reader *reader, const struct log_item *item)
{
    if (reader->stream.next_event > reader->first_shown) {
        return (item->kind == LOG_DATA && item->data.event < reader->first_shown) ||
               (item->kind == LOG_GRADIENT &&
                item->event.number < reader->first_shown) ||
               (item->kind == LOG_BIRTH && item->birth.event < reader->first_shown);
    }
    switch (item->kind) {
    case LOG_CALL:
        return is_ended(reader, item->call.call);
    case LOG_END:
        return is_ended(reader, item->end.call);
    case LOG_TRACKED:
        return is_ended(reader, item->tracked.call);
    case LOG_STEP:
    case LOG_NOTE:
    case LOG_TRAINING_STEP:
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

/* The largest number of training steps that are remembered. If more than these are to be shown,
 * the ring shows as many. */
#define RING_STEPS_MAX 4096

/* The starts of a ring's newest training steps: a circular list, the newest last. */
struct ring_steps {
    uint64_t numbers[RING_STEPS_MAX];
    uint64_t events[RING_STEPS_MAX];
    size_t count;
};

/* Returns the first event of the `wanted` newest whole steps, or of the oldest whole step if
 * there are fewer. 0 if no step has started. */
static uint64_t ring_steps_find(const struct ring_steps *steps, uint64_t wanted)
{
    size_t oldest = steps->count < RING_STEPS_MAX ? 0 : steps->count - RING_STEPS_MAX;
    size_t i = steps->count;
    uint64_t newest;

    if (steps->count == 0) {
        return 0;
    }
    newest = steps->numbers[(i - 1) % RING_STEPS_MAX];
    if (newest <= wanted) {
        return 0; /* step 0 has no record, and is still in the ring */
    }
    while (i > oldest && steps->numbers[(i - 1) % RING_STEPS_MAX] >= newest - wanted) {
        i--;
    }
    return i == steps->count ? 0 : steps->events[i % RING_STEPS_MAX];
}

/* The first event of the `last_steps` newest whole training steps. */
static uint64_t log_ring_find_steps(struct log_reader *reader)
{
    struct ring_steps *steps = memory_allocate_zeroed(1, sizeof *steps);
    const char *bytes;
    uint64_t first;

    if (steps == NULL) {
        reader->is_memory_out = true;
        return 0;
    }
    log_stream_start(reader, 0);
    while ((bytes = log_stream_next(reader)) != NULL) {
        const struct log_training_step *step = (const void *)bytes;

        reader->stream.next_event += step->record.kind == LOG_EVENT;
        if (step->record.kind == LOG_TRAINING_STEP &&
            (step->record.flags & LOG_TRAINING_STEP_AGAIN) == 0 &&
            step->record.size >= sizeof *step) {
            steps->numbers[steps->count % RING_STEPS_MAX] = step->number;
            steps->events[steps->count % RING_STEPS_MAX] = reader->stream.next_event;
            steps->count++;
        }
    }
    first = ring_steps_find(steps, reader->header.last_steps);
    memory_free(steps);
    return first;
}

/* Returns the number of all events, including those that the ring has dropped. */
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

/* Finds the oldest event to show, and the calls that ended before it. */
static void log_ring_prepare(struct log_reader *reader)
{
    uint64_t first = 0;
    const char *bytes;

    if (reader->header.last_steps != 0) {
        first = log_ring_find_steps(reader);
    } else if (reader->header.last != 0) {
        uint64_t count = log_ring_count_events(reader);

        first = count <= reader->header.last ? 0 : count - reader->header.last;
    }
    log_stream_start(reader, 0);
    if (first == 0) {
        return;
    }
    reader->first_shown = first;
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

/* While a ring is being written, its chunks change during the reading. Missing chunks are no
 * damage then. */
static bool may_change(const struct log_reader *reader)
{
    return reader->header.last != 0 && !reader->header.is_closed;
}

/* Reports chunks that are missing before this one. */
static void check_number(struct log_reader *reader, const struct log_index_entry *entry)
{
    size_t place = (size_t)(entry - reader->index);
    uint64_t expected = 0;

    if (may_change(reader) || (place == 0 && reader->header.last != 0)) {
        return;
    }
    if (place > 0) {
        expected = reader->index[place - 1].number + 1;
    }
    if (entry->number > expected) {
        log_reader_report(reader, entry->offset,
                          "chunks are missing before this one: %llu",
                          (unsigned long long)(entry->number - expected));
    } else if (entry->number < expected) {
        log_reader_report(reader, entry->offset, "two chunks have the number %llu",
                          (unsigned long long)entry->number);
    }
}

/* Reports events that are missing before this chunk. The previous chunk was read to its end. */
static void check_first_event(struct log_reader *reader,
                              const struct log_index_entry *entry,
                              uint64_t first_event)
{
    bool is_oldest = entry == reader->index && reader->header.last != 0;

    if (may_change(reader) || is_oldest || !reader->stream.is_counting ||
        first_event == reader->stream.next_event) {
        return;
    }
    log_reader_report(
        reader, entry->offset, "this chunk begins with event %llu, expected %llu",
        (unsigned long long)first_event, (unsigned long long)reader->stream.next_event);
}

/* Whether the chunk is still the one in the index. The writer of a ring may have started to
 * reuse it before or while it was read. */
static bool is_still_there(const struct log_reader *reader,
                           const struct log_index_entry *entry)
{
    struct error ignored = ERROR_INIT;
    struct log_chunk now;

    return log_chunk_read_header(reader, entry->offset, &now, &ignored) &&
           now.magic == LOG_CHUNK_MAGIC && now.number == entry->number;
}

/* Finds the end of the records in the loaded chunk, and checks the chunk as a whole. */
static void check_loaded(struct log_reader *reader,
                         const struct log_index_entry *entry,
                         const struct log_chunk_read *read)
{
    const struct log_chunk *header = &read->header;
    struct log_stream *stream = &reader->stream;
    struct slice records;

    check_first_event(reader, entry, header->first_event);
    stream->next_event = header->first_event;
    stream->is_counting = true;
    stream->size = read->end;
    if (header->used_size > read->loaded ||
        (header->used_size == 0 && read->loaded < entry->size)) {
        log_reader_report(reader, entry->offset, "the file ends inside this chunk");
        return;
    }
    if (header->used_size == 0) {
        if (reader->header.is_closed) {
            log_reader_report(reader, entry->offset, "this chunk was never completed");
        }
        return;
    }
    assert(header->used_size >= sizeof *header);
    stream->is_sealed = true;
    stream->size = (size_t)header->used_size;
    records = slice_part((struct slice){stream->bytes, stream->size}, sizeof *header,
                         stream->size);
    if (hash_64(records) != header->checksum) {
        log_reader_report(reader, entry->offset, "the checksum of this chunk is wrong");
    }
}

static const char *chunk_next(struct log_reader *reader);

/* The training step at the start of the loaded chunk, from the chunk's first record of a
 * training step. 0 if it has none. */
static uint64_t find_training_step(struct log_reader *reader)
{
    struct log_stream *stream = &reader->stream;
    size_t position = stream->position;
    uint64_t found = 0;
    const char *bytes;

    while ((bytes = chunk_next(reader)) != NULL) {
        const struct log_training_step *step = (const void *)bytes;

        if (step->record.kind == LOG_TRAINING_STEP &&
            step->record.size >= sizeof *step && step->number > 0) {
            bool is_again = (step->record.flags & LOG_TRAINING_STEP_AGAIN) != 0;

            found = is_again ? step->number : step->number - 1;
            break;
        }
    }
    stream->position = position;
    return found;
}

/* Loads the next chunk. Returns false at the end of the stream. A chunk that cannot be read
 * counts as empty. */
static bool stream_load(struct log_reader *reader)
{
    struct log_stream *stream = &reader->stream;
    const struct log_index_entry *entry;
    struct log_chunk_read read;
    struct error error = ERROR_INIT;
    bool is_middle =
        !stream->is_counting || (stream->index == 0 && reader->header.last != 0);

    assert(stream->index <= reader->index_count);
    if (stream->index == reader->index_count) {
        return false;
    }
    entry = &reader->index[stream->index++];
    check_number(reader, entry);
    stream->offset = entry->offset;
    stream->position = sizeof(struct log_chunk);
    stream->size = 0;
    stream->is_sealed = false;
    stream->has_bad_record = false;
    if (!log_chunk_read(reader, entry->offset, stream->bytes, sizeof(struct log_chunk),
                        (size_t)entry->size, &read, &error)) {
        log_reader_report(reader, entry->offset, "%s", error.text);
        return true;
    }
    if (!log_chunk_is_sane(&read.header, entry->offset) ||
        !is_still_there(reader, entry)) {
        return true;
    }
    check_loaded(reader, entry, &read);
    if (is_middle) {
        stream->training_step = find_training_step(reader);
    }
    if (!reader->header.is_closed) {
        /* The definitions that the records refer to were written before them. */
        log_index_extend(reader);
        log_definitions_load(reader);
    }
    return true;
}

static void stream_give_up(struct log_reader *reader, uint64_t size)
{
    struct log_stream *stream = &reader->stream;

    log_reader_report(
        reader, stream->offset + stream->position,
        "a record of impossible size, %llu: the rest of its chunk is lost",
        (unsigned long long)size);
    stream->position = stream->size;
}

/* Returns the next record of the loaded chunk, which is whole, or NULL at its end. */
static const char *chunk_next(struct log_reader *reader)
{
    struct log_stream *stream = &reader->stream;
    const struct log_record *record;

    if (stream->size < stream->position + sizeof *record) {
        return NULL;
    }
    assert(stream->position % sizeof *record == 0);
    record = (const struct log_record *)(stream->bytes + stream->position);
    if (record->size == 0 && !stream->is_sealed) {
        return NULL;
    }
    if (record->size < sizeof *record || record->size > LOG_RECORD_MAX ||
        record->size > stream->size - stream->position) {
        stream_give_up(reader, record->size);
        return NULL;
    }
    stream->position += log_record_padded(record->size);
    return (const char *)record;
}

/* Returns the next record of the stream, which is whole and of a known kind, or NULL at its end. */
static const char *log_stream_next(struct log_reader *reader)
{
    for (;;) {
        const char *bytes = chunk_next(reader);
        const struct log_record *record = (const void *)bytes;

        if (bytes == NULL) {
            if (!stream_load(reader)) {
                return NULL;
            }
        } else if (record->kind >= LOG_CALL && record->kind <= LOG_KIND_LAST) {
            const struct log_training_step *step = (const void *)bytes;

            if (record->kind == LOG_TRAINING_STEP && record->size >= sizeof *step) {
                reader->stream.training_step = step->number;
            }
            return bytes;
        } else if (!reader->is_unknown_kind_reported) {
            reader->is_unknown_kind_reported = true;
            log_reader_report(
                reader,
                reader->stream.offset + (uint64_t)(bytes - reader->stream.bytes),
                "records of an unknown kind, %d, are skipped", record->kind);
        }
    }
}

/* Restarts at the chunk with that index. */
static void log_stream_start(struct log_reader *reader, size_t index)
{
    assert(index <= reader->index_count);
    reader->stream = (struct log_stream){
        .bytes = reader->stream.bytes,
        .index = index,
        .is_counting = index == 0,
    };
}

static struct log_place log_stream_place(const struct log_reader *reader)
{
    const struct log_stream *stream = &reader->stream;

    assert(stream->position == 0 || stream->index > 0);
    /* Only at the start of the stream is no chunk loaded: the place is the start of the first
     * chunk. */
    return (struct log_place){
        .chunk = stream->position == 0 ? stream->index : stream->index - 1,
        .position = stream->position,
        .next_event = stream->next_event,
        .training_step = stream->training_step,
        .is_counting = stream->is_counting,
    };
}

static void log_stream_go(struct log_reader *reader, struct log_place place)
{
    struct log_stream *stream = &reader->stream;
    bool is_loaded = stream->position > 0 && stream->index == place.chunk + 1;

    if (place.position == 0 || !is_loaded) {
        log_stream_start(reader, place.chunk);
    }
    if (place.position == 0 || (!is_loaded && !stream_load(reader))) {
        return;
    }
    stream->position = place.position < stream->size ? place.position : stream->size;
    stream->next_event = place.next_event;
    stream->training_step = place.training_step;
    stream->is_counting = place.is_counting;
}

/* The largest number of damage messages. */
#define DAMAGE_MAX 1000

/* ---- damage ---- */

static bool
is_reported(const struct log_reader *reader, uint64_t offset, const char *text)
{
    for (size_t i = 0; i < reader->damage_count; i++) {
        if (reader->damage[i].offset == offset &&
            strcmp(reader->damage[i].message, text) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds a message. If memory runs out, that is reported instead. */
static void damage_insert(struct log_reader *reader, uint64_t offset, struct slice text)
{
    void *damage = reader->damage;
    size_t place = reader->damage_count;

    if (!memory_grow(&damage, &reader->damage_capacity, reader->damage_count + 1,
                     sizeof *reader->damage)) {
        reader->is_memory_out = true;
        return;
    }
    reader->damage = damage;
    text = arena_copy(&reader->arena, text);
    if (text.bytes == NULL) {
        reader->is_memory_out = true;
        return;
    }
    while (place > 0 && reader->damage[place - 1].offset > offset) {
        reader->damage[place] = reader->damage[place - 1];
        place--;
    }
    reader->damage[place] = (struct log_damage){offset, text.bytes};
    reader->damage_count++;
}

void log_reader_report(struct log_reader *reader,
                       uint64_t offset,
                       const char *format,
                       ...)
{
    char text[ERROR_TEXT_SIZE];
    struct error clean = ERROR_INIT;
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* error_set makes the text safe to print. */
    error_set(&clean, ERROR_INPUT, "offset %llu: %s", (unsigned long long)offset, text);
    if (reader->damage_count < DAMAGE_MAX && !is_reported(reader, offset, clean.text)) {
        damage_insert(reader, offset, slice_of(clean.text));
    } else if (reader->damage_count == DAMAGE_MAX) {
        damage_insert(reader, UINT64_MAX,
                      SLICE("more damage follows that is not listed"));
    }
}

size_t log_reader_damage_count(const struct log_reader *reader)
{
    return reader->damage_count + reader->is_memory_out;
}

const char *log_reader_damage(const struct log_reader *reader, size_t index)
{
    return index < reader->damage_count
               ? reader->damage[index].message
               : "out of memory: not all of the trace was read";
}

/* ---- items ---- */

/* A closed trace holds its number of events. */
static void check_end(struct log_reader *reader)
{
    const struct log_header *header = &reader->header;

    if (reader->is_end_checked) {
        return;
    }
    reader->is_end_checked = !reader->has_jumped;
    if (header->is_closed == 1 && reader->damage_count == 0 &&
        reader->stream.next_event != header->event_count) {
        log_reader_report(reader, reader->file_size,
                          "the file ends after %llu events, expected %llu",
                          (unsigned long long)reader->stream.next_event,
                          (unsigned long long)header->event_count);
    }
    /* A ring's oldest chunk may be missing without leaving a gap in the numbers. */
    if (header->is_closed == 1 && reader->damage_count == 0 && !reader->has_jumped &&
        header->event_count > 0 && reader->oldest_given > reader->first_shown) {
        log_reader_report(reader, LOG_HEADER_SIZE,
                          "the oldest event is %llu, expected %llu",
                          (unsigned long long)reader->oldest_given,
                          (unsigned long long)reader->first_shown);
    }
}

static void
report_bad_record(struct log_reader *reader, uint64_t offset, const char *what)
{
    if (!reader->stream.has_bad_record) {
        reader->stream.has_bad_record = true;
        log_reader_report(reader, offset, "%s: left out, like others in this chunk",
                          what);
    }
}

void log_reader_show_parameters(struct log_reader *reader, bool are_shown)
{
    reader->has_parameters = are_shown;
}

static bool is_hidden(const struct log_reader *reader, const struct log_item *item)
{
    return item->kind == LOG_EVENT && !reader->has_parameters &&
           (item->event.flags & LOG_EVENT_PARAMETER) != 0;
}

bool log_reader_next(struct log_reader *reader, struct log_item *item)
{
    struct log_stream *stream = &reader->stream;
    const char *bytes;

    while ((bytes = log_stream_next(reader)) != NULL) {
        uint64_t number = stream->next_event;
        const char *problem;

        item->offset = stream->offset + (uint64_t)(bytes - stream->bytes);
        problem = log_decode(reader, bytes, number, item);
        /* An event that cannot be decoded counts, so that later events keep their numbers. */
        stream->next_event +=
            ((const struct log_record *)(const void *)bytes)->kind == LOG_EVENT;
        if (problem != NULL) {
            report_bad_record(reader, item->offset, problem);
        } else if (!log_ring_hides(reader, item)) {
            if (item->kind == LOG_EVENT && number < reader->oldest_given) {
                reader->oldest_given = number;
            }
            if (!is_hidden(reader, item)) {
                return true;
            }
        }
    }
    check_end(reader);
    return false;
}

void log_reader_rewind(struct log_reader *reader)
{
    reader->has_jumped = false;
    log_stream_start(reader, 0);
}

/* ---- places ---- */

struct log_place log_reader_place(const struct log_reader *reader)
{
    return log_stream_place(reader);
}

void log_reader_go(struct log_reader *reader, struct log_place place)
{
    reader->has_jumped = true;
    log_stream_go(reader, place);
}

/* Or at that event. */
static bool begins_before(const void *chunks, size_t chunk, uint64_t number)
{
    return ((const struct log_index_entry *)chunks)[chunk].first_event <= number;
}

/* The last chunk that starts at or before this event. */
static size_t chunk_of_event(const struct log_reader *reader, uint64_t number)
{
    size_t next =
        sorted_place(reader->index, reader->index_count, begins_before, number);

    return next == 0 ? 0 : next - 1;
}

void log_reader_go_to_event(struct log_reader *reader, uint64_t number)
{
    struct log_place place = log_reader_place(reader);
    size_t chunk = chunk_of_event(reader, number);
    const char *bytes;

    reader->has_jumped = true;
    if (place.chunk != chunk || place.position == 0 || place.next_event > number) {
        log_stream_start(reader, chunk);
    }
    do {
        place = log_reader_place(reader);
        bytes = log_stream_next(reader);
        if (bytes == NULL) {
            return;
        }
        reader->stream.next_event +=
            ((const struct log_record *)(const void *)bytes)->kind == LOG_EVENT;
    } while (reader->stream.next_event <= number);
    /* The event may be in a later chunk than the one where the search started. */
    if (log_reader_place(reader).chunk != place.chunk) {
        place = (struct log_place){
            .chunk = log_reader_place(reader).chunk,
            .position = sizeof(struct log_chunk),
            .next_event = reader->stream.next_event - 1,
            .training_step = place.training_step,
            .is_counting = true,
        };
    }
    log_reader_go(reader, place);
}

/* ---- opening ---- */

#define RECORD_ONE "to record one: monitorch run train.py"

static bool header_check(struct log_reader *reader, size_t size, struct error *error)
{
    const struct log_header *header = &reader->header;

    if (size == 0) {
        error_set(error, ERROR_INPUT, "%s: is empty, expected a trace; " RECORD_ONE,
                  reader->path);
        return false;
    }
    if (size < sizeof header->magic ||
        memcmp(header->magic, LOG_MAGIC, sizeof header->magic) != 0) {
        error_set(error, ERROR_INPUT, "%s: is no trace; " RECORD_ONE, reader->path);
        return false;
    }
    if (size >= offsetof(struct log_header, header_size) &&
        header->version > LOG_VERSION) {
        error_set(error, ERROR_INPUT,
                  "%s: is a trace of version %lu, expected at most %d: read it with a "
                  "newer monitorch",
                  reader->path, (unsigned long)header->version, LOG_VERSION);
        return false;
    }
    if (size < sizeof *header || header->version != LOG_VERSION) {
        error_set(error, ERROR_INPUT,
                  "%s: the header of the trace is damaged; " RECORD_ONE, reader->path);
        return false;
    }
    return true;
}

static void header_verify(struct log_reader *reader)
{
    struct slice bytes = {(const char *)&reader->header,
                          offsetof(struct log_header, is_closed)};

    if (hash_64(bytes) != reader->header.checksum) {
        log_reader_report(reader, 0, "the checksum of the header is wrong");
    }
    if (reader->header.header_size != LOG_HEADER_SIZE) {
        log_reader_report(reader, 0, "the header's size is %lu, expected %d",
                          (unsigned long)reader->header.header_size, LOG_HEADER_SIZE);
    }
}

static bool reader_open(struct log_reader *reader, struct error *error)
{
    size_t size;

    if (!mapping_read(&reader->file, 0, &reader->header, sizeof reader->header, &size,
                      error) ||
        !header_check(reader, size, error)) {
        return false;
    }
    header_verify(reader);
    if (!log_index_build(reader, error)) {
        return false;
    }
    log_definitions_load(reader);
    log_stream_start(reader, 0);
    log_ring_prepare(reader);
    return true;
}

static bool reader_find(const char *path, struct error *error)
{
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        error_set(error, ERROR_INPUT,
                  "%s: cannot be read: No such file or directory; " RECORD_ONE, path);
        return false;
    }
    return true;
}

struct log_reader *log_reader_new(const char *path, struct error *error)
{
    size_t path_size = strlen(path) + 1;
    struct log_reader *reader = memory_allocate_zeroed(1, sizeof *reader);

    if (reader == NULL) {
        error_set_memory(error);
        return NULL;
    }
    arena_init(&reader->arena);
    reader->file.descriptor = -1;
    reader->oldest_given = UINT64_MAX;
    reader->path = memory_allocate(path_size, 1);
    reader->stream.bytes = memory_allocate(LOG_CHUNK_MAX, 1);
    if (reader->path == NULL || reader->stream.bytes == NULL) {
        error_set_memory(error);
        log_reader_free(reader);
        return NULL;
    }
    memcpy(reader->path, path, path_size);
    if (!reader_find(reader->path, error) ||
        !mapping_open_to_read(&reader->file, reader->path, error) ||
        !reader_open(reader, error)) {
        log_reader_free(reader);
        return NULL;
    }
    return reader;
}

void log_reader_free(struct log_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    if (reader->file.descriptor >= 0) {
        mapping_close(&reader->file);
    }
    log_definitions_release(reader);
    memory_free(reader->index);
    memory_free(reader->damage);
    memory_free(reader->ended_calls);
    memory_free(reader->stream.bytes);
    memory_free(reader->path);
    arena_release(&reader->arena);
    memory_free(reader);
}

/* ---- the trace's properties ---- */

const struct log_header *log_reader_header(const struct log_reader *reader)
{
    return &reader->header;
}

uint64_t log_reader_first_event(const struct log_reader *reader)
{
    return reader->first_shown;
}

uint32_t log_reader_module_count(const struct log_reader *reader)
{
    return (uint32_t)reader->modules.count;
}

const struct log_module *log_reader_module(const struct log_reader *reader,
                                           uint32_t number)
{
    return number < reader->modules.count ? reader->modules.entries[number].thing
                                          : NULL;
}

void log_reader_rename(struct log_reader *reader, uint32_t number, struct slice path)
{
    if (number < reader->modules.count) {
        /* The list's pointers are const for its users only; this reader owns the memory. */
        ((struct log_module *)reader->modules.entries[number].thing)->table.path = path;
    }
}

size_t log_reader_left_out_count(const struct log_reader *reader)
{
    return reader->left_out_count;
}

const struct log_left_out_view *log_reader_left_out(const struct log_reader *reader,
                                                    size_t index)
{
    return index < reader->left_out_count ? &reader->left_out[index] : NULL;
}

const struct log_left_out_view *
log_reader_find_left_out(const struct log_reader *reader, uint32_t site)
{
    uint32_t index = number_map_get(&reader->left_out_sites, site);

    return index == NUMBER_MAP_NONE ? NULL : &reader->left_out[index];
}

size_t log_reader_setting_count(const struct log_reader *reader)
{
    return reader->setting_count;
}

const struct log_setting *log_reader_setting(const struct log_reader *reader,
                                             size_t index)
{
    return index < reader->setting_count ? &reader->settings[index] : NULL;
}

const struct log_setting *log_reader_find_setting(const struct log_reader *reader,
                                                  struct slice name)
{
    for (size_t i = 0; i < reader->setting_count; i++) {
        if (slice_equal(reader->settings[i].name, name)) {
            return &reader->settings[i];
        }
    }
    return NULL;
}

void log_reader_identity(const struct log_reader *reader, char text[LOG_IDENTITY_SIZE])
{
    const struct log_header *header = log_reader_header(reader);

    snprintf(text, LOG_IDENTITY_SIZE, "%" PRIu64 " %" PRIu32, header->start_time,
             header->process);
}

struct slice log_reader_thread_name(const struct log_reader *reader, uint16_t thread)
{
    const struct slice *name = log_numbered_find(&reader->threads, thread);

    return name == NULL ? SLICE("") : *name;
}
