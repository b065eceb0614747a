/* Which traces `monitorch diff` compares with which: two, the ranks of two runs, or each with
 * the first. */
#ifndef MONITORCH_COMMAND_DIFF_PAIRS_H
#define MONITORCH_COMMAND_DIFF_PAIRS_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/command/diff/options.h"

#include <stdbool.h>
#include <stddef.h>

struct diff_pair {
    const char *paths[2]; /* of the arena, or the command line */
    const char
        *name; /* `rank 3`, or a file's name; NULL where there is one pair alone */
};

struct diff_pairs {
    struct arena arena;      /* owned */
    struct diff_pair *pairs; /* borrowed from the arena */
    size_t count;
    /* Traces that are not compared: their ranks are not below the job's WORLD_SIZE, so an earlier,
     * larger job wrote them. Borrowed from the arena. */
    const char **left_out;
    size_t left_out_count;
    long world_size;
};

/* Two folders are matched by their traces' names, or by the ranks in them; of two names that are
 * no files, with `.rank0` … before the ending, rank by rank. Fails where nothing is there to be
 * compared, and where one side has a trace that the other has not. To be released in any case. */
bool diff_pairs_find(struct diff_pairs *pairs,
                     const struct diff_command_options *options,
                     struct error *error);
void diff_pairs_release(struct diff_pairs *pairs);

#endif
