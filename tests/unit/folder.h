/* The folder that a unit program runs in: a new one for each process, removed when it ends. */
#ifndef MONITORCH_TESTS_UNIT_FOLDER_H
#define MONITORCH_TESTS_UNIT_FOLDER_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder_path[4096];
static pid_t folder_owner; /* a forked child leaves the folder to its parent */

static inline int folder_remove_entry(const char *path,
                                      const struct stat *status,
                                      int kind,
                                      struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void folder_remove(void)
{
    if (getpid() == folder_owner) {
        nftw(folder_path, folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
}

/* Runs before main: files of an earlier run, or of whoever started the program, are not seen. A
 * program that was given words (make_trace) writes where they say. */
__attribute__((constructor)) static inline void folder_enter(int word_count)
{
    const char *parent = getenv("TMPDIR");

    if (word_count > 1) {
        return;
    }
    snprintf(folder_path, sizeof(folder_path), "%s/monitorch-unit-XXXXXX",
             parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder_path) == NULL || chdir(folder_path) != 0) {
        perror(folder_path);
        _exit(2);
    }
    folder_owner = getpid();
    atexit(folder_remove);
}

static inline int entry_count(void)
{
    DIR *folder = opendir(".");
    int count = 0;

    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count - 2;
}

#endif
