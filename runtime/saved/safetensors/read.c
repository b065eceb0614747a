/* Reader of safetensors files: the header in JSON, then the values. */
#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/file/mapping.h"
#include "runtime/base/json_read.h"
#include "runtime/base/memory.h"
#include "runtime/saved/safetensors/safetensors.h"
#include "runtime/saved/saved.h"
#include "runtime/saved/values_read.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* A tensor as described by the header. */
struct safetensors_stored {
    struct saved_tensor tensor;
    struct slice name;
    struct slice line; /* its JSON line in the metadata; or "" */
    uint64_t offset;   /* relative to the end of the header */
    uint64_t size;
    size_t place; /* index in the header */
};

struct safetensors_index {
    const char *path;                  /* borrowed: the file's name in messages */
    struct arena *arena;               /* borrowed: holds the tensors' data */
    uint64_t values_size;              /* number of bytes after the header */
    struct safetensors_stored *stored; /* owned */
    size_t count;
    size_t capacity;
};

/* The metadata of a tensor, which can precede or follow the tensor in the header. */
struct note {
    struct slice name;
    struct slice line;
};

struct notes {
    struct note *items; /* owned */
    size_t count;
    size_t capacity;
};

static bool
fail(const struct safetensors_index *index, struct error *error, const char *what)
{
    error_set(error, ERROR_INPUT, "%s: %s", index->path, what);
    return false;
}

static enum dtype find_dtype(struct slice text)
{
    static const struct {
        const char *text;
        enum dtype dtype;
    } dtypes[] = {
#define SAFETENSORS_DTYPE(name, text) {text, DTYPE_##name},
#include "runtime/saved/safetensors/dtypes.def"
#undef SAFETENSORS_DTYPE
    };

    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (slice_equal(text, slice_of(dtypes[i].text))) {
            return dtypes[i].dtype;
        }
    }
    return DTYPE_OTHER;
}

/* ---- a tensor ---- */

static bool read_shape(struct json_reader *reader, struct array *array)
{
    int64_t shape[ARRAY_DIMENSION_MAX];
    int64_t *copy;
    uint32_t count = 0;

    json_reader_begin_array(reader);
    while (json_reader_next_item(reader)) {
        uint64_t size;

        if (count == ARRAY_DIMENSION_MAX || !json_reader_natural(reader, &size) ||
            size > INT64_MAX) {
            return false;
        }
        shape[count++] = (int64_t)size;
    }
    copy = arena_allocate(reader->arena, count, sizeof *copy);
    if (reader->has_failed || copy == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(copy, shape, count * sizeof *shape);
    }
    array->shape = copy;
    array->dimension_count = count;
    return true;
}

/* Reads [begin, end]. */
static bool read_range(struct json_reader *reader, struct safetensors_stored *stored)
{
    uint64_t begin, end;

    if (!json_reader_begin_array(reader) || !json_reader_next_item(reader) ||
        !json_reader_natural(reader, &begin) || !json_reader_next_item(reader) ||
        !json_reader_natural(reader, &end) || json_reader_next_item(reader) ||
        end < begin) {
        return false;
    }
    stored->offset = begin;
    stored->size = end - begin;
    return !reader->has_failed;
}

static bool is_consistent(const struct safetensors_stored *stored, uint64_t values_size)
{
    uint64_t count = array_count(&stored->tensor.array);
    uint64_t size;

    return !__builtin_mul_overflow(
               count, (uint64_t)dtype_size(stored->tensor.array.dtype), &size) &&
           size == stored->size && stored->size <= values_size &&
           stored->offset <= values_size - stored->size;
}

/* Reads {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}. */
static bool read_facts(struct json_reader *reader, struct safetensors_stored *stored)
{
    bool has_dtype = false, has_shape = false, has_range = false;
    struct slice key;

    json_reader_begin_object(reader);
    while (json_reader_next_key(reader, &key)) {
        struct slice text;

        if (slice_equal(key, SLICE("dtype"))) {
            has_dtype = json_reader_text(reader, &text);
            stored->tensor.array.dtype = has_dtype ? find_dtype(text) : DTYPE_OTHER;
        } else if (slice_equal(key, SLICE("shape"))) {
            has_shape = read_shape(reader, &stored->tensor.array);
        } else if (slice_equal(key, SLICE("data_offsets"))) {
            has_range = read_range(reader, stored);
        } else {
            json_reader_skip(reader);
        }
        if (reader->has_failed) {
            return false;
        }
    }
    return !reader->has_failed && has_dtype && has_shape && has_range;
}

static bool add_stored(struct safetensors_index *index,
                       struct json_reader *reader,
                       struct slice name,
                       struct error *error)
{
    struct safetensors_stored stored = {
        .name = name, .line = SLICE(""), .place = index->count};
    void *items = index->stored;
    bool has_room;

