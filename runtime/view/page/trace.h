/* The page of one trace: the verdict of `why`, a picture, and all lines with what they saw. */
#ifndef MONITORCH_VIEW_PAGE_TRACE_H
#define MONITORCH_VIEW_PAGE_TRACE_H

#include "runtime/view/page/page.h"

struct page_trace_options {
    const char *path;      /* of the trace */
    const char *command;   /* that makes the page again; may be NULL */
    struct slice event;    /* of which `why` is asked; "": the first NaN or Inf */
    source_strip strip;    /* may be NULL */
    uint64_t max_size;     /* as in struct page */
    uint64_t memory_limit; /* as in struct why_ask */
    bool is_json;          /* the data alone */
    /* Told now and then, where not NULL; false ends the work with an error. */
    bool (*progress)(void *context, uint64_t events);
    void *progress_context;
};

struct page_trace_result {
    struct page_result page;
    enum page_state state;
    bool is_recording; /* the trace was not finished when it was read */
    size_t damage_count;
    char damage[ERROR_TEXT_SIZE]; /* the first; "" */
};

/* Appends the file's bytes. Fails if the trace cannot be read, memory runs out, or (ERROR_USAGE) the
 * event is not there or the page cannot be as small as max_size. */
bool page_trace_add(const struct page_trace_options *options,
                    struct buffer *bytes,
                    struct page_trace_result *result,
                    struct error *error);

#endif
