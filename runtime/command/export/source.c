/* A Python source, read so far that comments can be put behind its lines. */
#include "runtime/command/export/source.h"

#include "instrument/text/lexer.h"
#include "runtime/base/utf8.h"

/* The offset behind the end of the line that `at` is in. */
static size_t line_end(struct slice text, size_t at)
{
    while (at < text.size && text.bytes[at] != '\n' && text.bytes[at] != '\r') {
        at++;
    }
    if (at + 1 < text.size && text.bytes[at] == '\r' && text.bytes[at + 1] == '\n') {
        return at + 2;
    }
    return at < text.size ? at + 1 : at;
}

static bool find_lines(struct export_source *source)
{
    struct source_places *places = &source->places;
    struct slice text = places->text;
    size_t count = 0;

    for (size_t at = 0; at < text.size; at = line_end(text, at)) {
        count++;
    }
    places->starts = arena_allocate(&source->arena, count + 1, sizeof *places->starts);
    places->is_open =
        arena_allocate(&source->arena, count + 1, sizeof *places->is_open);
    if (places->starts == NULL || places->is_open == NULL) {
        return false;
    }
    places->starts[count] = text.size;
    for (size_t at = 0; at < text.size; at = line_end(text, at)) {
        places->starts[places->line_count] = at;
        places->is_open[places->line_count++] = false;
    }
    return true;
}

/* The offset behind the token, or the blank, at `at`. */
static size_t token_end(struct slice text, size_t at)
{
    char byte = text.bytes[at];

    if (byte == '"' || byte == '\'') {
        return lexer_string_end(text, at, false, false);
    }
    if (lexer_is_word_byte(byte)) {
        return lexer_prefixed_string_end(text, at, lexer_word_end(text, at));
    }
    if (byte == '#') {
        while (at < text.size && text.bytes[at] != '\n' && text.bytes[at] != '\r') {
            at++;
        }
        return at;
    }
    if (byte == '\\') {
        return line_end(text, at + 1);
    }
    return at + 1;
}

/* A line whose end is inside a token, a string or a backslash and its line end, is open. */
static void find_open(struct source_places *places)
{
    struct slice text = places->text;
    size_t line = 0;

    for (size_t at = 0; at < text.size;) {
        bool is_end = text.bytes[at] == '\n' || text.bytes[at] == '\r';
        size_t end = is_end ? line_end(text, at) : token_end(text, at);

        while (line < places->line_count && places->starts[line + 1] <= end) {
            places->is_open[line] = !is_end && places->starts[line + 1] > at &&
                                    places->starts[line + 1] < text.size;
            line++;
        }
        at = end;
    }
}

bool export_source_read(struct export_source *source,
                        struct slice bytes,
                        struct error *error)
{
    struct error ignored = ERROR_INIT;

    *source = (struct export_source){0};
    arena_init(&source->arena);
    source->is_decoded =
        encoding_decode(bytes, "", &source->arena, &source->decoded, &ignored);
    source->places.text = source->is_decoded ? source->decoded.utf8 : bytes;
    source->places.is_ascii = !source->is_decoded || !source->decoded.is_utf8;
    if (ignored.kind == ERROR_MEMORY || !find_lines(source)) {
        return error_set_memory(error);
    }
    find_open(&source->places);
    return true;
}

void export_source_release(struct export_source *source)
{
    arena_release(&source->arena);
}

bool export_source_encode(const struct export_source *source,
                          struct slice text,
                          struct buffer *bytes,
                          struct error *error)
{
    if (source->is_decoded) {
        return encoding_encode(&source->decoded, text, bytes, error);
    }
    buffer_add(bytes, text);
    if (bytes->has_failed) {
        return error_set_memory(error);
    }
    return true;
}
