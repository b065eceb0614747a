/* Drafts and temporary files: files that are written under another name and renamed once they
 * are complete. */
#include "runtime/base/file/draft.h"

#include "runtime/base/file/file.h"
#include "runtime/base/file/inputs.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Temporary files, written in the folder of their final name. */

#define NAME_FORMAT ".monitorch-%ld-%lu.tmp"

/* The list of existing temporary files, for file_abandon_all. The lock is held while one is
 * created, renamed or removed. */
static pthread_mutex_t temporaries_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file_temporary *temporaries;
static unsigned long temporary_count;

/* A process that is forked while another thread holds the lock must not wait for it. */
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
    /* The lock is never released. */
}

static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* ---- files of processes that were killed ---- */

#define CLEANED_COUNT 16
#define LEFT_SECONDS  60

/* Folders that were cleaned, so that a process cleans each only once. The lock is held. */
static struct {
    dev_t device;
    ino_t inode;
} cleaned[CLEANED_COUNT];
static unsigned cleaned_count;

static bool is_cleaned(const struct stat *folder)
{
    for (unsigned i = 0; i < cleaned_count && i < CLEANED_COUNT; i++) {
        if (cleaned[i].device == folder->st_dev && cleaned[i].inode == folder->st_ino) {
            return true;
        }
    }
    cleaned[cleaned_count % CLEANED_COUNT].device = folder->st_dev;
    cleaned[cleaned_count % CLEANED_COUNT].inode = folder->st_ino;
    cleaned_count++;
    return false;
}

/* Whether the file's writer is gone: its process does not exist, nobody has locked the file (as
 * a process of another machine or container would), and it was not written to recently. */
static bool is_left(int folder, const char *name, long process)
{
    struct stat status;
    int descriptor =
        openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is_free;

    if (descriptor < 0) {
        return false;
    }
    is_free = kill((pid_t)process, 0) != 0 && errno == ESRCH &&
              fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
              time(NULL) - status.st_mtime >= LEFT_SECONDS &&
              flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    close(descriptor);
    return is_free;
}

/* Removes temporary files in the folder whose writers were killed. */
static void clean_folder(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        long process;
        unsigned long number;
        int size = 0;

        if (sscanf(entry->d_name, NAME_FORMAT "%n", &process, &number, &size) == 2 &&
            size > 0 && entry->d_name[size] == '\0' && process > 0 &&
            is_left(dirfd(folder), entry->d_name, process)) {
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

/* The folder of the last file, with its slash. For absolute paths it saves a stat for each of
 * many files in one folder. The lock is held. */
static char last_folder[PATH_MAX];

static bool is_last_folder(const char *path, size_t size)
{
    if (*path == '/' && last_folder[size] == '\0' &&
        memcmp(path, last_folder, size) == 0) {
        return true;
    }
    memcpy(last_folder, path, size);
    last_folder[size] = '\0';
    return false;
}

/* Cleans the folder of the file `path`. The lock is held. */
static void clean_beside(const char *path)
{
    char folder[PATH_MAX];
    size_t size = folder_size(path);
    struct stat status;

    assert(size < sizeof folder);
    if (is_last_folder(path, size)) {
        return;
    }
    memcpy(folder, size == 0 ? "." : path, size == 0 ? 1 : size);
    folder[size == 0 ? 1 : size] = '\0';
    if (stat(folder, &status) == 0 && !is_cleaned(&status)) {
        clean_folder(folder);
    }
}

static void temporary_forget(struct file_temporary *temporary)
{
    struct file_temporary **link = &temporaries;

    while (*link != temporary) {
        link = &(*link)->next;
    }
    *link = temporary->next;
}

/* ---- creating a temporary file ---- */

/* Creates the missing folders above a file. */
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
        int size = snprintf(temporary->path + folder, room, NAME_FORMAT, (long)getpid(),
                            temporary_count++);

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
        (void)flock(descriptor,
                    LOCK_EX | LOCK_NB); /* marks the file as being written */
        temporary->next = temporaries;
        temporaries = temporary;
        clean_beside(temporary->path);
    }
    pthread_mutex_unlock(&temporaries_lock);
    return descriptor;
}

/* Renames a file without replacing another. Some file systems support neither this nor hard
 * links; there a file that appears at the same moment may be replaced. */
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

