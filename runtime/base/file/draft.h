/* A file that is written piece by piece, beside its final name: nobody ever sees half of it. */
#ifndef MONITORCH_BASE_FILE_DRAFT_H
#define MONITORCH_BASE_FILE_DRAFT_H

#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/slice.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Files that are written beside their final name, and get it when they are whole. Private to the
 * files that write. */

#ifndef PATH_MAX
    #define PATH_MAX 4096
#endif

/* In a list of all that exist just now: it may not move until it is renamed or removed. A process
 * that is forked off has none; those of its parent are not to be renamed or removed there. */
struct file_temporary {
    char path[PATH_MAX];
    struct file_temporary *next;
};

/* Makes one in the folder of `beside`, and that folder where it is missing. Gives back the open
 * file, or -1 with errno. Those that killed processes have left in the folder are removed. */
int file_temporary_open(struct file_temporary *temporary, const char *beside);
/* The file gets the name `path`; on failure, with errno, it is removed. */
bool file_temporary_rename(struct file_temporary *temporary, const char *path);
void file_temporary_remove(struct file_temporary *temporary);

/* It may not move while it is open. Each function that fails closes the draft too, and removes
 * what it wrote; the file that was there is as it was. Errors of the system leave errno too. */
struct file_draft {
    const char *path; /* as the caller named it; borrowed */
    int descriptor;   /* -1: closed */
    /* The name is no regular file's (a device, a pipe): written as it is. */
    bool is_direct;
    struct file_temporary temporary;
    char target[PATH_MAX]; /* the path without symbolic links */
};

/* An existing file keeps its permission bits, a new one gets `mode` (FILE_MODE_DEFAULT: what the
 * umask leaves). Missing folders are made, symbolic links followed. */
bool file_draft_open(struct file_draft *draft,
                     const char *path,
                     uint32_t mode,
                     struct error *error);
/* The same where the caller has inspected the path already. */
bool file_draft_open_at(struct file_draft *draft,
                        const char *path,
                        struct file_info info,
                        uint32_t mode,
                        struct error *error);
bool file_draft_add(struct file_draft *draft, struct slice bytes, struct error *error);
/* Several, one behind the other: at most FILE_PARTS_MAX. */
bool file_draft_add_parts(struct file_draft *draft,
                          const struct slice *parts,
                          size_t count,
                          struct error *error);
/* The file gets its name. */
bool file_draft_finish(struct file_draft *draft, struct error *error);
/* The same, but a file that exists by now is left as it is: `is_there`, and true. */
bool file_draft_finish_new(struct file_draft *draft,
                           bool *is_there,
                           struct error *error);
/* Nothing happens where it is closed. */
void file_draft_abandon(struct file_draft *draft);

#endif
