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

/* ---- long runs of comments ---- */

/* At each comment tree-sitter's scanner reads on to the next line of code, so its time is the square of
 * the number of comments in a row. Of longer runs only the first and the last line are shown. */
#define COMMENT_RUN_MAX 100

/* Bytes of the text to be hidden, and where the search for others continues. */
struct comment_run {
    size_t start, end, next;
};

enum line_kind { LINE_OF_CODE, LINE_EMPTY, LINE_OF_COMMENT };

static enum line_kind line_kind_of(struct slice text, size_t start, size_t end)
{
    while (start < end && strchr(" \t\f\r\n", text.bytes[start]) != NULL) {
        start++;
    }
    if (start == end) {
        return LINE_EMPTY;
    }
    return text.bytes[start] == '#' ? LINE_OF_COMMENT : LINE_OF_CODE;
}

/* Finds the next run of more than COMMENT_RUN_MAX lines of comments, empty lines between them included,
 * and sets its bytes without the first and the last comment. Lines end with LF. */
static bool comment_run_find(struct slice text, struct comment_run *run)
{
    size_t count = 0;
    size_t at = run->next;

    while (at < text.size) {
        const char *newline = memchr(text.bytes + at, '\n', text.size - at);
        size_t end = newline == NULL ? text.size : (size_t)(newline - text.bytes) + 1;
        enum line_kind kind = line_kind_of(text, at, end);

        if (kind == LINE_OF_CODE && count > COMMENT_RUN_MAX) {
            break;
        }
        count = kind == LINE_OF_CODE ? 0 : count + (kind == LINE_OF_COMMENT);
        if (kind == LINE_OF_COMMENT && count == 1) {
            run->start = end;
        }
        if (kind == LINE_OF_COMMENT) {
            run->end = at;
        }
        at = end;
    }
    run->next = at;
    return count > COMMENT_RUN_MAX;
}

static bool has_long_comments(struct slice text)
{
    struct comment_run run = {0};

    return comment_run_find(text, &run);
}

/* A run inside a string is hidden too: the string keeps its place, and its value is read from the text. */
static void hide_long_comments(char *copy, size_t size)
{
    struct comment_run run = {0};

    while (comment_run_find((struct slice){copy, size}, &run)) {
        for (size_t i = run.start; i < run.end; i++) {
            copy[i] = copy[i] == '\n' ? '\n' : ' ';
        }
    }
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
    hide_long_comments(copy, text.size);
}

bool shown_is_same(struct slice text)
{
    return memchr(text.bytes, '\t', text.size) == NULL &&
           memchr(text.bytes, '\r', text.size) == NULL &&
           !has_blank_continuation(text) && !has_long_comments(text);
}
