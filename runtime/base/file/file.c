/* Whole files: reading and writing. */
#include "runtime/base/file/file.h"

#include "runtime/base/file/draft.h"
#include "runtime/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define READ_STEP ((size_t)64 << 10)

/* ---- simulated failures, for tests ---- */

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
    int number = errno;

    error_set_at(error, ERROR_SYSTEM, path, 1, 1, "%s: %s", what, strerror(number));
    errno = number; /* callers read it, too */
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
            return error_set_memory(error);
        }
        count =
            read(descriptor, bytes->bytes + bytes->size, bytes->capacity - bytes->size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return fail_errno(error, name, "cannot be read");
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
        return fail_errno(error, path, "cannot be read");
    }
    if (S_ISDIR(status.st_mode)) {
        error_set_at(error, ERROR_INPUT, path, 1, 1, "is a directory, expected a file");
        return false;
    }
    if (S_ISREG(status.st_mode)) {
        if ((uint64_t)status.st_size > limit) {
            return fail_too_large(error, path, limit);
        }
        /* One extra byte lets the last read find the end without growing the buffer. */
        if (!buffer_reserve(bytes, (size_t)status.st_size + 1)) {
            return error_set_memory(error);
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
        return fail_errno(error, path, "cannot be read");
    }
    is_read = read_open_file(descriptor, path, limit, bytes, error);
    if (!is_read) {
        bytes->size = start;
    }
    close(descriptor);
    return is_read;
}

/* ---- writing ---- */

/* Lists the unwritten rests of the parts; `done` bytes of the first part are written already. */
static int
list_parts(const struct slice *parts, size_t count, size_t done, struct iovec *vectors)
{
    int listed = 0;

    for (size_t i = 0; i < count; i++, done = 0) {
        if (parts[i].size > done) {
            vectors[listed++] = (struct iovec){
                /* writev only reads the bytes. */
                .iov_base = (void *)(uintptr_t)(parts[i].bytes + done),
                .iov_len = parts[i].size - done,
            };
        }
    }
    return listed;
}

static bool write_parts(int descriptor, const struct slice *parts, size_t count)
{
    struct iovec vectors[FILE_PARTS_MAX];
    size_t done = 0;

    for (;;) {
        ssize_t written;

        while (count > 0 && done >= parts->size) {
            done -= parts->size;
            parts++;
            count--;
        }
        if (count == 0) {
            return true;
        }
        written =
            file_operation_fails()
                ? -1
                : writev(descriptor, vectors, list_parts(parts, count, done, vectors));
        if (written >= 0) {
            done += (size_t)written;
        } else if (errno != EINTR) {
            return false;
        }
    }
}

bool file_write_parts(int descriptor,
                      const char *name,
                      const struct slice *parts,
                      size_t count,
                      struct error *error)
{
    return write_parts(descriptor, parts, count) ||
           fail_errno(error, name, "cannot be written");
}

bool file_write_descriptor(int descriptor,
                           const char *name,
                           struct slice bytes,
                           struct error *error)
{
    return file_write_parts(descriptor, name, &bytes, 1, error);
}

bool file_write(const char *path,
                struct slice bytes,
                uint32_t mode,
                struct error *error)
{
    struct file_draft draft;

    return file_draft_open(&draft, path, mode, error) &&
           file_draft_add(&draft, bytes, error) && file_draft_finish(&draft, error);
}
