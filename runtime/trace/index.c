/* Index of a trace's chunks. Damaged places are skipped. */
#include "runtime/trace/reader_private.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <stdlib.h>

/* ---- one chunk, which may be incomplete ---- */

bool log_chunk_read_header(const struct log_reader *reader,
                           uint64_t offset,
                           struct log_chunk *header,
                           struct error *error)
{
    size_t size;

    *header = (struct log_chunk){0};
    return mapping_read(&reader->file, offset, header, sizeof *header, &size, error);
}

/* Reads a header. If the chunk is complete, its checksum is read afterwards, so that it is the
 * final one. */
static bool read_whole_header(const struct log_reader *reader,
                              uint64_t offset,
                              struct log_chunk *header,
                              struct error *error)
{
    size_t size;

    return log_chunk_read_header(reader, offset, header, error) &&
           (header->used_size == 0 ||
            mapping_read(&reader->file, offset + offsetof(struct log_chunk, checksum),
                         &header->checksum, sizeof header->checksum, &size, error));
}

/* Returns the end of the records whose heads are written. `size` if one of them is damaged. */
static size_t find_end(const char *bytes, size_t start, size_t size)
{
    struct log_record record;

    while (size - start >= sizeof record) {
        memcpy(&record, bytes + start, sizeof record);
        if (record.size == 0) {
            return start;
        }
        if (record.size < sizeof record || record.size > size - start) {
            return size;
        }
        start += log_record_padded(record.size);
        if (start > size) {
            return size;
        }
    }
    return size;
}

bool log_chunk_read(const struct log_reader *reader,
                    uint64_t offset,
                    char *bytes,
                    size_t start,
                    size_t size,
                    struct log_chunk_read *read,
                    struct error *error)
{
    size_t count;

    if (!read_whole_header(reader, offset, &read->header, error) ||
        !mapping_read(&reader->file, offset + start, bytes + start, size - start,
                      &count, error)) {
        return false;
    }
    read->loaded = read->end = start + count;
    if (read->header.used_size != 0 || reader->header.is_closed) {
        return true;
    }
    read->end = find_end(bytes, start, read->loaded);
    assert(start <= read->end && read->end <= read->loaded);
    return mapping_read(&reader->file, offset + start, bytes + start, read->end - start,
                        &count, error);
}

bool log_chunk_is_sane(const struct log_chunk *chunk, uint64_t offset)
{
    uint64_t largest = LOG_DEFINITIONS_MAX;

    if (chunk->magic != LOG_CHUNK_MAGIC) {
        return false;
    }
    if (chunk->kind == LOG_CHUNK_STREAM) {
        largest = LOG_CHUNK_MAX;
    }
    return chunk->size > sizeof *chunk && chunk->size <= largest &&
           (offset + chunk->size) % LOG_CHUNK_UNIT == 0 &&
           chunk->used_size <= chunk->size && chunk->used_size % 8 == 0 &&
           (chunk->used_size == 0 || chunk->used_size >= sizeof *chunk);
}

static bool
index_add(struct log_reader *reader, uint64_t offset, const struct log_chunk *chunk)
{
    void *entries = reader->index;

    if (!memory_grow(&entries, &reader->index_capacity, reader->index_count + 1,
                     sizeof *reader->index)) {
        return false;
    }
    reader->index = entries;
    reader->index[reader->index_count++] = (struct log_index_entry){
        chunk->number, offset, chunk->size, chunk->first_event};
    return true;
}

/* Adds a chunk to the index, or to the list of definitions. */
static bool read_chunk(struct log_reader *reader,
                       uint64_t offset,
                       const struct log_chunk *chunk,
                       bool with_stream)
{
    if (chunk->kind == LOG_CHUNK_DEFINITIONS) {
        return log_definitions_add(reader, offset, chunk->size);
    }
    if (chunk->kind == LOG_CHUNK_STREAM) {
        return !with_stream || chunk->number == LOG_CHUNK_EMPTY ||
               index_add(reader, offset, chunk);
    }
    log_reader_report(reader, offset, "a chunk of an unknown kind, %lu, is skipped",
                      (unsigned long)chunk->kind);
    return true;
}

