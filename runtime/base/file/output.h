/* Standard output and standard error, as the commands use them. */
#ifndef MONITORCH_BASE_FILE_OUTPUT_H
#define MONITORCH_BASE_FILE_OUTPUT_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>

/* What --color asks for. */
enum color {
    COLOR_AUTO, /* on a terminal, unless NO_COLOR is set */
    COLOR_ALWAYS,
    COLOR_NEVER,
};

/* Reads auto, always or never. */
bool color_read(enum color *color, const char *text, struct error *error);
/* Whether what is written to the descriptor gets colours. */
bool color_is_wanted(enum color color, int descriptor);

/* How many columns standard output has: those of the variable COLUMNS, else of the terminal. 0: it is no
 * terminal, and as wide as need be. */
size_t output_width(void);

/* Prints to standard output. A closed pipe ends the process, quietly; false, with a message,
 * where the text cannot be written. */
bool output_print(struct slice text);

/* Text that is made piece by piece is printed from so many bytes on. */
#define OUTPUT_PIECE ((size_t)128 * 1024)

/* Prints what the buffer holds, where that is `least` bytes or more, and empties it. */
bool output_flush(struct buffer *text, size_t least);

/* Prints to standard error. */
void output_print_error(struct slice text);

#endif
