/* What stands in the folder that a test runs in. */
#ifndef MONITORCH_TESTS_UNIT_FOLDER_H
#define MONITORCH_TESTS_UNIT_FOLDER_H

#include <dirent.h>

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
