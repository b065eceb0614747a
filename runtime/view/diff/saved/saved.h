/* Comparison of two folders of saved tensors. It reports differences in the order in which B's
 * tensors were saved.
 *
 *     if (diff_saved(folders, &options, &result, &error)) { … }
 *
 * docs/reference/diff.md has the rules. */
#ifndef MONITORCH_VIEW_DIFF_SAVED_SAVED_H
#define MONITORCH_VIEW_DIFF_SAVED_SAVED_H

#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/saved/folder.h"
#include "runtime/view/diff/values/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pair that differs, or a tensor that only one folder has. Valid only during the call of
 * `found`. */
struct diff_saved_finding {
    const struct saved_entry *entries[2]; /* A's, B's; NULL on the side that has none */
    /* FLOW: the other folder has fewer calls of this name. CODE: it lacks the name, which is not
     * a divergence by itself. NONE: a tensor could not be read; `words` say why. */
    enum diff_cause cause;
    bool is_first; /* it is the first divergence */
    struct slice words;
    const struct diff_distance *distance; /* NULL where there is none */
    /* Both tensors as events, with statistics. NULL if a tensor has no partner or could not be
     * read. */
    const struct log_event_view *events[2];
    /* For the first divergence: the number of equal pairs before it, and the last of them, B's;
     * may be NULL. */
    uint64_t equal_before;
    const struct saved_entry *before;
};

struct diff_saved_options {
    struct diff_tolerance tolerance; /* its renames apply to tensors, too */
    const struct slice *ignored;     /* borrowed: globs of names and of full names */
    size_t ignored_count;
    bool are_files; /* A and B are files: if each has one tensor, they are a pair */
    /* Called for each pair or tensor that is not equal. To stop with an error, return false. */
    bool (*found)(void *context, const struct diff_saved_finding *finding);
    void *context;
    /* Called now and then; may be NULL. */
    bool (*progress)(void *progress_context, uint64_t tensors);
    void *progress_context;
};

struct diff_saved_result {
    uint64_t counts[2]; /* tensors of A, of B */
    uint64_t equal;     /* pairs */
    uint64_t close;     /* of the equal ones: within tolerance, not bitwise equal */
    uint64_t different; /* pairs */
    uint64_t unread;    /* pairs with a tensor that could not be read */
    uint64_t only[2];   /* only in A, only in B */
    uint64_t ignored;   /* skipped, of both */
    bool has_first;
    bool is_ordered; /* the order in which they were saved is known */
};

/* Returns false if memory runs out; `error` says why. Returns true also if the folders differ. */
bool diff_saved(struct saved_folder *const folders[2],
                const struct diff_saved_options *options,
                struct diff_saved_result *result,
                struct error *error);

/* Whether all pairs were read and are equal, and each tensor has a partner. */
bool diff_saved_is_equal(const struct diff_saved_result *result);

#endif