/* Renames the file only if nothing has that name yet; otherwise errno is EEXIST. */
static bool file_temporary_rename_new(struct file_temporary *temporary,
                                      const char *path)
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

/* Abandons the draft and sets the message of the system's error `number`. Returns false. */
static bool fail(struct file_draft *draft, int number, struct error *error)
{
    file_draft_abandon(draft);
    error_set_at(error, ERROR_SYSTEM, draft->path, 1, 1, "cannot be written: %s",
                 strerror(number));
    errno = number;
    return false;
}

static bool open_temporary(struct file_draft *draft, uint32_t mode, struct error *error)
{
    draft->descriptor = file_temporary_open(&draft->temporary, draft->target);
    if (draft->descriptor < 0 ||
        (mode != FILE_MODE_DEFAULT && fchmod(draft->descriptor, (mode_t)mode) != 0)) {
        return fail(draft, errno, error);
    }
    return true;
}

bool file_draft_open(struct file_draft *draft,
                     const char *path,
                     uint32_t mode,
                     struct error *error)
{
    return file_draft_open_at(draft, path, file_inspect(path), mode, error);
}

bool file_draft_open_at(struct file_draft *draft,
                        const char *path,
                        struct file_info info,
                        uint32_t mode,
                        struct error *error)
{
    draft->path = path;
    draft->descriptor = -1;
    draft->is_direct = false;
    if (info.is_directory) {
        errno = EISDIR;
        error_set_at(error, ERROR_INPUT, path, 1, 1,
                     "is a directory, expected the name of a file");
        return false;
    }
    if (info.is_there && !info.is_regular) {
        draft->is_direct = true;
        draft->descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return draft->descriptor >= 0 || fail(draft, errno, error);
    }
    if (!file_inputs_refuse(path, error)) {
        errno = EPERM;
        return false;
    }
    if (info.is_there) {
        if (access(path, W_OK) != 0 || realpath(path, draft->target) == NULL) {
            return fail(draft, errno, error);
        }
        return open_temporary(draft, info.mode, error);
    }
    if (strlen(path) >= sizeof draft->target) {
        return fail(draft, ENAMETOOLONG, error);
    }
    memcpy(draft->target, path, strlen(path) + 1);
    return open_temporary(draft, mode, error);
}

bool file_draft_add(struct file_draft *draft, struct slice bytes, struct error *error)
{
    return file_draft_add_parts(draft, &bytes, 1, error);
}

bool file_draft_add_parts(struct file_draft *draft,
                          const struct slice *parts,
                          size_t count,
                          struct error *error)
{
    if (!file_write_parts(draft->descriptor, draft->path, parts, count, error)) {
        int number = errno;
        file_draft_abandon(draft);
        errno = number;
        return false;
    }
    return true;
}

static bool close_draft(struct file_draft *draft, struct error *error)
{
    /* A full disk may be reported only at closing. */
    bool is_closed = close(draft->descriptor) == 0 && !file_operation_fails();
    int number = errno;

    draft->descriptor = -1;
    if (is_closed) {
        return true;
    }
    if (!draft->is_direct) {
        file_temporary_remove(&draft->temporary);
    }
    return fail(draft, number, error);
}

/* Files that were read while the draft was written are inputs too. */
static bool refuse_input(struct file_draft *draft, struct error *error)
{
    if (draft->is_direct || file_inputs_refuse(draft->target, error)) {
        return true;
    }
    file_draft_abandon(draft);
    errno = EPERM;
    return false;
}

bool file_draft_finish(struct file_draft *draft, struct error *error)
{
    return refuse_input(draft, error) && close_draft(draft, error) &&
           (draft->is_direct ||
            file_temporary_rename(&draft->temporary, draft->target) ||
            fail(draft, errno, error));
}

bool file_draft_finish_new(struct file_draft *draft,
                           bool *is_there,
                           struct error *error)
{
    *is_there = false;
    if (!close_draft(draft, error)) {
        return false;
    }
    if (draft->is_direct ||
        file_temporary_rename_new(&draft->temporary, draft->target)) {
        return true;
    }
    *is_there = errno == EEXIST;
    return *is_there || fail(draft, errno, error);
}

void file_draft_abandon(struct file_draft *draft)
{
    if (draft->descriptor < 0) {
        return;
    }
    close(draft->descriptor);
    draft->descriptor = -1;
    if (!draft->is_direct) {
        file_temporary_remove(&draft->temporary);
    }
}
