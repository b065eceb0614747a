/* Globs of a selection that match nothing in a file. */
#ifndef MONITORCH_INSTRUMENT_SELECT_UNMATCHED_H
#define MONITORCH_INSTRUMENT_SELECT_UNMATCHED_H

#include "instrument/instrument.h"
#include "runtime/base/buffer.h"

/* Appends to `text` a line, without a position, for each --function glob that matches no
 * function with something to record, and for each --spy glob that matches no assigned name, with
 * the nearest names. For this it instruments the whole file once more. Fails if the file cannot
 * be instrumented. */
bool unmatched_write(struct slice source,
                     const char *name,
                     const struct selection *selection,
                     struct buffer *text,
                     struct error *error);

#endif
