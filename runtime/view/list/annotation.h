/* Annotation of sources: the shapes and dtypes of the values of each line, their number, and the
 * lines that never ran, written as comments after the lines. Memory grows with the lines and the
 * distinct shapes, not with the events. */
#ifndef MONITORCH_VIEW_LIST_ANNOTATION_H
#define MONITORCH_VIEW_LIST_ANNOTATION_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/number_map.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/event_filter.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of distinct shapes of a value that are listed. More are merged into ranges. */
#define ANNOTATION_FORMS_MAX 3

/* A dtype and shape of a value, or the type of another value. */
struct seen_form {
    enum value_kind kind;
    uint64_t count;
    struct slice type; /* TENSOR: of the dtype; CONTAINER, OBJECT; in the arena */
    uint32_t dimension_count;
    int64_t *low,
        *high; /* of each dimension, in the arena; INT, BOOL and CONTAINER have one */
    double least, most; /* FLOAT: of the finite values */
    bool has_range;     /* FLOAT: some value was finite */
};

/* The values of one name at one site. */
struct seen_value {
    uint32_t file;
    uint32_t line;
    uint32_t column;
    uint32_t order; /* order of the first events */
    enum site_kind kind;
    struct slice name, path; /* in the arena */
    uint64_t count;
    uint64_t nan_count,
        infinite_count;   /* number of events with NaN, and with infinities */
    uint64_t other_count; /* number of events with forms beyond the limit */
    struct seen_form forms[ANNOTATION_FORMS_MAX + 1];
    uint32_t form_count;
    bool is_ranged;
};

/* One version of a source file. */
struct seen_file {
    struct slice path; /* in the arena */
    uint64_t hash[2];
    struct slice source; /* in the arena; size 0: not in the traces */
    uint8_t *lines;      /* owned: enum seen_line of each */
    size_t line_count;
    uint64_t value_count; /* number of events */
};

enum seen_line {
    LINE_REACHED = 1,
    LINE_HAS_ENTER = 2, /* has sites of that kind that pass the filter */
    LINE_HAS_BRANCH = 4,
    LINE_HAS_OTHER = 8,
    LINE_OF_LEFT =
        16, /* start of a function with a call that ended without a return, or did not end */
    LINE_IN_LEFT =
        32, /* line of such a function: it may have started, and raised an exception */
};

struct annotation {
    struct arena arena;
    struct seen_file *files; /* owned */
    size_t file_count;
    size_t file_capacity;
    struct seen_value **
        values; /* owned; the items are in the arena, in the order of their first events */
    size_t value_count;
    size_t value_capacity;
    struct number_map known; /* owned: hash -> index in `values` */
    uint32_t
        *modules; /* owned: module of the current trace -> 1 + its file; 0: not known */
    size_t module_capacity;
    bool has_ring; /* some trace has only the newest events */
};

void annotation_init(struct annotation *annotation);
void annotation_release(struct annotation *annotation);

/* Called before the items of a trace. */
void annotation_start_trace(struct annotation *annotation,
                            const struct log_reader *reader);
/* `is_wanted`: the event passes the filter. Otherwise only its line is marked as reached. */
bool annotation_add_event(struct annotation *annotation,
                          const struct log_event_view *event,
                          bool is_wanted,
                          struct error *error);
/* Adds a call that ended without a return, or had not ended at the end of the trace. */
bool annotation_add_left(struct annotation *annotation,
                         const struct log_reader *reader,
                         const struct open_call *call,
                         struct error *error);
/* Called after the last item of a trace. Adds the sources, and the sites without events. `strip`
 * as in source_lines.h. */
bool annotation_end_trace(struct annotation *annotation,
                          const struct log_reader *reader,
                          const struct event_filter *filter,
                          bool (*strip)(struct slice text, struct buffer *original),
                          struct error *error);

/* A source, and the places where comments are possible. Everything is borrowed from the creator. */
struct source_places {
    struct slice text; /* UTF-8, as far as it could be decoded */
    bool is_ascii;     /* comments must be ASCII */
    size_t *starts;    /* start of each line, and the text's size at the end */
    bool *
        is_open; /* by line: a comment at its end would be part of a string, or follow a backslash */
    size_t line_count;
};

/* Appends the file's source with a comment on each line that has values or marks. */
bool annotation_write(const struct annotation *annotation,
                      size_t file,
                      const struct source_places *places,
                      struct buffer *text,
                      struct error *error);

#endif
