/* The selection language: globs, names and their parts, files, ranges of lines, lists. All
 * commands and interfaces use this parser and matcher; docs/reference/selection.md is the page
 * for users. */
#ifndef MONITORCH_BASE_SELECTION_H
#define MONITORCH_BASE_SELECTION_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the whole of `text` matches a glob: `*` matches any run of characters (also dots and
 * slashes), `?` one character, `[abc]`, `[a-z]` and `[!a]` one of a set. A `[` that is never
 * closed is literal. Brackets also match themselves: `out[0]` is matched by `out[0]` and by
 * `out[*]`. Bytes that are not UTF-8 count as one character each. */
bool glob_match(struct slice text, struct slice glob);

/* The same for a segment of a tracer's path: `*` matches any run of characters, `\` makes the
 * next character literal, and all others are literal. */
bool glob_match_segment(struct slice text, struct slice glob);

/* How a glob selects a value. A glob that matches a name also selects its parts: `box` selects
 * `box[0]` and `box.item`. Greater values are closer fits. */
enum name_fit {
    NAME_OTHER,        /* no match */
    NAME_OF_ATTRIBUTE, /* it matches `box`, and the value is `box.item` or `box.item[0]` */
    NAME_OF_ITEM, /* it matches `box`, and the value is `box['a']` by its assigned name */
    NAME_ITSELF, /* it matches the assigned name, or the name with the path */
};

/* `name` is the assigned name, `path` the place in its value: `out` and `[0]`. Either may be
 * empty. The name with its path is cut to 512 bytes. */
enum name_fit name_select(struct slice name, struct slice path, struct slice glob);

/* Whether a glob selects a file: it matches the path or its last parts (`model.py`,
 * `nets/model.py`). A leading `./` or `../` is ignored. A glob that starts with `/` also selects
 * a folder with all its files. */
bool file_select(struct slice path, struct slice glob);

struct line_range {
    size_t first; /* from 1 */
    size_t last;  /* inclusive; SIZE_MAX: no end */
};

/* Reads `N`, `N-M`, `N-` or `-M`. Returns false for other texts; `range` is unchanged then. */
bool line_range_read(struct line_range *range, struct slice text);
/* The expectation, for messages. */
#define LINE_RANGE_EXPECTED                                                            \
    "N, N-M, N- or -M: lines count from 1, the last is not before the first"

static inline bool line_range_has(struct line_range range, size_t line)
{
    return line >= range.first && line <= range.last;
}

/* Reads `FILE:N-M`, or only a range; `file` is empty then. */
bool line_place_read(struct slice *file, struct line_range *range, struct slice text);

/* Reads the digits at the start of `text`, and removes them from it. Returns false if there are
 * none, or the number is too large. */
bool digits_read(struct slice *text, size_t *number);

/* Reads the next item of a list separated by commas: `q,k*`. Returns false at its end. A comma
 * inside brackets separates nothing, so `out[0, 1]` is one item. Items may be empty. */
bool list_next(struct slice *rest, struct slice *item);

/* Adds the items of a list that are not empty to an array, which the caller frees with
 * memory_free. Returns false if memory runs out. */
bool list_collect(struct slice **items, size_t *count, struct slice list);

#endif
