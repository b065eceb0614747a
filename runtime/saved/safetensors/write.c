/* The writer of safetensors files: the header in JSON, and the values that are collected beside it. */
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/saved/safetensors/safetensors.h"
#include "runtime/saved/safetensors/values.h"
#include "runtime/saved/saved.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct safetensors_entry {
    size_t name, name_size; /* in `texts`, as JSON has it */
    uint64_t hash;          /* of the name */
    size_t line, line_size; /* of metadata, as JSON has it */
    size_t shape, shape_size;
    enum dtype dtype;
    uint64_t offset, size; /* where the values stand while the file is written */
    size_t index;          /* in the order in which they were added */
};

struct safetensors_header {
    struct safetensors_entry *entries; /* owned */
    size_t count, capacity;
    struct buffer texts; /* owned */
    size_t size;         /* that the header has at most */
    bool
        is_as_added; /* once it is written: the values stand in the order of the file */
};

/* A run of bytes in the file of the values. */
struct safetensors_run {
    uint64_t offset, size;
};

/* Readers take no longer ones. */
#define HEADER_SIZE_MAX ((size_t)100000000)
/* Of an entry, beside its texts: `"":{"dtype":"","shape":,"data_offsets":[,]},` with the largest
 * numbers, and `"":"",` in the metadata. */
#define ENTRY_SIZE_MAX 128
#define ALIGNMENT      8 /* of the values */
#define SIZE_SIZE      8 /* bytes of the header's own size */

/* The format's word for it; NULL: it has none. */
static const char *safetensors_dtype_text(enum dtype dtype)
{
    switch (dtype) {
#define SAFETENSORS_DTYPE(name, text)                                                  \
    case DTYPE_##name:                                                                 \
        return text;
#include "runtime/saved/safetensors/dtypes.def"
#undef SAFETENSORS_DTYPE
    default:
        return NULL;
    }
}

static void safetensors_header_init(struct safetensors_header *header)
{
    *header = (struct safetensors_header){.texts = BUFFER_INIT};
}

static void safetensors_header_release(struct safetensors_header *header)
{
    memory_free(header->entries);
    buffer_release(&header->texts);
}

/* `encoder.attn.q.call3`, escaped for JSON. */
static void add_name(struct buffer *texts, const struct saved_key *key)
{
    struct saved_key shorter = *key;
    struct buffer name = BUFFER_INIT;

    shorter.prefix = SLICE("");
    saved_key_add_full_name(&shorter, &name);
    buffer_add(&name, SLICE(".call"));
    buffer_add_number(&name, key->call);
    buffer_add_json(texts, buffer_slice(&name));
    texts->has_failed |= name.has_failed;
    buffer_release(&name);
}

static void add_line(struct buffer *texts, const struct saved_tensor *tensor)
{
    struct buffer line = BUFFER_INIT;

    saved_add_json(tensor, &line);
    buffer_add_json(texts, buffer_slice(&line));
    texts->has_failed |= line.has_failed;
    buffer_release(&line);
}

static void add_shape(struct buffer *texts, const struct array *array)
{
    buffer_add_byte(texts, '[');
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        if (i > 0) {
            buffer_add_byte(texts, ',');
        }
        buffer_add_number(texts, (uint64_t)array->shape[i]);
    }
    buffer_add_byte(texts, ']');
}

/* Appends its texts; false where memory ran out. */
static bool add_texts(struct buffer *texts,
                      const struct saved_tensor *tensor,
                      struct safetensors_entry *entry)
{
    entry->name = texts->size;
    add_name(texts, &tensor->key);
    entry->line = texts->size;
    add_line(texts, tensor);
    entry->shape = texts->size;
    add_shape(texts, &tensor->array);
    entry->name_size = entry->line - entry->name;
    entry->line_size = entry->shape - entry->line;
    entry->shape_size = texts->size - entry->shape;
    entry->hash = hash_64(slice_part(buffer_slice(texts), entry->name, entry->line));
    return !texts->has_failed;
}

/* A tensor whose values stand at `offset`. Fails where there is no room or no memory. */
static bool safetensors_header_add(struct safetensors_header *header,
                                   const struct saved_tensor *tensor,
                                   uint64_t offset,
                                   struct error *error)
{
    struct buffer *texts = &header->texts;
    size_t before = texts->size, size;
    void *entries = header->entries;
    struct safetensors_entry entry = {
        .dtype = tensor->array.dtype,
        .offset = offset,
        .size = array_count(&tensor->array) * dtype_size(tensor->array.dtype),
        .index = header->count,
    };

    if (!add_texts(texts, tensor, &entry) ||
        !memory_grow(&entries, &header->capacity, header->count + 1, sizeof entry)) {
        texts->has_failed = false;
        texts->size = before;
        return error_set_memory(error);
    }
    header->entries = entries;
    /* The name stands in the metadata too. */
    size = header->size + (texts->size - before) + entry.name_size + ENTRY_SIZE_MAX;
    if (size > HEADER_SIZE_MAX) {
        texts->size = before;
        error_set(error, ERROR_USAGE, "a safetensors file cannot hold so many tensors");
        return false;
    }
    header->size = size;
    header->entries[header->count++] = entry;
    return true;
}

/* Forgets the last one, and nothing before it. */
static void safetensors_header_drop_last(struct safetensors_header *header)
{
    const struct safetensors_entry *entry = &header->entries[--header->count];

    header->size -=
        header->texts.size - entry->name + entry->name_size + ENTRY_SIZE_MAX;
    header->texts.size = entry->name;
}

