/* The wish for a tracked call: what is to be written about it. A trace stores it as words of a
 * command line.
 *
 *   --calls                inputs and outputs; only variables of --names
 *   --names=h*,self.state  only variables that match one of these globs
 *   --lines                the text of each line that ran
 *   --stack                all frames of the callers, one a line
 *   --bare                 only the call, without inputs, outputs and variables
 *   --depth=3              also calls made from it, up to so many levels deep
 *   --when=changed         only calls in which a name changes; of names only the changes
 *   --when=nan             only calls in which a NaN or an infinity occurs
 *   --labels=zh            labels of labels.h for this call: zh, en, or `input:in,raised:!`
 *
 * Blanks, commas, colons and percent signs in labels are written %20, %2C, %3A and %25; in
 * names they are replaced by `?`. Unknown words are skipped. */
#ifndef MONITORCH_VIEW_TRACKLOG_WISH_H
#define MONITORCH_VIEW_TRACKLOG_WISH_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum track_when {
    TRACK_ALWAYS,
    TRACK_CHANGED,
    TRACK_NAN,
};

struct track_wish {
    struct slice names; /* globs separated by commas; "": all names */
    bool is_calls;      /* "" in `names` means no names */
    bool has_lines;
    bool has_stack;
    bool is_bare;
    uint32_t depth;
    enum track_when when;
    struct slice labels; /* "": the labels of the log */
};

/* The slices are borrowed from `text`. */
struct track_wish track_wish_read(struct slice text);
void track_wish_write(const struct track_wish *wish, struct buffer *text);

/* Whether the wish includes a variable of that name, at that path inside it. */
bool track_wish_names(const struct track_wish *wish,
                      struct slice name,
                      struct slice path);

#endif
