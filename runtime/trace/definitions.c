/* The chunks of a trace that hold its definitions. */
#include "runtime/trace/reader_private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

bool log_definitions_add(struct log_reader *reader, uint64_t offset, uint64_t size)
{
    void *chunks = reader->definitions;

    if (!memory_grow(&chunks, &reader->definitions_capacity,
                     reader->definitions_count + 1, sizeof *reader->definitions)) {
        return false;
    }
    reader->definitions = chunks;
    reader->definitions[reader->definitions_count++] =
        (struct log_definitions_chunk){.offset = offset, .size = (size_t)size};
    return true;
}

void log_definitions_release(struct log_reader *reader)
{
    for (size_t i = 0; i < reader->definitions_count; i++) {
        memory_free(reader->definitions[i].bytes);
    }
    memory_free(reader->definitions);
    memory_free(reader->modules.entries);
    memory_free(reader->texts.entries);
    memory_free(reader->shapes.entries);
    memory_free(reader->threads.entries);
    memory_free(reader->settings);
    memory_free(reader->left_out);
    number_map_release(&reader->left_out_sites);
}

/* Makes room for the chunk's bytes: no more than the file has, a header may claim anything. */
static bool chunk_reserve(struct log_reader *reader,
                          struct log_definitions_chunk *chunk)
{
    uint64_t there =
        reader->file_size > chunk->offset ? reader->file_size - chunk->offset : 0;
    size_t size = there < chunk->size ? (size_t)there : chunk->size;

    if (chunk->bytes != NULL) {
        return true;
    }
    size = size < sizeof(struct log_chunk) ? sizeof(struct log_chunk) : size;
    chunk->bytes = memory_allocate(size, 1);
    chunk->size = size;
    chunk->parsed = sizeof(struct log_chunk);
    return chunk->bytes != NULL;
}

/* The end of the bytes that hold records, by the header. */
static size_t chunk_end(struct log_reader *reader,
                        struct log_definitions_chunk *chunk,
                        const struct log_chunk_read *read)
{
    const struct log_chunk *header = &read->header;

    if (header->used_size == 0 || header->used_size > read->loaded) {
        if (header->used_size != 0) {
            log_reader_report(reader, chunk->offset, "the file ends inside this chunk");
        }
        return read->end;
    }
    chunk->is_done = true;
    if (hash_64((struct slice){chunk->bytes + sizeof *header,
                               (size_t)header->used_size - sizeof *header}) !=
        header->checksum) {
        log_reader_report(reader, chunk->offset, "the checksum of this chunk is wrong");
    }
    return (size_t)header->used_size;
}

/* Reads on in the chunk. What was understood is never read again: things point into it. */
static void chunk_load(struct log_reader *reader, struct log_definitions_chunk *chunk)
{
    struct error error = ERROR_INIT;
    struct log_chunk_read read;
    size_t end;

    if (!chunk_reserve(reader, chunk)) {
        error_set_memory(&error);
    } else {
        (void)log_chunk_read(reader, chunk->offset, chunk->bytes, chunk->parsed,
                             chunk->size, &read, &error);
    }
    if (error.kind != ERROR_NONE) {
        log_reader_report(reader, chunk->offset, "%s", error.text);
        chunk->is_done = true;
        return;
    }
    end = chunk_end(reader, chunk, &read);
    while (end - chunk->parsed >= sizeof(struct log_record)) {
        uint64_t offset = chunk->offset + chunk->parsed;
        struct log_record record;
        const char *problem;

        memcpy(&record, chunk->bytes + chunk->parsed, sizeof record);
        if (record.size == 0 && !chunk->is_done) {
            return; /* nothing was written here yet */
        }
        if (record.size < sizeof record || record.size > end - chunk->parsed) {
            log_reader_report(reader, offset,
                              "a definition of impossible size, %lu: the rest of its "
                              "chunk is lost",
                              (unsigned long)record.size);
            chunk->is_done = true;
            return;
        }
        problem = log_definition_read(reader, chunk->bytes + chunk->parsed, offset);
        if (problem != NULL) {
            log_reader_report(reader, offset, "%s", problem);
        }
        chunk->parsed += log_record_padded(record.size);
        if (chunk->parsed > end) {
            chunk->parsed = end;
        }
    }
}

void log_definitions_load(struct log_reader *reader)
{
    for (size_t i = 0; i < reader->definitions_count; i++) {
        if (!reader->definitions[i].is_done) {
            chunk_load(reader, &reader->definitions[i]);
        }
    }
}
