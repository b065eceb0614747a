/* Options of `monitorch diff`. */
#ifndef MONITORCH_COMMAND_DIFF_OPTIONS_H
#define MONITORCH_COMMAND_DIFF_OPTIONS_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/file/output.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/report/picture.h"
#include "runtime/view/diff/values/tolerance.h"

#include <stdbool.h>
#include <stddef.h>

#define TABLE_OF_OPTIONS "runtime/command/diff/options.def"
struct diff_command_options {
#include "runtime/base/arguments/option_fields.h"
    struct diff_tolerance tolerance; /* uses `renames` */
    struct diff_rename *renames;     /* owned; texts borrowed from the command line */
    struct slice *ignored;           /* owned; texts borrowed from the command line */
    size_t ignored_count;
    bool is_map;          /* print the map instead of the verdict */
    const char *map_file; /* borrowed from the command line; NULL: none */
    enum color color;
    const char *output; /* borrowed from the command line; NULL: draw nothing */
    struct diff_picture_options picture;
    bool has_theme;
    struct trace_words traces; /* owned */
};

/* A pair of traces to compare: of two traces, of the same rank of two runs, or a rank and the
 * first one. */

struct diff_pair {
    const char *paths[2]; /* borrowed from the arena or the command line */
    const char *name;     /* `rank 3`, or a file's name; NULL for a single pair */
};

struct diff_pairs {
    struct arena arena;      /* owned */
    struct diff_pair *pairs; /* borrowed from the arena */
    size_t count;
    /* Traces that are not compared: their ranks are not below the job's WORLD_SIZE, so an
     * earlier, larger job wrote them. Borrowed from the arena. */
    const char **left_out;
    size_t left_out_count;
    long world_size;
};

#endif
