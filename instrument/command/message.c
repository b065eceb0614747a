/* Messages about files, as a terminal shows them. */
#include "instrument/command/message.h"

#define BOLD    "\033[1m"
#define MAGENTA "\033[35;1m"
#define CYAN    "\033[36;1m"
#define NORMAL  "\033[0m"

static void
add_colored(struct buffer *text, struct slice part, const char *color, bool has_color)
{
    if (has_color) {
        buffer_add(text, slice_of(color));
    }
    buffer_add(text, part);
    if (has_color) {
        buffer_add(text, SLICE(NORMAL));
    }
}

void message_add_text(struct buffer *text, struct slice message, bool has_color)
{
    size_t size = slice_find(message, SLICE(": "), 0);

    if (size < message.size) {
        add_colored(text, slice_part(message, 0, size + 1), BOLD, has_color);
        message = slice_part(message, size + 1, message.size);
    }
    buffer_add(text, message);
    buffer_add_byte(text, '\n');
}

void message_add_error(struct buffer *text,
                       const char *path,
                       const struct error *error,
                       bool has_color)
{
    struct error placed = *error;

    if (error->kind == ERROR_MEMORY) {
        error_set_at(&placed, ERROR_MEMORY, path, 1, 1, "%s", error->text);
    }
    message_add_text(text, slice_of(placed.text), has_color);
}

void message_add_note(struct buffer *text,
                      const char *path,
                      const struct note *note,
                      bool has_color)
{
    bool is_warning = note->kind == NOTE_WARNING;
    struct error place;

    error_set_at(&place, ERROR_NONE, path, note->line, note->column, "%s", "");
    place.text[strlen(place.text) - 1] = '\0'; /* the blank behind the last colon */
    add_colored(text, slice_of(place.text), BOLD, has_color);
    buffer_add_byte(text, ' ');
    add_colored(text, is_warning ? SLICE("warning:") : SLICE("remark:"),
                is_warning ? MAGENTA : CYAN, has_color);
    buffer_add_byte(text, ' ');
    buffer_add_printable(text, note->text);
    buffer_add_byte(text, '\n');
}
