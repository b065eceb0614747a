/* The reading of a trace: each value with its sources, and the calls and turns of loops that it is
 * in. `graph.h` keeps the part that edges need; pictures fold it (`view/flow`).
 *
 *     struct reading reading;
 *
 *     if (reading_read(&reading, reader, &options, &error)) { … reading.values[i] … }
 *     reading_release(&reading);
 *
 * Modules are borrowed from the reader; everything else is owned. Values are in the order of their
 * events. A call or unit precedes those inside it. */
#ifndef MONITORCH_VIEW_GRAPH_READING_H
#define MONITORCH_VIEW_GRAPH_READING_H

#include "runtime/base/error.h"
#include "runtime/base/number_map.h"
#include "runtime/base/text_table.h"
#include "runtime/trace/reader.h"
#include "runtime/view/graph/graph.h"
#include "runtime/view/walk/event_filter.h"

#include <stdbool.h>
#include <stdint.h>

struct reading_options {
    /* Borrowed; may be NULL. Values that it filters out are hidden, or are sources. */
    const struct event_filter *filter;
    uint64_t first_event; /* number of the first event that is not hidden */
    /* Hides what a monitor measured or a saver wrote: nothing is made from these. */
    bool hides_reported;
    bool has_scalars; /* numbers, strings, bools too; else only arrays are values */
    bool has_updates; /* backwards and calls that write to gradients are values,
                         unless there is a filter */
    /* Called regularly if not NULL. If it returns false, the work ends with an error. */
    bool (*progress)(void *context, uint64_t events);
    void *progress_context;
};

/* A value of an event; or an update, with the number of the event before it. */
struct reading_value {
    uint64_t event;
    uint32_t object; /* the first value that held the same object */
    uint32_t site;   /* of the trace */
    uint32_t call;   /* index */
    uint32_t unit;
    uint32_t name;       /* text, without the path */
    uint32_t path;       /* text */
    uint32_t guess;      /* text: how an argument was made up */
    uint32_t alias_site; /* of the line that wrote to it through another name */
    uint16_t flags;      /* enum graph_flag */
    uint8_t kind;        /* enum value_kind */
    uint8_t dtype;
    uint8_t change;
    uint8_t difference;
    bool is_read : 1;     /* recorded because it was read */
    bool is_hidden : 1;   /* filtered out, or too old */
    bool is_promoted : 1; /* was hidden, until a shown value was made from it */
    bool has_nan : 1;
};

struct reading_edge {
    uint32_t source;
    uint32_t target;
    uint32_t name; /* text: how the statement spells the source; 0: not known */
    uint8_t kind;  /* enum graph_kind */
    bool is_unsure;
};

struct reading_call {
    uint32_t number; /* in the trace */
    uint32_t parent; /* index of a call, or GRAPH_NONE */
    uint32_t module;
    uint32_t function;
    uint32_t line;       /* in the parent; 0: not known */
    uint32_t path;       /* text */
    uint32_t class_name; /* text */
    uint32_t unit;
    uint32_t first_result, result_count; /* values */
    uint16_t thread;
    bool is_wanted; /* passes the filter */
    /* Not wanted, but called by a wanted call or by one that is between: its arguments and
     * results connect wanted values. */
    bool is_between;
};

/* A call or a turn of a loop: the unit that is folded and that a box is drawn around. */
struct reading_unit {
    uint32_t parent; /* a unit, or GRAPH_NONE */
    uint32_t call;   /* the call itself, or the one that the loop is in */
    uint32_t loop;   /* site of the trace; GRAPH_NONE: a call */
};

/* A backward, or a call that writes to gradients or parameters. */
struct reading_update {
    uint32_t value; /* index of its value; GRAPH_NONE: no line of it is known yet */
    enum log_step_tag tag;
    uint32_t line;
    uint32_t name;            /* text: `AdamW.step` */
    uint64_t value_count;     /* number of gradients, or of tensors that it wrote */
    uint64_t parameter_count; /* of a backward: gradients of parameters */
    uint64_t bad_count;       /* number of the values with NaN or an infinity */
    double largest;           /* largest magnitude of a finite element in the values */
    uint32_t largest_name;    /* text: of the value that has it */
    uint32_t optimizer;       /* text: `AdamW`; 0: none */
    double rate;              /* the optimizer's learning rate; NaN: not known */
    bool has_start;           /* of a backward: its first gradient was seen */
};

/* Counts of events that are no value or are hidden. */
struct reading_left_out {
    uint64_t dropped;   /* events that the ring has dropped */
    uint64_t scalars;   /* events whose values are no arrays */
    uint64_t unchanged; /* lines that might have written to a value but did not */
    uint64_t filtered;  /* events that the filter left out */
    uint64_t in_part;   /* containers that were not recorded completely */
    uint64_t lost;      /* never recorded: a full disk, a limit */
};

struct reading {
    struct reading_value *values;
    struct reading_edge *edges;
    struct reading_call *calls;
    struct reading_unit *units;
    const struct log_module **modules; /* NULL: none of its calls is in the trace */
    struct reading_update *updates;    /* in the order of their values */
    struct text_table texts;
    struct number_map written_sites; /* site -> its newest value */
    struct reading_left_out left_out;
    uint32_t value_count, edge_count, call_count, unit_count, module_count,
        update_count;
    bool has_updates;
};

/* Reads the whole stream. Returns false if memory runs out or progress returns false; nothing
 * needs to be released then. */
bool reading_read(struct reading *reading,
                  struct log_reader *reader,
                  const struct reading_options *options,
                  struct error *error);
void reading_release(struct reading *reading);

/* The module of a call's site. Sets `number` to its index. */
const struct log_module *reading_module_of(const struct reading *reading,
                                           uint32_t call,
                                           uint32_t site,
                                           uint32_t *number);
const struct site *
reading_site_of(const struct reading *reading, uint32_t call, uint32_t site);
/* The update that has that value. */
const struct reading_update *reading_update_of(const struct reading *reading,
                                               uint32_t value);
/* The value of that event. GRAPH_NONE: none. */
uint32_t reading_find(const struct reading *reading, uint64_t event);

/* Calls progress once in many events. Returns false, with the error set, if it ends the work. */
bool reading_report_progress(const struct reading_options *options,
                             uint64_t events,
                             struct error *error);

#endif
