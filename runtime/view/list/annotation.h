/* What each line of the traced sources saw: the shapes and dtypes of its values, how often, and
 * which lines were never reached; written behind the lines as comments. Memory grows with the
 * lines and the distinct shapes, not with the events. */
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

/* How many distinct shapes of a value are told one by one; more become ranges. */
#define ANNOTATION_FORMS_MAX 3

/* A dtype and shape that a value had, or what else it was. */
struct seen_form {
    enum value_kind kind;
    uint64_t count;
    struct slice type; /* TENSOR: of the dtype; CONTAINER, OBJECT; in the arena */
    uint32_t dimension_count;
    int64_t *low,
        *high; /* of each dimension, in the arena; of INT, BOOL and CONTAINER one */
    double least, most; /* FLOAT: of the finite ones */
    bool has_range;     /* FLOAT: there were finite ones */
};

/* The values of one name at one place. */
struct seen_value {
    uint32_t file;
    uint32_t line;
    uint32_t column;
    uint32_t order; /* in which they were first seen */
    enum site_kind kind;
    struct slice name, path; /* in the arena */
    uint64_t count;
    uint64_t nan_count, infinite_count; /* events with NaN, and with infinities */
    uint64_t other_count;               /* events of forms that no room was left for */
    struct seen_form forms[ANNOTATION_FORMS_MAX + 1];
    uint32_t form_count;
    bool is_ranged;
};

/* A source file, in one version. */
struct seen_file {
    struct slice path; /* in the arena */
    uint64_t hash[2];
    struct slice source; /* in the arena; size 0: not in the traces */
    uint8_t *lines;      /* owned: enum seen_line of each */
    size_t line_count;
    uint64_t value_count; /* events */
};

enum seen_line {
    LINE_REACHED = 1,
    LINE_HAS_ENTER = 2, /* sites that are wanted */
    LINE_HAS_BRANCH = 4,
    LINE_HAS_OTHER = 8,
    LINE_OF_LEFT =
        16, /* here begins a function that was left without a return, or not at all */
    LINE_IN_LEFT = 32, /* in such a function: the line may have begun, and raised */
};

struct annotation {
    struct arena arena;
    struct seen_file *files; /* owned */
    size_t file_count;
    size_t file_capacity;
    struct seen_value **values; /* owned; each in the arena, as they were first seen */
    size_t value_count;
    size_t value_capacity;
    struct number_map known; /* owned: hash -> place in `values` */
    uint32_t *
        modules; /* owned: of the trace that is read, 1 + the file of each; 0: not known */
    size_t module_capacity;
    bool has_ring; /* a trace that does not have all that happened */
};

void annotation_init(struct annotation *annotation);
void annotation_release(struct annotation *annotation);

/* Before the items of a trace. */
void annotation_start_trace(struct annotation *annotation,
                            const struct log_reader *reader);
/* `is_wanted`: it passes the filter; else only that its line was reached is known. */
bool annotation_add_event(struct annotation *annotation,
                          const struct log_event_view *event,
                          bool is_wanted,
                          struct error *error);
/* A call that ended without a return, or goes on where the trace ends. */
bool annotation_add_left(struct annotation *annotation,
                         const struct log_reader *reader,
                         const struct open_call *call,
                         struct error *error);
/* Behind the last item: takes the sources, and the places that nothing was heard of. `strip` as
 * in source_lines.h. */
bool annotation_end_trace(struct annotation *annotation,
                          const struct log_reader *reader,
                          const struct event_filter *filter,
                          bool (*strip)(struct slice text, struct buffer *original),
                          struct error *error);

/* A source as its lines can be commented. All borrowed from the one who made it. */
struct source_places {
    struct slice text; /* UTF-8, as far as it could be decoded */
    bool is_ascii;     /* comments can hold nothing else */
    size_t *starts;    /* of each line, and the text's size behind the last */
    bool *
        is_open; /* by line: a comment at its end would be part of a string, or behind a
                          backslash that continues the line */
    size_t line_count;
};

/* Appends the file's source, each line with what was seen on it. */
bool annotation_write(const struct annotation *annotation,
                      size_t file,
                      const struct source_places *places,
                      struct buffer *text,
                      struct error *error);

#endif
