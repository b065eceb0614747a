/* Reader of torch.save files with one tensor. */
#include "runtime/saved/pt/pt.h"

#include "runtime/array/array.h"
#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/file/mapping.h"
#include "runtime/base/hash/crc32.h"
#include "runtime/base/memory.h"
#include "runtime/saved/pt/pickle_read.h"
#include "runtime/saved/values_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zip_member {
    struct slice name; /* in the arena */
    uint64_t size;
    uint64_t header;   /* offset of its local header in the file */
    uint32_t checksum; /* CRC-32; 0: not computed by the writer */
    bool is_stored;
};

/* A part of the file that is read once. */
struct zip_window {
    const char *bytes; /* in the arena */
    uint64_t offset;   /* in the file */
    size_t size;
};

struct zip_directory {
    const struct mapping *file; /* borrowed */
    uint64_t file_size;
    struct zip_window head; /* holds most members except the values */
    struct zip_window tail;
    struct zip_member *members; /* in the arena */
    size_t member_count;
};

/* Zip archives, by PKWARE's APPNOTE 6.3.10. */

#define END_SIGNATURE       0x06054b50u
#define END_SIZE            22
#define COMMENT_MAX         65535
#define LARGE_END_SIGNATURE 0x06064b50u
#define LARGE_END_SIZE      56
#define LOCATOR_SIGNATURE   0x07064b50u
#define LOCATOR_SIZE        20
#define ENTRY_SIGNATURE     0x02014b50u
#define ENTRY_SIZE          46
#define HEADER_SIGNATURE    0x04034b50u
#define HEADER_SIZE         30
#define LARGE_EXTRA         1 /* the extra field with sizes of 64 bits */
/* The number of bytes that are read first at each end of the file. Most often they hold all but
 * the values. */
#define WINDOW_SIZE 4096
/* The largest directory. An archive with one tensor has only a few members. */
#define DIRECTORY_MAX (4 << 20)

static uint16_t get_16(const unsigned char *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint32_t get_32(const unsigned char *bytes)
{
    return (uint32_t)get_16(bytes) | (uint32_t)get_16(bytes + 2) << 16;
}

static uint64_t get_64(const unsigned char *bytes)
{
    return get_32(bytes) | (uint64_t)get_32(bytes + 4) << 32;
}

static bool
fail_zip(struct error *error, const struct zip_directory *directory, const char *what)
{
    error_set(error, ERROR_INPUT, "%s: %s", directory->file->path, what);
    return false;
}

/* ---- bytes ---- */

static bool window_has(const struct zip_window *window, uint64_t offset, size_t size)
{
    return offset >= window->offset && size <= window->size &&
           offset - window->offset <= window->size - size;
}

/* Reads all bytes, or fails. */
static bool read_exactly(const struct zip_directory *directory,
                         uint64_t offset,
                         void *bytes,
                         size_t size,
                         struct error *error)
{
    const struct zip_window *const windows[] = {&directory->head, &directory->tail};
    size_t count;

    for (size_t i = 0; i < 2; i++) {
        if (size > 0 && window_has(windows[i], offset, size)) {
            memcpy(bytes, windows[i]->bytes + (offset - windows[i]->offset), size);
            return true;
        }
    }
    return mapping_read(directory->file, offset, bytes, size, &count, error) &&
           (count == size ||
            fail_zip(error, directory, "a zip archive that is cut off"));
}

/* Reads `size` bytes from the offset on, or as many as the file has. */
static bool open_window(const struct zip_directory *directory,
                        struct zip_window *window,
                        uint64_t offset,
                        size_t size,
                        struct arena *arena,
                        struct error *error)
{
    uint64_t left = directory->file_size - offset;
    char *bytes;

    size = left < size ? (size_t)left : size;
    bytes = arena_allocate(arena, size, 1);
    if (bytes == NULL) {
        return error_set_memory(error);
    }
    if (!read_exactly(directory, offset, bytes, size, error)) {
        return false;
    }
    *window = (struct zip_window){bytes, offset, size};
    return true;
}

/* ---- finding the directory ---- */

struct place {
    uint64_t offset;
    uint64_t size;
    uint64_t count; /* of members */
};

/* The end record in the file's last bytes. NULL if there is none. */
static const unsigned char *find_end(const unsigned char *tail, size_t size)
{
    for (size_t room = END_SIZE; room <= size; room++) {
        const unsigned char *end = tail + size - room;

        if (get_32(end) == END_SIGNATURE &&
            get_16(end + 20) == (uint16_t)(room - END_SIZE) &&
            room - END_SIZE <= COMMENT_MAX) {
            return end;
        }
    }
    return NULL;
}

/* Reads the record of 64-bit numbers before the end record, if the archive has one. */
static bool read_large_end(const struct zip_directory *directory,
                           uint64_t end,
                           struct place *place,
                           struct error *error)
{
    unsigned char locator[LOCATOR_SIZE];
    unsigned char large[LARGE_END_SIZE];
    uint64_t offset;

    if (end < LOCATOR_SIZE) {
        return true;
    }
    if (!read_exactly(directory, end - LOCATOR_SIZE, locator, LOCATOR_SIZE, error)) {
        return false;
    }
    if (get_32(locator) != LOCATOR_SIGNATURE) {
        return true;
    }
    offset = get_64(locator + 8);
    if (offset > end || end - offset < LARGE_END_SIZE) {
        return fail_zip(error, directory, "a zip archive whose end is damaged");
    }
    if (!read_exactly(directory, offset, large, LARGE_END_SIZE, error)) {
        return false;
    }
    if (get_32(large) != LARGE_END_SIGNATURE) {
        return fail_zip(error, directory, "a zip archive whose end is damaged");
    }
    *place = (struct place){get_64(large + 48), get_64(large + 40), get_64(large + 32)};
    return true;
}

/* Finds the end record. Only a comment can follow it, which is usually empty. */
static bool find_end_offset(struct zip_directory *directory,
                            struct arena *arena,
                            uint64_t *offset,
                            struct error *error)
{
    static const size_t sizes[] = {WINDOW_SIZE, END_SIZE + COMMENT_MAX};
    struct zip_window *tail = &directory->tail;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t file_size = directory->file_size;
        uint64_t begin = file_size < sizes[i] ? 0 : file_size - sizes[i];
        const unsigned char *end;

        if (!open_window(directory, tail, begin, sizes[i], arena, error)) {
            return false;
        }
        end = find_end((const unsigned char *)tail->bytes, tail->size);
        if (end != NULL) {
            *offset = begin + (uint64_t)((const char *)end - tail->bytes);
            return true;
        }
    }
    return fail_zip(error, directory, "no zip archive, expected a file of torch.save");
}

