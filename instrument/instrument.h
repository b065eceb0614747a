/* The compiler as a library: Python source in, the same source with calls and its sites out.
 * Knows nothing of files, torch or Python.h; safe to call from several threads at once. */
#ifndef MONITORCH_INSTRUMENT_INSTRUMENT_H
#define MONITORCH_INSTRUMENT_INSTRUMENT_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/selection/selection.h"
#include "runtime/base/slice.h"
#include "runtime/site/site.h"

#include <monitorch_version.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger sources are refused: they are data, not programs. */
#define INSTRUMENT_SIZE_LIMIT ((size_t)32 << 20)

/* What is inserted is never more than this: offsets are 32 bits wide, and what was written has
 * to be read again. */
#define INSTRUMENT_INSERTED_LIMIT ((size_t)448 << 20)

/* What is recorded; selections add up. Pragmas in the file are obeyed unless `spy_names`
 * alone is given. All slices are borrowed from the caller. */
struct selection {
    /* What inserted names begin with: `_mt`, `_mt0x`, `_mt1x` …, for several sources that
     * share a namespace. Empty: the first of these that the source does not hold. */
    struct slice prefix;
    bool everything; /* --all */
    bool forward; /* each `forward` method: the default where nothing else is given */
    const struct slice *functions; /* globs on qualified names */
    size_t function_count;
    const struct line_range *lines;
    size_t line_count;
    bool every_line; /* statements and headers that bind nothing have sites too */
    /* Globs: visible spy_save calls after their assignments. */
    const struct slice *spy_names;
    size_t spy_count;
    /* What is nested deeper is left as it is; 0: DEPTH_LEVEL_LIMIT of depth.h, which is the most.
     * No part of the selection's text. */
    uint32_t level_limit;
};

/* Whether nothing at all is named: the default is taken, whatever sites are wanted of it. */
bool selection_is_empty(const struct selection *selection);

/* One insertion: `size` bytes of `text` stand before `offset` of the original. Offsets and
 * sizes are bytes of the UTF-8 text without its byte order mark. */
struct insertion {
    uint32_t offset;
    uint32_t text; /* offset into instrumented.insertion_text */
    uint32_t size;
    /* Original bytes whose columns code in the insertion reports. */
    uint32_t anchor_start;
    uint32_t anchor_end; /* equal to anchor_start where it reports none */
};

enum note_kind {
    NOTE_WARNING, /* something asked for could not be done */
    NOTE_REMARK,  /* something was left alone on purpose */
};

struct note {
    enum note_kind kind;
    uint32_t line;     /* from 1 */
    uint32_t column;   /* from 1, in characters */
    struct slice text; /* borrowed from the result's arena */
};

struct instrumented {
    struct arena arena;      /* holds everything below that is borrowed */
    struct buffer text;      /* owned; the whole output in the source's own encoding */
    struct site_table table; /* borrowed from the arena */
    struct insertion *insertions; /* borrowed from the arena; in order of offset */
    size_t insertion_count;
    struct slice insertion_text; /* borrowed from the arena */
    struct note *notes;          /* borrowed from the arena; in order of line */
    size_t note_count;
    size_t function_count; /* function definitions seen in the file */
    size_t selected_count; /* of them, those with at least one site or spy call */
    /* Of them, those left alone because the parser could not read them. */
    size_t skipped_count;
    bool is_changed; /* false: nothing was selected, the text equals the source */
};

void instrumented_init(struct instrumented *result);
void instrumented_release(struct instrumented *result);

/* Frees nothing but makes the result ready for another file; keeps memory for reuse. */
void instrumented_reset(struct instrumented *result);

/* `path` is what messages and site keys call the source. On failure the error's text begins
 * with `path:line:column: ` and the result holds nothing but may be released or reset.
 * Fails for: text that is not in the encoding that it declares, NUL bytes, nesting too deep,
 * a source or its insertions over the size limits, a source that is instrumented already or
 * holds the prefix that was asked for, a prefix of another form (ERROR_USAGE), no memory. */
bool instrument(struct slice source,
                const char *path,
                const struct selection *selection,
                struct instrumented *result,
                struct error *error);

/* Whether the text carries inserted calls (not: visible spy_save calls). */
bool instrument_is_instrumented(struct slice text);

/* The table text that an instrumented file carries, borrowed from `text`; false where it is
 * not instrumented or its table cannot be found. `table` has `bytes` NULL then. */
bool instrument_find_table(struct slice text, struct slice *table);

/* Removes all insertions, the visible spy_save calls of --spy too. Works on files that were edited
 * after they were instrumented. A text without insertions is returned unchanged. `is_exact`:
 * whether the result's hash is the one that the text carries (true where it carries none). */
bool instrument_strip(struct slice text,
                      const char *path,
                      struct buffer *original,
                      bool *is_exact,
                      struct error *error);

/* Finds what should not be committed: inserted calls and visible spy_save calls and imports.
 * Each is a note; `arena` owns them. */
bool instrument_find_debug_code(struct slice text,
                                const char *path,
                                struct arena *arena,
                                struct note **notes,
                                size_t *note_count,
                                struct error *error);

#endif
