/* The selection language: globs, names and their parts, files, ranges of lines, lists. */
#include "runtime/base/selection/selection.h"

#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"

#include <assert.h>
#include <stdint.h>

/* ---- globs ----
 *
 * Matching keeps one place to return to, after the last star. An earlier star never has to give
 * up its match, since the later one can match more. So a match costs at most the size of the
 * text times that of the glob. */

enum dialect {
    DIALECT_SETS,     /* `?` and sets */
    DIALECT_BRACKETS, /* `?`; brackets are literal */
    DIALECT_SEGMENT,  /* `\` makes the next character literal */
};

/* Returns the character at `*at`, and advances `*at`. */
static uint32_t next_character(struct slice text, size_t *at)
{
    uint32_t code;
    size_t size = utf8_read(text, *at, &code);

    assert(*at < text.size);
    if (size == 0) {
        /* No character has such a number, so a bad byte equals only itself. */
        code = 0x80000000u | (unsigned char)text.bytes[*at];
        size = 1;
    }
    *at += size;
    return code;
}

/* The offset after the set that opens at `start`, or 0 if it is never closed. A `]` that comes
 * first in a set is a member of it. */
static size_t find_set_end(struct slice glob, size_t start)
{
    size_t i = start + 1;

    if (i < glob.size && glob.bytes[i] == '!') {
        i++;
    }
    for (i++; i < glob.size; i++) {
        if (glob.bytes[i] == ']') {
            return i + 1;
        }
    }
    return 0;
}

/* Whether the set has the character. `members` is the text between the brackets. */
static bool has_member(struct slice members, uint32_t character)
{
    bool is_inverted = slice_starts(members, SLICE("!"));

    for (size_t at = is_inverted ? 1 : 0; at < members.size;) {
        uint32_t first = next_character(members, &at);
        uint32_t last = first;

        if (at + 1 < members.size && members.bytes[at] == '-') {
            at++;
            last = next_character(members, &at);
        }
        if (character >= first && character <= last) {
            return !is_inverted;
        }
    }
    return is_inverted;
}

/* Matches one character with the item of the glob at `*at`, and advances `*at` after that item. */
static bool
item_match(struct slice glob, size_t *at, uint32_t character, enum dialect dialect)
{
    size_t start = *at;
    char item = glob.bytes[start];

    if (dialect == DIALECT_SETS && item == '[') {
        size_t end = find_set_end(glob, start);

        if (end != 0) {
            *at = end;
            return has_member(slice_part(glob, start + 1, end - 1), character);
        }
    }
    if (dialect == DIALECT_SEGMENT && item == '\\' && start + 1 < glob.size) {
        (*at)++;
    } else if (dialect != DIALECT_SEGMENT && item == '?') {
        (*at)++;
        return true;
    }
    return next_character(glob, at) == character;
}

static bool match_by(struct slice text, struct slice glob, enum dialect dialect)
{
    size_t in_text = 0;
    size_t in_glob = 0;
    size_t retry_text = 0;
    size_t retry_glob = 0; /* after the last star; 0 before the first one */

    while (in_text < text.size) {
        size_t behind = in_text;
        uint32_t character = next_character(text, &behind);

        if (in_glob < glob.size && glob.bytes[in_glob] == '*') {
            retry_glob = ++in_glob;
            retry_text = in_text;
        } else if (in_glob < glob.size &&
                   item_match(glob, &in_glob, character, dialect)) {
            in_text = behind;
        } else if (retry_glob > 0) {
            next_character(text, &retry_text);
            in_glob = retry_glob;
            in_text = retry_text;
        } else {
            return false;
        }
    }
    while (in_glob < glob.size && glob.bytes[in_glob] == '*') {
        in_glob++;
    }
    return in_glob == glob.size;
}

bool glob_match(struct slice text, struct slice glob)
{
    return match_by(text, glob, DIALECT_SETS) ||
           (glob.size > 0 && memchr(glob.bytes, '[', glob.size) != NULL &&
            match_by(text, glob, DIALECT_BRACKETS));
}

bool glob_match_segment(struct slice text, struct slice glob)
{
    return match_by(text, glob, DIALECT_SEGMENT);
}

/* ---- names ---- */

/* The closest fit of the parts of `whole` that end before a `.` or `[`. */
static enum name_fit part_select(struct slice whole, struct slice glob)
{
    enum name_fit best = NAME_OTHER;
    bool has_dot_behind = false; /* after the current part */
    size_t depth = 0; /* of brackets: the dot in `d['a.b']` separates nothing */

