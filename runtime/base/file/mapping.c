/* Mapped files: opening, locking, growing and mapping. Each function that changes the file first
 * checks that the descriptor still belongs to it (`is_ours`). */
#include "runtime/base/file/mapping.h"

#include "runtime/base/file/file.h"
#include "runtime/base/file/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
    #define MADV_POPULATE_WRITE 23
#endif

/* Programs rely on the lowest free number, and pass some numbers on (to children, to `dup2`). */
#define DESCRIPTOR_FROM 100

#define ZEROS_SIZE ((size_t)64 * 1024)

static bool
fail_errno(struct error *error, const struct mapping *mapping, const char *what)
{
    enum error_kind kind = errno == ENOMEM ? ERROR_MEMORY : ERROR_SYSTEM;

    error_set(error, kind, "%s: %s: %s", mapping->path, what, strerror(errno));
    return false;
}

/* Whether the descriptor still belongs to this file. */
static bool is_ours(const struct mapping *mapping)
{
    struct stat status;

    if (fstat(mapping->descriptor, &status) != 0) {
        return false;
    }
    if ((uint64_t)status.st_dev != mapping->device ||
        (uint64_t)status.st_ino != mapping->inode) {
        errno = EBADF;
        return false;
    }
    return true;
}

/* ---- opening ---- */

static bool check_regular(const struct mapping *mapping,
                          const struct stat *status,
                          struct error *error)
{
    if (S_ISDIR(status->st_mode)) {
        error_set(error, ERROR_INPUT, "%s: is a directory, expected a file",
                  mapping->path);
        return false;
    }
    if (!S_ISREG(status->st_mode)) {
        error_set(error, ERROR_INPUT, "%s: is a device or a pipe, expected a file",
                  mapping->path);
        return false;
    }
    return true;
}

/* Moves the descriptor away from the numbers that the program's own files get. The first three
 * numbers are never used, even if the program has closed them, since its output must not end up
 * in this file. The next ones are left to the program if the limit of open files allows it. */
