/* The elements of single values that a page shows: the recorded sample, and a histogram where whole values
 * were recorded. Of two traces also those of the other trace's value. Not for use elsewhere.
 *
 *     tables_init(&tables);
 *     tables_add(&tables, place, &event, 0)          an event with a table …
 *     tables_add_data(&tables, &item)                … and the pieces of its whole values
 *     tables_read_others(&tables, reader, &error)    the other trace, once
 *     tables_write(&tables, &text) */
#ifndef MONITORCH_VIEW_PAGE_TABLES_H
#define MONITORCH_VIEW_PAGE_TABLES_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many values have a table at most. */
#define TABLES_MAX        1000
#define TABLES_EVENT_NONE UINT64_MAX
#define TABLES_BIN_COUNT  40

/* A value of the other trace: it is compared with the one at `place` of the page. */
struct tables_other {
    uint64_t event;
    uint32_t place;
};

/* The histogram of the value that was added last, while its elements are read. */
struct tables_histogram {
    uint64_t event;
    enum dtype dtype;
    double low, high;
    uint64_t bins[TABLES_BIN_COUNT];
    uint64_t count; /* elements in the bins */
};

struct tables {
    struct buffer own, others; /* owned: JSON objects, a comma behind each */
    uint32_t count;
    struct tables_histogram histogram;
    struct buffer *open; /* `own` or `others`, whose last object is not ended; NULL */
    struct tables_other *wanted; /* owned */
    size_t wanted_capacity;
    uint32_t wanted_count;
};

void tables_init(struct tables *tables);
void tables_release(struct tables *tables);

/* The value at that place of the page, and the number of the other trace's; TABLES_EVENT_NONE: there is
 * none. false: out of memory. */
bool tables_add(struct tables *tables,
                uint32_t place,
                const struct log_event_view *event,
                uint64_t other);
/* A piece of whole values: of the last value, or of none that is here. */
void tables_add_data(struct tables *tables, const struct log_item *item);

/* Reads the wanted values of the other trace. */
bool tables_read_others(struct tables *tables,
                        struct log_reader *reader,
                        struct error *error);

/* Two fields of an object. */
void tables_write(struct tables *tables, struct buffer *text);

#endif
