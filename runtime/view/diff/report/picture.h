/* Picture of the differences between two traces: B's graph with a mark on each node, as a
 * picture or as a page with the differences in words. */
#ifndef MONITORCH_VIEW_DIFF_REPORT_PICTURE_H
#define MONITORCH_VIEW_DIFF_REPORT_PICTURE_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/diff/report/notes.h"
#include "runtime/view/picture/render.h"

#include <stdbool.h>

struct diff_picture_options {
    const char *paths[2]; /* of the traces: A, B */
    /* First sentences: the first divergence, or that there is none; the number of differences,
     * which may be "". */
    struct slice verdict[2];
    struct slice settings; /* settings of the runs that differ, in lines; "" */
    struct slice changed;  /* lines of code that differ; "" */
    bool is_page;          /* HTML */
    bool is_json;          /* a page as data, without HTML */
    uint64_t max_size;     /* of a page, in bytes; 0: the default */
    /* Set by diff_picture_add: whether the traces are equal, and whether they were compared. */
    bool is_equal, has_marks;
    /* Most boxes around the first divergence; 0: all. Without a limit all are drawn if they are
     * few. */
    bool has_box_limit;
    uint32_t box_limit;
    struct render_options
        render; /* format: if it is no page; flow.mark and .remark are set here */
};

/* Finds the format by the name's suffix: .html, .json, or one of render.h. Returns false for any
 * other; `error` names the suffixes. */
bool diff_picture_format(struct slice path,
                         struct diff_picture_options *options,
                         struct error *error);

/* Appends the file's bytes. `notes` are the findings of diff_traces, `result` is its result.
 * Appends nothing for a picture without boxes; a page is always made. Returns false if B's trace
 * cannot be read or memory runs out; `error` says why. */
bool diff_picture_add(struct diff_notes *notes,
                      const struct diff_result *result,
                      const struct diff_picture_options *options,
                      struct buffer *bytes,
                      struct error *error);

#define DIFF_SENTENCE_MAX 6

/* Sentences at the top of a page and in a picture: the first divergence, the number of
 * differences, the traces. */
struct diff_sentences {
    struct slice sentences[DIFF_SENTENCE_MAX]; /* borrowed from `text` and the notes */
    size_t count;
    struct buffer text; /* owned */
};

#endif
