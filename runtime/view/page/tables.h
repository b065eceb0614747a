/* Tables: the elements of single values that a page shows. A table has the recorded sample, and a
 * histogram if the whole value was recorded. With two traces, it also has the other trace's value.
 * Private to this folder.
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

/* Limit of the values that have a table. */
#define TABLES_MAX        1000
#define TABLES_EVENT_NONE UINT64_MAX
#define TABLES_BIN_COUNT  40

/* A value of the other trace, to be compared with the value at `place` of the page. */
struct tables_other {
    uint64_t event;
    uint32_t place;
};

/* The histogram of the value added last, while its elements are read. */
struct tables_histogram {
    uint64_t event;
    enum dtype dtype;
    double low, high;
    uint64_t bins[TABLES_BIN_COUNT];
    uint64_t count; /* number of elements in the bins */
};

struct tables {
    struct buffer own, others; /* owned: JSON objects, each followed by a comma */
    uint32_t count;
    struct tables_histogram histogram;
    struct buffer
        *open; /* `own` or `others`, if its last object is unfinished; else NULL */
    struct tables_other *wanted; /* owned */
    size_t wanted_capacity;
    uint32_t wanted_count;
};

void tables_init(struct tables *tables);
void tables_release(struct tables *tables);

/* Adds the table of the value at `place` of the page. `other` is the event of the other trace,
 * or TABLES_EVENT_NONE. Returns false if memory runs out. */
bool tables_add(struct tables *tables,
                uint32_t place,
                const struct log_event_view *event,
                uint64_t other);
/* Adds a piece of whole values. It is ignored if it does not belong to the value added last. */
void tables_add_data(struct tables *tables, const struct log_item *item);

/* Reads the values of the other trace that were requested. */
bool tables_read_others(struct tables *tables,
                        struct log_reader *reader,
                        struct error *error);

/* Adds two fields of a JSON object. */
void tables_write(struct tables *tables, struct buffer *text);

#endif
