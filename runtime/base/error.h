/* Errors: a kind and a message of the form `path:line:column: problem, expectation`. The message
 * is written where the error occurs. */
#ifndef MONITORCH_BASE_ERROR_H
#define MONITORCH_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* The largest size of a message, so that reporting an error never allocates. */
#define ERROR_TEXT_SIZE 1024

enum error_kind {
    ERROR_NONE,
    ERROR_INPUT,  /* an input could not be read or understood */
    ERROR_SYSTEM, /* the disk, a permission, a system call */
    ERROR_MEMORY, /* an allocation failed */
    ERROR_USAGE,  /* the caller requested something impossible */
};

struct error {
    enum error_kind kind;
    char text[ERROR_TEXT_SIZE];
};

#define ERROR_INIT ((struct error){ERROR_NONE, ""})

/* Sets the message as printf would. It is cut to its largest size, but not inside a UTF-8
 * character. Control characters become `?`, so that the message is safe to print. */
void error_set(struct error *error, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the message `PATH:LINE:COLUMN: message`. Lines and columns count from 1, columns in
 * characters. */
void error_set_at(struct error *error,
                  enum error_kind kind,
                  const char *path,
                  size_t line,
                  size_t column,
                  const char *format,
                  ...) __attribute__((format(printf, 6, 7)));

/* Sets "out of memory". Returns false, so that a function can return the result. */
bool error_set_memory(struct error *error);

#endif
