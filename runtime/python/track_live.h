/* Lines about tracked calls, written while these go on: each thread has a file of its own, and
 * what a hook has to tell is in it before the hook returns. */
#ifndef MONITORCH_PYTHON_TRACK_LIVE_H
#define MONITORCH_PYTHON_TRACK_LIVE_H

#include "runtime/base/buffer.h"
#include "runtime/trace/log_reader.h"
#include "runtime/trace/recorder.h"

#include <stdbool.h>
#include <stdint.h>

struct track_live;

/* NULL: no memory. */
struct track_live *track_live_new(void);
void track_live_free(struct track_live *live); /* may be NULL */

/* The files are `{folder}/process_{process}_thread_{native}.log`; made when there is something to
 * write. `labels` is a language or "". False: no memory. */
bool track_live_configure(struct track_live *live,
                          const char *folder,
                          struct slice labels,
                          bool is_canonical);

/* A recording begins: nothing is known of its calls. */
void track_live_begin(struct track_live *live, const struct recorder *recorder);

/* One item of the recording that goes on. */
void track_live_add(struct track_live *live, const struct log_item *item);
/* A text for the thread's file that is no item; whole lines. */
void track_live_add_text(struct track_live *live, uint64_t native, struct slice text);

/* Writes what was added since. A file that cannot be written is told once, on stderr. */
void track_live_flush(struct track_live *live);

/* Whether some thread has lines that were not taken. */
bool track_live_has_lines(const struct track_live *live);
/* Lines of that thread that were not taken yet: appended to `text`. */
void track_live_take(struct track_live *live, uint64_t native, struct buffer *text);

/* Adds the path of the thread's file. */
void track_live_path(struct track_live *live, uint64_t native, struct buffer *path);

#endif