static int compare_numbers(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

static int compare_names(const void *one, const void *other)
{
    const struct safetensors_entry *a = one, *b = other;

    return a->hash != b->hash ? compare_numbers(a->hash, b->hash)
                              : compare_numbers(a->index, b->index);
}

static int compare_indices(const void *one, const void *other)
{
    const struct safetensors_entry *a = one, *b = other;

    return compare_numbers(a->index, b->index);
}

/* Large elements first: so each tensor begins at a multiple of its elements' size, as readers
 * that map the file want it, without gaps, which the format forbids. */
static int compare_places(const void *one, const void *other)
{
    const struct safetensors_entry *a = one, *b = other;
    size_t size = dtype_size(a->dtype), other_size = dtype_size(b->dtype);

    return size != other_size ? compare_numbers(other_size, size)
                              : compare_numbers(a->index, b->index);
}

static struct slice
text_of(const struct safetensors_header *header, size_t start, size_t size)
{
    return slice_part(buffer_slice(&header->texts), start, start + size);
}

static bool is_replaced(const struct safetensors_header *header, size_t i)
{
    const struct safetensors_entry *entry = &header->entries[i], *next = entry + 1;

    return i + 1 < header->count && entry->hash == next->hash &&
           slice_equal(text_of(header, entry->name, entry->name_size),
                       text_of(header, next->name, next->name_size));
}

/* Whether each tensor begins where its elements may lie. */
static bool is_aligned(const struct safetensors_header *header)
{
    for (size_t i = 0; i < header->count; i++) {
        if (header->entries[i].offset % dtype_size(header->entries[i].dtype) != 0) {
            return false;
        }
    }
    return true;
}

/* Leaves the last of each name. They stay in the order in which they were added where the file
 * may have it, so that nothing has to be moved. */
static void put_in_order(struct safetensors_header *header)
{
    size_t kept = 0, count = header->count;

    if (count == 0) {
        return;
    }
    qsort(header->entries, count, sizeof *header->entries, compare_names);
    for (size_t i = 0; i < count; i++) {
        if (!is_replaced(header, i)) {
            header->entries[kept++] = header->entries[i];
        }
    }
    header->count = kept;
    header->is_as_added = kept == count && is_aligned(header);
    qsort(header->entries, kept, sizeof *header->entries,
          header->is_as_added ? compare_indices : compare_places);
}

static void add_metadata(const struct safetensors_header *header, struct buffer *text)
{
    buffer_add(text, SLICE("{\"__metadata__\":{\"format\":\"pt\""));
    for (size_t i = 0; i < header->count; i++) {
        const struct safetensors_entry *entry = &header->entries[i];

        buffer_add(text, SLICE(",\""));
        buffer_add(text, text_of(header, entry->name, entry->name_size));
        buffer_add(text, SLICE("\":\""));
        buffer_add(text, text_of(header, entry->line, entry->line_size));
        buffer_add_byte(text, '"');
    }
    buffer_add_byte(text, '}');
}

static void add_tensors(const struct safetensors_header *header, struct buffer *text)
{
    uint64_t offset = 0;

    for (size_t i = 0; i < header->count; i++) {
        const struct safetensors_entry *entry = &header->entries[i];

        buffer_add(text, SLICE(",\""));
        buffer_add(text, text_of(header, entry->name, entry->name_size));
        buffer_add_format(text, "\":{\"dtype\":\"%s\",\"shape\":",
                          safetensors_dtype_text(entry->dtype));
        buffer_add(text, text_of(header, entry->shape, entry->shape_size));
        buffer_add(text, SLICE(",\"data_offsets\":["));
        buffer_add_number(text, offset);
        buffer_add_byte(text, ',');
        offset += entry->size;
        buffer_add_number(text, offset);
        buffer_add(text, SLICE("]}"));
    }
    buffer_add_byte(text, '}');
}

/* Makes such a text longer by spaces, up to `size` bytes; false where memory ran out. */
static bool
safetensors_header_pad(struct buffer *text, size_t size, struct error *error)
{
    size_t padding = size > text->size ? size - text->size : 0;

    if (text->has_failed || !buffer_reserve(text, padding)) {
        return error_set_memory(error);
    }
    memset(text->bytes + text->size, ' ', padding);
    text->size += padding;
    size -= SIZE_SIZE;
    for (size_t i = 0; i < SIZE_SIZE; i++) {
        text->bytes[i] = (char)(size >> 8 * i & 0xff);
    }
    return true;
}

/* Puts the entries in the order that the file has, and gives all that stands in front of the
 * values, in `text`, which is empty. Of tensors of one name the last is kept. Nothing may be added
 * any more. */
static bool safetensors_header_write(struct safetensors_header *header,
                                     struct buffer *text,
                                     struct error *error)
{
    put_in_order(header);
    buffer_add(text,
               SLICE("12345678")); /* where the size of what follows comes to stand */
    add_metadata(header, text);
    add_tensors(header, text);
    return safetensors_header_pad(
        text, (text->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, error);
}

/* After that: the runs of values as they follow each other in the file. `next` is 0 at first;
 * false behind the last. */
static bool safetensors_header_run(const struct safetensors_header *header,
                                   size_t *next,
                                   struct safetensors_run *run)
{
    const struct safetensors_entry *entries = header->entries;

    if (*next >= header->count) {
        return false;
    }
    run->offset = entries[*next].offset;
    run->size = entries[(*next)++].size;
    while (*next < header->count && entries[*next].offset == run->offset + run->size) {
        run->size += entries[(*next)++].size;
    }
    return true;
}

/* Tensors written into one file of the format safetensors: collected beside it, then either
 * finished there or, where the file is small or needs another order, copied. */

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
