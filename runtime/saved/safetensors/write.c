/* Writer of safetensors files: the header in JSON, and the values, collected in a temporary
 * file. */
#include "runtime/saved/safetensors/safetensors.h"

#include "runtime/array/array.h"
#include "runtime/array/pieces.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/draft.h"
#include "runtime/base/file/file.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/saved/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/* The temporary file of values. It must not move while it is open. For errors of the system,
 * errno is set too. */
struct safetensors_values {
    const char *path; /* borrowed: the file's final name */
    struct file_temporary temporaries[2];
    int current; /* index of the one with the values; the other is used only during a copy */
    int descriptor; /* of the current one; -1: none */
    pid_t process;  /* the process that writes the file */
    uint64_t room;  /* bytes reserved for the header */
    uint64_t size;  /* bytes of values so far */
};

/* ---- the file of values, until the header is known ---- */

#define COPY_SIZE  ((size_t)1024 * 1024)
#define ROOM_FIRST ((uint64_t)64 * 1024)
/* When the reserved space becomes too small, all values are copied. With this growth that is
 * rare. */
#define ROOM_GROWTH 8

static void safetensors_values_init(struct safetensors_values *values, const char *path)
{
    values->path = path;
    values->current = 0;
    values->descriptor = -1;
    values->room = 0;
    values->size = 0;
}

/* Removes the temporary file, if this process made it. */
static void safetensors_values_release(struct safetensors_values *values)
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

/* Allocates the blocks of the header now, so that a full disk cannot prevent its writing. */
static bool keep_room(int descriptor, uint64_t room)
{
    int number =
        file_operation_fails() ? errno : posix_fallocate(descriptor, 0, (off_t)room);

    /* Some file systems cannot reserve space. */
    if (number != 0 && number != EINVAL && number != EOPNOTSUPP) {
        errno = number;
        return false;
    }
    return lseek(descriptor, (off_t)room, SEEK_SET) >= 0;
}

/* Reads at most `size` bytes at `offset`. Returns -1 on failure, also at the end of the file. */
static ssize_t read_some(int descriptor, char *bytes, uint64_t size, uint64_t offset)
{
    size_t wanted = size < COPY_SIZE ? (size_t)size : COPY_SIZE;
    ssize_t got;

    do {
        got = pread(descriptor, bytes, wanted, (off_t)offset);
    } while (got < 0 && errno == EINTR);
    if (got == 0) {
        errno = EIO; /* another process has cut the file */
        return -1;
    }
    return got;
}

/* The target of a copied run: a draft or a descriptor. */
struct target {
    struct file_draft *draft; /* NULL: the descriptor is used */
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

/* Makes a file with so much reserved space, and copies the current values to it. */
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

/* Reserves space for a header of `size` bytes: makes the first file, or another one if the
 * current space is too small. After a failure nothing has changed. */
static bool safetensors_values_make_room(struct safetensors_values *values,
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

/* Cuts off the values of an array whose writing failed. */
static void go_back(const struct safetensors_values *values)
{
    off_t end = (off_t)(values->room + values->size);
    int number = errno;

    if (ftruncate(values->descriptor, end) != 0 ||
        lseek(values->descriptor, end, SEEK_SET) < 0) {
        number = number == 0 ? errno : number; /* the next array overwrites it */
    }
    errno = number;
}

/* Appends an array. After a failure nothing has changed. */
static bool safetensors_values_add(struct safetensors_values *values,
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

/* Appends a run of the values to the draft. Closes the draft on failure. */
static bool safetensors_values_copy(const struct safetensors_values *values,
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

/* Writes the header, which fills the reserved space, and gives the file its name. */
static bool safetensors_values_finish(struct safetensors_values *values,
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
    /* A full disk may be reported only at closing. */
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

struct safetensors_entry {
    size_t name, name_size; /* in `texts`, escaped for JSON */
    uint64_t hash;          /* of the name */
    size_t line, line_size; /* the metadata, escaped for JSON */
    size_t shape, shape_size;
    enum dtype dtype;
    uint64_t offset, size; /* place of the values in the temporary file */
    size_t index;          /* in the order of adding */
};

struct safetensors_header {
    struct safetensors_entry *entries; /* owned */
    size_t count, capacity;
    struct buffer texts; /* owned */
    size_t size;         /* upper bound of the header's size */
    /* Set at the end: the values are already in the order of the file. */
    bool is_as_added;
};

/* A run of bytes in the file of values. */
struct safetensors_run {
    uint64_t offset, size;
};

/* The largest header that readers accept. */
#define HEADER_SIZE_MAX ((size_t)100000000)
/* The size of an entry without its texts: `"":{"dtype":"","shape":,"data_offsets":[,]},` with
 * the largest numbers, and `"":"",` in the metadata. */
#define ENTRY_SIZE_MAX 128
#define ALIGNMENT      8 /* of the values */
#define SIZE_SIZE      8 /* bytes of the header's size field */

/* The format's name of the dtype. NULL: none. */
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

/* Adds `encoder.attn.q.call3`, escaped for JSON. */
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

/* Adds the texts of a tensor. Returns false if memory runs out. */
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

/* Adds a tensor whose values are at `offset`. Returns false if the header is full or memory runs
 * out; `error` says why. */
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
    /* The name occurs in the metadata, too. */
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

/* Removes the last tensor. */
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

/* Places large elements first, so that each tensor starts at a multiple of its elements' size.
 * Readers that map the file need that, and the format forbids gaps. */
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

/* Whether each tensor starts at a multiple of its elements' size. */
static bool is_aligned(const struct safetensors_header *header)
{
    for (size_t i = 0; i < header->count; i++) {
        if (header->entries[i].offset % dtype_size(header->entries[i].dtype) != 0) {
            return false;
        }
    }
    return true;
}

/* Keeps the last tensor of each name. If the alignment allows it, the tensors stay in the order
 * of adding, so that no values have to be moved. */
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

/* Pads the header with spaces up to `size` bytes, and fills in its size. Returns false if memory
 * runs out. */
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

/* Sorts the entries into the order of the file, and writes all bytes before the values to
 * `text`, which must be empty. Of tensors with the same name only the last is kept. No tensor
 * may be added later. */
static bool safetensors_header_write(struct safetensors_header *header,
                                     struct buffer *text,
                                     struct error *error)
{
    put_in_order(header);
    buffer_add(text, SLICE("12345678")); /* placeholder of the size of the rest */
    add_metadata(header, text);
    add_tensors(header, text);
    return safetensors_header_pad(
        text, (text->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, error);
}

/* Iterates over the runs of values in the order of the file, after safetensors_header_write.
 * `next` is 0 at first. Returns false after the last run. */
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

/* The writer: collects tensors in a temporary file. At the end the file is finished in place, or
 * copied if it is small or needs another order. */

/* Upper bound of a header's bytes besides its tensors. */
#define HEADER_REST 64
/* A file is finished in place if its values are at least this many times larger than the space
 * reserved for the header, or if there is no space for a copy. The unused rest of that space is
 * filled with spaces. */
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
        /* A copy keeps the permissions of an existing file, and a link to it. */
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
        is_finished = safetensors_values_make_room(&writer->values, 0,
                                                   error) && /* checks the owner */
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
