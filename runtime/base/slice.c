/* A borrowed run of bytes: most often text inside a file that someone else owns. */
#include "runtime/base/slice.h"

size_t slice_find(struct slice text, struct slice part, size_t start)
{
    if (part.size == 0) {
        return start < text.size ? start : text.size;
    }
    while (start < text.size && part.size <= text.size - start) {
        size_t room = text.size - start - part.size + 1;
        const char *found = memchr(text.bytes + start, part.bytes[0], room);

        if (found == NULL) {
            return text.size;
        }
        if (memcmp(found, part.bytes, part.size) == 0) {
            return (size_t)(found - text.bytes);
        }
        start = (size_t)(found - text.bytes) + 1;
    }
    return text.size;
}

/* The offset behind the set that opens at `start`, or 0 where it is never closed. A `]` that
 * comes first in a set is a member of it. */
static size_t set_find_end(struct slice glob, size_t start)
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

static bool set_has(struct slice set, unsigned char byte)
{
    const unsigned char *bytes = (const unsigned char *)set.bytes;
    bool is_inverted = bytes[1] == '!';
    size_t last = set.size - 1; /* of the closing bracket */

    for (size_t i = is_inverted ? 2 : 1; i < last; i++) {
        if (i + 2 < last && bytes[i + 1] == '-') {
            if (byte >= bytes[i] && byte <= bytes[i + 2]) {
                return !is_inverted;
            }
            i += 2;
        } else if (bytes[i] == byte) {
            return !is_inverted;
        }
    }
    return is_inverted;
}

/* Matches one byte against the item of the glob at `*at`, and steps over that item. */
static bool glob_item(struct slice glob, size_t *at, char byte)
{
    size_t start = *at;
    size_t end = glob.bytes[start] == '[' ? set_find_end(glob, start) : 0;

    if (end != 0) {
        *at = end;
        return set_has(slice_part(glob, start, end), (unsigned char)byte);
    }
    *at = start + 1;
    return glob.bytes[start] == '?' || glob.bytes[start] == byte;
}

bool slice_match_by(struct slice text, struct slice glob, slice_glob_item match_item)
{
    size_t in_text = 0;
    size_t in_glob = 0;
    size_t retry_text = 0;
    size_t retry_glob = 0; /* behind the last star; 0 before the first one */

    while (in_text < text.size) {
        if (in_glob < glob.size && glob.bytes[in_glob] == '*') {
            retry_glob = ++in_glob;
            retry_text = in_text;
        } else if (in_glob < glob.size &&
                   match_item(glob, &in_glob, text.bytes[in_text])) {
            in_text++;
        } else if (retry_glob > 0) {
            in_glob = retry_glob;
            in_text = ++retry_text;
        } else {
            return false;
        }
    }
    while (in_glob < glob.size && glob.bytes[in_glob] == '*') {
        in_glob++;
    }
    return in_glob == glob.size;
}

/* The same where brackets stand for themselves. */
static bool bracket_item(struct slice glob, size_t *at, char byte)
{
    char item = glob.bytes[(*at)++];

    return item == '?' || item == byte;
}

bool slice_match(struct slice text, struct slice glob)
{
    return slice_match_by(text, glob, glob_item) ||
           (glob.size > 0 && memchr(glob.bytes, '[', glob.size) != NULL &&
            slice_match_by(text, glob, bracket_item));
}

bool slice_match_inside(struct slice name, struct slice path, struct slice glob)
{
    char whole[512];

    if (slice_match(name, glob)) {
        return true;
    }
    if (path.size == 0 || name.size >= sizeof whole) {
        return false;
    }
    if (path.size > sizeof whole - name.size) {
        path = slice_part(path, 0, sizeof whole - name.size);
    }
    if (name.size > 0) {
        memcpy(whole, name.bytes, name.size);
    }
    memcpy(whole + name.size, path.bytes, path.size);
    return slice_match((struct slice){whole, name.size + path.size}, glob);
}
