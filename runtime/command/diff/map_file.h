/* The file of --map-file: lines that --print-map --json wrote, perhaps corrected by hand. */
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

/* Lines of other records are passed over. Fails, with file and line, where a line is no JSON object or
 * lacks a name. To be released in any case. */
bool map_file_read(struct map_file *file, const char *path, struct error *error);
void map_file_release(struct map_file *file);

#endif
