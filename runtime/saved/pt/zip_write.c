/* A zip archive of stored records. The numbers are those of PKWARE's APPNOTE.TXT, 6.3. */
#include "runtime/saved/pt/zip_write.h"

#include "runtime/base/hash/crc32.h"

/* From this size on the fields of 32 bits say that those of 64 are to be looked at. */
#define ZIP64_SIZE      UINT32_MAX
#define VERSION_PLAIN   20
#define VERSION_ZIP64   45
#define FLAG_DESCRIPTOR 0x0008 /* sizes and checksum stand behind the bytes */
#define FLAG_UTF8       0x0800
#define DATE_1980                                                                      \
    0x0021 /* the first that can be told: files with equal tensors are equal */
#define EXTRA_ZIP64      0x0001
#define EXTRA_ZIP64_SIZE 20
#define EXTRA_PADDING    0x4246 /* "FB", as PyTorch's own padding is called */
#define EXTRA_HEAD_SIZE  4
#define LOCAL_HEAD_SIZE  30
#define ALIGNMENT        64

/* Little-endian. */
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

/* From the version on, as it stands in the local header and in the directory. */
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

void zip_begin(struct zip_writer *zip, struct slice name, uint64_t size)
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

void zip_pass(struct zip_writer *zip, uint64_t size)
{
    zip->written += size;
}

void zip_flushed(struct zip_writer *zip)
{
    zip->written += zip->pending.size;
    zip->pending.size = 0;
}

void zip_end(struct zip_writer *zip, struct slice name, uint64_t size, uint32_t crc)
{
    size_t width = size >= ZIP64_SIZE ? 8 : 4;

    add_signature(&zip->pending, DESCRIPTOR);
    add_number(&zip->pending, crc, 4);
    add_number(&zip->pending, size, width);
    add_number(&zip->pending, size, width);
    add_to_directory(zip, name, FLAG_DESCRIPTOR, crc, size);
}

/* Tells where the directory is, where 32 bits do not. */
static void
add_end_64(struct buffer *pending, uint64_t count, uint64_t size, uint64_t start)
{
    uint64_t end = start + size;

    add_signature(pending, END_64);
    add_number(pending, 44, 8); /* the size of what follows */
    add_number(pending, VERSION_ZIP64, 2);
    add_number(pending, VERSION_ZIP64, 2);
    add_number(pending, 0, 8); /* this disk and the directory's */
    add_number(pending, count, 8);
    add_number(pending, count, 8);
    add_number(pending, size, 8);
    add_number(pending, start, 8);

    add_signature(pending, LOCATOR_64);
    add_number(pending, 0, 4);
    add_number(pending, end, 8);
    add_number(pending, 1, 4); /* disks */
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
    add_number(pending, 0, 4); /* this disk and the directory's */
    add_number(pending, zip->count, 2);
    add_number(pending, zip->count, 2);
    add_number(pending, size, 4);
    add_number(pending, is_zip64 ? UINT32_MAX : start, 4);
    add_number(pending, 0, 2); /* no comment */
}

bool zip_has_failed(const struct zip_writer *zip)
{
    return zip->pending.has_failed || zip->directory.has_failed;
}
