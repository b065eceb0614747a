/* Whole files: read at once, written beside their name and renamed. */
#include "runtime/base/file.h"

#include "runtime/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PATH_MAX
    #define PATH_MAX 4096
#endif

#define READ_STEP ((size_t)64 << 10)

/* ---- failing on purpose ---- */

static atomic_size_t operations_left;
static atomic_bool is_failing_on;

void file_fail_after(size_t countdown)
{
    atomic_store(&is_failing_on, false);
    atomic_store(&operations_left, countdown);
}

void file_keep_failing_after(size_t countdown)
{
    atomic_store(&operations_left, countdown);
    atomic_store(&is_failing_on, countdown > 0);
}

__attribute__((constructor)) static void file_read_environment(void)
{
    const char *text = getenv("MONITORCH_TEST_FAIL_WRITE");
    char *end;
    size_t countdown;

    if (text == NULL) {
        return;
    }
    countdown = (size_t)strtoull(text, &end, 10);
    if (*end == '+') {
        file_keep_failing_after(countdown);
    } else {
        file_fail_after(countdown);
    }
}

bool file_operation_fails(void)
{
    size_t left = atomic_load_explicit(&operations_left, memory_order_relaxed);

    while (left > 0) {
        if (atomic_compare_exchange_weak(&operations_left, &left, left - 1)) {
            errno = ENOSPC;
            return left == 1;
        }
    }
    if (atomic_load_explicit(&is_failing_on, memory_order_relaxed)) {
        errno = ENOSPC;
        return true;
    }
    return false;
}

/* ---- reading ---- */

static bool fail_errno(struct error *error, const char *path, const char *what)
{
    error_set_at(error, ERROR_SYSTEM, path, 1, 1, "%s: %s", what, strerror(errno));
    return false;
}

static struct file_info info_of(const struct stat *status)
{
    return (struct file_info){
        .is_there = true,
        .is_regular = S_ISREG(status->st_mode),
        .is_directory = S_ISDIR(status->st_mode),
        .mode = status->st_mode & 0777,
        .device = (uint64_t)status->st_dev,
        .inode = (uint64_t)status->st_ino,
    };
}

struct file_info file_inspect(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return (struct file_info){0};
    }
    return info_of(&status);
}

static bool fail_too_large(struct error *error, const char *name, size_t limit)
{
    error_set_at(error, ERROR_INPUT, name, 1, 1,
                 "file too large, expected at most %zu bytes", limit);
    return false;
}

bool file_read_descriptor(int descriptor,
                          const char *name,
                          size_t limit,
                          struct buffer *bytes,
                          struct error *error)
{
    size_t start = bytes->size;

    for (;;) {
        ssize_t count;

        if (bytes->capacity == bytes->size && !buffer_reserve(bytes, READ_STEP)) {
            error_set_memory(error);
            return false;
        }
        count =
            read(descriptor, bytes->bytes + bytes->size, bytes->capacity - bytes->size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return fail_errno(error, name, "cannot read");
        }
        if (count == 0) {
            return true;
        }
        bytes->size += (size_t)count;
        if (bytes->size - start > limit) {
            return fail_too_large(error, name, limit);
        }
    }
}

static bool read_open_file(int descriptor,
                           const char *path,
                           size_t limit,
                           struct buffer *bytes,
                           struct error *error)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0) {
        return fail_errno(error, path, "cannot read");
    }
    if (S_ISDIR(status.st_mode)) {
        error_set_at(error, ERROR_INPUT, path, 1, 1, "is a directory, expected a file");
        return false;
    }
    if (S_ISREG(status.st_mode)) {
        if ((uint64_t)status.st_size > limit) {
            return fail_too_large(error, path, limit);
        }
        /* One byte more lets the last read find the end without growing the buffer. */
        if (!buffer_reserve(bytes, (size_t)status.st_size + 1)) {
            error_set_memory(error);
            return false;
        }
    }
    return file_read_descriptor(descriptor, path, limit, bytes, error);
}

bool file_read(const char *path,
               size_t limit,
               struct buffer *bytes,
               struct error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    size_t start = bytes->size;
    bool is_read;

    if (descriptor < 0) {
        return fail_errno(error, path, "cannot read");
    }
    is_read = read_open_file(descriptor, path, limit, bytes, error);
    if (!is_read) {
        bytes->size = start;
    }
    close(descriptor);
    return is_read;
}

/* ---- temporary files ---- */

/* Those that exist just now, in a list of the stack frames that write them, for the one who has
 * to remove them all. The lock is held while one is made, renamed or removed. */
struct temporary {
    char path[PATH_MAX];
    struct temporary *next;
};