static bool move_descriptor(struct mapping *mapping)
{
    int moved;

    if (mapping->descriptor >= DESCRIPTOR_FROM) {
        return true;
    }
    moved = fcntl(mapping->descriptor, F_DUPFD_CLOEXEC, DESCRIPTOR_FROM);
    if (moved < 0 && mapping->descriptor > STDERR_FILENO) {
        return true;
    }
    if (moved < 0) {
        moved = fcntl(mapping->descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (moved < 0) {
        return false;
    }
    close(mapping->descriptor);
    mapping->descriptor = moved;
    return true;
}

/* Moves the descriptor, and stores the file's device and inode. */
static bool adopt_descriptor(struct mapping *mapping)
{
    struct stat status;

    if (!move_descriptor(mapping)) {
        return false;
    }
    if (fstat(mapping->descriptor, &status) != 0) {
        return false;
    }
    mapping->device = (uint64_t)status.st_dev;
    mapping->inode = (uint64_t)status.st_ino;
    return true;
}

/* Checks the file before opening, because opening a device can already have an effect, and again
 * after it, because the path may lead to another file by then. */
static bool
open_checked(struct mapping *mapping, int flags, const char *what, struct error *error)
{
    struct stat status;

    if (stat(mapping->path, &status) == 0 && !check_regular(mapping, &status, error)) {
        return false;
    }
    mapping->descriptor =
        open(mapping->path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (mapping->descriptor < 0) {
        return fail_errno(error, mapping, what);
    }
    if (!adopt_descriptor(mapping) || fstat(mapping->descriptor, &status) != 0) {
        fail_errno(error, mapping, what);
        close(mapping->descriptor);
        return false;
    }
    if (!check_regular(mapping, &status, error)) {
        close(mapping->descriptor);
        return false;
    }
    return true;
}

bool mapping_open(struct mapping *mapping,
                  const char *path,
                  bool *is_new,
                  struct error *error)
{
    struct mapping result = {.descriptor = -1, .path = path};

    if (file_operation_fails()) {
        return fail_errno(error, &result, "cannot be made");
    }
    result.descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    *is_new = result.descriptor >= 0;
    if (!*is_new && errno != EEXIST) {
        return fail_errno(error, &result, "cannot be made");
    }
    /* A dangling link counts as existing; the file is then created at the link's target. */
    if (!*is_new &&
        !open_checked(&result, O_RDWR | O_CREAT, "cannot be written", error)) {
        return false;
    }
    if (*is_new && !adopt_descriptor(&result)) {
        fail_errno(error, &result, "cannot be made");
        close(result.descriptor);
        return false;
    }
    *mapping = result;
    return true;
}

bool mapping_open_to_read(struct mapping *mapping,
                          const char *path,
                          struct error *error)
{
    struct mapping result = {.descriptor = -1, .path = path};

    if (!open_checked(&result, O_RDONLY, "cannot be read", error)) {
        return false;
    }
    if (!file_inputs_add(result.descriptor, error)) {
        mapping_close(&result);
        return false;
    }
    *mapping = result;
    return true;
}

void mapping_close(struct mapping *mapping)
{
    if (is_ours(mapping)) {
        close(mapping->descriptor);
    }
    mapping->descriptor = -1;
}

bool mapping_lock(struct mapping *mapping)
{
    int result;

    do {
        result = flock(mapping->descriptor, LOCK_EX | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    return result == 0 || errno != EWOULDBLOCK;
}

void mapping_unlock(struct mapping *mapping)
{
    if (is_ours(mapping)) {
        (void)flock(mapping->descriptor, LOCK_UN);
    }
}

bool mapping_size(const struct mapping *mapping, uint64_t *size, struct error *error)
{
    struct stat status;

    if (fstat(mapping->descriptor, &status) != 0) {
        return fail_errno(error, mapping, "cannot be read");
    }
    *size = (uint64_t)status.st_size;
    return true;
}

/* ---- growing ---- */

bool mapping_cut(struct mapping *mapping, uint64_t size, struct error *error)
{
    int result;

    if (!is_ours(mapping)) {
        return fail_errno(error, mapping, "cannot be cut to its size");
    }
    do {
        result =
            file_operation_fails() ? -1 : ftruncate(mapping->descriptor, (off_t)size);
    } while (result != 0 && errno == EINTR);
    return result == 0 || fail_errno(error, mapping, "cannot be cut to its size");
}

/* Writing beyond the limit of a file's size would raise a signal that ends the process. */
static bool is_within_limit(uint64_t end)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        end > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    return true;
}

static bool write_all(int descriptor, uint64_t offset, const void *bytes, size_t size)
{
    const char *next = bytes;

    while (size > 0) {
        ssize_t count =
            file_operation_fails() ? -1 : pwrite(descriptor, next, size, (off_t)offset);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            errno = count == 0 ? EIO : errno;
            return false;
        }
        next += count;
        offset += (uint64_t)count;
        size -= (size_t)count;
    }
    return true;
}

bool mapping_write(struct mapping *mapping,
                   uint64_t offset,
                   const void *bytes,
                   size_t size,
                   struct error *error)
{
    return (is_ours(mapping) && is_within_limit(offset + size) &&
            write_all(mapping->descriptor, offset, bytes, size)) ||
           fail_errno(error, mapping, "cannot be written");
}

static bool allocate_blocks(int descriptor, uint64_t offset, size_t size)
{
    int result;

    do {
        result = file_operation_fails()
                     ? -1
                     : fallocate(descriptor, 0, (off_t)offset, (off_t)size);
    } while (result != 0 && errno == EINTR);
    /* If the file system does not support it, writing the zeros reserves the space as well. */
    return result == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

/* Writes zeros, which costs less than it saves. The pages that a write creates are large and are
 * mapped many at a time; those that a fault creates are small (measured on ext4: 33 against 127
 * ns for each 160 bytes that are written later). But a large page that crosses the end of a page
 * table is mapped in steps, in time that grows with the square of its size. So the writes, and
 * with them the pages, have a medium size. */
static bool write_zeros(int descriptor, uint64_t offset, size_t size)
{
    static char zeros[ZEROS_SIZE]; /* never changed */

    while (size > 0) {
        size_t count = size < sizeof zeros ? size : sizeof zeros;

        if (!write_all(descriptor, offset, zeros, count)) {
            return false;
        }
        offset += count;
        size -= count;
    }
    return true;
}

/* Reads the size and free space of the disk that a test has set. */
static bool
read_test_disk(const struct mapping *mapping, uint64_t *size, uint64_t *free)
{
    const char *text = getenv("MONITORCH_TEST_DISK");
    unsigned long long given_size, given_free;
    struct stat status;

    if (text == NULL || sscanf(text, "%llu:%llu", &given_size, &given_free) != 2 ||
        fstat(mapping->descriptor, &status) != 0) {
        return false;
    }
    *size = given_size;
    *free = given_free > (uint64_t)status.st_size
                ? given_free - (uint64_t)status.st_size
                : 0;
    return true;
}

bool mapping_disk(const struct mapping *mapping, uint64_t *size, uint64_t *free)
{
    struct statvfs status;

    if (!is_ours(mapping)) {
        return false;
    }
    if (read_test_disk(mapping, size, free)) {
        return true;
    }
    if (fstatvfs(mapping->descriptor, &status) != 0 || status.f_blocks == 0) {
        return false;
    }
    *size = (uint64_t)status.f_blocks * status.f_frsize;
    *free = (uint64_t)status.f_bavail * status.f_frsize;
    return true;
}

bool mapping_reserve(struct mapping *mapping,
                     uint64_t offset,
                     size_t size,
                     struct error *error)
{
    return (is_ours(mapping) && is_within_limit(offset + size) &&
            allocate_blocks(mapping->descriptor, offset, size) &&
            write_zeros(mapping->descriptor, offset, size)) ||
           fail_errno(error, mapping, "cannot grow");
}

bool mapping_clear(struct mapping *mapping,
                   uint64_t offset,
                   size_t size,
                   struct error *error)
{
    return (is_ours(mapping) && write_zeros(mapping->descriptor, offset, size)) ||
           fail_errno(error, mapping, "cannot be written");
}

/* ---- mapping ---- */

void *
mapping_map(struct mapping *mapping, uint64_t offset, size_t size, struct error *error)
{
    void *bytes = MAP_FAILED;

    if (is_ours(mapping) && !file_operation_fails()) {
        bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                     mapping->descriptor, (off_t)offset);
    }
    if (bytes == MAP_FAILED) {
        fail_errno(error, mapping, "cannot be mapped into memory");
        return NULL;
    }
    /* Prevents page faults. Older systems do not support it; there the faults occur. */
    (void)madvise(bytes, size, MADV_POPULATE_WRITE);
    return bytes;
}

void mapping_unmap(void *bytes, size_t size)
{
    munmap(bytes, size);
}

/* ---- reading ---- */

bool mapping_read(const struct mapping *mapping,
                  uint64_t offset,
                  void *bytes,
                  size_t size,
                  size_t *count,
                  struct error *error)
{
    char *next = bytes;
    size_t done = 0;

    while (done < size) {
        ssize_t got = pread(mapping->descriptor, next + done, size - done,
                            (off_t)(offset + done));

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return fail_errno(error, mapping, "cannot be read");
        }
        if (got == 0) {
            break;
        }
        done += (size_t)got;
    }
    *count = done;
    return true;
}
