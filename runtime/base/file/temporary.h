/* Files that are written beside their final name, and get it when they are whole. Private to the
 * files that write. */
#ifndef MONITORCH_BASE_FILE_TEMPORARY_H
#define MONITORCH_BASE_FILE_TEMPORARY_H

#include <limits.h>
#include <stdbool.h>

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
/* The same where nothing has that name yet; errno is EEXIST where something has. */
bool file_temporary_rename_new(struct file_temporary *temporary, const char *path);
void file_temporary_remove(struct file_temporary *temporary);

#endif
