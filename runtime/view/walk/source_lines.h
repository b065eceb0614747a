/* The lines of the sources in a trace, and facts about functions from its site tables. They are
 * computed once for each module, at first use. */
#ifndef MONITORCH_VIEW_WALK_SOURCE_LINES_H
#define MONITORCH_VIEW_WALK_SOURCE_LINES_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends the original of an instrumented text. Returns false if memory runs out. */
typedef bool (*source_strip)(struct slice text, struct buffer *original);

struct source_module {
    bool is_read;
    struct buffer original; /* owned: used if the trace has the instrumented text */
    size_t *starts;         /* owned: the offset of each line; may be NULL */
    size_t line_count;
    uint8_t
        *returns; /* owned: by function, whether it has a return site; may be NULL */
};

struct source_lines {
    const struct log_reader *reader; /* borrowed; may be NULL */
    source_strip strip;              /* NULL: instrumented texts have no lines */
    struct source_module *modules;   /* owned */
    size_t capacity;
    bool has_failed; /* memory ran out: some lines may be missing */
};

void source_lines_init(struct source_lines *sources,
                       const struct log_reader *reader,
                       source_strip strip);
void source_lines_release(struct source_lines *sources);

/* Line `line` (from 1), without its end and the blanks around it. Empty if it is not in the
 * trace. Borrowed from the reader, valid until its next item. */
struct slice
source_lines_get(struct source_lines *sources, uint32_t module_number, uint32_t line);

/* The line from `column` on (from 1, in characters) if another statement or the head of a block
 * precedes it on the line: `def mask(n): return x`. Otherwise the whole line. */
struct slice source_lines_get_statement(struct source_lines *sources,
                                        uint32_t module_number,
                                        uint32_t line,
                                        uint32_t column);

/* The line as source_lines_get returns it, of a module that the caller has; no reader is needed.
 * The line is borrowed from the module. A module number must always stand for the same module. */
struct slice source_lines_get_from(struct source_lines *sources,
                                   const struct log_module *module,
                                   uint32_t module_number,
                                   uint32_t line);

/* The whole text of a module's source. Empty if it is not in the trace. Borrowed as lines are. */
struct slice source_lines_text(struct source_lines *sources, uint32_t module_number);

/* Whether the function has a recorded return statement. */
bool source_lines_has_return(struct source_lines *sources,
                             uint32_t module_number,
                             uint32_t function);

#endif
