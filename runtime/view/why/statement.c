/* The text of a statement over all of its lines. */
#include "runtime/view/why/why.h"

#include "runtime/view/words/paint.h"

#define LINES_MAX 40
#define TEXT_MAX  8000

/* What is open at the end of a line. */
struct reading {
    int depth;
    char quote;
};

/* Appends a line up to its comment. */
static void add_line(struct buffer *text, struct slice line, struct reading *reading)
{
    for (size_t i = 0; i < line.size; i++) {
        char byte = line.bytes[i];

        if (reading->quote != '\0') {
            if (byte == '\\' && i + 1 < line.size) {
                buffer_add_byte(text, byte);
                byte = line.bytes[++i];
            } else if (byte == reading->quote) {
                reading->quote = '\0';
            }
        } else if (byte == '#') {
            break;
        } else if (byte == '"' || byte == '\'') {
            reading->quote = byte;
        } else if (byte == '(' || byte == '[' || byte == '{') {
            reading->depth++;
        } else if (byte == ')' || byte == ']' || byte == '}') {
            reading->depth--;
        }
        buffer_add_byte(text, byte);
    }
}

/* One more line, with a blank in front where one would stand in one line. */
static void add_next(struct buffer *text, struct slice line, struct reading *reading)
{
    char before = text->size > 0 ? text->bytes[text->size - 1] : ' ';

    if (line.size > 0 && memchr(" ([{", before, 4) == NULL &&
        memchr(".)]},", line.bytes[0], 5) == NULL) {
        buffer_add_byte(text, ' ');
    }
    add_line(text, line, reading);
}

struct slice
why_statement(struct why *why, uint32_t module, uint32_t line, struct slice first)
{
    struct buffer text = BUFFER_INIT;
    struct reading reading = {0};
    struct slice kept;

    add_line(&text, first, &reading);
    for (int i = 1; i < LINES_MAX && text.size < TEXT_MAX; i++) {
        bool goes_on = reading.depth > 0;

        text_trim(&text);
        if (text.size > 0 && text.bytes[text.size - 1] == '\\') {
            text.size--;
            goes_on = true;
        }
        if (!goes_on) {
            break;
        }
        reading.quote = '\0';
        text_trim(&text);
        add_next(&text, source_lines_get(&why->sources, module, line + (uint32_t)i),
                 &reading);
    }
    why->arena.has_failed |= text.has_failed;
    kept = arena_copy(&why->arena, buffer_slice(&text));
    buffer_release(&text);
    return kept.bytes == NULL ? (struct slice){"", 0} : kept;
}