static bool find_directory(struct zip_directory *directory,
                           struct arena *arena,
                           struct place *place,
                           struct error *error)
{
    unsigned char record[END_SIZE];
    uint64_t end = 0;

    if (!mapping_size(directory->file, &directory->file_size, error) ||
        !open_window(directory, &directory->head, 0, WINDOW_SIZE, arena, error) ||
        !find_end_offset(directory, arena, &end, error) ||
        !read_exactly(directory, end, record, END_SIZE, error)) {
        return false;
    }
    *place =
        (struct place){get_32(record + 16), get_32(record + 12), get_16(record + 10)};
    if (!read_large_end(directory, end, place, error)) {
        return false;
    }
    if (place->offset > end || place->size > end - place->offset) {
        return fail_zip(error, directory,
                        "a zip archive whose directory lies outside of it");
    }
    return true;
}

/* ---- the directory ---- */

/* Reads the numbers that do not fit in 32 bits from an extra field, where they have this order. */
static bool read_large_numbers(struct zip_member *member,
                               uint64_t *packed_size,
                               const unsigned char *extra,
                               size_t size)
{
    uint64_t *const numbers[] = {&member->size, packed_size, &member->header};

    while (size >= 4) {
        size_t field = get_16(extra + 2);

        if (field > size - 4) {
            return false;
        }
        if (get_16(extra) == LARGE_EXTRA) {
            const unsigned char *next = extra + 4;

            for (size_t i = 0; i < 3; i++) {
                if (*numbers[i] != UINT32_MAX) {
                    continue;
                }
                if (extra + 4 + field - next < 8) {
                    return false;
                }
                *numbers[i] = get_64(next);
                next += 8;
            }
            return true;
        }
        extra += 4 + field;
        size -= 4 + field;
    }
    return true;
}

