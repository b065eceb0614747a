/* The page of one trace: the verdict of `why`, a picture, and all lines with their values. */
#ifndef MONITORCH_VIEW_PAGE_TRACE_H
#define MONITORCH_VIEW_PAGE_TRACE_H

#include "runtime/view/page/page.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/why/why.h"

struct page_trace_options {
    const char *path; /* of the trace */
    /* Further traces of the run, such as those of other ranks. Each is a page of its own in the
     * same file. */
    const char *const *others;
    size_t other_count;
    const char *command; /* command that makes the page again; may be NULL */
    /* The value to explain, its memory limit, `strip` and `progress`. */
    struct why_ask ask;
    /* The options of the picture if there is no NaN, or always if is_own_picture. NULL: fit it
     * to a screen. */
    const struct render_options *render;
    bool is_own_picture;
    /* A verdict that replaces the one of `why`: title, text, lists; may be NULL. */
    const struct page *verdict;
    uint64_t max_size; /* as in struct page */
    bool is_json;      /* only the data */
};

struct page_trace_result {
    struct page_result page; /* sums over all traces */
    enum page_state state;   /* the worst of all traces */
    bool is_cause;           /* as in struct page; true if any trace has it */
    bool is_recording;       /* the trace was still being written when it was read */
    size_t damage_count;
    char damage[ERROR_TEXT_SIZE]; /* the first error; "" */
};

/* Appends the file's bytes; with is_json and several traces, one object a line. Fails if the
 * trace cannot be read or memory runs out, and with ERROR_USAGE if the event does not exist or
 * the page cannot be as small as max_size. */
bool page_trace_add(const struct page_trace_options *options,
                    struct buffer *bytes,
                    struct page_trace_result *result,
                    struct error *error);

#endif
