/* A text file that grows by whole lines while the program runs. */
#ifndef MONITORCH_PYTHON_TRACKER_FILE_H
#define MONITORCH_PYTHON_TRACKER_FILE_H

#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* Which file a descriptor was: a program may close those that are not its own, and get the number
 * for another file, which is never written to. */
struct track_file {
    int descriptor; /* -1: not open */
    uint64_t device, inode;
};

#define TRACK_FILE_CLOSED ((struct track_file){-1, 0, 0})

/* Whether it can be written to. */
bool track_file_is_open(const struct track_file *file);
/* Opens it to be appended to; it is made with its folders where it is not there. */
bool track_file_open(struct track_file *file, const char *path, struct error *error);
/* Appends the text to the open file. */
bool track_file_append(const struct track_file *file,
                       struct slice text,
                       struct error *error);
void track_file_close(struct track_file *file);

#endif
