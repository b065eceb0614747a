/* Appending to a file that a program may close or remove meanwhile. */
#include "runtime/python/tracker/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096

bool track_file_is_open(const struct track_file *file)
{
    struct stat status;

    return file->descriptor >= 0 && fstat(file->descriptor, &status) == 0 &&
           (uint64_t)status.st_dev == file->device &&
           (uint64_t)status.st_ino == file->inode;
}

void track_file_close(struct track_file *file)
{
    if (track_file_is_open(file)) {
        close(file->descriptor);
    }
    *file = TRACK_FILE_CLOSED;
}

/* Makes the folders that the path names; whether they are there now shows when it is opened. */
static void make_folders(const char *path)
{
    char part[PATH_SIZE];
    size_t size = strlen(path);

    for (size_t i = 1; i < size && i < sizeof part; i++) {
        if (path[i] == '/') {
            memcpy(part, path, i);
            part[i] = '\0';
            mkdir(part, 0777);
        }
    }
}

static int open_to_append(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                0666);
}

/* The first three numbers are the program's, also where it has closed them. */
static int move_up(int descriptor)
{
    int moved = descriptor;

    if (descriptor >= 0 && descriptor <= STDERR_FILENO) {
        moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(descriptor);
    }
    return moved;
}

static bool fail_open(const char *path, const char *problem, struct error *error)
{
    error_set(error, ERROR_SYSTEM, "%s: cannot be opened: %s", path, problem);
    return false;
}

bool track_file_open(struct track_file *file, const char *path, struct error *error)
{
    struct stat status;
    int descriptor = open_to_append(path);

    if (descriptor < 0 && errno == ENOENT) {
        make_folders(path);
        descriptor = open_to_append(path);
    }
    descriptor = move_up(descriptor);
    if (descriptor < 0) {
        return fail_open(path, strerror(errno), error);
    }
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(descriptor);
        return fail_open(path, "is not a regular file", error);
    }
    *file = (struct track_file){descriptor, (uint64_t)status.st_dev,
                                (uint64_t)status.st_ino};
    return true;
}

bool track_file_append(const struct track_file *file,
                       struct slice text,
                       struct error *error)
{
    size_t done = 0;

    while (done < text.size) {
        ssize_t size = write(file->descriptor, text.bytes + done, text.size - done);

        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0) {
            error_set(error, ERROR_SYSTEM, "a log file cannot be written: %s",
                      size == 0 ? "no bytes were written" : strerror(errno));
            return false;
        }
        done += (size_t)size;
    }
    return true;
}
