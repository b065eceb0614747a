/* Folders of saved tensors, in all formats. */
#include "runtime/saved/folder.h"

#include "runtime/base/arena.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/mapping.h"
#include "runtime/base/memory.h"
#include "runtime/base/slice.h"
#include "runtime/saved/pt/pt.h"
#include "runtime/saved/safetensors/safetensors.h"
#include "runtime/saved/trace.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- the order of saved tensors ---- */

static bool is_digit(struct slice text, size_t offset)
{
    return offset < text.size && text.bytes[offset] >= '0' && text.bytes[offset] <= '9';
}

/* Returns the end of the digits at `start`, and moves `start` after their leading zeros. */
static size_t find_number(struct slice text, size_t *start)
{
    size_t end = *start;

    while (is_digit(text, end)) {
        end++;
    }
    while (*start + 1 < end && text.bytes[*start] == '0') {
        (*start)++;
    }
    return end;
}

/* Compares the numbers at the two offsets, and advances the offsets. */
static int compare_numbers(struct slice a, size_t *i, struct slice b, size_t *j)
{
    size_t a_end = find_number(a, i);
    size_t b_end = find_number(b, j);
    size_t a_size = a_end - *i;
    size_t b_size = b_end - *j;
    int order = a_size != b_size ? (a_size < b_size ? -1 : 1)
                                 : memcmp(a.bytes + *i, b.bytes + *j, a_size);

    *i = a_end;
    *j = b_end;
    return order;
}

static int compare_texts(struct slice a, struct slice b)
{
    size_t i = 0;
    size_t j = 0;

    while (i < a.size && j < b.size) {
        if (is_digit(a, i) && is_digit(b, j)) {
            int order = compare_numbers(a, &i, b, &j);

            if (order != 0) {
                return order;
            }
        } else if (a.bytes[i] != b.bytes[j]) {
            return (unsigned char)a.bytes[i] < (unsigned char)b.bytes[j] ? -1 : 1;
        } else {
            i++;
            j++;
        }
    }
    return (i < a.size) - (j < b.size);
}

/* Names that differ only in leading zeros of numbers are ordered too. */
static int compare_names(struct slice a, struct slice b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = compare_texts(a, b);

    if (order == 0) {
        order = (a.size > b.size) - (a.size < b.size);
    }
    return order == 0 && size > 0 ? memcmp(a.bytes, b.bytes, size) : order;
}

static int compare_slices(const void *a, const void *b)
{
    return compare_names(*(const struct slice *)a, *(const struct slice *)b);
}

/* Sorts names so that numbers in them count as numbers: call2 precedes call10. */
static void saved_order_sort_names(struct slice *names, size_t count)
{
    if (count > 1) {
        qsort(names, count, sizeof *names, compare_slices);
    }
}

static int compare_entries(const void *a, const void *b)
{
    const struct saved_entry *first = a;
    const struct saved_entry *second = b;
    int order;

    if (first->tensor.order != second->tensor.order) {
        return first->tensor.order < second->tensor.order ? -1 : 1;
    }
    order = compare_names(first->file_name, second->file_name);
    return order != 0 ? order
                      : (first->index > second->index) - (first->index < second->index);
}

/* Sorts entries in the order of saving. Those without a known order are last, by name. */
static void saved_order_sort_entries(struct saved_entry *entries, size_t count)
{
    if (count > 1) {
        qsort(entries, count, sizeof *entries, compare_entries);
    }
}

struct saved_source {
    enum saved_format format;
    /* Owned; the member of that format. */
    union {
        struct pt_file *pt;
        struct safetensors_file *safetensors;
        struct saved_trace *trace;
    };
};

/* ---- one file of saved tensors, in any format ---- */

/* Finds the format by the name's suffix. Returns false if it is no file of saved tensors. */
static bool saved_format_of_name(struct slice name, enum saved_format *format)
{
    if (slice_ends(name, SLICE(".pt"))) {
        *format = SAVED_PT;
    } else if (slice_ends(name, SLICE(".safetensors"))) {
        *format = SAVED_SAFETENSORS;
    } else if (slice_ends(name, SLICE(".mtrace"))) {
        *format = SAVED_TRACE;
    } else {
        return false;
    }
    return true;
}

/* Finds the format by the name's suffix, else by the file's first bytes. */
static bool
saved_format_of_file(const char *path, enum saved_format *format, struct error *error)
{
    char start[8];
    struct mapping file;
    size_t count = 0;
    bool is_read;

    if (saved_format_of_name(slice_of(path), format)) {
        return true;
    }
    if (!mapping_open_to_read(&file, path, error)) {
        return false;
    }
    is_read = mapping_read(&file, 0, start, sizeof start, &count, error);
    mapping_close(&file);
    if (slice_starts((struct slice){start, count}, SLICE("PK"))) {
        *format = SAVED_PT;
    } else if (slice_starts((struct slice){start, count}, SLICE("mtrace"))) {
        *format = SAVED_TRACE;
    } else {
        *format = SAVED_SAFETENSORS;
    }
    return is_read;
}

