/* Writer of torch.save files: the archive, the pickle, the values. */
#include "runtime/saved/pt/zip_write.h"

#include "runtime/array/array.h"
#include "runtime/array/expanded.h"
#include "runtime/array/pieces.h"
#include "runtime/base/buffer.h"
#include "runtime/base/file/draft.h"
#include "runtime/base/file/file.h"
#include "runtime/base/hash/crc32.h"
#include "runtime/saved/pt/pt.h"

#include <errno.h>

/* The pickle that describes a tensor to torch.load: a few opcodes of Python's protocol 2 that
 * `weights_only=True` allows. */

#define PROTOCOL         "\x80\x02"
#define MARK             "("
#define TUPLE            "t"
#define EMPTY_TUPLE      ")"
#define REDUCE           "R"
#define PERSISTENT       "Q"
#define NO               "\x89"
#define ZERO             "K\0"
#define LONG_OF_8_BYTES  "\x8a\x08"
#define STOP             "."
#define GLOBAL(m, n)     "c" m "\n" n "\n"
#define TEXT(size, text) "X" size "\0\0\0" text

/* The storage class of a dtype, for dtypes that have their own. Later dtypes are written by
 * name, and their storage holds bytes. */
static const char *storage_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_BOOL:
        return "BoolStorage";
    case DTYPE_UINT8:
        return "ByteStorage";
    case DTYPE_INT8:
        return "CharStorage";
    case DTYPE_INT16:
        return "ShortStorage";
    case DTYPE_INT32:
        return "IntStorage";
    case DTYPE_INT64:
        return "LongStorage";
    case DTYPE_FLOAT16:
        return "HalfStorage";
    case DTYPE_BFLOAT16:
        return "BFloat16Storage";
    case DTYPE_FLOAT32:
        return "FloatStorage";
    case DTYPE_FLOAT64:
        return "DoubleStorage";
    case DTYPE_COMPLEX64:
        return "ComplexFloatStorage";
    case DTYPE_COMPLEX128:
        return "ComplexDoubleStorage";
    default:
        return NULL;
    }
}

static void add_integer(struct buffer *pickle, uint64_t number)
{
    int width;

    if (number < 0x100) {
        buffer_add_byte(pickle, 'K');
        width = 1;
    } else if (number < 0x80000000u) {
        buffer_add_byte(pickle, 'J');
        width = 4;
    } else {
        buffer_add(pickle, SLICE(LONG_OF_8_BYTES));
        width = 8;
    }
    for (int i = 0; i < width; i++) {
        buffer_add_byte(pickle, (char)(number >> 8 * i & 0xff));
    }
}

static void add_shape(struct buffer *pickle, const struct array *array)
{
    buffer_add(pickle, SLICE(MARK));
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        add_integer(pickle, (uint64_t)array->shape[i]);
    }
    buffer_add(pickle, SLICE(TUPLE));
}

/* Adds the strides in elements. A dimension of size 0 counts as 1, as in torch. */
static void add_strides(struct buffer *pickle,
                        const struct array *array,
                        const struct expanded_array *expanded)
{
    uint64_t strides[ARRAY_DIMENSION_MAX];
    uint64_t stride = 1;

    if (expanded != NULL) {
        expanded_pack_strides(expanded, (int64_t *)strides);
    }
    for (uint32_t i = array->dimension_count; i-- > 0 && expanded == NULL;) {
        strides[i] = stride;
        stride *= array->shape[i] == 0 ? 1 : (uint64_t)array->shape[i];
    }
    buffer_add(pickle, SLICE(MARK));
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        add_integer(pickle, expanded == NULL ? strides[i]
                                             : strides[i] / dtype_size(array->dtype));
    }
    buffer_add(pickle, SLICE(TUPLE));
}

/* Adds a plain tensor on the CPU: contiguous, requires no gradient, and fills the storage "0".
 * Its dtype must be one that pt_has_dtype accepts. */
static void pickle_add_tensor(struct buffer *pickle, const struct array *array)
{
    const char *storage = storage_of(array->dtype);
    struct expanded_array expanded;
    bool is_once = expanded_find(array, &expanded);
    uint64_t count = array_count(is_once ? &expanded.once : array);

    buffer_add(pickle, SLICE(PROTOCOL));
    if (storage != NULL) {
        buffer_add(pickle, SLICE(GLOBAL("torch._utils", "_rebuild_tensor_v2")));
    } else {
        buffer_add(pickle, SLICE(GLOBAL("torch._utils", "_rebuild_tensor_v3")));
    }
    buffer_add(pickle, SLICE(MARK MARK TEXT("\x07", "storage")));
    if (storage != NULL) {
        buffer_add_format(pickle, GLOBAL("torch", "%s"), storage);
    } else {
        buffer_add(pickle, SLICE(GLOBAL("torch.storage", "UntypedStorage")));
        count *= dtype_size(array->dtype); /* in a storage of bytes */
    }
    buffer_add(pickle, SLICE(TEXT("\x01", "0") TEXT("\x03", "cpu")));
    add_integer(pickle, count);
    buffer_add(pickle, SLICE(TUPLE PERSISTENT ZERO));
    add_shape(pickle, array);
    add_strides(pickle, array, is_once ? &expanded : NULL);
    buffer_add(pickle, SLICE(NO GLOBAL("collections", "OrderedDict")));
    buffer_add(pickle, SLICE(EMPTY_TUPLE REDUCE));
    if (storage == NULL) {
        buffer_add_format(pickle, GLOBAL("torch", "%s"), dtype_text(array->dtype));
    }
    buffer_add(pickle, SLICE(TUPLE REDUCE STOP));
}

