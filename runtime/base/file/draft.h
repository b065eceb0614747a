/* Drafts: files that are written part by part under a temporary name and get their final name at
 * the end. Nobody ever sees an incomplete file. */
#ifndef MONITORCH_BASE_FILE_DRAFT_H
#define MONITORCH_BASE_FILE_DRAFT_H

#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/slice.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Temporary files, which get their final name once they are complete. Private to the files that
 * write. */

#ifndef PATH_MAX
    #define PATH_MAX 4096
#endif

/* A temporary file, in the list of all existing ones, so it must not move until it is renamed or
 * removed. In a forked process the list is empty; the parent's files must not be renamed or
 * removed there. */
struct file_temporary {
    char path[PATH_MAX];
    struct file_temporary *next;
};

/* Creates a temporary file in the folder of `beside`, and the folder if it is missing. Returns
 * the file's descriptor, or -1 with errno. Also removes temporary files that killed processes
 * left in the folder. */
int file_temporary_open(struct file_temporary *temporary, const char *beside);
/* Renames the file to `path`. On failure, with errno set, the file is removed. */
bool file_temporary_rename(struct file_temporary *temporary, const char *path);
void file_temporary_remove(struct file_temporary *temporary);

/* A draft. It must not move while it is open. A function that fails also closes the draft and
 * removes its temporary file; an existing file stays as it was. For errors of the system, errno
 * is set as well. */
struct file_draft {
    const char *path; /* as given by the caller; borrowed */
    int descriptor;   /* -1: closed */
    /* The path is no regular file (a device, a pipe), and is written directly. */
    bool is_direct;
    struct file_temporary temporary;
    char target[PATH_MAX]; /* the path with symbolic links resolved */
};

/* Opens a draft. An existing file keeps its permission bits, a new one gets `mode`
 * (FILE_MODE_DEFAULT: as the umask allows). Missing folders are created; symbolic links are
 * followed. */
bool file_draft_open(struct file_draft *draft,
                     const char *path,
                     uint32_t mode,
                     struct error *error);
/* The same for a path that the caller has inspected already. */
bool file_draft_open_at(struct file_draft *draft,
                        const char *path,
                        struct file_info info,
                        uint32_t mode,
                        struct error *error);
bool file_draft_add(struct file_draft *draft, struct slice bytes, struct error *error);
/* Adds several parts in order, at most FILE_PARTS_MAX. */
bool file_draft_add_parts(struct file_draft *draft,
                          const struct slice *parts,
                          size_t count,
                          struct error *error);
/* Gives the file its final name. */
bool file_draft_finish(struct file_draft *draft, struct error *error);
/* The same, but does not replace a file that exists by now: sets `is_there` and returns true. */
bool file_draft_finish_new(struct file_draft *draft,
                           bool *is_there,
                           struct error *error);
/* Closes and removes the draft. Does nothing if it is closed already. */
void file_draft_abandon(struct file_draft *draft);

#endif
