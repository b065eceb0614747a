/* The selection language: globs, names and what is in them, files, ranges of lines, lists. One parser
 * and one matcher for all commands and interfaces; docs/reference/selection.md is the page for users. */
#ifndef MONITORCH_BASE_SELECTION_H
#define MONITORCH_BASE_SELECTION_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the whole of `text` matches a glob: `*` any run (dots and slashes too), `?` one character,
 * `[abc]`, `[a-z]`, `[!a]` one of a set; a `[` that is never closed means itself. A text that has
 * the brackets themselves matches too: `out[0]` is matched by `out[0]` and by `out[*]`. Bytes that are
 * no UTF-8 count as a character each. */
bool glob_match(struct slice text, struct slice glob);

/* The same for a segment of a tracer's path: `*` is any run, a `\` makes the character after it mean
 * itself, all others mean themselves. */
bool glob_match_segment(struct slice text, struct slice glob);

/* What a glob selects of a value. A glob that matches a name selects what is in it as well: `box` is also
 * `box[0]` and `box.item`. Greater fits are closer. */
enum name_fit {
    NAME_OTHER,        /* the glob matches nothing of it */
    NAME_OF_ATTRIBUTE, /* it matches `box`, and the value is `box.item` or `box.item[0]` */
    NAME_OF_ITEM, /* it matches `box`, and the value is `box['a']` by its written name */
    NAME_ITSELF,  /* it matches the written name, or the name with the path */
};

/* `name` is the name as it was written, `path` the place inside its value: `out` and `[0]`; either may be
 * empty. The name with its path is cut to 512 bytes. */
enum name_fit name_select(struct slice name, struct slice path, struct slice glob);

/* Whether a glob selects a file: it matches the path, or its last parts (`model.py`, `nets/model.py`; a
 * leading `./` and `../` are left out). One that begins with `/` selects a folder with all in it. */
bool file_select(struct slice path, struct slice glob);

struct line_range {
    size_t first; /* from 1 */
    size_t last;  /* inclusive; SIZE_MAX where it is open */
};

/* Reads `N`, `N-M`, `N-` or `-M`. After false `range` is as it was. */
bool line_range_read(struct line_range *range, struct slice text);
/* What a message says was expected. */
#define LINE_RANGE_EXPECTED                                                            \
    "N, N-M, N- or -M: lines count from 1, the last is not before the first"

static inline bool line_range_has(struct line_range range, size_t line)
{
    return line >= range.first && line <= range.last;
}

/* Reads `FILE:N-M`, or such a range alone; `file` is empty then. */
bool line_place_read(struct slice *file, struct line_range *range, struct slice text);

/* The digits at the start of `text`, which they are cut from. False where there are none, and where
 * the number is too large. */
bool digits_read(struct slice *text, size_t *number);

/* Steps through a list with commas between its items: `q,k*`. False at its end. A comma inside brackets
 * parts nothing, so that `out[0, 1]` is one item. Items may be empty. */
bool list_next(struct slice *rest, struct slice *item);

/* Adds the items of a list, without empty ones, to an array of the caller (memory_free). False where
 * memory ran out. */
bool list_collect(struct slice **items, size_t *count, struct slice list);

#endif