/* From this size on, the 32-bit fields refer to 64-bit ones. */
#define ZIP64_SIZE      UINT32_MAX
#define VERSION_PLAIN   20
#define VERSION_ZIP64   45
#define FLAG_DESCRIPTOR 0x0008 /* sizes and checksum follow the bytes */
#define FLAG_UTF8       0x0800
#define DATE_1980                                                                      \
    0x0021 /* the first date of the format; so files with equal tensors are equal */
#define EXTRA_ZIP64      0x0001
#define EXTRA_ZIP64_SIZE 20
#define EXTRA_PADDING    0x4246 /* "FB", the name that PyTorch gives its padding */
#define EXTRA_HEAD_SIZE  4
#define LOCAL_HEAD_SIZE  30
#define ALIGNMENT        64

/* Adds a little-endian number. */
static void add_number(struct buffer *buffer, uint64_t number, size_t size)
{
    char bytes[sizeof number];

    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(number >> 8 * i & 0xff);
    }
    buffer_add_bytes(buffer, bytes, size);
}

static void add_signature(struct buffer *buffer, unsigned kind)
{
    buffer_add(buffer, SLICE("PK"));
    add_number(buffer, kind, 2);
}

#define LOCAL      0x0403
#define DESCRIPTOR 0x0807
#define CENTRAL    0x0201
#define END        0x0605
#define END_64     0x0606
#define LOCATOR_64 0x0706

static uint64_t position(const struct zip_writer *zip)
{
    return zip->written + zip->pending.size;
}

void zip_release(struct zip_writer *zip)
{
    buffer_release(&zip->pending);
    buffer_release(&zip->directory);
}

/* Adds the fields from the version on that local headers and the directory share. */
static void add_facts(
    struct buffer *buffer, unsigned flags, uint32_t crc, uint64_t size, bool is_zip64)
{
    add_number(buffer, is_zip64 ? VERSION_ZIP64 : VERSION_PLAIN, 2);
    add_number(buffer, flags | FLAG_UTF8, 2);
    add_number(buffer, 0, 2); /* stored */
    add_number(buffer, 0, 2); /* midnight */
    add_number(buffer, DATE_1980, 2);
    add_number(buffer, crc, 4);
    add_number(buffer, is_zip64 ? UINT32_MAX : size, 4);
    add_number(buffer, is_zip64 ? UINT32_MAX : size, 4);
}

static void add_zip64(struct buffer *buffer, uint64_t size)
{
    add_number(buffer, EXTRA_ZIP64, 2);
    add_number(buffer, EXTRA_ZIP64_SIZE - EXTRA_HEAD_SIZE, 2);
    add_number(buffer, size, 8);
    add_number(buffer, size, 8);
}

static void add_to_directory(struct zip_writer *zip,
                             struct slice name,
                             unsigned flags,
                             uint32_t crc,
                             uint64_t size)
{
    struct buffer *directory = &zip->directory;
    bool is_zip64 = size >= ZIP64_SIZE;

    add_signature(directory, CENTRAL);
    add_number(directory, is_zip64 ? VERSION_ZIP64 : VERSION_PLAIN, 2);
    add_facts(directory, flags, crc, size, is_zip64);
    add_number(directory, name.size, 2);
    add_number(directory, is_zip64 ? EXTRA_ZIP64_SIZE : 0, 2);
    add_number(directory, 0, 2); /* no comment */
    add_number(directory, 0, 2); /* on disk 0 */
    add_number(directory, 0, 2); /* attributes */
    add_number(directory, 0, 4);
    add_number(directory, zip->record, 4);
    buffer_add(directory, name);
    if (is_zip64) {
        add_zip64(directory, size);
    }
    zip->count++;
}

void zip_add(struct zip_writer *zip, struct slice name, struct slice bytes)
{
    uint32_t crc = crc32_update(0, bytes.bytes, bytes.size);

    zip->record = position(zip);
    add_signature(&zip->pending, LOCAL);
    add_facts(&zip->pending, 0, crc, bytes.size, false);
    add_number(&zip->pending, name.size, 2);
    add_number(&zip->pending, 0, 2);
    buffer_add(&zip->pending, name);
    buffer_add(&zip->pending, bytes);
    add_to_directory(zip, name, 0, crc, bytes.size);
}

