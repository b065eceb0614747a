/* The rows of a trace: the events that match a filter. */
#include "runtime/view/walk/event_rows.h"

#include <string.h>

/* go_on() is called once per STEP_MASK + 1 items. */
#define STEP_MASK 0x3FFFF

void event_rows_init(struct event_rows *rows,
                     struct log_reader *reader,
                     const struct event_filter *filter)
{
    *rows = (struct event_rows){.reader = reader, .filter = filter};
    open_calls_init(&rows->calls);
}

void event_rows_release(struct event_rows *rows)
{
    open_calls_release(&rows->calls);
}

/* Updates the open calls. Returns whether the item is a row. */
static bool add_item(struct event_rows *rows)
{
    struct log_item *item = &rows->item;
    bool is_new = false;

    if (item->kind == LOG_END) {
        open_calls_end(&rows->calls, open_calls_find(&rows->calls, item->end.call));
        return false;
    }
    if (item->kind == LOG_CALL) {
        rows->call = open_calls_begin(&rows->calls, &item->call, &is_new);
    } else if (item->kind == LOG_EVENT) {
        rows->call = open_calls_of_event(&rows->calls, &item->event, &is_new);
    } else {
        return false;
    }
    if (rows->call == NULL) {
        rows->has_failed = true;
        return false;
    }
    if (is_new) {
        event_filter_judge(rows->filter, rows->call, rows->reader);
    }
    return item->kind == LOG_EVENT &&
           event_filter_match(rows->filter, rows->call, &item->event);
}

bool event_rows_next(struct event_rows *rows)
{
    while (!rows->has_failed && !rows->is_stopped &&
           log_reader_next(rows->reader, &rows->item)) {
        bool is_row = add_item(rows);

        if ((++rows->item_count & STEP_MASK) == 0 && rows->go_on != NULL) {
            rows->is_stopped = !rows->go_on(rows->context);
        }
        if (is_row) {
            return true;
        }
    }
    rows->has_failed = rows->has_failed || !event_rows_has_memory(rows->reader);
    return false;
}

bool event_rows_has_memory(const struct log_reader *reader)
{
    size_t count = log_reader_damage_count(reader);

    for (size_t i = 0; i < count; i++) {
        if (strstr(log_reader_damage(reader, i), "out of memory") != NULL) {
            return false;
        }
    }
    return true;
}
