/* The HTML page of one trace, or of two: one self-contained file. Its data is one JSON object
 * (docs/reference/schemas/page.json), which can be written without the page.
 *
 *     struct page page = {.reader = reader, .sources = &sources, .paths = {path}, …};
 *
 *     if (page_add(&page, &bytes, &result, &error)) { … }
 *
 * Texts may come from a trace or a source, and are not trusted. */
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

/* The default limit of a page's size. Sources and lines may exceed it. */
#define PAGE_SIZE_DEFAULT ((uint64_t)8 << 20)

#define PAGE_EVENT_NONE UINT64_MAX

enum page_state {
    PAGE_FINE,  /* nothing wrong was found */
    PAGE_BAD,   /* a NaN, a difference or a failed check */
    PAGE_PLAIN, /* nothing was asked, or no answer exists */
};

/* A place in a source, and the reason why it is listed. All texts are borrowed. */
struct page_row {
    struct slice file; /* path as in the trace */
    uint32_t line;     /* 0: unknown */
    uint64_t event;    /* PAGE_EVENT_NONE: none */
    struct slice name;
    struct slice words;
    struct slice code;
    struct slice call;
    uint64_t count; /* number of events that the row stands for */
};

enum page_list_kind {
    PAGE_CHAIN, /* causes, the first cause first */
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
    uint64_t total; /* number of events, including those without a row */
};

struct page {
    const char *paths[2];      /* of the traces; the second may be NULL */
    const char *command;       /* command that makes the page again */
    struct log_reader *reader; /* of the shown trace: the second if there are two */
    struct source_lines *sources;
    const struct graph *graph; /* NULL: no edges */
    enum page_state state;
    bool is_cause;                 /* a line of this trace is the cause */
    struct slice title;            /* the verdict in one line */
    struct slice text;             /* the lines under the title */
    const struct page_list *lists; /* borrowed */
    size_t list_count;
    struct slice pictures[2]; /* SVG, light and dark; "": none */
    bool has_large_picture;   /* there is a picture, but too large for the page */
    /* As in struct flow_options; NULL: no marks. */
    enum flow_mark (*mark)(void *mark_context, uint64_t event);
    struct slice (*remark)(void *mark_context, uint64_t event);
    /* The event of the other trace with which this one was compared, if the two differ;
     * PAGE_EVENT_NONE: none. `other` and `other_reader` may be NULL. */
    uint64_t (*other)(void *mark_context, uint64_t event);
    struct log_reader *other_reader; /* borrowed */
    void *mark_context;
    uint64_t focus;       /* the event around which most are kept; PAGE_EVENT_NONE */
    uint64_t max_size;    /* in bytes; 0: PAGE_SIZE_DEFAULT */
    bool is_strict;       /* fail if the sources and lines alone need more */
    uint64_t value_count; /* events with a value; 0: to be counted */
};

struct page_result {
    uint64_t event_count; /* events with a value in the trace */
    uint64_t kept_count;  /* those of them that the page lists one by one */
};

/* Appends only the JSON data. Fails if memory runs out, or if is_strict and the page cannot be
 * as small as max_size. */
bool page_json_add(const struct page *page,
                   struct buffer *bytes,
                   struct page_result *result,
                   struct error *error);

/* A whole file of one page, or of several pages of which one is shown at a time, such as those
 * of ranks. Call page_begin, page_part_add for each page, then page_end. page_end fails if
 * memory ran out in any of them. */
void page_begin(struct slice title, struct buffer *bytes);
/* The max_size of each of `count` parts of a file of at most max_size bytes. */
uint64_t page_part_size(uint64_t max_size, size_t count);
/* `place` is the index of the part. Fails as page_json_add does. */
bool page_part_add(const struct page *page,
                   size_t place,
                   struct buffer *bytes,
                   struct page_result *result,
                   struct error *error);
bool page_end(struct buffer *bytes, struct error *error);

/* Appends a file of one page. */
bool page_add(const struct page *page,
              struct buffer *bytes,
              struct page_result *result,
              struct error *error);

#endif