    for (size_t i = whole.size; i-- > 1;) {
        char byte = whole.bytes[i];

        depth += byte == ']';
        depth -= byte == '[' && depth > 0;
        if (depth > 0 || (byte != '.' && byte != '[')) {
            continue;
        }
        has_dot_behind = has_dot_behind || byte == '.';
        if (glob_match(slice_part(whole, 0, i), glob)) {
            enum name_fit fit = has_dot_behind ? NAME_OF_ATTRIBUTE : NAME_OF_ITEM;

            best = fit > best ? fit : best;
        }
    }
    return best;
}

enum name_fit name_select(struct slice name, struct slice path, struct slice glob)
{
    char bytes[512];
    struct slice whole = {bytes, 0};

    if (glob_match(name, glob)) {
        return NAME_ITSELF;
    }
    if (path.size == 0) {
        return part_select(name, glob);
    }
    if (name.size >= sizeof bytes) {
        return part_select(name, glob);
    }
    whole.size =
        path.size < sizeof bytes - name.size ? name.size + path.size : sizeof bytes;
    if (name.size > 0) {
        memcpy(bytes, name.bytes, name.size);
    }
    memcpy(bytes + name.size, path.bytes, whole.size - name.size);
    return glob_match(whole, glob) ? NAME_ITSELF : part_select(whole, glob);
}

/* ---- files ---- */

static struct slice cut_leading_dots(struct slice glob)
{
    for (;;) {
        if (slice_starts(glob, SLICE("./"))) {
            glob = slice_part(glob, 2, glob.size);
        } else if (slice_starts(glob, SLICE("../"))) {
            glob = slice_part(glob, 3, glob.size);
        } else {
            return glob;
        }
    }
}

bool file_select(struct slice path, struct slice glob)
{
    glob = cut_leading_dots(glob);
    if (glob_match(path, glob)) {
        return true;
    }
    for (size_t i = 0; i < path.size; i++) {
        if (path.bytes[i] != '/') {
            continue;
        }
        if (glob_match(slice_part(path, i + 1, path.size), glob) ||
            (i > 0 && slice_starts(glob, SLICE("/")) &&
             glob_match(slice_part(path, 0, i), glob))) {
            return true;
        }
    }
    return false;
}

/* ---- lines ---- */

bool digits_read(struct slice *text, size_t *number)
{
    size_t result = 0;
    size_t i = 0;

    for (; i < text->size && text->bytes[i] >= '0' && text->bytes[i] <= '9'; i++) {
        size_t digit = (size_t)(text->bytes[i] - '0');

        if (result > (SIZE_MAX - digit) / 10) {
            return false;
        }
        result = result * 10 + digit;
    }
    *text = slice_part(*text, i, text->size);
    *number = result;
    return i > 0;
}

bool line_range_read(struct line_range *range, struct slice text)
{
    struct line_range result = {1, SIZE_MAX};
    bool has_first = text.size > 0 && text.bytes[0] != '-';

    if (has_first && (!digits_read(&text, &result.first) || result.first == 0)) {
        return false;
    }
    if (text.size == 0) {
        result.last = result.first;
        *range = has_first ? result : *range;
        return has_first;
    }
    if (text.bytes[0] != '-' || (text.size == 1 && !has_first)) {
        return false;
    }
    text = slice_part(text, 1, text.size);
    if (text.size > 0 && !digits_read(&text, &result.last)) {
        return false;
    }
    if (text.size > 0 || result.last < result.first) {
        return false;
    }
    *range = result;
    return true;
}

bool line_place_read(struct slice *file, struct line_range *range, struct slice text)
{
    size_t start = text.size; /* after the last colon */

    while (start > 0 && text.bytes[start - 1] != ':') {
        start--;
    }
    if (!line_range_read(range, slice_part(text, start, text.size))) {
        return false;
    }
    *file = start == 0 ? SLICE("") : slice_part(text, 0, start - 1);
    return true;
}

/* ---- lists ---- */

bool list_next(struct slice *rest, struct slice *item)
{
    size_t depth = 0;
    size_t end = 0;

    if (rest->size == 0) {
        return false;
    }
    for (; end < rest->size && (depth > 0 || rest->bytes[end] != ','); end++) {
        depth += rest->bytes[end] == '[';
        depth -= rest->bytes[end] == ']' && depth > 0;
    }
    if (depth > 0) { /* a `[` that is never closed is literal */
        end = slice_find(*rest, SLICE(","), 0);
    }
    *item = slice_part(*rest, 0, end);
    *rest = slice_part(*rest, end < rest->size ? end + 1 : end, rest->size);
    return true;
}

bool list_collect(struct slice **items, size_t *count, struct slice list)
{
    struct slice item;

    while (list_next(&list, &item)) {
        struct slice *grown = memory_resize(*items, *count + 1, sizeof *grown);

        if (grown == NULL) {
            return false;
        }
        *items = grown;
        (*items)[*count] = item;
        *count += item.size > 0;
    }
    return true;
}