/* Reads the entry at `bytes` and returns its size. 0 if it is no entry. */
static size_t
read_entry(struct zip_member *member, const unsigned char *bytes, size_t size)
{
    uint64_t packed_size;
    size_t name_size, extra_size, whole;

    if (size < ENTRY_SIZE || get_32(bytes) != ENTRY_SIGNATURE) {
        return 0;
    }
    name_size = get_16(bytes + 28);
    extra_size = get_16(bytes + 30);
    whole = ENTRY_SIZE + name_size + extra_size + get_16(bytes + 32);
    if (whole > size) {
        return 0;
    }
    packed_size = get_32(bytes + 20);
    *member = (struct zip_member){
        .name = {(const char *)bytes + ENTRY_SIZE, name_size},
        .size = get_32(bytes + 24),
        .header = get_32(bytes + 42),
        .checksum = get_32(bytes + 16),
    };
    if (!read_large_numbers(member, &packed_size, bytes + ENTRY_SIZE + name_size,
                            extra_size)) {
        return 0;
    }
    /* Neither compressed nor encrypted. */
    member->is_stored = get_16(bytes + 10) == 0 && (get_16(bytes + 8) & 1) == 0 &&
                        packed_size == member->size;
    return whole;
}

static bool
read_entries(struct zip_directory *directory, struct slice bytes, struct error *error)
{
    size_t offset = 0;

    for (size_t i = 0; i < directory->member_count; i++) {
        size_t size = read_entry(&directory->members[i],
                                 (const unsigned char *)bytes.bytes + offset,
                                 bytes.size - offset);

        if (size == 0) {
            return fail_zip(error, directory,
                            "a zip archive whose directory is damaged");
        }
        offset += size;
    }
    return true;
}

/* Reads the directory at the archive's end. The file must stay open. */
static bool zip_directory_read(struct zip_directory *directory,
                               const struct mapping *file,
                               struct arena *arena,
                               struct error *error)
{
    struct place place = {0};
    char *bytes;

    *directory = (struct zip_directory){.file = file};
    if (!find_directory(directory, arena, &place, error)) {
        return false;
    }
    if (place.size > DIRECTORY_MAX || place.count > place.size / ENTRY_SIZE) {
        return fail_zip(error, directory, "a zip archive with too many members");
    }
    bytes = arena_allocate(arena, (size_t)place.size, 1);
    directory->member_count = (size_t)place.count;
    directory->members =
        arena_allocate(arena, directory->member_count, sizeof *directory->members);
    if (bytes == NULL || directory->members == NULL) {
        return error_set_memory(error);
    }
    return read_exactly(directory, place.offset, bytes, (size_t)place.size, error) &&
           read_entries(directory, (struct slice){bytes, (size_t)place.size}, error);
}

/* The first member whose name is `folder` followed by `name`. NULL if there is none. */
static const struct zip_member *zip_directory_find(
    const struct zip_directory *directory, struct slice folder, struct slice name)
{
    for (size_t i = 0; i < directory->member_count; i++) {
        struct slice found = directory->members[i].name;

        if (found.size == folder.size + name.size && slice_starts(found, folder) &&
            slice_ends(found, name)) {
            return &directory->members[i];
        }
    }
    return NULL;
}

/* ---- members ---- */

/* Finds the start of the member's bytes in the file, and checks that the file holds all of them. */
static bool zip_directory_place(const struct zip_directory *directory,
                                const struct zip_member *member,
                                uint64_t *offset,
                                struct error *error)
{
    uint64_t file_size = directory->file_size;
    unsigned char header[HEADER_SIZE];
    uint64_t begin;

    if (!member->is_stored) {
        return fail_zip(error, directory,
                        "a compressed zip archive, expected a stored one");
    }
    if (member->header > file_size || file_size - member->header < HEADER_SIZE) {
        return fail_zip(error, directory, "a zip archive with a member outside of it");
    }
    if (!read_exactly(directory, member->header, header, HEADER_SIZE, error)) {
        return false;
    }
    begin = member->header + HEADER_SIZE + get_16(header + 26) + get_16(header + 28);
    if (get_32(header) != HEADER_SIGNATURE || begin > file_size ||
        member->size > file_size - begin) {
        return fail_zip(error, directory, "a zip archive with a member outside of it");
    }
    *offset = begin;
    return true;
}

/* Whether the bytes have the member's checksum. */
static bool zip_member_has(const struct zip_member *member, struct slice bytes)
{
    return member->checksum == 0 ||
           crc32_update(0, bytes.bytes, bytes.size) == member->checksum;
}

/* Reads a member of at most `limit` bytes into the arena. */
static bool zip_directory_load(const struct zip_directory *directory,
                               const struct zip_member *member,
                               size_t limit,
                               struct arena *arena,
                               struct slice *bytes,
                               struct error *error)
{
    uint64_t offset;
    char *copy;

