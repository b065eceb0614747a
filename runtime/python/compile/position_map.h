/* Positions in the original of code that was compiled from the instrumented text. Insertions
 * contain no line ends, so lines stay the same and only columns move. Supports CPython's
 * location tables (`co_linetable` of 3.11 and later) but needs no Python.h. */
#ifndef MONITORCH_PYTHON_COMPILE_POSITION_MAP_H
#define MONITORCH_PYTHON_COMPILE_POSITION_MAP_H

#include "instrument/instrument.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSITION_NONE (-1)

/* A range as in `code.co_positions()`: lines from 1, columns in UTF-8 bytes from 0; each may be
 * POSITION_NONE. CPython also uses line 0, for a module's first instruction. */
struct position_range {
    int32_t line;
    int32_t end_line;
    int32_t column;
    int32_t end_column;
};

struct position_map {
    const struct insertion *insertions; /* borrowed; sorted by offset */
    size_t insertion_count;
    struct position_place *places; /* owned; one for each insertion */
    struct position_line *lines;   /* owned; line_count and a sentinel */
    size_t line_count;
};

/* `original` is the source as UTF-8 without its byte order mark; offsets of insertions count in
 * it. It is not needed after the call, but the insertions are. */
bool position_map_init(struct position_map *map,
                       struct slice original,
                       const struct insertion *insertions,
                       size_t insertion_count,
                       struct error *error);
void position_map_release(struct position_map *map);

/* Maps a range of the instrumented text to the original. A range that contains original text
 * becomes exactly that text, on its line. A range that is entirely inserted becomes its
 * insertion's anchor, which may be on an earlier line: so an insertion at the end of a statement
 * of several lines need not be a line event of its own. Without an anchor it keeps its line and
 * loses its columns. Lines that the text does not have are not changed. */
void position_map_range(const struct position_map *map, struct position_range *range);

/* Appends the location table `table` with every range mapped to the original. Each entry covers
 * the same number of instructions as before. Returns false if the table is malformed or memory
 * ran out; the contents of `output` are invalid then. */
bool position_map_table(const struct position_map *map,
                        struct slice table,
                        int32_t first_line,
                        struct buffer *output,
                        struct error *error);

#endif
