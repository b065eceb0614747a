/* One tensor written in the file format of torch.save. */
#include "runtime/base/crc32.h"
#include "runtime/base/file.h"
#include "runtime/base/file_draft.h"
#include "runtime/trace/array_pieces.h"
#include "runtime/trace/pickle_write.h"
#include "runtime/trace/pt_file.h"
#include "runtime/trace/zip_write.h"

#include <errno.h>

#define FOLDER "archive/"
#define VALUES SLICE(FOLDER "data/0")
/* What the head and the directory of most archives need. */
#define PENDING_SIZE   1024
#define DIRECTORY_SIZE 512

bool pt_has_dtype(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_OTHER:
    case DTYPE_QINT8:
    case DTYPE_QUINT8:
    case DTYPE_QINT32:
    case DTYPE_QUINT4X2:
    case DTYPE_QUINT2X4:
    case DTYPE_COUNT:
        return false;
    default:
        return true;
    }
}

/* All that stands in front of the values. torch.load passes over the record that is ours. */
static void
add_head(struct zip_writer *zip, const struct saved_tensor *tensor, uint64_t size)
{
    struct buffer text = BUFFER_INIT;

    buffer_reserve(&zip->pending, PENDING_SIZE);
    buffer_reserve(&zip->directory, DIRECTORY_SIZE);
    buffer_reserve(&text, DIRECTORY_SIZE);
    pickle_add_tensor(&text, &tensor->array);
    zip_add(zip, SLICE(FOLDER "data.pkl"), buffer_slice(&text));
    zip_add(zip, SLICE(FOLDER "byteorder"), SLICE("little"));
    zip_add(zip, SLICE(FOLDER "version"), SLICE("3\n"));
    text.size = 0;
    saved_add_json(tensor, &text);
    zip_add(zip, SLICE(FOLDER "monitorch.json"), buffer_slice(&text));
    zip->pending.has_failed |= text.has_failed;
    buffer_release(&text);
    zip_begin(zip, VALUES, size);
}

static bool flush(struct zip_writer *zip, struct file_draft *draft, struct error *error)
{
    if (zip_has_failed(zip)) {
        file_draft_abandon(draft);
        error_set_memory(error);
        return false;
    }
    if (!file_draft_add(draft, buffer_slice(&zip->pending), error)) {
        return false;
    }
    zip_written(zip, 0);
    return true;
}

/* The draft is closed where it fails. */
static bool add_values(struct zip_writer *zip,
                       struct file_draft *draft,
                       const struct array *array,
                       uint64_t size,
                       struct error *error)
{
    struct array_pieces pieces;
    struct slice bytes;
    uint32_t crc = 0;
    bool is_written = true;

    if (!array_pieces_init(&pieces, array)) {
        file_draft_abandon(draft);
        error_set_memory(error);
        return false;
    }
    while (is_written && array_pieces_next(&pieces, &bytes)) {
        crc = crc32_update(crc, bytes.bytes, bytes.size);
        is_written = file_draft_add(draft, bytes, error);
        zip_written(zip, bytes.size);
    }
    array_pieces_release(&pieces);
    zip_end(zip, VALUES, size, crc);
    return is_written;
}

static bool write_all(struct zip_writer *zip,
                      struct file_draft *draft,
                      const struct saved_tensor *tensor,
                      struct error *error)
{
    uint64_t size = array_count(&tensor->array) * dtype_size(tensor->array.dtype);

    add_head(zip, tensor, size);
    if (!flush(zip, draft, error) ||
        !add_values(zip, draft, &tensor->array, size, error)) {
        return false;
    }
    zip_finish(zip);
    return flush(zip, draft, error);
}

enum pt_write_result pt_write(const char *path,
                              const struct saved_tensor *tensor,
                              bool may_replace,
                              struct error *error)
{
    struct zip_writer zip = ZIP_WRITER_INIT;
    struct file_draft draft;
    bool is_there, is_finished;
    int number;

    if (!may_replace && file_inspect(path).is_there) {
        return PT_EXISTS;
    }
    if (!file_draft_open(&draft, path, FILE_MODE_DEFAULT, error)) {
        return PT_FAILED;
    }
    is_there = draft.replaces;
    if (!write_all(&zip, &draft, tensor, error)) {
        is_finished = false;
    } else if (may_replace) {
        is_finished = file_draft_finish(&draft, error);
    } else {
        is_finished = file_draft_finish_new(&draft, &is_there, error);
    }
    number = errno;
    zip_release(&zip);
    errno = number;
    if (!is_finished) {
        return PT_FAILED;
    }
    return !is_there ? PT_WRITTEN : may_replace ? PT_REPLACED : PT_EXISTS;
}