static pthread_mutex_t temporaries_lock = PTHREAD_MUTEX_INITIALIZER;
static struct temporary *temporaries;
static unsigned long temporary_count;

void file_abandon_all(void)
{
    pthread_mutex_lock(&temporaries_lock);
    for (struct temporary *one = temporaries; one != NULL; one = one->next) {
        unlink(one->path);
    }
    /* The lock stays taken. */
}

static void temporary_forget(struct temporary *temporary)
{
    struct temporary **link = &temporaries;

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

/* Gives back the open file, or -1 with errno. */
static int temporary_open(struct temporary *temporary, const char *beside)
{
    int folder = (int)folder_size(beside);
    int descriptor;

    if (file_operation_fails()) {
        return -1;
    }
    pthread_mutex_lock(&temporaries_lock);
    do {
        int size = snprintf(temporary->path, sizeof temporary->path,
                            "%.*s.monitorch-%ld-%lu.tmp", folder, beside,
                            (long)getpid(), temporary_count++);

        if (size < 0 || (size_t)size >= sizeof temporary->path) {
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

static bool temporary_rename(struct temporary *temporary, const char *path)
{
    bool is_renamed;
    int number;

    pthread_mutex_lock(&temporaries_lock);
    is_renamed = !file_operation_fails() && rename(temporary->path, path) == 0;
    number = errno;
    if (!is_renamed) {
        unlink(temporary->path);
    }
    temporary_forget(temporary);
    pthread_mutex_unlock(&temporaries_lock);
    errno = number;
    return is_renamed;
}

static void temporary_remove(struct temporary *temporary)
{
    pthread_mutex_lock(&temporaries_lock);
    unlink(temporary->path);
    temporary_forget(temporary);
    pthread_mutex_unlock(&temporaries_lock);
}

/* ---- writing ---- */

static bool write_all(int descriptor, struct slice bytes)
{
    while (bytes.size > 0) {
        ssize_t count =
            file_operation_fails() ? -1 : write(descriptor, bytes.bytes, bytes.size);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return false;
        }
        bytes = slice_part(bytes, (size_t)count, bytes.size);
    }
    return true;
}

bool file_write_descriptor(int descriptor,
                           const char *name,
                           struct slice bytes,
                           struct error *error)
{
    return write_all(descriptor, bytes) || fail_errno(error, name, "cannot write");
}

static bool close_written(int descriptor)
{
    /* A full disk may show only now. */
    return close(descriptor) == 0 && !file_operation_fails();
}

static bool write_directly(const char *path, struct slice bytes, struct error *error)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    bool is_written;
    int number;

    if (descriptor < 0) {
        return fail_errno(error, path, "cannot write");
    }
    is_written = write_all(descriptor, bytes);
    number = errno;
    if (!is_written) {
        close(descriptor);
        errno = number;
        return fail_errno(error, path, "cannot write");
    }
    return close_written(descriptor) || fail_errno(error, path, "cannot write");
}

/* `path` is what the user calls the file, `target` the same without symbolic links. */
static bool write_and_rename(const char *path,
                             const char *target,
                             struct slice bytes,
                             uint32_t mode,
                             struct error *error)
{
    struct temporary temporary;
    int descriptor = temporary_open(&temporary, target);
    bool is_written;
    int number;

    if (descriptor < 0) {
        return fail_errno(error, path, "cannot write");
    }
    is_written = mode == FILE_MODE_DEFAULT || fchmod(descriptor, (mode_t)mode) == 0;
    is_written = is_written && write_all(descriptor, bytes);
    number = errno;
    if (!close_written(descriptor) && is_written) {
        is_written = false;
        number = errno;
    }
    if (!is_written) {
        temporary_remove(&temporary);
        errno = number;
        return fail_errno(error, path, "cannot write");
    }
    return temporary_rename(&temporary, target) ||
           fail_errno(error, path, "cannot write");
}

bool file_write(const char *path,
                struct slice bytes,
                uint32_t mode,
                struct error *error)
{
    struct file_info info = file_inspect(path);
    char resolved[PATH_MAX];

    if (!info.is_there) {
        return write_and_rename(path, path, bytes, mode, error);
    }
    if (info.is_directory) {
        error_set_at(error, ERROR_INPUT, path, 1, 1,
                     "is a directory, expected the name of a file");
        return false;
    }
    if (!info.is_regular) {
        return write_directly(path, bytes, error);
    }
    if (access(path, W_OK) != 0 || realpath(path, resolved) == NULL) {
        return fail_errno(error, path, "cannot write");
    }
    return write_and_rename(path, resolved, bytes, info.mode, error);
}
