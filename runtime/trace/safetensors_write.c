/* Tensors collected in a file beside. A large one then gets its header in front, where room was
 * left, and its name; of a small one, and where the values have to be put in another order, a copy
 * is made. */
#include "runtime/base/file.h"
#include "runtime/base/file_draft.h"
#include "runtime/base/memory.h"
#include "runtime/trace/array_pieces.h"
#include "runtime/trace/safetensors_file.h"
#include "runtime/trace/safetensors_header.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define COPY_SIZE ((size_t)1024 * 1024)
/* The room for the header, a hole until it is written. It is filled up with spaces, so only where
 * that does not matter. */
#define ROOM_SIZE  ((size_t)1024 * 1024)
#define LARGE_SIZE (16 * ROOM_SIZE)

/* The values stand in the temporary file one after the other, as they came, behind the room. */
struct safetensors_writer {
    char *path; /* owned */
    struct file_temporary temporary;
    int descriptor; /* -1: nothing was added yet */
    pid_t process;  /* that writes the file */
    uint64_t size;  /* of the values so far */
    struct safetensors_header header;
};

bool safetensors_has_dtype(enum dtype dtype)
{
    return safetensors_dtype_text(dtype) != NULL;
}

struct safetensors_writer *safetensors_writer_new(const char *path, struct error *error)
{
    size_t size = strlen(path) + 1;
    struct safetensors_writer *writer = memory_allocate_zeroed(1, sizeof *writer);

    if (writer != NULL) {
        writer->path = memory_allocate(size, 1);
    }
    if (writer == NULL || writer->path == NULL) {
        memory_free(writer);
        error_set_memory(error);
        return NULL;
    }
    memcpy(writer->path, path, size);
    writer->descriptor = -1;
    safetensors_header_init(&writer->header);
    return writer;
}

size_t safetensors_writer_count(const struct safetensors_writer *writer)
{
    return writer->header.count;
}

static bool
fail_system(struct safetensors_writer *writer, const char *what, struct error *error)
{
    int number = errno;

    error_set_at(error, ERROR_SYSTEM, writer->path, 1, 1, "%s: %s", what,
                 strerror(number));
    errno = number;
    return false;
}

/* The file is made when something is to be in it. */
static bool open_values(struct safetensors_writer *writer, struct error *error)
{
    if (writer->descriptor >= 0 && writer->process != getpid()) {
        error_set(error, ERROR_USAGE, "the file is written by the process %ld",
                  (long)writer->process);
        return false;
    }
    if (writer->descriptor >= 0) {
        return true;
    }
    writer->process = getpid();
    writer->descriptor = file_temporary_open(&writer->temporary, writer->path);
    if (writer->descriptor < 0) {
        return fail_system(writer, "cannot write", error);
    }
    lseek(writer->descriptor, (off_t)ROOM_SIZE, SEEK_SET);
    return true;
}

static bool write_values(struct safetensors_writer *writer,
                         const struct array *array,
                         struct error *error)
{
    struct array_pieces pieces;
    struct slice bytes;
    bool is_written = true;

    if (!array_pieces_init(&pieces, array)) {
        error_set_memory(error);
        return false;
    }
    while (is_written && array_pieces_next(&pieces, &bytes)) {
        is_written =
            file_write_descriptor(writer->descriptor, writer->path, bytes, error);
    }
    array_pieces_release(&pieces);
    return is_written;
}

/* What was written of a tensor that failed is given back, as far as the system lets it. */
static void go_back(struct safetensors_writer *writer)
{
    off_t end = (off_t)(ROOM_SIZE + writer->size);
    int number = errno;

    if (ftruncate(writer->descriptor, end) != 0) {
        number = number == 0 ? errno : number; /* it is written over, or passed over */
    }
    lseek(writer->descriptor, end, SEEK_SET);
    errno = number;
}

bool safetensors_writer_add(struct safetensors_writer *writer,
                            const struct saved_tensor *tensor,
                            struct error *error)
{
    const struct array *array = &tensor->array;

    if (!safetensors_has_dtype(array->dtype)) {
        error_set(error, ERROR_USAGE, "safetensors has no dtype %s",
                  dtype_text(array->dtype));
        return false;
    }
    if (!open_values(writer, error)) {
        return false;
    }
    if (!write_values(writer, array, error) ||
        !safetensors_header_add(&writer->header, tensor, writer->size, error)) {
        go_back(writer);
        return false;
    }
    writer->size += array_count(array) * dtype_size(array->dtype);
    return true;
}

