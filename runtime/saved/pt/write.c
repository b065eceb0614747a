/* One tensor written in the file format of torch.save. */
#include "runtime/array/expanded.h"
#include "runtime/array/pieces.h"
#include "runtime/base/file/draft.h"
#include "runtime/base/file/file.h"
#include "runtime/base/hash/crc32.h"
#include "runtime/saved/pt/pickle_write.h"
#include "runtime/saved/pt/pt.h"
#include "runtime/saved/pt/zip_write.h"

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

/* What is pending, with the values behind its first `head` bytes. The draft is closed where it
 * fails. */
static bool write_parts(struct zip_writer *zip,
                        size_t head,
                        struct slice values,
                        struct file_draft *draft,
                        struct error *error)
{
    struct slice pending = buffer_slice(&zip->pending);
    struct slice parts[] = {
        slice_part(pending, 0, head),
        values,
        slice_part(pending, head, pending.size),
    };

    if (zip_has_failed(zip)) {
        file_draft_abandon(draft);
        return error_set_memory(error);
    }
    if (!file_draft_add_parts(draft, parts, sizeof parts / sizeof parts[0], error)) {
        return false;
    }
    zip_flushed(zip);
    return true;
}

/* The head goes with the first piece and the end with the last: most files take one write. */
static bool write_pieces(struct zip_writer *zip,
                         struct file_draft *draft,
                         struct array_pieces *pieces,
                         uint64_t size,
                         struct error *error)
{
    struct slice values = SLICE("");
    bool is_last, is_written;
    uint32_t crc = 0;

    do {
        size_t head = zip->pending.size;

        if (array_pieces_next(pieces, &values)) {
            crc = crc32_update(crc, values.bytes, values.size);
            zip_pass(zip, values.size);
        }
        is_last = array_pieces_are_done(pieces);
        if (is_last) {
            zip_end(zip, VALUES, size, crc);
            zip_finish(zip);
        }
        is_written = write_parts(zip, head, values, draft, error);
    } while (is_written && !is_last);
    return is_written;
}

static bool write_all(struct zip_writer *zip,
                      struct file_draft *draft,
                      const struct saved_tensor *tensor,
                      struct error *error)
{
    struct expanded_array expanded;
    const struct array *array =
        expanded_find(&tensor->array, &expanded) ? &expanded.once : &tensor->array;
    uint64_t size = array_count(array) * dtype_size(array->dtype);
    struct array_pieces pieces;
    bool is_written;

    add_head(zip, tensor, size);
    if (!array_pieces_init(&pieces, array)) {
        file_draft_abandon(draft);
        return error_set_memory(error);
    }
    is_written = write_pieces(zip, draft, &pieces, size, error);
    array_pieces_release(&pieces);
    return is_written;
}

enum pt_write_result pt_write(const char *path,
                              const struct saved_tensor *tensor,
                              bool may_replace,
                              struct error *error)
{
    struct zip_writer zip = ZIP_WRITER_INIT;
    struct file_info info = file_inspect(path);
    struct file_draft draft;
    bool is_there, is_finished;
    int number;

    if (!may_replace && info.is_there) {
        return PT_EXISTS;
    }
    if (!file_draft_open_at(&draft, path, info, FILE_MODE_DEFAULT, error)) {
        return PT_FAILED;
    }
    is_there = info.is_there;
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
