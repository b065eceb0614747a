/* What is known of each name at each site over all its visits, and of each module that was called:
 * one reading of the trace, in memory that grows with the program and not with the events. Not for
 * use elsewhere. */
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

/* The values of one name, at one place inside it, at one site. */
struct series {
    uint32_t site; /* of the trace */
    uint32_t name; /* text: `x`, `out[0]` */
    uint64_t count;
    uint64_t nonfinite_count; /* events */
    uint64_t nan_count; /* of these, those with a NaN or +Inf: no mask means that */
    uint64_t first;     /* event */
    uint64_t first_nonfinite;        /* event; UINT64_MAX: none */
    uint32_t forms[SERIES_FORM_MAX]; /* texts */
    uint64_t form_counts[SERIES_FORM_MAX];
    uint32_t form_count;
    struct series_bin bins[SERIES_BIN_MAX];
    uint32_t bin_count;
    uint64_t bin_width; /* visits */
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

/* One reading. false: out of memory. */
bool series_set_read(struct series_set *set, struct log_reader *reader);

/* The series of an event with a value, and the text of its form; false: out of memory. */
bool series_set_find(struct series_set *set,
                     const struct log_event_view *event,
                     uint32_t *series,
                     uint32_t *form);

#endif
