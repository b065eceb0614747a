#include "runtime/site/statement_text.h"

#include <string.h>

int statement_depth(struct slice line)
{
    int depth = 0;

    for (size_t i = 0; i < line.size; i++) {
        switch (line.bytes[i]) {
        case '(':
        case '[':
        case '{':
            depth++;
            break;
        case ')':
        case ']':
        case '}':
            depth--;
            break;
        default:
            break;
        }
    }
    return depth;
}

void statement_add(struct buffer *text, struct slice lines)
{
    size_t at = 0;
    int depth = 0;

    for (int i = 0; i < STATEMENT_LINES_MAX && at < lines.size; i++) {
        size_t end = slice_find(lines, SLICE("\n"), at);
        struct slice line = slice_part(lines, at, end);

        buffer_add(text, line);
        buffer_add_byte(text, ' ');
        depth += statement_depth(line);
        at = end + 1;
        if (depth <= 0) {
            return;
        }
    }
}

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

static size_t skip_blanks(struct slice text, size_t at)
{
    while (at < text.size && text.bytes[at] == ' ') {
        at++;
    }
    return at;
}

/* Whether the name that ends there is assigned: `x =`, also as a keyword of a call, but not
 * `{x=}` or `{x = :.3f}` in a formatted string. */
static bool is_target(struct slice text, size_t end)
{
    end = skip_blanks(text, end);
    if (end >= text.size || text.bytes[end] != '=') {
        return false;
    }
    end = skip_blanks(text, end + 1);
    return end >= text.size || memchr("=}:!", text.bytes[end], 4) == NULL;
}

size_t statement_find_use(struct slice text, struct slice name, size_t start)
{
    size_t at = slice_find(text, name, start);

    while (at < text.size) {
        size_t end = at + name.size;
        bool begins =
            at == 0 || (!is_word(text.bytes[at - 1]) && text.bytes[at - 1] != '.');
        bool ends = end == text.size || !is_word(text.bytes[end]);

        if (begins && ends && !is_target(text, end)) {
            return at;
        }
        at = slice_find(text, name, at + 1);
    }
    return text.size;
}
