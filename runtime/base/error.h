/* One error, written where it is known: `path:line:column: what is wrong, what was wanted`. */
#ifndef MONITORCH_BASE_ERROR_H
#define MONITORCH_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* A message is cut to this many bytes, so that telling an error never allocates. */
#define ERROR_TEXT_SIZE 1024

enum error_kind {
    ERROR_NONE,
    ERROR_INPUT,  /* an input could not be read or understood */
    ERROR_SYSTEM, /* the disk, a permission, a system call */
    ERROR_MEMORY, /* an allocation failed */
    ERROR_USAGE,  /* the caller asked for something that cannot be */
};

struct error {
    enum error_kind kind;
    char text[ERROR_TEXT_SIZE];
};

#define ERROR_INIT ((struct error){ERROR_NONE, ""})

/* Sets the message as printf would. Cut, never split inside a UTF-8 character; control
 * characters in the result are replaced by `?`, so that it is safe to print. */
void error_set(struct error *error, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `PATH:LINE:COLUMN: message`; lines and columns count from 1, columns in characters. */
void error_set_at(struct error *error,
                  enum error_kind kind,
                  const char *path,
                  size_t line,
                  size_t column,
                  const char *format,
                  ...) __attribute__((format(printf, 6, 7)));

/* "out of memory". Returns false, which is what a function that fails returns. */
bool error_set_memory(struct error *error);

#endif
