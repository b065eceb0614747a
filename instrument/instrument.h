/* The compiler as a library: Python source in, the same source with inserted calls and their
 * sites out. It does not depend on files, torch or Python.h, and is safe to call from several
 * threads at once. */
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

/* The maximum size of a source. Larger ones are data, not programs, and are refused. */
#define INSTRUMENT_SIZE_LIMIT ((size_t)32 << 20)

/* The maximum size of all insertions: offsets have 32 bits, and the output must be readable
 * again. */
#define INSTRUMENT_INSERTED_LIMIT ((size_t)448 << 20)

/* The selection: names and lines to record, which add up. Pragmas in the file are obeyed unless
 * `spy_names` alone is given. All slices are borrowed from the caller. */
struct selection {
    /* The prefix of inserted names: `_mt`, `_mt0x`, `_mt1x` …, for several sources that share a
     * namespace. Empty: the first of these that is not in the source. */
    struct slice prefix;
    bool everything; /* --all */
    bool forward;    /* each `forward` method: the default if nothing else is given */
    const struct slice *functions; /* globs on qualified names */
    size_t function_count;
    const struct line_range *lines;
    size_t line_count;
    bool every_line; /* statements and headers that bind nothing get sites too */
    /* globs: visible spy_save calls after assignments to these names */
    const struct slice *spy_names;
    size_t spy_count;
    /* The maximum nesting; code that is nested deeper is left unchanged. 0: DEPTH_LEVEL_LIMIT of
     * depth.h, the highest value. Not part of the selection's text. */
    uint32_t level_limit;
};

/* Whether the selection names no code. Then the default is used, with the kinds of sites that
 * the selection asks for. */
bool selection_is_empty(const struct selection *selection);

/* An insertion: `size` bytes of `text`, placed before `offset` of the original. Offsets and
 * sizes are bytes of the UTF-8 text without its byte order mark. */
struct insertion {
    uint32_t offset;
    uint32_t text; /* offset into instrumented.insertion_text */
    uint32_t size;
    /* the original bytes whose columns the inserted code reports */
    uint32_t anchor_start;
    uint32_t anchor_end; /* equal to anchor_start if it reports none */
};

enum note_kind {
    NOTE_WARNING, /* a request that could not be fulfilled */
    NOTE_REMARK,  /* code that was left unchanged on purpose */
};

struct note {
    enum note_kind kind;
    uint32_t line;     /* from 1 */
    uint32_t column;   /* from 1, in characters */
    struct slice text; /* borrowed from the result's arena */
};

struct instrumented {
    struct arena arena;      /* holds everything that is borrowed below */
    struct buffer text;      /* owned; the whole output in the source's own encoding */
    struct site_table table; /* borrowed from the arena */
    struct insertion *insertions; /* borrowed from the arena; in order of offset */
    size_t insertion_count;
    struct slice insertion_text; /* borrowed from the arena */
    struct note *notes;          /* borrowed from the arena; in order of line */
    size_t note_count;
    size_t function_count; /* function definitions seen in the file */
    size_t selected_count; /* of them, those with at least one site or spy call */
    /* of them, those left unchanged because the parser could not read them */
    size_t skipped_count;
    bool is_changed; /* false: nothing was selected, the text equals the source */
};

void instrumented_init(struct instrumented *result);
void instrumented_release(struct instrumented *result);

/* Prepares the result for another file. Keeps its memory for reuse. */
void instrumented_reset(struct instrumented *result);

/* Instruments a source. `path` names it in messages and site keys. On failure the error's text
 * begins with `path:line:column: `, and the result is empty but may be released or reset. Fails
 * for: text that is not in its declared encoding, NUL bytes, nesting too deep, a source or
 * insertions over the size limits, a source that is instrumented already or contains the
 * requested prefix, an invalid prefix (ERROR_USAGE), out of memory. */
bool instrument(struct slice source,
                const char *path,
                const struct selection *selection,
                struct instrumented *result,
                struct error *error);

/* Whether the text contains inserted calls. Visible spy_save calls do not count. */
bool instrument_is_instrumented(struct slice text);

/* Finds the table text in an instrumented file, borrowed from `text`. Returns false, with
 * `table->bytes` NULL, if the file is not instrumented or has no table. */
bool instrument_find_table(struct slice text, struct slice *table);

/* Removes all insertions, including the visible spy_save calls of --spy, even from files that
 * were edited after they were instrumented. Returns a text without insertions unchanged.
 * `is_exact`: whether the result has the hash that the text carries (true if it carries none). */
bool instrument_strip(struct slice text,
                      const char *path,
                      struct buffer *original,
                      bool *is_exact,
                      struct error *error);

/* Finds code that should not be committed: inserted calls, and visible spy_save calls and
 * imports. Adds a note for each; `arena` owns them. */
bool instrument_find_debug_code(struct slice text,
                                const char *path,
                                struct arena *arena,
                                struct note **notes,
                                size_t *note_count,
                                struct error *error);

#endif