    if (!read_facts(reader, &stored)) {
        return reader->arena->has_failed
                   ? error_set_memory(error)
                   : fail(index, error, "a header of safetensors that is damaged");
    }
    if (stored.tensor.array.dtype == DTYPE_OTHER) {
        return fail(index, error, "a tensor with elements of a type that is not known");
    }
    if (!is_consistent(&stored, index->values_size)) {
        return fail(index, error, "a tensor that does not fit its values");
    }
    has_room = memory_grow(&items, &index->capacity, index->count + 1, sizeof stored);
    index->stored = items;
    if (!has_room) {
        return error_set_memory(error);
    }
    index->stored[index->count++] = stored;
    return true;
}

/* ---- the header ---- */

static bool read_notes(struct json_reader *reader, struct notes *notes)
{
    struct note note;

    json_reader_begin_object(reader);
    while (json_reader_next_key(reader, &note.name) &&
           json_reader_text(reader, &note.line)) {
        void *items = notes->items;
        bool has_room =
            memory_grow(&items, &notes->capacity, notes->count + 1, sizeof note);

        notes->items = items;
        if (!has_room) {
            reader->arena->has_failed = true;
            return false;
        }
        notes->items[notes->count++] = note;
    }
    return !reader->has_failed;
}

static int compare_texts(struct slice a, struct slice b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size == 0 ? 0 : memcmp(a.bytes, b.bytes, size);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_names(const void *a, const void *b)
{
    const struct safetensors_stored *first = a;
    const struct safetensors_stored *second = b;

    return compare_texts(first->name, second->name);
}

static int compare_notes(const void *a, const void *b)
{
    const struct note *first = a;
    const struct note *second = b;

    return compare_texts(first->name, second->name);
}

/* Compares in the order of saving, if it is known. */
static int compare_orders(const void *a, const void *b)
{
    const struct safetensors_stored *first = a;
    const struct safetensors_stored *second = b;

    if (first->tensor.order != second->tensor.order) {
        return first->tensor.order < second->tensor.order ? -1 : 1;
    }
    return (first->place > second->place) - (first->place < second->place);
}

static void sort_stored(struct safetensors_index *index,
                        int (*compare)(const void *, const void *))
{
    if (index->count > 1) {
        qsort(index->stored, index->count, sizeof *index->stored, compare);
    }
}

/* Assigns the metadata to the tensors, by merging both lists, which are sorted by name. */
static void join_notes(struct safetensors_index *index, struct notes *notes)
{
    size_t next = 0;

    sort_stored(index, compare_names);
    if (notes->count > 1) {
        qsort(notes->items, notes->count, sizeof *notes->items, compare_notes);
    }
    for (size_t i = 0; i < index->count; i++) {
        struct safetensors_stored *stored = &index->stored[i];

        while (next < notes->count &&
               compare_texts(notes->items[next].name, stored->name) < 0) {
            next++;
        }
        if (next < notes->count && slice_equal(notes->items[next].name, stored->name)) {
            stored->line = notes->items[next].line;
        }
    }
}

static bool read_keys(struct safetensors_index *index, struct error *error)
{
    for (size_t i = 0; i < index->count; i++) {
        struct safetensors_stored *stored = &index->stored[i];

        if (!(stored->line.size > 0 &&
              saved_read_json(&stored->tensor, stored->line, index->arena)) &&
            !saved_read_file_name(&stored->tensor, stored->name, index->arena)) {
            return error_set_memory(error);
        }
    }
    sort_stored(index, compare_orders);
    return true;
}

static bool read_tensors(struct safetensors_index *index,
                         struct slice text,
                         struct notes *notes,
                         struct error *error)
{
    struct json_reader reader;
    struct slice name;

    json_reader_init(&reader, text, index->arena);
    json_reader_begin_object(&reader);
    while (json_reader_next_key(&reader, &name)) {
        if (slice_equal(name, SLICE("__metadata__"))) {
            read_notes(&reader, notes);
        } else if (!add_stored(index, &reader, name, error)) {
            return false;
        }
    }
    if (index->arena->has_failed) {
        return error_set_memory(error);
    }
    return json_reader_finish(&reader) ||
           fail(index, error, "a header of safetensors that is damaged");
}

static bool safetensors_index_read(struct safetensors_index *index,
                                   struct slice text,
                                   struct error *error)
{
    struct notes notes = {NULL, 0, 0};
    bool is_read = read_tensors(index, text, &notes, error);

    if (is_read) {
        join_notes(index, &notes);
        is_read = read_keys(index, error);
    }
    memory_free(notes.items);
    return is_read;
}

/* Frees the list of tensors. Needed also after a failed read. */
static void safetensors_index_release(struct safetensors_index *index)
{
    memory_free(index->stored);
    index->stored = NULL;
}

/* A file of the format safetensors: 8 bytes with the size of the header, the header in JSON, and
 * the values. */

#define HEADER_MAX ((uint64_t)100 << 20) /* the format's own limit */
#define SIZE_BYTES 8

struct safetensors_file {
    struct arena arena;
    struct safetensors_index index;
    uint64_t values;     /* start of the values in the file */
    struct buffer bytes; /* the last values that were read */
};

static bool
read_fail(const struct safetensors_file *file, struct error *error, const char *what)
{
    error_set(error, ERROR_INPUT, "%s: %s", file->index.path, what);
    return false;
}

static bool load_header(struct safetensors_file *file,
                        const struct mapping *mapping,
                        struct slice *text,
                        struct error *error)
{
    unsigned char start[SIZE_BYTES];
    uint64_t size = 0;
    uint64_t file_size;
    size_t count;
    char *bytes;

    if (!mapping_size(mapping, &file_size, error) ||
        !mapping_read(mapping, 0, start, SIZE_BYTES, &count, error)) {
        return false;
    }
    for (size_t i = 0; i < SIZE_BYTES; i++) {
        size |= (uint64_t)start[i] << (8 * i);
    }
    if (count < SIZE_BYTES || size > HEADER_MAX || size > file_size - SIZE_BYTES) {
        return read_fail(file, error, "no file of safetensors, or one that is cut off");
    }
    bytes = arena_allocate(&file->arena, (size_t)size, 1);
    if (bytes == NULL) {
        return error_set_memory(error);
    }
    if (!mapping_read(mapping, SIZE_BYTES, bytes, (size_t)size, &count, error)) {
        return false;
    }
    file->values = SIZE_BYTES + size;
    file->index.values_size = file_size - file->values;
    *text = (struct slice){bytes, count};
    return true;
}

static bool
open_file(struct safetensors_file *file, const char *path, struct error *error)
{
    struct mapping mapping;
    struct slice text = {0};
    bool is_read;

    file->index.arena = &file->arena;
    file->index.path = arena_copy(&file->arena, slice_of(path)).bytes;
    if (file->index.path == NULL) {
        return error_set_memory(error);
    }
    if (!mapping_open_to_read(&mapping, file->index.path, error)) {
        return false;
    }
    is_read = load_header(file, &mapping, &text, error) &&
              safetensors_index_read(&file->index, text, error);
    mapping_close(&mapping);
    return is_read;
}

/* ---- the file, for readers ---- */

struct safetensors_file *safetensors_file_open(const char *path, struct error *error)
{
    struct safetensors_file *file = memory_allocate_zeroed(1, sizeof *file);

    if (file == NULL) {
        error_set_memory(error);
        return NULL;
    }
    arena_init(&file->arena);
    if (!open_file(file, path, error)) {
        safetensors_file_close(file);
        return NULL;
    }
    return file;
}

void safetensors_file_close(struct safetensors_file *file)
{
    if (file == NULL) {
        return;
    }
    buffer_release(&file->bytes);
    safetensors_index_release(&file->index);
    arena_release(&file->arena);
    memory_free(file);
}

size_t safetensors_file_count(const struct safetensors_file *file)
{
    return file->index.count;
}

const struct saved_tensor *safetensors_file_tensor(const struct safetensors_file *file,
                                                   size_t index)
{
    assert(index < file->index.count);
    return &file->index.stored[index].tensor;
}

void safetensors_file_place(const struct safetensors_file *file,
                            size_t index,
                            uint64_t *offset,
                            uint64_t *size)
{
    assert(index < file->index.count);
    *offset = file->values + file->index.stored[index].offset;
    *size = file->index.stored[index].size;
}

bool safetensors_file_read_into(const struct safetensors_file *file,
                                size_t index,
                                void *bytes,
                                struct error *error)
{
    uint64_t offset, size;

    safetensors_file_place(file, index, &offset, &size);
    return values_read(file->index.path, offset, size, bytes, error);
}

bool safetensors_file_read(struct safetensors_file *file,
                           size_t index,
                           struct array *array,
                           struct error *error)
{
    assert(index < file->index.count);
    file->bytes.size = 0;
    if (!buffer_reserve(&file->bytes, (size_t)file->index.stored[index].size)) {
        return error_set_memory(error);
    }
    if (!safetensors_file_read_into(file, index, file->bytes.bytes, error)) {
        return false;
    }
    *array = file->index.stored[index].tensor.array;
    array->data = buffer_slice(&file->bytes).bytes;
    return true;
}

void safetensors_file_forget(struct safetensors_file *file)
{
    buffer_release(&file->bytes);
}
