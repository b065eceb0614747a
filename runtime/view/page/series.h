/* What is known of each name at each site over all its visits, and of each module that was called, in
 * memory that grows with the program and not with the events. Not for use elsewhere.
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
/* A strip has at most so many bins. */
#define SERIES_BIN_MAX 40

/* Figures of visits that follow each other. */
struct series_bin {
    float low, high; /* low > high: no finite value */
    bool has_nonfinite;
    bool has_nan; /* or +Inf: more than a mask's -Inf */
};

/* Visits in their order, so many to a bin. */
struct series_strip {
    struct series_bin bins[SERIES_BIN_MAX];
    uint32_t bin_count;
    uint64_t bin_width; /* visits */
    uint64_t count;     /* visits */
};

/* The values of one name, at one place inside it, at one site. */
struct series {
    uint32_t site;            /* of the trace; SITE_NONE: a parameter */
    uint32_t name;            /* text: `x`, `out[0]` */
    uint64_t nonfinite_count; /* events */
    uint64_t nan_count; /* of these, those with a NaN or +Inf: no mask means that */
    uint64_t first;     /* event */
    uint64_t first_nonfinite;        /* event; UINT64_MAX: none */
    uint32_t forms[SERIES_FORM_MAX]; /* texts */
    uint64_t form_counts[SERIES_FORM_MAX];
    uint32_t form_count;
    struct series_strip values;
    uint32_t
        gradients; /* 1 + the place of their strip in the set's `gradients`; 0: none */
    uint64_t bad_gradient_count;
};

/* Calls of one function of one module. */
struct module_row {
    uint32_t path, class_name; /* texts */
    uint32_t module, function;
    uint32_t call; /* the first one's number */
    uint64_t count;
    uint64_t nan_count; /* events with a NaN or +Inf */
    uint32_t in, out;   /* texts: the form of the first array; 0: none */
};

struct series_set {
    const struct log_reader *reader; /* borrowed */
    struct text_table texts;         /* owned */
    struct series *series;           /* owned */
    size_t capacity;
    uint32_t count;
    struct number_map index;
    struct number_map known;        /* what a name of the site table led to last */
    struct number_map forms;        /* a shape of the reader -> its text */
    struct series_strip *gradients; /* owned */
    size_t gradient_capacity;
    uint32_t gradient_count;
    struct module_row *modules; /* owned */
    size_t module_capacity;
    uint32_t module_count;
    struct number_map module_index;
    struct number_map module_of_call; /* a call's number -> its place in modules */
    uint64_t *site_counts;            /* owned; by the trace's sites: events */
    size_t site_capacity;
    uint64_t value_count; /* events with a value */
    struct buffer scratch;
};

/* false: out of memory. To be released in either case. */
bool series_set_init(struct series_set *set, const struct log_reader *reader);
void series_set_release(struct series_set *set);

/* Each gives false where memory runs out. */
bool series_set_add_call(struct series_set *set, const struct log_call_view *call);
/* The event's series, and the text of its form; NUMBER_MAP_NONE: it has no value. */
bool series_set_add(struct series_set *set,
                    const struct log_event_view *event,
                    uint32_t *series,
                    uint32_t *form);
/* A gradient, as the reader gives it. */
bool series_set_add_gradient(struct series_set *set,
                             const struct log_event_view *gradient);

#endif
