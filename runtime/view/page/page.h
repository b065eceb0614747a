/* The HTML page of a trace, or of two: one file that needs nothing but itself. What it knows is one
 * JSON object (docs/reference/schemas/page.json), which can be had alone.
 *
 *     struct page page = {.reader = reader, .sources = &sources, .paths = {path}, …};
 *
 *     if (page_add(&page, &bytes, &result, &error)) { … }
 *
 * All texts may be of a trace or a source and are not trusted. */
#ifndef MONITORCH_VIEW_PAGE_PAGE_H
#define MONITORCH_VIEW_PAGE_PAGE_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/graph/graph.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that a page is without a wish, if its sources and lines are not larger. */
#define PAGE_SIZE_DEFAULT ((uint64_t)8 << 20)

#define PAGE_EVENT_NONE UINT64_MAX

enum page_state {
    PAGE_FINE,  /* nothing wrong was found */
    PAGE_BAD,   /* a NaN, a difference, a failed check */
    PAGE_PLAIN, /* nothing was asked, or no answer was found */
};

/* A place in a source, and why it is of interest. All texts are borrowed. */
struct page_row {
    struct slice file; /* as the trace has it */
    uint32_t line;     /* 0: not known */
    uint64_t event;    /* PAGE_EVENT_NONE: none */
    struct slice name;
    struct slice words;
    struct slice code;
    struct slice call;
    uint64_t count; /* events that the row counts */
};

enum page_list_kind {
    PAGE_CHAIN, /* causes, the first one first */
    PAGE_OWN,
    PAGE_INHERITED,
    PAGE_ONLY_A,
    PAGE_ONLY_B,
    PAGE_CHECKS,
};

struct page_list {
    enum page_list_kind kind;
    const struct page_row *rows; /* borrowed */
    size_t count;
    uint64_t total; /* events, with those that have no row */
};

struct page {
    const char *paths[2]; /* of the traces; the second may be NULL */
    const char *command;  /* that makes the page again */
    struct log_reader
        *reader; /* of the trace that is shown: the second, where there are two */
    struct source_lines *sources;
    const struct graph *graph; /* may be NULL: no edges */
    enum page_state state;
    bool is_cause;                 /* a line of this trace made what is wrong */
    struct slice title;            /* the verdict in one line */
    struct slice text;             /* the lines under it */
    const struct page_list *lists; /* borrowed */
    size_t list_count;
    struct slice pictures[2]; /* SVG, light and dark; "": none */
    bool has_large_picture;   /* it is left out */
    /* As in struct flow_options; NULL: no marks. */
    enum flow_mark (*mark)(void *mark_context, uint64_t event);
    struct slice (*remark)(void *mark_context, uint64_t event);
    /* The event of the other trace that this one was compared with, where the two differ;
     * PAGE_EVENT_NONE: none. Both may be NULL. */
    uint64_t (*other)(void *mark_context, uint64_t event);
    struct log_reader *other_reader; /* borrowed */
    void *mark_context;
    uint64_t focus;       /* event around which most is kept; PAGE_EVENT_NONE */
    uint64_t max_size;    /* in bytes; 0: PAGE_SIZE_DEFAULT */
    bool is_strict;       /* fails where the sources and lines alone need more */
    uint64_t value_count; /* events with a value; 0: to be counted */
};

struct page_result {
    uint64_t event_count; /* with a value, in the trace */
    uint64_t kept_count;  /* of these, those that the page has one by one */
};

/* Appends the data alone. Fails if memory runs out, or if is_strict and the page cannot be as small as
 * max_size. */
bool page_json_add(const struct page *page,
                   struct buffer *bytes,
                   struct page_result *result,
                   struct error *error);

/* The whole file, of one page or of several that are shown one at a time, such as those of ranks:
 * page_begin, page_part_add for each, page_end. page_end fails if memory ran out at any of them. */
void page_begin(struct slice title, struct buffer *bytes);
/* The max_size of each of `count` parts of a file of at most max_size. */
uint64_t page_part_size(uint64_t max_size, size_t count);
/* `place` counts from 0. Fails as page_json_add does. */
bool page_part_add(const struct page *page,
                   size_t place,
                   struct buffer *bytes,
                   struct page_result *result,
                   struct error *error);
bool page_end(struct buffer *bytes, struct error *error);

/* Appends the file of one page. */
bool page_add(const struct page *page,
              struct buffer *bytes,
              struct page_result *result,
              struct error *error);

#endif
