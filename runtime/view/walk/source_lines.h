/* The lines of the sources that a trace holds, and what its site tables say of functions: found
 * once for each module, when first asked for. */
#ifndef MONITORCH_VIEW_WALK_SOURCE_LINES_H
#define MONITORCH_VIEW_WALK_SOURCE_LINES_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends the original of an instrumented text; false where memory ran out. */
typedef bool (*source_strip)(struct slice text, struct buffer *original);

struct source_module {
    bool is_read;
    struct buffer original; /* owned: where the trace holds the instrumented text */
    size_t *starts;         /* owned: the offset of each line; may be NULL */
    size_t line_count;
    uint8_t
        *returns; /* owned: by function, whether it has a return site; may be NULL */
};

struct source_lines {
    const struct log_reader *reader; /* borrowed; may be NULL */
    source_strip strip; /* may be NULL: instrumented texts have no lines then */
    struct source_module *modules; /* owned */
    size_t capacity;
    bool has_failed; /* memory ran out: some lines may be missing */
};

void source_lines_init(struct source_lines *sources,
                       const struct log_reader *reader,
                       source_strip strip);
void source_lines_release(struct source_lines *sources);

/* Line `line` (from 1), without its end and the blanks around it; empty where it is not in the
 * trace. Borrowed from the reader, valid until its next item. */
struct slice
source_lines_get(struct source_lines *sources, uint32_t module_number, uint32_t line);

/* The same from `column` on (from 1, in characters), where another statement or the head of a block
 * stands in front of it on the line: `def mask(n): return x`. Else the whole line. */
struct slice source_lines_get_statement(struct source_lines *sources,
                                        uint32_t module_number,
                                        uint32_t line,
                                        uint32_t column);

/* The same for a module that is at hand, where there may be no reader; the line is borrowed from it.
 * Of one number it is always the same one. */
struct slice source_lines_get_from(struct source_lines *sources,
                                   const struct log_module *module,
                                   uint32_t module_number,
                                   uint32_t line);

/* The whole source that the lines are of; empty where it is not in the trace. Borrowed as a line is. */
struct slice source_lines_text(struct source_lines *sources, uint32_t module_number);

/* Whether the function has a return statement that is recorded. */
bool source_lines_has_return(struct source_lines *sources,
                             uint32_t module_number,
                             uint32_t function);

#endif
