/* A folder of saved tensors, whatever the formats. */
#include "runtime/saved/folder.h"

#include "runtime/base/arena.h"
#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"
#include "runtime/saved/order.h"
#include "runtime/saved/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

struct names {
    struct slice *items; /* owned; the texts are in the folder's arena */
    size_t count;
    size_t capacity;
};

struct damages {
    const char **items; /* owned; the texts are in the folder's arena */
    size_t count;
    size_t capacity;
};

struct saved_folder {
    struct arena arena;
    const char *path; /* in the arena */
    bool is_file;
    struct saved_entry *entries; /* owned */
    size_t count;
    size_t capacity;
    struct damages damages;
    /* The file that was read last stays open. */
    struct saved_source source;
    struct slice source_name;
    bool has_source;
};

/* ---- names ---- */

static bool add_name(struct saved_folder *folder, struct names *names, const char *name)
{
    void *items = names->items;
    bool has_room =
        memory_grow(&items, &names->capacity, names->count + 1, sizeof *names->items);
    struct slice copy = arena_copy(&folder->arena, slice_of(name));

    names->items = items;
    if (!has_room || copy.bytes == NULL) {
        return false;
    }
    names->items[names->count++] = copy;
    return true;
}

static bool
list_names(struct saved_folder *folder, struct names *names, struct error *error)
{
    DIR *directory = opendir(folder->path);
    struct dirent *item;
    enum saved_format format;
    bool is_done = true;

    if (directory == NULL) {
        error_set(error, ERROR_SYSTEM, "%s: cannot be read: %s", folder->path,
                  strerror(errno));
        return false;
    }
    while (is_done && (item = readdir(directory)) != NULL) {
        is_done = item->d_name[0] == '.' ||
                  !saved_format_of_name(slice_of(item->d_name), &format) ||
                  add_name(folder, names, item->d_name);
    }
    closedir(directory);
    return is_done || error_set_memory(error);
}

/* The path of a file in the folder, which ends with a NUL byte; of a file alone, its own. */
static bool
add_path(const struct saved_folder *folder, struct slice name, struct buffer *path)
{
    buffer_add(path, slice_of(folder->path));
    if (!folder->is_file) {
        if (path->size > 0 && path->bytes[path->size - 1] != '/') {
            buffer_add_byte(path, '/');
        }
        buffer_add(path, name);
    }
    buffer_add_byte(path, '\0');
    return !path->has_failed;
}

/* ---- damage ---- */

static bool add_damage(struct saved_folder *folder, struct slice text)
{
    struct damages *damages = &folder->damages;
    void *items = damages->items;
    bool has_room = memory_grow(&items, &damages->capacity, damages->count + 1,
                                sizeof *damages->items);
    struct slice copy = arena_copy(&folder->arena, text);

    damages->items = items;
    if (!has_room || copy.bytes == NULL) {
        return false;
    }
    damages->items[damages->count++] = copy.bytes;
    return true;
}

/* `what` may begin with the file's path, of which the name is left. */
static bool tell_damage(struct saved_folder *folder,
                        struct slice name,
                        struct slice path,
                        struct slice what)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    if (slice_starts(what, path)) {
        what = slice_part(what, path.size, what.size);
        buffer_add(&text, name);
    } else {
        buffer_add(&text, name);
        buffer_add(&text, SLICE(": "));
    }
    buffer_add(&text, what);
    is_done = !text.has_failed && add_damage(folder, buffer_slice(&text));
    buffer_release(&text);
    return is_done;
}

/* ---- entries ---- */

static bool add_entry(struct saved_folder *folder,
                      const struct saved_source *source,
                      struct slice name,
                      size_t index)
{
    void *items = folder->entries;
    bool has_room = memory_grow(&items, &folder->capacity, folder->count + 1,
                                sizeof *folder->entries);
    struct saved_entry *entry;

    folder->entries = items;
    if (!has_room) {
        return false;
    }
    entry = &folder->entries[folder->count++];
    *entry = (struct saved_entry){
        .format = source->format, .file_name = name, .index = index};
    saved_source_place(source, index, &entry->offset, &entry->size);
    return saved_tensor_copy(&entry->tensor, saved_source_tensor(source, index),
                             &folder->arena);
}

static bool add_source(struct saved_folder *folder,
                       const struct saved_source *source,
                       struct slice name)
{
    const char *damage;

    for (size_t i = 0; i < saved_source_count(source); i++) {
        if (!add_entry(folder, source, name, i)) {
            return false;
        }
    }
    for (size_t i = 0; (damage = saved_source_damage(source, i)) != NULL; i++) {
        if (!tell_damage(folder, name, SLICE("no path"), slice_of(damage))) {
            return false;
        }
    }
    return true;
}

/* Adds what is in a file; one that cannot be read is damage, but for the only one. */
static bool add_file(struct saved_folder *folder,
                     struct slice name,
                     enum saved_format format,
                     struct error *error)
{
    struct buffer path = BUFFER_INIT;
    struct error reason = ERROR_INIT;
    struct saved_source source;
    bool is_done = false;