/* Starts a record whose bytes the caller writes itself after the pending bytes. They start at a
 * multiple of 64 in the file. */
static void zip_begin(struct zip_writer *zip, struct slice name, uint64_t size)
{
    bool is_zip64 = size >= ZIP64_SIZE;
    size_t zip64_size = is_zip64 ? EXTRA_ZIP64_SIZE : 0;
    uint64_t unpadded;
    size_t padding;

    zip->record = position(zip);
    unpadded = zip->record + LOCAL_HEAD_SIZE + name.size + zip64_size + EXTRA_HEAD_SIZE;
    padding = (size_t)(-unpadded % ALIGNMENT);
    add_signature(&zip->pending, LOCAL);
    add_facts(&zip->pending, FLAG_DESCRIPTOR, 0, 0, is_zip64);
    add_number(&zip->pending, name.size, 2);
    add_number(&zip->pending, zip64_size + EXTRA_HEAD_SIZE + padding, 2);
    buffer_add(&zip->pending, name);
    if (is_zip64) {
        add_zip64(&zip->pending, 0);
    }
    add_number(&zip->pending, EXTRA_PADDING, 2);
    add_number(&zip->pending, padding, 2);
    for (size_t i = 0; i < padding; i++) {
        buffer_add_byte(&zip->pending, 'Z');
    }
}

/* Counts bytes of that record that the caller writes itself, after the bytes that were pending
 * before it. */
static void zip_pass(struct zip_writer *zip, uint64_t size)
{
    zip->written += size;
}

/* Counts the pending bytes as written. */
static void zip_flushed(struct zip_writer *zip)
{
    zip->written += zip->pending.size;
    zip->pending.size = 0;
}

/* Ends the record. */
static void
zip_end(struct zip_writer *zip, struct slice name, uint64_t size, uint32_t crc)
{
    size_t width = size >= ZIP64_SIZE ? 8 : 4;

    add_signature(&zip->pending, DESCRIPTOR);
    add_number(&zip->pending, crc, 4);
    add_number(&zip->pending, size, width);
    add_number(&zip->pending, size, width);
    add_to_directory(zip, name, FLAG_DESCRIPTOR, crc, size);
}

/* Adds the place of the directory if 32 bits cannot hold it. */
static void
add_end_64(struct buffer *pending, uint64_t count, uint64_t size, uint64_t start)
{
    uint64_t end = start + size;

    add_signature(pending, END_64);
    add_number(pending, 44, 8); /* the size of the rest */
    add_number(pending, VERSION_ZIP64, 2);
    add_number(pending, VERSION_ZIP64, 2);
    add_number(pending, 0, 8); /* the number of this disk, and of the directory's */
    add_number(pending, count, 8);
    add_number(pending, count, 8);
    add_number(pending, size, 8);
    add_number(pending, start, 8);

    add_signature(pending, LOCATOR_64);
    add_number(pending, 0, 4);
    add_number(pending, end, 8);
    add_number(pending, 1, 4); /* number of disks */
}

void zip_finish(struct zip_writer *zip)
{
    struct buffer *pending = &zip->pending;
    uint64_t start = position(zip);
    uint64_t size = zip->directory.size;
    bool is_zip64 = start >= ZIP64_SIZE;

    buffer_add(pending, buffer_slice(&zip->directory));
    if (is_zip64) {
        add_end_64(pending, zip->count, size, start);
    }
    add_signature(pending, END);
    add_number(pending, 0, 4); /* the number of this disk, and of the directory's */
    add_number(pending, zip->count, 2);
    add_number(pending, zip->count, 2);
    add_number(pending, size, 4);
    add_number(pending, is_zip64 ? UINT32_MAX : start, 4);
    add_number(pending, 0, 2); /* no comment */
}

/* Whether memory ran out during an addition. */
static bool zip_has_failed(const struct zip_writer *zip)
{
    return zip->pending.has_failed || zip->directory.has_failed;
}

/* ---- a file of torch.save with one tensor ---- */

#define FOLDER "archive/"
#define VALUES SLICE(FOLDER "data/0")
/* Enough for the head and the directory of most archives. */
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

/* Adds all bytes before the values. torch.load ignores the record monitorch.json. */
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

/* Writes the pending bytes, with the values after the first `head` of them. Closes the draft on
 * failure. */
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

/* Writes the values. The head is written with the first piece and the end with the last, so most
 * files need a single write. */
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
    /* If no file may be replaced, an existing one is found when the draft gets its name. */
    struct file_info info = may_replace ? file_inspect(path) : (struct file_info){0};
    struct file_draft draft;
    bool is_there, is_finished;
    int number;

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
