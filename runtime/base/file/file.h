/* Whole files: read at once, and written under a temporary name and renamed, so that nobody ever
 * sees an incomplete one. Errors start with `path:1:1: `. */
#ifndef MONITORCH_BASE_FILE_FILE_H
#define MONITORCH_BASE_FILE_FILE_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The permission bits of a new file are those that the umask allows. */
#define FILE_MODE_DEFAULT UINT32_MAX

struct file_info {
    bool is_there;
    bool is_regular;
    bool is_directory;
    uint32_t mode; /* the permission bits, 0777 */
    uint64_t device;
    uint64_t inode;
};

/* Follows symbolic links. A file that cannot be inspected counts as missing. */
struct file_info file_inspect(const char *path);

/* Appends the whole file to `bytes`. Returns false for a directory, and for more than `limit`
 * bytes. */
bool file_read(const char *path,
               size_t limit,
               struct buffer *bytes,
               struct error *error);

/* The same for an open descriptor; `name` is its name in messages. */
bool file_read_descriptor(int descriptor,
                          const char *name,
                          size_t limit,
                          struct buffer *bytes,
                          struct error *error);

/* Replaces the file's content with `bytes`; missing folders are created. The bytes are written
 * to a temporary file in the same folder, which is then renamed: on failure the old file is
 * untouched and no temporary file is left. An existing file keeps its permission bits, a new one
 * gets `mode`. Symbolic links are followed. A path that is no regular file (a device, a pipe) is
 * written directly. */
bool file_write(const char *path,
                struct slice bytes,
                uint32_t mode,
                struct error *error);

/* Writes several parts in order, at most FILE_PARTS_MAX, to an open descriptor; `name` is its
 * name in messages. */
#define FILE_PARTS_MAX 4
bool file_write_parts(int descriptor,
                      const char *name,
                      const struct slice *parts,
                      size_t count,
                      struct error *error);
bool file_write_descriptor(int descriptor,
                           const char *name,
                           struct slice bytes,
                           struct error *error);

/* Removes the temporary files of all threads, and blocks every thread that would create or
 * rename one. It is the last thing that a process does when a signal ends it. */
void file_abandon_all(void);

/* For tests: makes the `countdown`-th operation from now on that changes the disk fail as on a
 * full disk. 0 disables it. Also set at start from MONITORCH_TEST_FAIL_WRITE (a number, or `N+`
 * to let each later operation fail too). */
void file_fail_after(size_t countdown);
/* The same, but each later operation fails too. */
void file_keep_failing_after(size_t countdown);

/* Counts an operation, for code that changes the disk without these functions. Returns true,
 * with errno set, if the operation must fail. */
bool file_operation_fails(void);

#endif
