/* Whole files: read at once, written beside their name and renamed, so that nobody ever sees
 * half of one. Errors begin with `path:1:1: `. */
#ifndef MONITORCH_BASE_FILE_FILE_H
#define MONITORCH_BASE_FILE_FILE_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No permission bits are wanted but those that the umask leaves. */
#define FILE_MODE_DEFAULT UINT32_MAX

struct file_info {
    bool is_there;
    bool is_regular;
    bool is_directory;
    uint32_t mode; /* the permission bits, 0777 */
    uint64_t device;
    uint64_t inode;
};

/* Follows symbolic links. A file that cannot be examined does not exist. */
struct file_info file_inspect(const char *path);

/* Appends the whole file. Fails for a directory, and for more than `limit` bytes. */
bool file_read(const char *path,
               size_t limit,
               struct buffer *bytes,
               struct error *error);

/* The same from an open descriptor that messages call `name`. */
bool file_read_descriptor(int descriptor,
                          const char *name,
                          size_t limit,
                          struct buffer *bytes,
                          struct error *error);

/* Makes the file hold `bytes`, and its missing folders too. The text is written to a temporary file
 * in the same folder, which then gets the name: on failure the old file is untouched and nothing is
 * left behind. An existing file keeps its permission bits, a new one gets `mode`. Symbolic links
 * are followed; what is no regular file (a device, a pipe) is written as it is. */
bool file_write(const char *path,
                struct slice bytes,
                uint32_t mode,
                struct error *error);

/* Writes to an open descriptor that messages call `name`: several parts, one behind the other, at
 * most FILE_PARTS_MAX. */
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

/* Removes the temporary files of all threads and lets no thread make or rename one any more: the
 * last thing that a process does when a signal ends it. */
void file_abandon_all(void);

/* Tests: the `countdown`-th operation from now on that changes the disk fails as on a full
 * disk. 0 switches failing off. Also set at start from MONITORCH_TEST_FAIL_WRITE (a number, or
 * `N+` for each operation after it too). */
void file_fail_after(size_t countdown);
/* The same, and each operation after it fails too. */
void file_keep_failing_after(size_t countdown);

/* For what changes the disk by other ways than this module's: counts an operation; true, with
 * errno set, where it is one that has to fail. */
bool file_operation_fails(void);

#endif
