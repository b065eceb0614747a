/* The text of a statement over all of its lines. */
#include "runtime/view/why/why.h"

#include "runtime/view/words/paint.h"

#define LINES_MAX 40
#define TEXT_MAX  8000

/* What is open at the end of a line. */
struct reading {
    int depth;
    char quote;
    bool is_one;   /* ends at the `;` in front of the next statement */
    bool is_ended; /* by it */
};

/* Appends a line up to its comment, or up to the end of the one statement. */
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
        } else if (byte == ';' && reading->is_one && reading->depth == 0) {
            reading->is_ended = true;
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

static struct slice read_statement(
    struct why *why, uint32_t module, uint32_t line, struct slice first, bool is_one)
{
    struct buffer text = BUFFER_INIT;
    struct reading reading = {.is_one = is_one};
    struct slice kept;

    add_line(&text, first, &reading);
    for (int i = 1; i < LINES_MAX && text.size < TEXT_MAX; i++) {
        bool is_continued = reading.depth > 0;

        text_trim(&text);
        if (text.size > 0 && text.bytes[text.size - 1] == '\\') {
            text.size--;
            is_continued = true;
        }
        if (!is_continued || reading.is_ended) {
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

struct slice why_statement(struct why *why, uint32_t module, uint32_t line)
{
    return read_statement(why, module, line,
                          source_lines_get(&why->sources, module, line), false);
}

struct slice why_statement_of(struct why *why, uint32_t node)
{
    const struct flow_node *shown = &why->graph.nodes[node];
    const struct why_fact *fact = &why->facts[node];
    const struct site_table *table =
        &log_reader_module(why->reader, fact->module)->table;
    bool is_made_here = (shown->flags & FLOW_NODE_ARGUMENT) == 0 && !fact->is_read;
    struct slice first =
        is_made_here
            ? source_lines_get_statement(&why->sources, fact->module, shown->line,
                                         table->sites[fact->site].column)
            : shown->code;

    return read_statement(why, fact->module, shown->line, first, is_made_here);
}
