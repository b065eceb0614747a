/* Positions of the instrumented text's code in the original. Insertions hold no line ends, so lines
 * of original code stay and only columns move. Knows CPython's location tables (`co_linetable` of
 * 3.11 and later) but needs no Python.h. */
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

/* As `code.co_positions()` gives it: lines from 1, columns in UTF-8 bytes from 0; each may
 * be POSITION_NONE. CPython also uses line 0, for a module's first instruction. */
struct position_range {
    int32_t line;
    int32_t end_line;
    int32_t column;
    int32_t end_column;
};

struct position_map {
    const struct insertion *insertions; /* borrowed; in order of offset */
    size_t insertion_count;
    struct position_place *places; /* owned; one for each insertion */
    struct position_line *lines;   /* owned; line_count and a sentinel */
    size_t line_count;
};

/* `original` is the source as UTF-8 without its byte order mark, which is what the
 * insertions' offsets count in; it is not needed afterwards, the insertions are. */
bool position_map_init(struct position_map *map,
                       struct slice original,
                       const struct insertion *insertions,
                       size_t insertion_count,
                       struct error *error);
void position_map_release(struct position_map *map);

/* Turns a range of the instrumented text into the original's. A range that holds original text
 * becomes exactly that text, on its line. One that is inserted altogether becomes its insertion's
 * anchor, which may be on an earlier line: so what is inserted at the end of a statement of several
 * lines need not be a line event of its own. Without an anchor it keeps its line and loses its
 * columns. Lines that the text does not have are left alone. */
void position_map_range(const struct position_map *map, struct position_range *range);

/* Appends the location table `table` with every range turned into the original's; each
 * entry covers as many instructions as before. Fails where the table is malformed or memory
 * runs out; what is in `output` is then to be thrown away. */
bool position_map_table(const struct position_map *map,
                        struct slice table,
                        int32_t first_line,
                        struct buffer *output,
                        struct error *error);

#endif
