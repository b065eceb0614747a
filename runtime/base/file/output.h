/* Standard output and standard error, as the commands use them. */
#ifndef MONITORCH_BASE_FILE_OUTPUT_H
#define MONITORCH_BASE_FILE_OUTPUT_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>

/* The values of --color. */
enum color {
    COLOR_AUTO, /* on a terminal, unless NO_COLOR is set */
    COLOR_ALWAYS,
    COLOR_NEVER,
};

/* Reads `auto`, `always` or `never`. */
bool color_read(enum color *color, const char *text, struct error *error);
/* Whether output to the descriptor is coloured. */
bool color_is_wanted(enum color color, int descriptor);

/* The number of columns of standard output: the variable COLUMNS, else the terminal's width. 0:
 * it is no terminal, and lines can have any length. */
size_t output_width(void);

/* Prints to standard output. A closed pipe ends the process without a message. Returns false,
 * after a message, if the text cannot be written. */
bool output_print(struct slice text);

/* Text that is generated in parts is printed once it has this many bytes. */
#define OUTPUT_PIECE ((size_t)128 * 1024)

/* Prints and empties the buffer if it holds at least `least` bytes. */
bool output_flush(struct buffer *text, size_t least);

void output_print_error(struct slice text);

#endif