static uint64_t next_unit(uint64_t offset)
{
    return offset / LOG_CHUNK_UNIT * LOG_CHUNK_UNIT + LOG_CHUNK_UNIT;
}

static void report_gap(struct log_reader *reader, uint64_t start, uint64_t end)
{
    log_reader_report(reader, start,
                      "the header of a chunk is damaged: %llu bytes are skipped",
                      (unsigned long long)(end - start));
}

/* A place without a chunk. */
struct gap {
    uint64_t start;  /* UINT64_MAX: no gap */
    bool is_damaged; /* it holds data, but no chunk */
};

#define NO_GAP ((struct gap){UINT64_MAX, false})

/* Ends a gap at `*offset`. If a writer has started a chunk at the gap's start meanwhile, the
 * search continues there. */
static bool end_gap(struct log_reader *reader,
                    struct gap *gap,
                    uint64_t *offset,
                    struct error *error)
{
    struct log_chunk chunk;

    if (!log_chunk_read_header(reader, gap->start, &chunk, error)) {
        return false;
    }
    if (log_chunk_is_sane(&chunk, gap->start)) {
        *offset = gap->start;
    } else if (gap->is_damaged || *offset < reader->file_size) {
        report_gap(reader, gap->start, *offset);
    }
    *gap = NO_GAP;
    return true;
}

/* Visits the chunks in the order of the file, and skips places without a header in steps of one
 * unit. If only places follow that were never written, a writer has reserved them; the next scan
 * starts at the first of them. */
static bool scan(struct log_reader *reader, bool with_stream, struct error *error)
{
    uint64_t offset = reader->scanned;
    struct gap gap = NO_GAP;

    while (offset < reader->file_size || gap.start != UINT64_MAX) {
        struct log_chunk chunk = {0};
        bool is_end = offset >= reader->file_size;

        if (!is_end && !log_chunk_read_header(reader, offset, &chunk, error)) {
            return false;
        }
        if (is_end || (gap.start != UINT64_MAX && log_chunk_is_sane(&chunk, offset))) {
            offset = is_end ? reader->file_size : offset;
            if (!end_gap(reader, &gap, &offset, error)) {
                return false;
            }
        } else if (!log_chunk_is_sane(&chunk, offset)) {
            gap.start = gap.start == UINT64_MAX ? offset : gap.start;
            gap.is_damaged = gap.is_damaged || chunk.magic != 0;
            offset = next_unit(offset);
        } else if (read_chunk(reader, offset, &chunk, with_stream)) {
            assert(chunk.size > 0);
            offset += chunk.size;
            reader->scanned = offset;
        } else {
            return error_set_memory(error);
        }
    }
    return true;
}

static int compare_entries(const void *left, const void *right)
{
    const struct log_index_entry *a = left;
    const struct log_index_entry *b = right;

    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* All chunks of a ring have the same size. A chunk with a wrong size hides others. */
static void check_ring_sizes(struct log_reader *reader)
{
    for (size_t i = 1; reader->header.last != 0 && i < reader->index_count; i++) {
        if (reader->index[i].size != reader->index[0].size) {
            log_reader_report(reader, reader->index[i].offset,
                              "this chunk has %llu bytes, another one %llu",
                              (unsigned long long)reader->index[i].size,
                              (unsigned long long)reader->index[0].size);
            return;
        }
    }
}

bool log_index_build(struct log_reader *reader, struct error *error)
{
    reader->scanned = LOG_HEADER_SIZE;
    if (!mapping_size(&reader->file, &reader->file_size, error) ||
        !scan(reader, true, error)) {
        return false;
    }
    if (reader->index_count > 0) {
        qsort(reader->index, reader->index_count, sizeof *reader->index,
              compare_entries);
    }
    check_ring_sizes(reader);
    return true;
}

void log_index_extend(struct log_reader *reader)
{
    struct error error = ERROR_INIT;

    if (!mapping_size(&reader->file, &reader->file_size, &error) ||
        !scan(reader, false, &error)) {
        log_reader_report(reader, reader->scanned, "%s", error.text);
    }
}
