/* Fuzz inputs as traces.
 *
 * The first byte chooses: an odd one, the rest is the file. Else the rest is a short form of
 * one, because chunks are far apart: `last`, `sample` and the flags (1: closed) in a byte each,
 * then chunks: kind (1 or 2; + 4: sealed; + 8: with a wrong number), the size of the records in
 * two bytes, the records. */
#ifndef MONITORCH_TESTS_FUZZ_SHORT_TRACE_H
#define MONITORCH_TESTS_FUZZ_SHORT_TRACE_H

#include "runtime/base/hash/hash.h"
#include "runtime/trace/reader.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHORT_TRACE_CHUNK_LIMIT 8

static inline void
short_trace_put_at(int file, uint64_t offset, const void *bytes, size_t size)
{
    if (pwrite(file, bytes, size, (off_t)offset) != (ssize_t)size) {
        abort();
    }
}

static inline void short_trace_put_chunks(int file, const uint8_t *data, size_t size)
{
    uint64_t offset = LOG_HEADER_SIZE;
    uint64_t number = 0;

    for (int i = 0; i < SHORT_TRACE_CHUNK_LIMIT && size >= 3; i++) {
        size_t used = (size_t)(data[1] | data[2] << 8);
        struct log_chunk chunk = {.magic = LOG_CHUNK_MAGIC, .kind = data[0] & 3};

        used = used > size - 3 ? size - 3 : used;
        used = used > 50000 ? 50000 : used;
        chunk.size = LOG_CHUNK_UNIT - offset % LOG_CHUNK_UNIT;
        chunk.number = chunk.kind == LOG_CHUNK_STREAM ? number++ : 0;
        chunk.number += (data[0] & 8) != 0;
        if ((data[0] & 4) != 0) {
            chunk.used_size = sizeof chunk + used / 8 * 8;
            chunk.checksum =
                hash_64((struct slice){(const char *)data + 3, used / 8 * 8});
        }
        short_trace_put_at(file, offset, &chunk, sizeof chunk);
        short_trace_put_at(file, offset + sizeof chunk, data + 3, used);
        offset += chunk.size;
        data += 3 + used;
        size -= 3 + used;
    }
    if (ftruncate(file, (off_t)offset) != 0) {
        abort();
    }
}

static inline void short_trace_put(int file, const uint8_t *data, size_t size)
{
    struct log_header header = {
        .magic = LOG_MAGIC, .version = LOG_VERSION, .header_size = LOG_HEADER_SIZE};

    if (size == 0 || (data[0] & 1) != 0) {
        short_trace_put_at(file, 0, data + (size > 0), size - (size > 0));
        return;
    }
    if (size >= 4) {
        header.last = data[1];
        header.sample = data[2];
        header.is_closed = data[3] & 1;
        short_trace_put_chunks(file, data + 4, size - 4);
    }
    header.checksum = hash_64(
        (struct slice){(const char *)&header, offsetof(struct log_header, is_closed)});
    short_trace_put_at(file, 0, &header, sizeof header);
}

#define SHORT_TRACE_PATH_SIZE 64

/* An empty file, to be closed, and the path that it goes by. */
static inline int short_trace_file(char path[SHORT_TRACE_PATH_SIZE])
{
    int file = memfd_create("trace", MFD_CLOEXEC);

    snprintf(path, SHORT_TRACE_PATH_SIZE, "/proc/self/fd/%d", file);
    return file;
}

/* Has the input read as a trace, where it is one; else it is refused as input, in words that begin with
 * its path. */
static inline void short_trace_read(const uint8_t *data,
                                    size_t size,
                                    void (*use)(struct log_reader *reader))
{
    char path[SHORT_TRACE_PATH_SIZE];
    int file = short_trace_file(path);
    struct error error = ERROR_INIT;
    struct log_reader *reader;

    short_trace_put(file, data, size);
    reader = log_reader_new(path, &error);
    if (reader != NULL) {
        use(reader);
    } else if (error.kind != ERROR_INPUT ||
               !slice_starts(slice_of(error.text), slice_of(path))) {
        abort();
    }
    log_reader_free(reader);
    close(file);
}

#endif
