/* Map file: the argument of --map-file. Its lines were written by --print-map --json and may
 * have been corrected by hand. */
#ifndef MONITORCH_COMMAND_DIFF_MAP_FILE_H
#define MONITORCH_COMMAND_DIFF_MAP_FILE_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/view/diff/match/contents.h"

struct map_file {
    struct buffer text; /* owned */
    struct arena arena;
    struct match_pin *pins; /* owned */
    size_t count, capacity;
};

/* Reads the file, and skips lines of other records. Returns false if a line is not a JSON object
 * or lacks a name; `error` has file and line. To be released in any case. */
bool map_file_read(struct map_file *file, const char *path, struct error *error);
void map_file_release(struct map_file *file);

#endif