    if (!add_path(folder, name, &path)) {
        error_set_memory(error);
    } else if (saved_source_open(&source, format, path.bytes, &reason)) {
        is_done = add_source(folder, &source, name) || error_set_memory(error);
        saved_source_close(&source);
    } else if (reason.kind == ERROR_MEMORY || folder->is_file) {
        *error = reason;
    } else {
        path.size--; /* of the NUL byte */
        is_done =
            tell_damage(folder, name, buffer_slice(&path), slice_of(reason.text)) ||
            error_set_memory(error);
    }
    buffer_release(&path);
    return is_done;
}

/* ---- opening ---- */

static bool read_folder(struct saved_folder *folder, struct error *error)
{
    struct names names = {NULL, 0, 0};
    bool is_done = list_names(folder, &names, error);

    saved_order_sort_names(names.items, names.count);
    for (size_t i = 0; is_done && i < names.count; i++) {
        enum saved_format format;

        is_done = !saved_format_of_name(names.items[i], &format) ||
                  add_file(folder, names.items[i], format, error);
    }
    memory_free(names.items);
    saved_order_sort_entries(folder->entries, folder->count);
    return is_done;
}

static bool read_file(struct saved_folder *folder, struct error *error)
{
    struct slice name = slice_last_part(slice_of(folder->path), '/');
    enum saved_format format;

    if (!saved_format_of_file(folder->path, &format, error) ||
        !add_file(folder, name, format, error)) {
        return false;
    }
    saved_order_sort_entries(folder->entries, folder->count);
    return true;
}

struct saved_folder *saved_folder_open(const char *path, struct error *error)
{
    struct saved_folder *folder = memory_allocate_zeroed(1, sizeof *folder);
    bool is_read = false;

    if (folder == NULL) {
        error_set_memory(error);
        return NULL;
    }
    arena_init(&folder->arena);
    folder->path = arena_copy(&folder->arena, slice_of(path)).bytes;
    if (folder->path == NULL) {
        error_set_memory(error);
    } else {
        struct file_info info = file_inspect(path);

        folder->is_file = info.is_there && !info.is_directory;
        is_read =
            folder->is_file ? read_file(folder, error) : read_folder(folder, error);
    }
    if (!is_read) {
        saved_folder_close(folder);
        return NULL;
    }
    return folder;
}

static void close_source(struct saved_folder *folder)
{
    if (folder->has_source) {
        saved_source_close(&folder->source);
        folder->has_source = false;
    }
}

void saved_folder_close(struct saved_folder *folder)
{
    if (folder == NULL) {
        return;
    }
    close_source(folder);
    memory_free(folder->entries);
    memory_free(folder->damages.items);
    arena_release(&folder->arena);
    memory_free(folder);
}

/* ---- for those who read ---- */

size_t saved_folder_count(const struct saved_folder *folder)
{
    return folder->count;
}

const struct saved_entry *saved_folder_entry(const struct saved_folder *folder,
                                             size_t index)
{
    return &folder->entries[index];
}

const char *saved_folder_damage(const struct saved_folder *folder, size_t index)
{
    return index < folder->damages.count ? folder->damages.items[index] : NULL;
}

static bool open_source(struct saved_folder *folder,
                        const struct saved_entry *entry,
                        struct error *error)
{
    struct buffer path = BUFFER_INIT;

    if (folder->has_source && slice_equal(folder->source_name, entry->file_name)) {
        return true;
    }
    close_source(folder);
    if (!add_path(folder, entry->file_name, &path)) {
        error_set_memory(error);
    } else {
        folder->has_source =
            saved_source_open(&folder->source, entry->format, path.bytes, error);
        folder->source_name = entry->file_name;
    }
    buffer_release(&path);
    return folder->has_source;
}

static bool is_same(const struct array *a, const struct array *b)
{
    if (a->dtype != b->dtype || a->dimension_count != b->dimension_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->dimension_count; i++) {
        if (a->shape[i] != b->shape[i]) {
            return false;
        }
    }
    return true;
}

void saved_folder_forget(struct saved_folder *folder)
{
    if (folder->has_source) {
        saved_source_forget(&folder->source);
    }
}

/* The entry's file, where it still holds that tensor. */
static struct saved_source *
find_source(struct saved_folder *folder, size_t index, struct error *error)
{
    const struct saved_entry *entry = &folder->entries[index];
    uint64_t offset, size;

    if (!open_source(folder, entry, error)) {
        return NULL;
    }
    if (entry->index < saved_source_count(&folder->source) &&
        is_same(&saved_source_tensor(&folder->source, entry->index)->array,
                &entry->tensor.array)) {
        saved_source_place(&folder->source, entry->index, &offset, &size);
        if (size == entry->size) {
            return &folder->source;
        }
    }
    error_set(error, ERROR_INPUT, "%s: the file %.*s has changed meanwhile",
              folder->path, (int)entry->file_name.size, entry->file_name.bytes);
    return NULL;
}

bool saved_folder_read(struct saved_folder *folder,
                       size_t index,
                       struct array *array,
                       struct error *error)
{
    struct saved_source *source = find_source(folder, index, error);

    return source != NULL &&
           saved_source_read(source, folder->entries[index].index, array, error);
}

bool saved_folder_read_into(struct saved_folder *folder,
                            size_t index,
                            void *bytes,
                            struct error *error)
{
    struct saved_source *source = find_source(folder, index, error);

    return source != NULL &&
           saved_source_read_into(source, folder->entries[index].index, bytes, error);
}
