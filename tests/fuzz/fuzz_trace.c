/* Any bytes as a trace: refused, or read to its end, twice the same, with nothing in it that
 * leads nowhere.
 *
 * The first byte chooses: an odd one, the rest is the file. Else the rest is a short form of
 * one, because chunks are far apart: `last`, `sample` and the flags (1: closed) in a byte each,
 * then chunks: kind (1 or 2; + 4: sealed; + 8: with a wrong number), the size of the records in
 * two bytes, the records. */
#include "runtime/base/hash.h"
#include "tests/unit/test_log.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK_LIMIT 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_at(int file, uint64_t offset, const void *bytes, size_t size)
{
    if (pwrite(file, bytes, size, (off_t)offset) != (ssize_t)size) {
        abort();
    }
}

static void put_chunks(int file, const uint8_t *data, size_t size)
{
    uint64_t offset = LOG_HEADER_SIZE;
    uint64_t number = 0;

    for (int i = 0; i < CHUNK_LIMIT && size >= 3; i++) {
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
        put_at(file, offset, &chunk, sizeof chunk);
        put_at(file, offset + sizeof chunk, data + 3, used);
        offset += chunk.size;
        data += 3 + used;
        size -= 3 + used;
    }
    if (ftruncate(file, (off_t)offset) != 0) {
        abort();
    }
}

static void put_trace(int file, const uint8_t *data, size_t size)
{
    struct log_header header = {
        .magic = LOG_MAGIC, .version = LOG_VERSION, .header_size = LOG_HEADER_SIZE};

    if (size == 0 || (data[0] & 1) != 0) {
        put_at(file, 0, data + (size > 0), size - (size > 0));
        return;
    }
    if (size >= 4) {
        header.last = data[1];
        header.sample = data[2];
        header.is_closed = data[3] & 1;
        put_chunks(file, data + 4, size - 4);
    }
    header.checksum = hash_64(
        (struct slice){(const char *)&header, offsetof(struct log_header, is_closed)});
    put_at(file, 0, &header, sizeof header);
}

/* What is promised of every item. */
static void check_item(const struct log_item *item)
{
    const struct log_event_view *event = &item->event;

    if (item->kind == LOG_CALL &&
        item->call.function >= item->call.module->table.functions +
                                   item->call.module->table.function_count) {
        abort();
    }
    if (item->kind != LOG_EVENT) {
        return;
    }
    if ((unsigned)event->kind >= VALUE_KIND_COUNT ||
        (unsigned)event->change >= CHANGE_COUNT ||
        event->site_number - event->module->first_site >=
            event->module->table.site_count ||
        (event->kind == VALUE_TENSOR) != (event->shape != NULL) ||
        (event->has_statistics &&
         statistics_finite_count(&event->statistics) > event->statistics.count) ||
        (event->sample == NULL && event->grid.count != 0 &&
         (event->flags & LOG_EVENT_SAMPLE) != 0)) {
        abort();
    }
}

static uint64_t read_all(struct log_reader *reader)
{
    struct log_item item;
    uint64_t sum = 0;

    while (log_reader_next(reader, &item)) {
        check_item(&item);
        sum = sum * 31 + item_touch(&item);
    }
    for (size_t i = 0; i < log_reader_damage_count(reader); i++) {
        sum += strlen(log_reader_damage(reader, i));
        if (!slice_starts(slice_of(log_reader_damage(reader, i)), SLICE("offset "))) {
            abort();
        }
    }
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        sum += log_reader_module(reader, i)->source.size;
    }
    return sum + log_reader_thread_name(reader, 0).size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("trace", MFD_CLOEXEC);
    struct error error = ERROR_INIT;
    struct log_reader *reader;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    put_trace(file, data, size);
    reader = log_reader_new(path, &error);
    if (reader == NULL) {
        if (error.kind != ERROR_INPUT ||
            !slice_starts(slice_of(error.text), slice_of(path))) {
            abort();
        }
    } else {
        uint64_t once = read_all(reader);

        log_reader_rewind(reader);
        if (read_all(reader) != once) {
            abort();
        }
    }
    log_reader_free(reader);
    close(file);
    return 0;
}
