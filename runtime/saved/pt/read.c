/* One tensor read from the file format of torch.save. */
#include "runtime/base/file/mapping.h"
#include "runtime/base/memory.h"
#include "runtime/saved/pt/pt.h"
#include "runtime/saved/pt/tensor.h"
#include "runtime/saved/pt/zip_read.h"
#include "runtime/saved/values_read.h"

/* A tensor's pickle is some hundred bytes long, with the program's own attributes more. */
#define PICKLE_MAX (1 << 20)
#define LINE_MAX   (1 << 20)

struct pt_file {
    struct saved_tensor tensor;
    struct arena arena; /* holds what `tensor` points to */
    char *path;         /* in the arena */
    uint64_t offset;    /* of the values */
    uint64_t size;
    struct zip_member member; /* that they stand in */
    struct buffer values;
};

/* The archive while it is looked at. */
struct archive {
    struct mapping file;
    struct zip_directory directory;
    struct slice folder; /* that all members stand in: "archive/" */
    struct arena *arena;
    struct error *error;
};

static bool fail(const struct archive *archive, const char *what)
{
    error_set(archive->error, ERROR_INPUT, "%s: %s", archive->file.path, what);
    return false;
}

/* The folder is that of the pickle. */
static bool find_folder(struct archive *archive)
{
    const struct slice name = SLICE("/data.pkl");

    for (size_t i = 0; i < archive->directory.member_count; i++) {
        struct slice member = archive->directory.members[i].name;

        if (slice_ends(member, name)) {
            archive->folder = slice_part(member, 0, member.size - name.size + 1);
            return true;
        }
    }
    return fail(archive,
                "a zip archive without data.pkl, expected a file of torch.save");
}

/* A missing member is empty. */
static bool read_member(const struct archive *archive,
                        struct slice name,
                        size_t limit,
                        struct slice *bytes)
{
    const struct zip_member *member =
        zip_directory_find(&archive->directory, archive->folder, name);

    *bytes = SLICE("");
    return member == NULL || zip_directory_load(&archive->directory, member, limit,
                                                archive->arena, bytes, archive->error);
}

static bool read_tensor(struct archive *archive, struct pt_tensor *tensor)
{
    struct error reason = ERROR_INIT;
    struct slice pickle, order;

    if (!read_member(archive, SLICE("data.pkl"), PICKLE_MAX, &pickle) ||
        !read_member(archive, SLICE("byteorder"), 16, &order)) {
        return false;
    }
    if (order.size != 0 && !slice_equal(order, SLICE("little"))) {
        return fail(archive, "big-endian values, which cannot be read");
    }
    if (!pt_tensor_read(tensor, pickle, archive->arena, &reason)) {
        error_set(archive->error, reason.kind, "%s: %s", archive->file.path,
                  reason.text);
        return false;
    }
    return true;
}

/* Where the tensor's values stand in the file. */
static bool find_values(const struct archive *archive,
                        const struct pt_tensor *tensor,
                        struct pt_file *file)
{
    struct slice folder = {NULL, 0};
    const struct zip_member *member;
    char *path = arena_allocate(archive->arena, archive->folder.size + 5, 1);

    if (path == NULL) {
        return error_set_memory(archive->error);
    }
    memcpy(path, archive->folder.bytes, archive->folder.size);
    memcpy(path + archive->folder.size, "data/", 5);
    folder = (struct slice){path, archive->folder.size + 5};
    member = zip_directory_find(&archive->directory, folder, tensor->storage);
    if (member == NULL) {
        return fail(archive, "the tensor's values are missing");
    }
    if (member->size < tensor->storage_size) {
        return fail(archive, "fewer values than the tensor says");
    }
    if (!zip_directory_place(&archive->directory, member, &file->offset,
                             archive->error)) {
        return false;
    }
    file->offset += tensor->size == 0 ? 0 : tensor->offset;
    file->size = tensor->size;
    file->member = *member;
    return true;
}

/* From the line that is in the file, else from the file's name. */
static bool read_key(const struct archive *archive, struct saved_tensor *tensor)
{
    struct slice line;

    if (!read_member(archive, SLICE("monitorch.json"), LINE_MAX, &line)) {
        return false;
    }
    if ((line.size > 0 && saved_read_json(tensor, line, archive->arena)) ||
        saved_read_file_name(tensor, slice_last_part(slice_of(archive->file.path), '/'),
                             archive->arena)) {
        return true;
    }
    return error_set_memory(archive->error);
}

static bool read_archive(struct archive *archive, struct pt_file *file)
{
    struct pt_tensor tensor;

    if (!zip_directory_read(&archive->directory, &archive->file, archive->arena,
                            archive->error) ||
        !find_folder(archive) || !read_tensor(archive, &tensor) ||
        !find_values(archive, &tensor, file)) {
        return false;
    }
    file->tensor.array = tensor.array;
    return read_key(archive, &file->tensor);
}

static bool open_archive(struct pt_file *file, const char *path, struct error *error)
{
    struct archive archive = {.arena = &file->arena, .error = error};
    bool is_read;

    file->path = (char *)arena_copy(&file->arena, slice_of(path)).bytes;
    if (file->path == NULL) {
        return error_set_memory(error);
    }
    if (!mapping_open_to_read(&archive.file, file->path, error)) {
        return false;
    }
    is_read = read_archive(&archive, file);
    mapping_close(&archive.file);
    return is_read;
}

struct pt_file *pt_file_open(const char *path, struct error *error)
{
    struct pt_file *file = memory_allocate_zeroed(1, sizeof *file);

    if (file == NULL) {
        error_set_memory(error);
        return NULL;
    }
    arena_init(&file->arena);
    if (!open_archive(file, path, error)) {
        pt_file_close(file);
        return NULL;
    }
    return file;
}

void pt_file_close(struct pt_file *file)
{
    if (file == NULL) {
        return;
    }
    buffer_release(&file->values);
    arena_release(&file->arena);
    memory_free(file);
}

const struct saved_tensor *pt_file_tensor(const struct pt_file *file)
{
    return &file->tensor;
}

void pt_file_place(const struct pt_file *file, uint64_t *offset, uint64_t *size)
{
    *offset = file->offset;
    *size = file->size;
}

bool pt_file_read_into(const struct pt_file *file, void *bytes, struct error *error)
{
    struct slice values = {bytes, (size_t)file->size};

    if (!values_read(file->path, file->offset, file->size, bytes, error)) {
        return false;
    }
    /* A part of the member has no checksum of its own. */
    if (file->size == file->member.size && !zip_member_has(&file->member, values)) {
        error_set(error, ERROR_INPUT, "%s: the values are damaged", file->path);
        return false;
    }
    return true;
}

bool pt_file_read(struct pt_file *file, struct array *array, struct error *error)
{
    file->values.size = 0;
    if (!buffer_reserve(&file->values, (size_t)file->size)) {
        return error_set_memory(error);
    }
    if (!pt_file_read_into(file, file->values.bytes, error)) {
        return false;
    }
    *array = file->tensor.array;
    array->data = buffer_slice(&file->values).bytes;
    return true;
}

void pt_file_forget(struct pt_file *file)
{
    buffer_release(&file->values);
}
