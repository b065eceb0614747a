/* Standard output and standard error, as the commands use them. */
#include "runtime/base/file/output.h"

#include "runtime/base/file/file.h"
#include "runtime/base/file/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The width of a terminal that does not report one. */
#define WIDTH_DEFAULT 80

bool color_read(enum color *color, const char *text, struct error *error)
{
    static const char *const texts[] = {"auto", "always", "never"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(text, texts[i]) == 0) {
            *color = (enum color)i;
            return true;
        }
    }
    error_set(error, ERROR_USAGE, "--color %s: expected auto, always or never", text);
    return false;
}

bool color_is_wanted(enum color color, int descriptor)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (color != COLOR_AUTO) {
        return color == COLOR_ALWAYS;
    }
    return isatty(descriptor) && (no_color == NULL || no_color[0] == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

size_t output_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;

    if (columns != NULL && atoi(columns) > 0) {
        return (size_t)atoi(columns);
    }
    if (!isatty(STDOUT_FILENO)) {
        return 0;
    }
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return WIDTH_DEFAULT;
}

/* A message that cannot be printed is lost: there is no other place for it. */
void output_print_error(struct slice text)
{
    struct error ignored;

    if (text.size > 0) {
        file_write_descriptor(STDERR_FILENO, "<stderr>", text, &ignored);
    }
}

bool output_print(struct slice text)
{
    struct error error;
    struct buffer line = BUFFER_INIT;
    int reason;

    if (text.size == 0) {
        return true;
    }
    errno = 0;
    if (file_write_descriptor(STDOUT_FILENO, "", text, &error)) {
        return true;
    }
    reason = errno;
    if (reason == EPIPE) {
        interrupt_end_by(SIGPIPE);
    }
    buffer_add(&line, SLICE("standard output cannot be written"));
    if (reason != 0) {
        buffer_add(&line, SLICE(": "));
        buffer_add(&line, slice_of(strerror(reason)));
    }
    buffer_add_byte(&line, '\n');
    output_print_error(buffer_slice(&line));
    buffer_release(&line);
    return false;
}

bool output_flush(struct buffer *text, size_t least)
{
    bool is_printed = text->size < least || output_print(buffer_slice(text));

    text->size = text->size < least ? text->size : 0;
    return is_printed;
}
