/* Series: the facts of each name at each site over all its visits, and of each module that was
 * called. Memory grows with the program, not with the events. Private to this folder.
 *
 *     series_set_init(&set, reader);
 *     while (log_reader_next(reader, &item)) {
 *         LOG_CALL: series_set_add_call(&set, &item.call)
 *         LOG_EVENT: series_set_add(&set, &item.event, &series, &form)
 *         LOG_GRADIENT: series_set_add_gradient(&set, &item.event)
 *     } */
#ifndef MONITORCH_VIEW_PAGE_SERIES_H
#define MONITORCH_VIEW_PAGE_SERIES_H

#include "runtime/base/number_map.h"
#include "runtime/base/text_table.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIES_FORM_MAX 4
/* Limit of the bins of a strip. */
#define SERIES_BIN_MAX 40

/* The range and the non-finite values of consecutive visits. */
struct series_bin {
    float low, high; /* low > high: no finite value */
    bool has_nonfinite;
    bool has_nan; /* NaN or +Inf; a mask has only -Inf */
};

/* Visits in their order, bin_width to a bin. */
struct series_strip {
    struct series_bin bins[SERIES_BIN_MAX];
    uint32_t bin_count;
    uint64_t bin_width; /* in visits */
    uint64_t count;     /* in visits */
};

/* The values of one name, or of one place inside its value, at one site. */
struct series {
    uint32_t site;            /* number in the trace; SITE_NONE: a parameter */
    uint32_t name;            /* text: `x`, `out[0]` */
    uint64_t nonfinite_count; /* number of events */
    uint64_t nan_count;       /* those of them with a NaN or +Inf, which no mask has */
    uint64_t first;           /* event number */
    uint64_t first_nonfinite; /* event number; UINT64_MAX: none */
    uint32_t forms[SERIES_FORM_MAX]; /* texts */
    uint64_t form_counts[SERIES_FORM_MAX];
    uint32_t form_count;
    struct series_strip values;
    uint32_t gradients; /* 1 + index of their strip in the set's `gradients`; 0: none */
    uint64_t bad_gradient_count;
};

/* The calls of one function of one module. */
struct module_row {
    uint32_t path, class_name; /* texts */
    uint32_t module, function;
    uint32_t call; /* number of the first one */
    uint64_t count;
    uint64_t nan_count; /* number of events with a NaN or +Inf */
    uint32_t in, out;   /* texts: form of the first array; 0: none */
};

struct series_set {
    const struct log_reader *reader; /* borrowed */
    struct text_table texts;         /* owned */
    struct series *series;           /* owned */
    size_t capacity;
    uint32_t count;
    struct number_map index;
    struct number_map known;        /* name and site -> the series found last */
    struct number_map forms;        /* shape of the reader -> its text */
    struct series_strip *gradients; /* owned */
    size_t gradient_capacity;
    uint32_t gradient_count;
    struct module_row *modules; /* owned */
    size_t module_capacity;
    uint32_t module_count;
    struct number_map module_index;
    struct number_map module_of_call; /* call number -> index in modules */
    uint64_t *site_counts;            /* owned: number of events by site of the trace */
    size_t site_capacity;
    uint64_t value_count; /* number of events with a value */
    struct buffer scratch;
};

/* Returns false if memory runs out. Release the set in either case. */
bool series_set_init(struct series_set *set, const struct log_reader *reader);
void series_set_release(struct series_set *set);

/* Each returns false if memory runs out. */
bool series_set_add_call(struct series_set *set, const struct log_call_view *call);
/* Finds the event's series and the text of its form. Both are NUMBER_MAP_NONE if it has no
 * value. */
bool series_set_add(struct series_set *set,
                    const struct log_event_view *event,
                    uint32_t *series,
                    uint32_t *form);
/* Adds a gradient item of the reader. */
bool series_set_add_gradient(struct series_set *set,
                             const struct log_event_view *gradient);

#endif
