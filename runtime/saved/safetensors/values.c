/* The values of a safetensors file that is being written, in a temporary file. */
#include "runtime/saved/safetensors/values.h"

#include "runtime/array/pieces.h"
#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define COPY_SIZE  ((size_t)1024 * 1024)
#define ROOM_FIRST ((uint64_t)64 * 1024)
/* All is copied where the room becomes too small: rarely, if it grows by as much. */
#define ROOM_GROWTH 8

void safetensors_values_init(struct safetensors_values *values, const char *path)
{
    values->path = path;
    values->current = 0;
    values->descriptor = -1;
    values->room = 0;
    values->size = 0;
}

void safetensors_values_release(struct safetensors_values *values)
{
    if (values->descriptor < 0) {
        return;
    }
    close(values->descriptor);
    values->descriptor = -1;
    if (values->process == getpid()) {
        file_temporary_remove(&values->temporaries[values->current]);
    }
}

static bool fail(const char *path, const char *what, struct error *error)
{
    int number = errno;

    error_set_at(error, ERROR_SYSTEM, path, 1, 1, "%s: %s", what, strerror(number));
    errno = number;
    return false;
}

/* The blocks are taken now, so that the header cannot find the disk full. */
static bool keep_room(int descriptor, uint64_t room)
{
    int number =
        file_operation_fails() ? errno : posix_fallocate(descriptor, 0, (off_t)room);

    /* A file system that cannot promise may do without. */
    if (number != 0 && number != EINVAL && number != EOPNOTSUPP) {
        errno = number;
        return false;
    }
    return lseek(descriptor, (off_t)room, SEEK_SET) >= 0;
}

/* Reads at `offset`, at most `size` bytes; -1 where it cannot, also at the end of the file. */
static ssize_t read_some(int descriptor, char *bytes, uint64_t size, uint64_t offset)
{
    size_t wanted = size < COPY_SIZE ? (size_t)size : COPY_SIZE;
    ssize_t got;

    do {
        got = pread(descriptor, bytes, wanted, (off_t)offset);
    } while (got < 0 && errno == EINTR);
    if (got == 0) {
        errno = EIO; /* somebody has cut it */
        return -1;
    }
    return got;
}

/* Where a run of the values goes: to the draft, or to the descriptor. */
struct target {
    struct file_draft *draft; /* NULL: the descriptor */
    int descriptor;
};

static bool copy_bytes(const struct safetensors_values *values,
                       int source,
                       uint64_t offset,
                       uint64_t size,
                       const struct target *target,
                       struct error *error)
{
    char *bytes = memory_allocate(COPY_SIZE, 1);
    bool is_copied = bytes != NULL;

    if (bytes == NULL) {
        error_set_memory(error);
    }
    while (is_copied && size > 0) {
        ssize_t got = read_some(source, bytes, size, values->room + offset);
        struct slice part = {bytes, got < 0 ? 0 : (size_t)got};

        if (got < 0) {
            is_copied = fail(values->path, "the saved tensors cannot be read", error);
        } else if (target->draft != NULL) {
            is_copied = file_draft_add(target->draft, part, error);
        } else {
            is_copied =
                file_write_descriptor(target->descriptor, values->path, part, error);
        }
        offset += part.size;
        size -= part.size;
    }
    memory_free(bytes);
    return is_copied;
}

static bool copy_run(const struct safetensors_values *values,
                     uint64_t offset,
                     uint64_t size,
                     const struct target *target,
                     struct error *error)
{
    int source = open(values->temporaries[values->current].path, O_RDONLY | O_CLOEXEC);
    bool is_copied;
    int number;

    if (source < 0) {
        return fail(values->path, "the saved tensors cannot be read", error);
    }
    is_copied = copy_bytes(values, source, offset, size, target, error);
    number = errno;
    close(source);
    errno = number;
    return is_copied;
}

/* Makes a file with so much room that holds the values there are. */
static bool
begin_file(struct safetensors_values *values, uint64_t room, struct error *error)
{
    int next = values->descriptor < 0 ? values->current : 1 - values->current;
    struct file_temporary *temporary = &values->temporaries[next];
    struct target target = {.descriptor = file_temporary_open(temporary, values->path)};
    bool is_made;
    int number;

    if (target.descriptor < 0) {
        return fail(values->path, "cannot be written", error);
    }
    is_made = keep_room(target.descriptor, room) ||
              fail(values->path, "cannot be written", error);
    if (is_made && values->size > 0) {
        is_made = copy_run(values, 0, values->size, &target, error);
    }
    if (!is_made) {
        number = errno;
        close(target.descriptor);
        file_temporary_remove(temporary);
        errno = number;
        return false;
    }
    safetensors_values_release(values);
    values->current = next;
    values->descriptor = target.descriptor;
    values->process = getpid();
    values->room = room;
    return true;
}

bool safetensors_values_make_room(struct safetensors_values *values,
                                  uint64_t size,
                                  struct error *error)
{
    uint64_t room = values->room == 0 ? ROOM_FIRST : values->room;

    if (values->descriptor >= 0 && values->process != getpid()) {
        error_set(error, ERROR_USAGE, "the file is written by the process %ld",
                  (long)values->process);
        return false;
    }
    while (room < size) {
        room *= ROOM_GROWTH;
    }
    return (values->descriptor >= 0 && room == values->room) ||
           begin_file(values, room, error);
}

/* What was written of an array that failed is given back. */
static void go_back(const struct safetensors_values *values)
{
    off_t end = (off_t)(values->room + values->size);
    int number = errno;

    if (ftruncate(values->descriptor, end) != 0 ||
        lseek(values->descriptor, end, SEEK_SET) < 0) {
        number = number == 0 ? errno : number; /* it is written over */
    }
    errno = number;
}

bool safetensors_values_add(struct safetensors_values *values,
                            const struct array *array,
                            struct error *error)
{
    struct array_pieces pieces;
    struct slice bytes;
    bool is_written = true;

    if (!array_pieces_init(&pieces, array)) {
        return error_set_memory(error);
    }
    while (is_written && array_pieces_next(&pieces, &bytes)) {
        is_written =
            file_write_descriptor(values->descriptor, values->path, bytes, error);
    }
    array_pieces_release(&pieces);
    if (!is_written) {
        go_back(values);
        return false;
    }
    values->size += array_count(array) * dtype_size(array->dtype);
    return true;
}

bool safetensors_values_copy(const struct safetensors_values *values,
                             uint64_t offset,
                             uint64_t size,
                             struct file_draft *draft,
                             struct error *error)
{
    struct target target = {.draft = draft};
    bool is_copied = copy_run(values, offset, size, &target, error);
    int number = errno;

    if (!is_copied) {
        file_draft_abandon(draft);
        errno = number;
    }
    return is_copied;
}

bool safetensors_values_finish(struct safetensors_values *values,
                               struct slice header,
                               struct error *error)
{
    struct file_temporary *temporary = &values->temporaries[values->current];
    bool is_closed;

    if (lseek(values->descriptor, 0, SEEK_SET) < 0) {
        return fail(values->path, "cannot be written", error);
    }
    if (!file_write_descriptor(values->descriptor, values->path, header, error)) {
        return false;
    }
    /* A full disk may show only now. */
    is_closed = close(values->descriptor) == 0 && !file_operation_fails();
    values->descriptor = -1;
    if (!is_closed) {
        fail(values->path, "cannot be written", error);
        file_temporary_remove(temporary);
        return false;
    }
    return file_temporary_rename(temporary, values->path) ||
           fail(values->path, "cannot be written", error);
}