static bool saved_source_open(struct saved_source *source,
                              enum saved_format format,
                              const char *path,
                              struct error *error)
{
    source->format = format;
    switch (format) {
    case SAVED_PT:
        source->pt = pt_file_open(path, error);
        return source->pt != NULL;
    case SAVED_SAFETENSORS:
        source->safetensors = safetensors_file_open(path, error);
        return source->safetensors != NULL;
    case SAVED_TRACE:
        break;
    }
    source->trace = saved_trace_open(path, error);
    return source->trace != NULL;
}

static void saved_source_close(struct saved_source *source)
{
    switch (source->format) {
    case SAVED_PT:
        pt_file_close(source->pt);
        break;
    case SAVED_SAFETENSORS:
        safetensors_file_close(source->safetensors);
        break;
    case SAVED_TRACE:
        saved_trace_close(source->trace);
        break;
    }
}

static size_t saved_source_count(const struct saved_source *source)
{
    switch (source->format) {
    case SAVED_PT:
        return 1;
    case SAVED_SAFETENSORS:
        return safetensors_file_count(source->safetensors);
    case SAVED_TRACE:
        break;
    }
    return saved_trace_count(source->trace);
}

static const struct saved_tensor *saved_source_tensor(const struct saved_source *source,
                                                      size_t index)
{
    switch (source->format) {
    case SAVED_PT:
        return pt_file_tensor(source->pt);
    case SAVED_SAFETENSORS:
        return safetensors_file_tensor(source->safetensors, index);
    case SAVED_TRACE:
        break;
    }
    return saved_trace_tensor(source->trace, index);
}

/* The place of the packed values in the file. 0 and 0 if they are not in one run. */
static void saved_source_place(const struct saved_source *source,
                               size_t index,
                               uint64_t *offset,
                               uint64_t *size)
{
    const struct array *array = &saved_source_tensor(source, index)->array;

    *offset = 0;
    *size = 0;
    if (source->format == SAVED_SAFETENSORS) {
        safetensors_file_place(source->safetensors, index, offset, size);
    } else if (source->format == SAVED_PT && array_is_contiguous(array) &&
               !array->is_conjugated && !array->is_negated) {
        pt_file_place(source->pt, offset, size);
    }
}

/* `array` is borrowed from the source until the next read. */
static bool saved_source_read(struct saved_source *source,
                              size_t index,
                              struct array *array,
                              struct error *error)
{
    switch (source->format) {
    case SAVED_PT:
        return pt_file_read(source->pt, array, error);
    case SAVED_SAFETENSORS:
        return safetensors_file_read(source->safetensors, index, array, error);
    case SAVED_TRACE:
        break;
    }
    return saved_trace_read(source->trace, index, array, error);
}

/* The same, into memory of the caller with the size that saved_source_place returns, which must
 * not be 0. */
static bool saved_source_read_into(const struct saved_source *source,
                                   size_t index,
                                   void *bytes,
                                   struct error *error)
{
    return source->format == SAVED_PT
               ? pt_file_read_into(source->pt, bytes, error)
               : safetensors_file_read_into(source->safetensors, index, bytes, error);
}

/* Frees the last values that were read. */
static void saved_source_forget(struct saved_source *source)
{
    switch (source->format) {
    case SAVED_PT:
        pt_file_forget(source->pt);
        break;
    case SAVED_SAFETENSORS:
        safetensors_file_forget(source->safetensors);
        break;
    case SAVED_TRACE:
        saved_trace_forget(source->trace);
        break;
    }
}

/* NULL after the last one. */
static const char *saved_source_damage(const struct saved_source *source, size_t index)
{
    return source->format == SAVED_TRACE ? saved_trace_damage(source->trace, index)
                                         : NULL;
}

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
    /* The last file that was read, which stays open. */
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

/* Appends the path of a file in the folder, and a NUL byte. If the folder is a single file, the
 * path is its own. */
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

/* Adds a message. If `what` starts with the file's path, only the file's name is kept of it. */
static bool report_damage(struct saved_folder *folder,
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
        if (!report_damage(folder, name, SLICE("no path"), slice_of(damage))) {
            return false;
        }
    }
    return true;
}

/* Adds the tensors of a file. A file that cannot be read is reported as damage, but is an error
 * if it is the only one. */
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
        path.size--; /* without the NUL byte */
        is_done =
            report_damage(folder, name, buffer_slice(&path), slice_of(reason.text)) ||
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

/* ---- the entries, for readers ---- */

size_t saved_folder_count(const struct saved_folder *folder)
{
    return folder->count;
}

const struct saved_entry *saved_folder_entry(const struct saved_folder *folder,
                                             size_t index)
{
    assert(index < folder->count);
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

/* The entry's file, if it still holds that tensor. */
static struct saved_source *
find_source(struct saved_folder *folder, size_t index, struct error *error)
{
    assert(index < folder->count);

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

    assert(index < folder->count);
    return source != NULL &&
           saved_source_read(source, folder->entries[index].index, array, error);
}

bool saved_folder_read_into(struct saved_folder *folder,
                            size_t index,
                            void *bytes,
                            struct error *error)
{
    struct saved_source *source = find_source(folder, index, error);

    assert(index < folder->count);
    return source != NULL &&
           saved_source_read_into(source, folder->entries[index].index, bytes, error);
}
