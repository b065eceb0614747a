/* What differs between two traces, drawn: B's graph with a mark on each node, as a picture or as
 * a page that tells the differences in words first. */
#ifndef MONITORCH_VIEW_DIFF_REPORT_PICTURE_H
#define MONITORCH_VIEW_DIFF_REPORT_PICTURE_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/diff/report/notes.h"
#include "runtime/view/picture/render.h"

#include <stdbool.h>

struct diff_picture_options {
    const char *paths[2]; /* of the traces, A and B */
    /* What is said first: the first divergence, or that there is none; how much differs, which
     * may be "". */
    struct slice verdict[2];
    struct slice settings; /* how the two runs were not made alike, in lines; "" */
    struct slice changed;  /* lines that read differently; "" */
    bool is_page;          /* HTML */
    bool is_json;          /* of a page: its data alone */
    uint64_t max_size;     /* of a page, in bytes; 0: as usual */
    /* Set by diff_picture_add: whether the traces are equal, and whether they were compared. */
    bool is_equal, has_marks;
    /* So many boxes around the first divergence are drawn, 0: all; where it is not given, all of
     * them if they are few. */
    bool has_box_limit;
    uint32_t box_limit;
    struct render_options
        render; /* format: where it is no page. flow.mark and .remark are
                                    set here */
};

/* By the name's suffix: .html, or one of render.h; fails with the suffixes that there are. */
bool diff_picture_format(struct slice path,
                         struct diff_picture_options *options,
                         struct error *error);

/* Appends the file's bytes. `notes` is what diff_traces told, `result` how it ended. A picture
 * without any box is none: nothing is appended then; a page always is. Fails where B's trace
 * cannot be read, or memory runs out. */
bool diff_picture_add(struct diff_notes *notes,
                      const struct diff_result *result,
                      const struct diff_picture_options *options,
                      struct buffer *bytes,
                      struct error *error);

#define DIFF_SENTENCE_MAX 6

/* What is said first, and stands on the picture too: the first divergence, how much differs, and
 * of which traces. */
struct diff_sentences {
    struct slice sentences[DIFF_SENTENCE_MAX]; /* borrowed from `text` and the notes */
    size_t count;
    struct buffer text; /* owned */
};

#endif
