/* Reading a chunk that another process may be writing to.
 *
 * A read does not see a file at one moment, nor in the order of its bytes: a record's head may be
 * newer than its body. But what the writer stored before something that one read has seen, a
 * later read sees. So whatever says "this is complete" (a chunk's used_size, a record's head) is
 * read first, and what it speaks of after it. */
#include "runtime/trace/reader_private.h"

bool log_chunk_read_header(const struct log_reader *reader,
                           uint64_t offset,
                           struct log_chunk *header,
                           struct error *error)
{
    size_t size;

    *header = (struct log_chunk){0};
    return mapping_read(&reader->file, offset, header, sizeof *header, &size, error);
}

/* With the checksum of a chunk that is complete. */
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

/* Where the records end whose heads are there; `size` where one of them is damaged. */
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
    return mapping_read(&reader->file, offset + start, bytes + start, read->end - start,
                        &count, error);
}
