/* What is wanted of a tracked call, as the trace has it: words as on a command line.
 *
 *   --calls                inputs and outputs; no variables but those of --names
 *   --names=h*,self.state  of the variables, only those that match one of these globs
 *   --lines                the text of each line that was run
 *   --stack                all frames that the call was made from, one a line
 *   --bare                 no inputs, outputs and variables: the call alone
 *   --depth=3              calls made within it are told as well, so many levels deep
 *   --when=changed         only calls in which a name has changed, and of names only the changes
 *   --when=nan             only calls in which a NaN or an infinity was met
 *   --labels=zh            labels of labels.h for this call: zh, en, or `input:in,raised:!`
 *
 * Blanks, commas, colons and percent signs in labels are written %20, %2C, %3A and %25; in
 * names a `?` stands for them. Words that are not known are passed over. */
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
    struct slice names; /* globs with commas between; "": all names */
    bool is_calls;      /* "": none of them */
    bool has_lines;
    bool has_stack;
    bool is_bare;
    uint32_t depth;
    enum track_when when;
    struct slice labels; /* "": those of the log */
};

/* The slices are borrowed from `text`. */
struct track_wish track_wish_read(struct slice text);
void track_wish_write(const struct track_wish *wish, struct buffer *text);

/* Whether a variable of that name, at that place in it, is wanted. */
bool track_wish_names(const struct track_wish *wish,
                      struct slice name,
                      struct slice path);

#endif
