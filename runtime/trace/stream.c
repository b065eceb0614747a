/* Reading a trace's stream: chunk by chunk, and in each record by record. */
#include "runtime/trace/reader_private.h"

#include "runtime/base/hash/hash.h"

/* While a ring is being written, chunks change under the reader's hands, and what it misses
 * is no damage. */
static bool may_change(const struct log_reader *reader)
{
    return reader->header.last != 0 && !reader->header.is_closed;
}

/* Says what is missing between the chunk before and this one. */
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

/* The same for events; the chunk before has been read to its end. */
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

/* Whether the chunk is still the one that the index tells of: a ring's writer may have begun
 * to use it again before or while it was read. */
static bool is_still_there(const struct log_reader *reader,
                           const struct log_index_entry *entry)
{
    struct error ignored = ERROR_INIT;
    struct log_chunk now;

    return log_chunk_read_header(reader, entry->offset, &now, &ignored) &&
           now.magic == LOG_CHUNK_MAGIC && now.number == entry->number;
}

/* Sets what part of the loaded chunk holds records, and checks it as a whole. */
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
    stream->is_sealed = true;
    stream->size = (size_t)header->used_size;
    records = slice_part((struct slice){stream->bytes, stream->size}, sizeof *header,
                         stream->size);
    if (hash_64(records) != header->checksum) {
        log_reader_report(reader, entry->offset, "the checksum of this chunk is wrong");
    }
}

/* Loads the next chunk; false where there is none. One that cannot be read is empty. */
static bool stream_load(struct log_reader *reader)
{
    struct log_stream *stream = &reader->stream;
    const struct log_index_entry *entry;
    struct log_chunk_read read;
    struct error error = ERROR_INIT;

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
    if (!reader->header.is_closed) {
        /* What the records refer to was defined before they were written. */
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

/* The next record of the loaded chunk, whole, or NULL at its end. */
static const char *chunk_next(struct log_reader *reader)
{
    struct log_stream *stream = &reader->stream;
    const struct log_record *record;

    if (stream->size < stream->position + sizeof *record) {
        return NULL;
    }
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

const char *log_stream_next(struct log_reader *reader)
{
    for (;;) {
        const char *bytes = chunk_next(reader);
        const struct log_record *record = (const void *)bytes;

        if (bytes == NULL) {
            if (!stream_load(reader)) {
                return NULL;
            }
        } else if (record->kind >= LOG_CALL && record->kind <= LOG_TRACKED) {
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

void log_stream_start(struct log_reader *reader, size_t index)
{
    reader->stream = (struct log_stream){
        .bytes = reader->stream.bytes,
        .index = index,
        .is_counting = index == 0,
    };
}

struct log_place log_stream_place(const struct log_reader *reader)
{
    const struct log_stream *stream = &reader->stream;

    /* No chunk is loaded at the start alone: the place is the first one's beginning. */
    return (struct log_place){
        .chunk = stream->position == 0 ? stream->index : stream->index - 1,
        .position = stream->position,
        .next_event = stream->next_event,
        .is_counting = stream->is_counting,
    };
}

void log_stream_go(struct log_reader *reader, struct log_place place)
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
    stream->is_counting = place.is_counting;
}