/* Copies a run of bytes from one file to the other. */
static bool copy_run(struct safetensors_writer *writer,
                     int source,
                     struct safetensors_run run,
                     char *bytes,
                     struct file_draft *draft,
                     struct error *error)
{
    while (run.size > 0) {
        size_t wanted = run.size < COPY_SIZE ? (size_t)run.size : COPY_SIZE;
        ssize_t got = pread(source, bytes, wanted, (off_t)(ROOM_SIZE + run.offset));

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            errno = got == 0 ? EIO : errno; /* somebody has cut it */
            fail_system(writer, "cannot read what was saved", error);
            file_draft_abandon(draft);
            return false;
        }
        if (!file_draft_add(draft, (struct slice){bytes, (size_t)got}, error)) {
            return false;
        }
        run.offset += (uint64_t)got;
        run.size -= (uint64_t)got;
    }
    return true;
}

static bool write_file(struct safetensors_writer *writer,
                       struct slice head,
                       int source,
                       char *bytes,
                       struct error *error)
{
    struct safetensors_header *header = &writer->header;
    struct safetensors_run run;
    struct file_draft draft;
    size_t next = 0;

    if (!file_draft_open(&draft, writer->path, FILE_MODE_DEFAULT, error) ||
        !file_draft_add(&draft, head, error)) {
        return false;
    }
    while (safetensors_header_run(header, &next, &run)) {
        if (!copy_run(writer, source, run, bytes, &draft, error)) {
            return false;
        }
    }
    return file_draft_finish(&draft, error);
}

static bool finish_by_copy(struct safetensors_writer *writer,
                           struct slice head,
                           struct error *error)
{
    char *bytes = memory_allocate(COPY_SIZE, 1);
    int source = -1, number;
    bool is_written = false;

    if (bytes == NULL) {
        error_set_memory(error);
        return false;
    }
    source = open(writer->temporary.path, O_RDONLY | O_CLOEXEC);
    if (source < 0) {
        fail_system(writer, "cannot read what was saved", error);
    } else {
        is_written = write_file(writer, head, source, bytes, error);
    }
    number = errno;
    if (source >= 0) {
        close(source);
    }
    memory_free(bytes);
    errno = number;
    return is_written;
}

/* The temporary file is the file. */
static bool finish_in_place(struct safetensors_writer *writer,
                            struct slice head,
                            struct error *error)
{
    bool is_closed;

    lseek(writer->descriptor, 0, SEEK_SET);
    if (!file_write_descriptor(writer->descriptor, writer->path, head, error)) {
        return false;
    }
    /* A full disk may show only now. */
    is_closed = close(writer->descriptor) == 0 && !file_operation_fails();
    writer->descriptor = -1;
    if (!is_closed) {
        fail_system(writer, "cannot write", error);
        file_temporary_remove(&writer->temporary);
        return false;
    }
    return file_temporary_rename(&writer->temporary, writer->path) ||
           fail_system(writer, "cannot write", error);
}

static bool finish(struct safetensors_writer *writer, struct error *error)
{
    struct buffer head = BUFFER_INIT;
    bool is_finished = false;
    int number;

    if (safetensors_header_write(&writer->header, &head, error)) {
        /* A file that is there keeps its permissions, a link to it stays a link: by copy. */
        bool is_in_place = writer->header.is_as_added && writer->size >= LARGE_SIZE &&
                           head.size <= ROOM_SIZE &&
                           !file_inspect(writer->path).is_there;
        is_finished = is_in_place
                          ? safetensors_header_pad(&head, ROOM_SIZE, error) &&
                                finish_in_place(writer, buffer_slice(&head), error)
                          : finish_by_copy(writer, buffer_slice(&head), error);
    }
    number = errno;
    buffer_release(&head);
    errno = number;
    return is_finished;
}

bool safetensors_writer_finish(struct safetensors_writer *writer, struct error *error)
{
    bool is_finished = true;
    int number;

    if (writer->descriptor >= 0 && writer->process != getpid()) {
        is_finished = open_values(writer, error);
    } else if (writer->header.count > 0) {
        is_finished = finish(writer, error);
    }
    number = errno;
    safetensors_writer_abandon(writer);
    errno = number;
    return is_finished;
}

void safetensors_writer_abandon(struct safetensors_writer *writer)
{
    if (writer->descriptor >= 0) {
        close(writer->descriptor);
        if (writer->process == getpid()) {
            file_temporary_remove(&writer->temporary);
        }
    }
    safetensors_header_release(&writer->header);
    memory_free(writer->path);
    memory_free(writer);
}
