/* The text as it is passed to tree-sitter. */
#include "instrument/text/shown.h"

#include <string.h>

/* The end of a run of lines that hold only blanks and a backslash, including the indentation of
 * the line that they continue. Returns `start` if there is no such line. The indentation of the
 * joined line is that of its first part. */
static size_t
blank_continuation_end(struct slice text, size_t start, size_t *indentation)
{
    size_t at = start;
    size_t end = start;

    for (;;) {
        while (at < text.size && (text.bytes[at] == ' ' || text.bytes[at] == '\t')) {
            at++;
        }
        if (end == start) {
            *indentation = at - start;
        } else {
            end = at;
        }
        if (at >= text.size || text.bytes[at] != '\\') {
            return end;
        }
        at++;
        at += at < text.size && text.bytes[at] == '\r';
        if (at < text.size && text.bytes[at] == '\n') {
            at++;
        } else if (text.bytes[at - 1] != '\r') {
            return end;
        }
        end = at;
    }
}

/* Whether some line begins with a backslash. */
static bool has_blank_continuation(struct slice text)
{
    const char *end = text.bytes + text.size;

    for (const char *at = text.bytes; at < end; at++) {
        const char *before;

        at = memchr(at, '\\', (size_t)(end - at));
        if (at == NULL) {
            return false;
        }
        before = at;
        while (before > text.bytes && (before[-1] == ' ' || before[-1] == '\t')) {
            before--;
        }
        if ((before == text.bytes || before[-1] == '\n' || before[-1] == '\r') &&
            at + 1 < end && (at[1] == '\n' || at[1] == '\r')) {
            return true;
        }
    }
    return false;
}

void shown_copy(char *copy, struct slice text)
{
    bool at_line_start = true;

    for (size_t i = 0; i < text.size; i++) {
        char byte = text.bytes[i];
        size_t indentation = 0;
        size_t end = i;

        if (at_line_start && (i == 0 || strchr("\n\r\f", text.bytes[i - 1]) != NULL)) {
            end = blank_continuation_end(text, i, &indentation);
        }
        if (end > i) {
            memset(copy + i, ' ', end - i);
            copy[end - indentation - 1] = '\f'; /* restarts the count of columns */
            i = end - 1;
            continue;
        }
        if (byte == '\r' && (i + 1 == text.size || text.bytes[i + 1] != '\n')) {
            byte = '\n';
        } else if (byte == '\t' && at_line_start) {
            byte = ' ';
        }
        copy[i] = byte;
        at_line_start = byte == '\n' || byte == '\r' || byte == '\f' ||
                        (at_line_start && byte == ' ');
    }
}

bool shown_is_same(struct slice text)
{
    return memchr(text.bytes, '\t', text.size) == NULL &&
           memchr(text.bytes, '\r', text.size) == NULL && !has_blank_continuation(text);
}
