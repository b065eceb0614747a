/* Names and texts in DOT's syntax. */
#include "runtime/view/picture/dot/dot.h"
#include "runtime/view/words/paint.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Whether DOT reads the word without quotes: integers and plain words, but no keywords such as
 * `edge`. */
static bool needs_no_quotes(struct slice word)
{
    static const char *const keywords[] = {"node",     "edge",   "graph", "digraph",
                                           "subgraph", "strict", NULL};
    bool is_number = word.size > 0;

    for (size_t i = 0; i < word.size; i++) {
        if (!is_letter(word.bytes[i]) && !is_digit(word.bytes[i])) {
            return false;
        }
        is_number = is_number && is_digit(word.bytes[i]);
    }
    for (int i = 0; keywords[i] != NULL; i++) {
        if (strncasecmp(word.bytes, keywords[i], word.size) == 0 &&
            strlen(keywords[i]) == word.size) {
            return false;
        }
    }
    return is_number || (word.size > 0 && is_letter(word.bytes[0]));
}

void dot_quoted_add(struct buffer *text, struct slice word, size_t limit)
{
    struct buffer plain = BUFFER_INIT;

    text_add_shortened(&plain, word, limit);
    for (size_t i = 0; i < plain.size; i++) {
        if (plain.bytes[i] == '"' || plain.bytes[i] == '\\') {
            buffer_add_byte(text, '\\');
        }
        buffer_add_byte(text, plain.bytes[i]);
    }
    text->has_failed |= plain.has_failed;
    buffer_release(&plain);
}

void dot_word_add(struct buffer *text, struct slice word)
{
    if (needs_no_quotes(word)) {
        buffer_add(text, word);
        return;
    }
    buffer_add_byte(text, '"');
    dot_quoted_add(text, word, SIZE_MAX);
    buffer_add_byte(text, '"');
}
