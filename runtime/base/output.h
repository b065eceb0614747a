/* Standard output and standard error, as the commands use them. */
#ifndef MONITORCH_BASE_OUTPUT_H
#define MONITORCH_BASE_OUTPUT_H

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

/* Prints to standard output. A closed pipe ends the process, quietly; false, with a message,
 * where the text cannot be written. */
bool output_print(struct slice text);

/* Prints to standard error. */
void output_print_error(struct slice text);

#endif