    if (!zip_directory_place(directory, member, &offset, error)) {
        return false;
    }
    if (member->size > limit) {
        return fail_zip(error, directory,
                        "a zip archive with a member that is too large");
    }
    copy = arena_allocate(arena, (size_t)member->size, 1);
    if (copy == NULL) {
        return error_set_memory(error);
    }
    *bytes = (struct slice){copy, (size_t)member->size};
    return read_exactly(directory, offset, copy, bytes->size, error) &&
           (zip_member_has(member, *bytes) ||
            fail_zip(error, directory, "a zip archive with a damaged member"));
}

struct pt_tensor {
    struct array array;    /* data: NULL; its shape and strides are in the arena */
    struct slice storage;  /* its name in the archive: "0" */
    uint64_t storage_size; /* in bytes */
    uint64_t offset;       /* of the first element in the storage, in bytes */
    uint64_t size;         /* from there to the end of the last element */
};

/* ---- the tensor that a pickle describes ---- */

/* The largest number of nested wrappers around a tensor: a parameter, a tensor with its own
 * attributes … */
#define WRAPPERS_MAX 8

static bool fail_tensor(struct error *error, const char *what)
{
    error_set(error, ERROR_INPUT, "%s", what);
    return false;
}

/* Sets an error that names the object found instead of a tensor. Returns false. */
static bool fail_other(struct error *error, const struct pickle_value *value)
{
    static const char *const words[] = {
        [PICKLE_NONE] = "None",
        [PICKLE_BOOL] = "a bool",
        [PICKLE_INTEGER] = "an int",
        [PICKLE_TEXT] = "a str",
        [PICKLE_GLOBAL] = "a class",
        [PICKLE_TUPLE] = "a tuple",
        [PICKLE_DICT] = "a dict",
        [PICKLE_PERSISTENT] = "a storage",
        [PICKLE_LIST] = "a list",
        [PICKLE_CALL] = "another object",
        [PICKLE_OTHER] = "another object",
    };

    error_set(error, ERROR_INPUT, "holds %s, expected one plain tensor",
              words[value->kind]);
    return false;
}

static bool fail_call(struct error *error, const struct pickle_value *function)
{
    struct slice name = function->text;

    if (function->kind != PICKLE_GLOBAL) {
        return fail_other(error, function);
    }
    error_set(error, ERROR_INPUT, "holds what %.*s makes, expected one plain tensor",
              name.size > 200 ? 200 : (int)name.size, name.bytes);
    return false;
}

/* ---- finding the call that makes the tensor ---- */

struct rebuild {
    const struct pickle_value *function;  /* GLOBAL */
    const struct pickle_value *arguments; /* TUPLE */
};

static bool rebuild_is(const struct rebuild *rebuild, struct slice name, size_t least)
{
    return pickle_value_is_global(rebuild->function, name) &&
           rebuild->arguments->item_count >= least;
}

static bool rebuild_of(struct rebuild *rebuild, const struct pickle_value *value)
{
    if (value->kind != PICKLE_CALL || value->items[1]->kind != PICKLE_TUPLE) {
        return false;
    }
    *rebuild = (struct rebuild){value->items[0], value->items[1]};
    return true;
}

/* Finds the call that makes the value, inside its wrappers. */
static bool find_rebuild(struct rebuild *rebuild,
                         const struct pickle_value *value,
                         struct error *error)
{
    for (int i = 0; i < WRAPPERS_MAX; i++) {
        const struct pickle_value *const *items;

        if (!rebuild_of(rebuild, value)) {
            return fail_other(error, value);
        }
        items = rebuild->arguments->items;
        if (rebuild_is(rebuild, SLICE("torch._tensor _rebuild_from_type_v2"), 4) &&
            items[2]->kind == PICKLE_TUPLE) {
            *rebuild = (struct rebuild){items[0], items[2]};
            items = items[2]->items;
        }
        if (!rebuild_is(rebuild, SLICE("torch._utils _rebuild_parameter"), 1) &&
            !rebuild_is(rebuild, SLICE("torch._utils _rebuild_parameter_with_state"),
                        1)) {
            return true;
        }
        value = items[0];
    }
    return fail_tensor(error, "a tensor in too many wrappers");
}

/* ---- numbers ---- */

static bool read_natural(const struct pickle_value *value, uint64_t *number)
{
    if (value->kind != PICKLE_INTEGER || value->integer < 0) {
        return false;
    }
    *number = (uint64_t)value->integer;
    return true;
}

