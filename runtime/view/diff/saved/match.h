/* Which tensor of one folder is which of another: by full name (prefix, module's path, name) and
 * call. */
#ifndef MONITORCH_VIEW_DIFF_SAVED_MATCH_H
#define MONITORCH_VIEW_DIFF_SAVED_MATCH_H

#include "runtime/saved/folder.h"
#include "runtime/view/diff/align/align.h"

#include <stdbool.h>
#include <stddef.h>

#define DIFF_SAVED_ALONE SIZE_MAX

/* What a tensor has on the other side. */
struct diff_saved_mate {
    size_t index;          /* or DIFF_SAVED_ALONE */
    size_t name_counts[2]; /* how many tensors A and B have of its full name */
};

struct diff_saved_match {
    size_t counts[2];                 /* of tensors: A's, B's */
    struct diff_saved_mate *mates[2]; /* owned; by the tensors' indices */
};

/* To be released in any case. false: out of memory. */
bool diff_saved_match_init(struct diff_saved_match *match,
                           const struct saved_folder *const folders[2],
                           const struct diff_rename *renames,
                           size_t rename_count);
void diff_saved_match_release(struct diff_saved_match *match);

#endif
