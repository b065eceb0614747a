/* Infinities that a program's text names: in a statement, or as a parameter's default. */
#include "runtime/view/why/reason/infinity_text.h"

#include "runtime/view/why/reason/reading.h"

bool infinity_is_named(struct slice text)
{
    for (size_t at = slice_find(text, SLICE("inf"), 0); at < text.size;
         at = slice_find(text, SLICE("inf"), at + 1)) {
        char before = at > 0 ? text.bytes[at - 1] : ' ';
        char after = at + 3 < text.size ? text.bytes[at + 3] : ' ';

        if (memchr(".-+'\" (=", before, 8) != NULL &&
            memchr("'\" ),]:", after, 7) != NULL) {
            return true;
        }
    }
    return false;
}

bool statement_hands_on(struct slice statement)
{
    for (size_t i = 0; i < statement.size; i++) {
        if (memchr("+-*/%@(", statement.bytes[i], 7) != NULL) {
            return false;
        }
    }
    return true;
}

/* What stands behind the `=` of a parameter's text, `k: int = 3`; "": it has no default. */
static struct slice default_of(struct slice parameter)
{
    int depth = 0;

    for (size_t i = 0; i < parameter.size; i++) {
        char byte = parameter.bytes[i];

        depth += byte == '(' || byte == '[' || byte == '{';
        depth -= byte == ')' || byte == ']' || byte == '}';
        if (depth == 0 && byte == '=') {
            return slice_trim(slice_part(parameter, i + 1, parameter.size));
        }
    }
    return SLICE("");
}

/* Whether the text begins with that name, behind stars. */
static bool is_of(struct slice parameter, struct slice name)
{
    while (slice_starts(parameter, SLICE("*"))) {
        parameter = slice_part(parameter, 1, parameter.size);
    }
    return slice_starts(parameter, name) &&
           (parameter.size == name.size ||
            !reading_is_word(parameter.bytes[name.size]));
}

/* The end of the parameter that begins at `start`: a comma, or the bracket behind the last. */
static size_t parameter_end(struct slice text, size_t start)
{
    struct expressions reading = {.text = text, .at = start};

    while (reading.at < text.size) {
        char byte = reading_peek(&reading, 0);

        if (byte == ',' || byte == ')') {
            break;
        }
        if (byte == '(' || byte == '[' || byte == '{') {
            reading_skip_bracket(&reading);
            continue;
        }
        reading.at++;
        if (byte == '"' || byte == '\'') {
            reading_skip_string(&reading, byte);
        }
    }
    return reading.at;
}

struct slice parameter_default(struct slice definition, struct slice name)
{
    size_t start = slice_find(definition, SLICE("("), 0) + 1;

    while (start < definition.size) {
        size_t end = parameter_end(definition, start);
        struct slice parameter = slice_trim(slice_part(definition, start, end));

        if (is_of(parameter, name)) {
            return default_of(parameter);
        }
        if (end == definition.size || definition.bytes[end] == ')') {
            break;
        }
        start = end + 1;
    }
    return SLICE("");
}