/* Reads the numbers of a tuple, none of them negative, and multiplies each by `unit`. */
static const int64_t *
read_naturals(const struct pickle_value *tuple, int64_t unit, struct arena *arena)
{
    int64_t *numbers = arena_allocate(arena, tuple->item_count, sizeof *numbers);

    if (numbers == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < tuple->item_count; i++) {
        uint64_t number;

        if (!read_natural(tuple->items[i], &number) ||
            __builtin_mul_overflow((int64_t)number, unit, &numbers[i])) {
            return NULL;
        }
    }
    return numbers;
}

/* ---- dtypes ---- */

static enum dtype dtype_of_storage(struct slice name)
{
    static const struct {
        const char *name;
        enum dtype dtype;
    } storages[] = {
        {"torch FloatStorage", DTYPE_FLOAT32},
        {"torch DoubleStorage", DTYPE_FLOAT64},
        {"torch HalfStorage", DTYPE_FLOAT16},
        {"torch BFloat16Storage", DTYPE_BFLOAT16},
        {"torch LongStorage", DTYPE_INT64},
        {"torch IntStorage", DTYPE_INT32},
        {"torch ShortStorage", DTYPE_INT16},
        {"torch CharStorage", DTYPE_INT8},
        {"torch ByteStorage", DTYPE_UINT8},
        {"torch BoolStorage", DTYPE_BOOL},
        {"torch ComplexFloatStorage", DTYPE_COMPLEX64},
        {"torch ComplexDoubleStorage", DTYPE_COMPLEX128},
    };

    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
        if (slice_equal(name, slice_of(storages[i].name))) {
            return storages[i].dtype;
        }
    }
    return DTYPE_OTHER;
}

/* "torch float8_e4m3fn" */
static enum dtype dtype_of_global(struct slice name)
{
    return slice_starts(name, SLICE("torch "))
               ? dtype_find(slice_part(name, 6, name.size))
               : DTYPE_OTHER;
}

/* ---- the storage ---- */

/* Reads ('storage', class, name, device, number of elements). For a storage without a type, the
 * number counts bytes. */
static bool read_storage(struct pt_tensor *tensor,
                         const struct pickle_value *value,
                         enum dtype dtype,
                         struct error *error)
{
    const struct pickle_value *const *items;
    struct slice class_name;
    uint64_t count;
    uint64_t unit = 1;

    if (value->kind != PICKLE_PERSISTENT || value->items[0]->kind != PICKLE_TUPLE ||
        value->items[0]->item_count < 5) {
        return fail_tensor(error, "a tensor without a storage");
    }
    items = value->items[0]->items;
    if (items[0]->kind != PICKLE_TEXT ||
        !slice_equal(items[0]->text, SLICE("storage")) ||
        items[1]->kind != PICKLE_GLOBAL || items[2]->kind != PICKLE_TEXT ||
        !read_natural(items[4], &count)) {
        return fail_tensor(error, "a tensor without a storage");
    }
    class_name = items[1]->text;
    if (dtype == DTYPE_OTHER) {
        dtype = dtype_of_storage(class_name);
        unit = dtype_size(dtype);
    }
    if (dtype == DTYPE_OTHER) {
        error_set(error, ERROR_INPUT,
                  "a tensor with elements of a type that is not known: %.*s",
                  class_name.size > 200 ? 200 : (int)class_name.size, class_name.bytes);
        return false;
    }
    if (__builtin_mul_overflow(count, unit, &tensor->storage_size)) {
        return fail_tensor(error, "a storage of an impossible size");
    }
    tensor->array.dtype = dtype;
    tensor->storage = items[2]->text;
    return true;
}

/* ---- shape ---- */

/* Computes the number of bytes from the first element to the end of the last. Returns false if
 * it overflows. */
static bool measure(const struct array *array, uint64_t *size)
{
    uint64_t last = 0;
    uint64_t count = array_count(array);

    *size = 0;
    if (count == 0) {
        return true;
    }
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        uint64_t step;

        if (__builtin_mul_overflow((uint64_t)array->shape[i] - 1,
                                   (uint64_t)array->strides[i], &step) ||
            __builtin_add_overflow(last, step, &last)) {
            return false;
        }
    }
    return count != UINT64_MAX &&
           !__builtin_add_overflow(last, (uint64_t)dtype_size(array->dtype), size);
}

