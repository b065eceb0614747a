/* The page of one trace: the verdict of `why`, a picture, and all lines with what they saw. */
#ifndef MONITORCH_VIEW_PAGE_TRACE_H
#define MONITORCH_VIEW_PAGE_TRACE_H

#include "runtime/view/page/page.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/why/why.h"

struct page_trace_options {
    const char *path; /* of the trace */
    /* Further traces of the run, such as ranks: each is a page of its own in the same file. */
    const char *const *others;
    size_t other_count;
    const char *command; /* that makes the page again; may be NULL */
    /* The value to explain, the limit of memory for that, `strip` and `progress`. */
    struct why_ask ask;
    /* How the picture is drawn where there is no NaN, or always if it is_own_picture; NULL: so that
     * it fits a screen. */
    const struct render_options *render;
    bool is_own_picture;
    /* A verdict of the caller's instead of that of `why`: title, text, lists; may be NULL. */
    const struct page *verdict;
    uint64_t max_size; /* as in struct page */
    bool is_json;      /* the data alone */
};

struct page_trace_result {
    struct page_result page; /* of all traces together */
    enum page_state state;   /* the worst */
    bool is_cause;           /* as in struct page, of any */
    bool is_recording;       /* the trace was not finished when it was read */
    size_t damage_count;
    char damage[ERROR_TEXT_SIZE]; /* the first; "" */
};

/* Appends the file's bytes; of several traces with is_json, an object a line. Fails if the trace cannot be read, memory runs out, or (ERROR_USAGE) the
 * event is not there or the page cannot be as small as max_size. */
bool page_trace_add(const struct page_trace_options *options,
                    struct buffer *bytes,
                    struct page_trace_result *result,
                    struct error *error);

#endif
