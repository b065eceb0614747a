/* Messages about files, as a terminal shows them. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_MESSAGE_H
#define MONITORCH_INSTRUMENT_COMMAND_MESSAGE_H

#include "instrument/instrument.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"

#include <stdbool.h>

/* A line `path:line:column: text`. An error without a position of its own (no memory) gets
 * the file's first. */
void message_add_error(struct buffer *text,
                       const char *path,
                       const struct error *error,
                       bool has_color);

/* The same from a text that begins with its position. */
void message_add_text(struct buffer *text, struct slice message, bool has_color);

/* A line `path:line:column: warning: text`, or `remark:`. */
void message_add_note(struct buffer *text,
                      const char *path,
                      const struct note *note,
                      bool has_color);

#endif
