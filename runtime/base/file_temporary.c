/* Files that are written beside the name that they are to have. */
#include "runtime/base/file_temporary.h"

#include "runtime/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Those that exist just now, for the one who has to remove them all. The lock is held while one
 * is made, renamed or removed. */
static pthread_mutex_t temporaries_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file_temporary *temporaries;
static unsigned long temporary_count;

/* A process that is forked off while another thread holds the lock must not wait for it. */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&temporaries_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&temporaries_lock);
}

static void after_fork_in_child(void)
{
    temporaries = NULL;
    pthread_mutex_unlock(&temporaries_lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void file_abandon_all(void)
{
    pthread_mutex_lock(&temporaries_lock);
    for (struct file_temporary *one = temporaries; one != NULL; one = one->next) {
        unlink(one->path);
    }
    /* The lock stays taken. */
}

static void temporary_forget(struct file_temporary *temporary)
{
    struct file_temporary **link = &temporaries;

    while (*link != temporary) {
        link = &(*link)->next;
    }
    *link = temporary->next;
}

static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Makes the folders above a file, as far as they are missing. */
static bool make_folders(const char *path)
{
    char folder[PATH_MAX];
    size_t size = folder_size(path);

    for (size_t i = 1; i < size; i++) {
        if (path[i] != '/') {
            continue;
        }
        memcpy(folder, path, i);
        folder[i] = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
            return false;
        }
    }
    return true;
}

int file_temporary_open(struct file_temporary *temporary, const char *beside)
{
    size_t folder = folder_size(beside), room = sizeof temporary->path - folder;
    int descriptor;

    if (file_operation_fails()) {
        return -1;
    }
    if (folder >= sizeof temporary->path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(temporary->path, beside, folder);
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&temporaries_lock);
    do {
        int size = snprintf(temporary->path + folder, room, ".monitorch-%ld-%lu.tmp",
                            (long)getpid(), temporary_count++);

        if (size < 0 || (size_t)size >= room) {
            errno = ENAMETOOLONG;
            descriptor = -1;
            break;
        }
        descriptor =
            open(temporary->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno == ENOENT && make_folders(temporary->path)) {
            descriptor =
                open(temporary->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        }
    } while (descriptor < 0 && errno == EEXIST);
    if (descriptor >= 0) {
        temporary->next = temporaries;
        temporaries = temporary;
    }
    pthread_mutex_unlock(&temporaries_lock);
    return descriptor;
}

/* Some file systems have neither this way of renaming nor hard links; there a file that appears
 * just now may be replaced. */
static bool rename_new(const char *from, const char *to)
{
#ifdef RENAME_NOREPLACE
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return true;
    }
    if (errno == EEXIST) {
        return false;
    }
#endif
    if (link(from, to) == 0) {
        unlink(from);
        return true;
    }
    if (errno == EEXIST || access(to, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

static bool
temporary_rename(struct file_temporary *temporary, const char *path, bool may_replace)
{
    bool is_renamed = false;
    int number;

    pthread_mutex_lock(&temporaries_lock);
    if (!file_operation_fails()) {
        is_renamed = may_replace ? rename(temporary->path, path) == 0
                                 : rename_new(temporary->path, path);
    }
    number = errno;
    if (!is_renamed) {
        unlink(temporary->path);
    }
    temporary_forget(temporary);
    pthread_mutex_unlock(&temporaries_lock);
    errno = number;
    return is_renamed;
}

bool file_temporary_rename(struct file_temporary *temporary, const char *path)
{
    return temporary_rename(temporary, path, true);
}

bool file_temporary_rename_new(struct file_temporary *temporary, const char *path)
{
    return temporary_rename(temporary, path, false);
}

void file_temporary_remove(struct file_temporary *temporary)
{
    pthread_mutex_lock(&temporaries_lock);
    unlink(temporary->path);
    temporary_forget(temporary);
    pthread_mutex_unlock(&temporaries_lock);
}
