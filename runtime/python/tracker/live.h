/* Lines about tracked calls, written while these go on: each thread has a file of its own, and
 * what was flushed is in it also when the process is killed the moment after. */
#ifndef MONITORCH_PYTHON_TRACKER_LIVE_H
#define MONITORCH_PYTHON_TRACKER_LIVE_H

#include "runtime/base/buffer.h"
#include "runtime/record/recorder.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct track_live;

/* NULL: no memory. */
struct track_live *track_live_new(void);
void track_live_free(struct track_live *live); /* may be NULL */

struct track_settings {
    const char
        *folder; /* of the files; made where something is to be written. "": no files */
    struct slice labels; /* as track_labels_change takes them; "": by the environment */
    bool is_canonical;   /* without elapsed times */
    bool is_kept;        /* lines are kept for track_live_take */
};
/* Copies them. False: no memory. */
bool track_live_configure(struct track_live *live,
                          const struct track_settings *settings);

/* A recording begins, or goes on in a forked process: nothing is known of its calls. */
void track_live_begin(struct track_live *live, const struct recorder *recorder);

/* One item of the recording that goes on; `context` is the struct track_live: this is what a
 * recorder_tap calls. */
void track_live_add(void *context, const struct log_item *item);
/* Whole lines for the file of the thread with that system's id; `is_kept`: for track_live_take
 * too. */
void track_live_add_text(struct track_live *live,
                         uint64_t native,
                         struct slice text,
                         bool is_kept);

/* Whether lines were added that were not flushed, or not taken. */
bool track_live_has_lines(const struct track_live *live);
/* Writes what was added since to the files. Where that fails it is told once, on stderr. */
void track_live_flush(struct track_live *live);
/* Appends lines that were not taken yet to `text`: all threads' as they came. */
void track_live_take(struct track_live *live, struct buffer *text);

/* Adds the path of the thread's file; nothing where there are no files. */
void track_live_path(const struct track_live *live,
                     uint64_t native,
                     struct buffer *path);

#endif
