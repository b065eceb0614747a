/* Any bytes as a trace (short_trace.h says how): refused, or read to its end, twice the same,
 * with nothing in it that leads nowhere. */
#include "tests/fuzz/short_trace.h"
#include "tests/trace/test_log.h"

#include "runtime/base/hash/hash.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    for (size_t i = 0; i < log_reader_setting_count(reader); i++) {
        const struct log_setting *setting = log_reader_setting(reader, i);

        sum += setting->name.size + hash_64(setting->value) % 7;
    }
    if (log_reader_setting(reader, log_reader_setting_count(reader)) != NULL) {
        abort();
    }
    return sum + log_reader_thread_name(reader, 0).size;
}

static void read_twice(struct log_reader *reader)
{
    uint64_t once = read_all(reader);

    log_reader_rewind(reader);
    if (read_all(reader) != once) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    short_trace_read(data, size, read_twice);
    return 0;
}