static bool read_shape(struct pt_tensor *tensor,
                       const struct pickle_value *const *items,
                       struct arena *arena,
                       struct error *error)
{
    struct array *array = &tensor->array;
    uint64_t item = dtype_size(array->dtype);
    uint64_t offset;

    if (items[2]->kind != PICKLE_TUPLE || items[3]->kind != PICKLE_TUPLE ||
        items[2]->item_count != items[3]->item_count ||
        items[2]->item_count > ARRAY_DIMENSION_MAX) {
        return fail_tensor(error, "a tensor without a shape");
    }
    array->dimension_count = (uint32_t)items[2]->item_count;
    array->shape = read_naturals(items[2], 1, arena);
    array->strides = read_naturals(items[3], (int64_t)item, arena);
    if (arena->has_failed) {
        return error_set_memory(error);
    }
    if (array->shape == NULL || array->strides == NULL ||
        !read_natural(items[1], &offset) ||
        __builtin_mul_overflow(offset, item, &tensor->offset) ||
        !measure(array, &tensor->size)) {
        return fail_tensor(error, "a tensor with an impossible shape");
    }
    if (tensor->size > 0 && (tensor->offset > tensor->storage_size ||
                             tensor->size > tensor->storage_size - tensor->offset)) {
        return fail_tensor(error, "a tensor that reaches beyond its storage");
    }
    return true;
}

static bool is_set(const struct pickle_value *metadata, struct slice key)
{
    const struct pickle_value *value =
        metadata == NULL ? NULL : pickle_value_find(metadata, key);

    return value != NULL && value->kind == PICKLE_BOOL && value->integer != 0;
}

/* Reads _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata]); v3
 * has the dtype before the metadata. */
static bool pt_tensor_read(struct pt_tensor *tensor,
                           struct slice pickle,
                           struct arena *arena,
                           struct error *error)
{
    const struct pickle_value *value = pickle_read(pickle, arena, error);
    const struct pickle_value *metadata = NULL;
    struct pt_tensor found = {0};
    enum dtype dtype = DTYPE_OTHER;
    struct rebuild rebuild;
    size_t metadata_place = 6;

    if (value == NULL || !find_rebuild(&rebuild, value, error)) {
        return false;
    }
    if (rebuild_is(&rebuild, SLICE("torch._utils _rebuild_tensor_v3"), 7)) {
        dtype = dtype_of_global(rebuild.arguments->items[6]->text);
        metadata_place = 7;
        if (dtype == DTYPE_OTHER) {
            return fail_tensor(error,
                               "a tensor with elements of a type that is not known");
        }
    } else if (!rebuild_is(&rebuild, SLICE("torch._utils _rebuild_tensor_v2"), 4) &&
               !rebuild_is(&rebuild, SLICE("torch._utils _rebuild_tensor"), 4)) {
        return fail_call(error, rebuild.function);
    }
    if (!read_storage(&found, rebuild.arguments->items[0], dtype, error) ||
        !read_shape(&found, rebuild.arguments->items, arena, error)) {
        return false;
    }
    if (rebuild.arguments->item_count > metadata_place) {
        metadata = rebuild.arguments->items[metadata_place];
    }
    found.array.is_conjugated = is_set(metadata, SLICE("conj"));
    found.array.is_negated = is_set(metadata, SLICE("neg"));
    *tensor = found;
    return true;
}

/* The largest pickle. A tensor's has a few hundred bytes, more with attributes of the program. */
#define PICKLE_MAX (1 << 20)
#define LINE_MAX   (1 << 20)

struct pt_file {
    struct saved_tensor tensor;
    struct arena arena; /* holds what `tensor` points to */
    char *path;         /* in the arena */
    uint64_t offset;    /* of the values */
    uint64_t size;
    struct zip_member member; /* the member that holds them */
    struct buffer values;
};

/* An archive that is being read. */
struct archive {
    struct mapping file;
    struct zip_directory directory;
    struct slice folder; /* the folder of all members: "archive/" */
    struct arena *arena;
    struct error *error;
};

static bool fail(const struct archive *archive, const char *what)
{
    error_set(archive->error, ERROR_INPUT, "%s: %s", archive->file.path, what);
    return false;
}

/* Finds the folder, which is that of the pickle. */
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

/* Reads a member. A missing one counts as empty. */
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

/* Finds the place of the tensor's values in the file. */
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

/* Reads the key from the JSON line in the file, else from the file's name. */
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
    struct pt_tensor tensor = {0};

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
    /* Only the whole member has a checksum. */
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
