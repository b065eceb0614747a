/* Tensors written into one file of the format safetensors: collected beside it, then either
 * finished there or, where the file is small or needs another order, copied. */
#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"
#include "runtime/saved/safetensors/header.h"
#include "runtime/saved/safetensors/safetensors.h"
#include "runtime/saved/safetensors/values.h"

#include <errno.h>

/* What stands in a header beside its tensors, at most. */
#define HEADER_REST 64
/* The room that the header does not need is filled with spaces: in a file that is larger than it
 * by as much, or where there is no room for a copy. */
#define LARGE_FACTOR 16

struct safetensors_writer {
    char *path; /* owned */
    struct safetensors_values values;
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
    safetensors_values_init(&writer->values, writer->path);
    safetensors_header_init(&writer->header);
    return writer;
}

size_t safetensors_writer_count(const struct safetensors_writer *writer)
{
    return writer->header.count;
}

bool safetensors_writer_add(struct safetensors_writer *writer,
                            const struct saved_tensor *tensor,
                            struct error *error)
{
    struct safetensors_header *header = &writer->header;
    struct safetensors_values *values = &writer->values;

    if (!safetensors_has_dtype(tensor->array.dtype)) {
        error_set(error, ERROR_USAGE, "safetensors has no dtype %s",
                  dtype_text(tensor->array.dtype));
        return false;
    }
    if (!safetensors_header_add(header, tensor, values->size, error)) {
        return false;
    }
    if (!safetensors_values_make_room(values, HEADER_REST + header->size, error) ||
        !safetensors_values_add(values, &tensor->array, error)) {
        safetensors_header_drop_last(header);
        return false;
    }
    return true;
}

static bool
copy_all(struct safetensors_writer *writer, struct slice head, struct error *error)
{
    struct safetensors_run run;
    struct file_draft draft;
    size_t next = 0;

    if (!file_draft_open(&draft, writer->path, FILE_MODE_DEFAULT, error) ||
        !file_draft_add(&draft, head, error)) {
        return false;
    }
    while (safetensors_header_run(&writer->header, &next, &run)) {
        if (!safetensors_values_copy(&writer->values, run.offset, run.size, &draft,
                                     error)) {
            return false;
        }
    }
    return file_draft_finish(&draft, error);
}

static bool finish_in_place(struct safetensors_writer *writer,
                            struct buffer *head,
                            struct error *error)
{
    return safetensors_header_pad(head, writer->values.room, error) &&
           safetensors_values_finish(&writer->values, buffer_slice(head), error);
}

static bool finish(struct safetensors_writer *writer, struct error *error)
{
    const struct safetensors_values *values = &writer->values;
    struct buffer head = BUFFER_INIT;
    bool is_finished = false, fits;
    int number;

    if (safetensors_header_write(&writer->header, &head, error)) {
        fits = writer->header.is_as_added && head.size <= values->room;
        /* A file that is there keeps its permissions, a link to it stays a link: by copy. */
        if (fits && values->size >= LARGE_FACTOR * values->room &&
            !file_inspect(writer->path).is_there) {
            is_finished = finish_in_place(writer, &head, error);
        } else {
            is_finished = copy_all(writer, buffer_slice(&head), error) ||
                          (fits && error->kind == ERROR_SYSTEM &&
                           finish_in_place(writer, &head, error));
        }
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

    if (writer->header.count > 0) {
        is_finished =
            safetensors_values_make_room(&writer->values, 0, error) && /* it is ours */
            finish(writer, error);
    }
    number = errno;
    safetensors_writer_abandon(writer);
    errno = number;
    return is_finished;
}

void safetensors_writer_abandon(struct safetensors_writer *writer)
{
    safetensors_values_release(&writer->values);
    safetensors_header_release(&writer->header);
    memory_free(writer->path);
    memory_free(writer);
}
