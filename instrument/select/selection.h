/* Selections as text: the part of the command line that a traced file's table records. */
#ifndef MONITORCH_INSTRUMENT_SELECT_SELECTION_H
#define MONITORCH_INSTRUMENT_SELECT_SELECTION_H

#include "instrument/instrument.h"
#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>

/* Appends the words that make this selection on a command line, separated by blanks: --all,
 * --forward, --every-line, the functions, the lines, then --spy. Blanks, `%` and control
 * characters inside a word are written %XX. An empty selection gives no words. */
void selection_write(const struct selection *selection, struct buffer *text);

/* Reads these words. Everything in the selection is borrowed from `text` and `arena`. Fails if a
 * word is none of them. */
bool selection_read(struct selection *selection,
                    struct slice text,
                    struct arena *arena,
                    struct error *error);

/* Adds a --function, a --lines, or a list as that of --spy, whose empty items are skipped. The
 * arrays are allocated in the arena; the globs remain borrowed. */
bool function_glob_add(struct selection *selection,
                       struct slice glob,
                       struct arena *arena,
                       struct error *error);
bool line_range_add(struct selection *selection,
                    struct slice text,
                    struct arena *arena,
                    struct error *error);
bool globs_add(const struct slice **globs,
               size_t *count,
               struct slice list,
               struct arena *arena,
               struct error *error);

#endif
