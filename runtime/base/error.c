#include "runtime/base/error.h"

#include "runtime/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Stores a printable copy of `raw`. Each bad character becomes one `?`, so the copy is never
 * longer. */
static void error_keep(struct error *error, enum error_kind kind, struct slice raw)
{
    size_t size = 0;

    raw.size = utf8_cut(raw, ERROR_TEXT_SIZE - 1);
    for (size_t i = 0; i < raw.size;) {
        uint32_t code = 0;
        size_t step = utf8_read(raw, i, &code);

        if (step == 0 || !utf8_is_printable(code)) {
            error->text[size++] = '?';
            i += step == 0 ? 1 : step;
            continue;
        }
        memcpy(error->text + size, raw.bytes + i, step);
        size += step;
        i += step;
    }
    error->text[size] = '\0';
    error->kind = kind;
}

/* The message is built in a separate buffer, because an argument may point into the error's old
 * text. */
static void error_set_list(struct error *error,
                           enum error_kind kind,
                           const char *prefix,
                           const char *format,
                           va_list arguments)
{
    char text[ERROR_TEXT_SIZE + 4]; /* space for a whole character at the cut */
    size_t size = strlen(prefix);

    if (size > sizeof text - 1) {
        size = sizeof text - 1;
    }
    memcpy(text, prefix, size);
    text[size] = '\0';
    if (vsnprintf(text + size, sizeof text - size, format, arguments) >= 0) {
        size += strlen(text + size);
    }
    error_keep(error, kind, (struct slice){text, size});
}

void error_set(struct error *error, enum error_kind kind, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    error_set_list(error, kind, "", format, arguments);
    va_end(arguments);
}

void error_set_at(struct error *error,
                  enum error_kind kind,
                  const char *path,
                  size_t line,
                  size_t column,
                  const char *format,
                  ...)
{
    char prefix[ERROR_TEXT_SIZE];
    va_list arguments;

    snprintf(prefix, sizeof prefix, "%.700s:%zu:%zu: ", path, line, column);
    va_start(arguments, format);
    error_set_list(error, kind, prefix, format, arguments);
    va_end(arguments);
}

bool error_set_memory(struct error *error)
{
    error_set(error, ERROR_MEMORY, "out of memory");
    return false;
}
