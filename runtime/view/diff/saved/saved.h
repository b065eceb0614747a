/* What differs between two folders of saved tensors, the first difference first: in the order in
 * which B's were saved.
 *
 *     if (diff_saved(folders, &options, &result, &error)) { … }
 *
 * docs/reference/diff.md tells the rules. */
#ifndef MONITORCH_VIEW_DIFF_SAVED_SAVED_H
#define MONITORCH_VIEW_DIFF_SAVED_SAVED_H

#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/saved/folder.h"
#include "runtime/view/diff/values/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pair that differs, or a tensor that one folder has alone. Valid during the call of `found`
 * only. */
struct diff_saved_finding {
    const struct saved_entry *entries[2]; /* A's, B's; NULL on the side that has none */
    /* FLOW: the other one has this name, but not so many calls. CODE: it has no such name, which
     * is no divergence by itself. NONE: it could not be read, `words` tell why. */
    enum diff_cause cause;
    bool is_first; /* the first divergence */
    struct slice words;
    const struct diff_distance *distance; /* NULL where there is none */
    /* The two as events, with their statistics; NULL where one has none beside it, or could not
     * be read. */
    const struct log_event_view *events[2];
    /* Of the first divergence: how many pairs before it are equal, and the last of these, B's; may
     * be NULL. */
    uint64_t equal_before;
    const struct saved_entry *before;
};

struct diff_saved_options {
    struct diff_tolerance tolerance; /* its renames are those of tensors, too */
    const struct slice *ignored;     /* borrowed: globs of names and of full names */
    size_t ignored_count;
    bool are_files; /* A and B are: where each holds one tensor, they are a pair */
    /* Told of each that is not equal; false ends the work with an error. */
    bool (*found)(void *context, const struct diff_saved_finding *finding);
    void *context;
    /* Told now and then, where not NULL. */
    bool (*progress)(void *progress_context, uint64_t tensors);
    void *progress_context;
};

struct diff_saved_result {
    uint64_t counts[2]; /* tensors of A, of B */
    uint64_t equal;     /* pairs */
    uint64_t close;     /* of the equal ones: within tolerance, not to the bit */
    uint64_t different; /* pairs */
    uint64_t unread;    /* pairs of which one could not be read */
    uint64_t only[2];   /* in A alone, in B alone */
    uint64_t ignored;   /* left out, of both */
    bool has_first;
    bool is_ordered; /* it is known in which order they were saved */
};

/* Fails where memory runs out; that they differ is no failure. */
bool diff_saved(struct saved_folder *const folders[2],
                const struct diff_saved_options *options,
                struct diff_saved_result *result,
                struct error *error);

/* Whether all that both have was read and is equal, and none has one alone. */
bool diff_saved_is_equal(const struct diff_saved_result *result);

#endif
