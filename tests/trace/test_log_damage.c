/* Traces that are cut, changed or something else: what is left of them is read, the damage is
 * told, and nothing crashes. */
#include "tests/trace/test_log.h"

#include "runtime/base/file/file.h"

#define PATH   "whole.mtrace"
#define BROKEN "broken.mtrace"

static const struct log_options plain = {.sample = SAMPLE};

static struct buffer read_bytes(const char *path)
{
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;

    CHECK(file_read(path, SIZE_MAX, &bytes, &error));
    return bytes;
}

static void write_bytes(const char *path, struct slice bytes)
{
    FILE *file = fopen(path, "w");

    CHECK(fwrite(bytes.bytes, 1, bytes.size, file) == bytes.size);
    fclose(file);
}

/* ---- cut ---- */

/* Where each record of a trace ends in its file. */
static size_t find_ends(const char *path, uint64_t *ends, size_t limit)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &error);
    struct buffer bytes = read_bytes(path);
    struct log_item item;
    size_t count = 0;

    while (log_reader_next(reader, &item) && count < limit) {
        struct log_record record;

        memcpy(&record, bytes.bytes + item.offset, sizeof record);
        ends[count++] = item.offset + record.size;
    }
    log_reader_free(reader);
    buffer_release(&bytes);
    return count;
}

/* How many records end within the first `size` bytes. */
static uint64_t count_whole(const uint64_t *ends, size_t count, uint64_t size)
{
    uint64_t whole = 0;

    for (size_t i = 0; i < count; i++) {
        whole += ends[i] <= size;
    }
    return whole;
}

static void
check_cut(struct buffer *bytes, size_t size, const uint64_t *ends, size_t count)
{
    struct findings found;

    write_bytes(BROKEN, (struct slice){bytes->bytes, size});
    found = read_trace(BROKEN, 1, false);
    if (size < sizeof(struct log_header)) {
        CHECK(!found.is_open && strncmp(found.error.text, BROKEN ": ", 15) == 0);
        return;
    }
    CHECK(found.is_open && found.is_right);
    CHECK(found.count == count_whole(ends, count, size));
    /* The file of a closed trace ends with the last byte of the padding. */
    CHECK((found.damage > 0) == (size < bytes->size));
}

/* Every length of the tail, and some of all others. Records lie in chunks in their order, so
 * the whole ones before the cut are those that are read. */
static void test_cut(void)
{
    static uint64_t ends[2000];
    struct buffer bytes;
    size_t count;

    CHECK(write_trace(PATH, &plain, 1, 600));
    bytes = read_bytes(PATH);
    count = find_ends(PATH, ends, 2000);
    CHECK(count == 600);
    for (size_t size = bytes.size - 2500; size <= bytes.size; size++) {
        check_cut(&bytes, size, ends, count);
    }
    for (size_t size = LOG_CHUNK_UNIT; size < bytes.size; size += 611) {
        check_cut(&bytes, size, ends, count);
    }
    for (size_t size = 0; size < 200; size++) {
        check_cut(&bytes, size, ends, count);
    }
    buffer_release(&bytes);
}

/* The definitions are cut: nothing that needs them is shown, and nothing crashes. */
static void test_cut_definitions(void)
{
    struct buffer bytes = read_bytes(PATH);

    for (size_t size = LOG_HEADER_SIZE; size < LOG_CHUNK_UNIT; size += 97) {
        struct findings found;

        write_bytes(BROKEN, (struct slice){bytes.bytes, size});
        found = read_trace(BROKEN, 1, false);
        CHECK(found.is_open && found.count == 0 && found.damage > 0);
    }
    buffer_release(&bytes);
}

/* ---- changed ---- */

static void check_changed(struct buffer *bytes,
                          const struct findings *whole,
                          size_t offset,
                          unsigned char flip)
{
    FILE *file = fopen(BROKEN, "r+");
    struct findings found;

    bytes->bytes[offset] = (char)(bytes->bytes[offset] ^ flip);
    fseek(file, (long)offset, SEEK_SET);
    fputc((unsigned char)bytes->bytes[offset], file);
    fclose(file);
    found = read_trace(BROKEN, 2, false);
    bytes->bytes[offset] = (char)(bytes->bytes[offset] ^ flip);
    if (found.is_open && found.damage == 0 &&
        !CHECK(found.is_right && found.count == whole->count &&
               found.number == whole->number)) {
        printf("byte %zu, flipped by %#x, is not told\n", offset, flip);
    }
    CHECK(found.is_open || offset < sizeof(struct log_header));
    CHECK(found.is_open || strncmp(found.error.text, BROKEN ": ", 15) == 0);
    file = fopen(BROKEN, "r+");
    fseek(file, (long)offset, SEEK_SET);
    fputc((unsigned char)bytes->bytes[offset], file);
    fclose(file);
}

/* Whatever byte is changed, it is told, or nothing that is read is different. */
static void test_changed(const struct log_options *options, uint64_t count, size_t step)
{
    struct buffer bytes;
    struct findings whole;
    size_t start;

    CHECK(write_trace(PATH, options, 2, count));
    bytes = read_bytes(PATH);
    whole = read_trace(PATH, 2, true);
    write_bytes(BROKEN, buffer_slice(&bytes));
    for (size_t offset = 0; offset < bytes.size; offset++) {
        bool is_head = offset < 96 ||
                       (offset >= LOG_HEADER_SIZE && offset < LOG_HEADER_SIZE + 64) ||
                       (offset >= LOG_CHUNK_UNIT && offset % LOG_CHUNK_UNIT < 64);

        if (is_head || offset % step == 0) {
            check_changed(&bytes, &whole, offset, 0xff);
            check_changed(&bytes, &whole, offset, (unsigned char)(1 << offset % 8));
        }
    }
    /* One changed record costs no more than its chunk. */
    start = LOG_CHUNK_UNIT + sizeof(struct log_chunk);
    if (options->last == 0 && bytes.size > 2 * LOG_CHUNK_UNIT) {
        struct findings found;

        memset(bytes.bytes + start, 0x7f, 4);
        write_bytes(BROKEN, buffer_slice(&bytes));
        found = read_trace(BROKEN, 2, false);
        CHECK(found.is_right && found.next == count && found.first > 0);
        CHECK(found.number == count_events_before(2, count));
        CHECK(strncmp(found.message, "offset 65536: ", 14) == 0);
    }
    buffer_release(&bytes);
}

/* Random garbage over random ranges. */
static void test_garbage(void)
{
    struct buffer bytes = read_bytes(PATH);

    for (uint64_t seed = 0; seed < 400; seed++) {
        struct buffer broken = BUFFER_INIT;
        size_t offset = LOG_HEADER_SIZE + mix(seed, 1) % (bytes.size - LOG_HEADER_SIZE);
        size_t size = 1 + mix(seed, 2) % (seed % 2 == 0 ? 40 : 100000);
        struct findings found;

        buffer_add(&broken, buffer_slice(&bytes));
        for (size_t i = offset; i < offset + size && i < broken.size; i++) {
            broken.bytes[i] = (char)(seed % 3 == 0 ? 0 : mix(seed, i));
        }
        write_bytes(BROKEN, buffer_slice(&broken));
        found = read_trace(BROKEN, 2, false);
        CHECK(found.is_open);
        buffer_release(&broken);
    }
    buffer_release(&bytes);
}

/* A chunk in the middle is gone: those after it are read, with their events' numbers. */
static void test_lost_chunk(void)
{
    struct buffer bytes;
    struct findings found;

    CHECK(write_trace(PATH, &plain, 2, 3000));
    bytes = read_bytes(PATH);
    memset(bytes.bytes + 2 * LOG_CHUNK_UNIT, 0, LOG_CHUNK_UNIT);
    write_bytes(BROKEN, buffer_slice(&bytes));
    found = read_trace(BROKEN, 2, false);
    CHECK(found.is_right && found.count < 3000 && found.next == 3000);
    CHECK(found.number == count_events_before(2, 3000));
    CHECK(found.damage >= 2);
    CHECK(strncmp(found.message, "offset 131072: ", 15) == 0);
    /* The header of one is wrong: the next is found all the same. */
    memcpy(bytes.bytes + 2 * LOG_CHUNK_UNIT, "????", 4);
    write_bytes(BROKEN, buffer_slice(&bytes));
    found = read_trace(BROKEN, 2, false);
    CHECK(found.is_right && found.next == 3000 && found.damage >= 2);
    buffer_release(&bytes);
}

/* ---- something else ---- */

static void check_refused(struct slice bytes, const char *expected)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader;

    write_bytes(BROKEN, bytes);
    reader = log_reader_new(BROKEN, &error);
    CHECK(reader == NULL && error.kind == ERROR_INPUT);
    if (!CHECK(strstr(error.text, expected) != NULL)) {
        printf("got: %s\n", error.text);
    }
    log_reader_free(reader);
}

static void test_refused(void)
{
    struct log_header header = {.magic = LOG_MAGIC, .version = LOG_VERSION + 1};
    struct slice bytes = {(const char *)&header, sizeof header};
    struct error error = ERROR_INIT;

    check_refused(SLICE(""), BROKEN ": is empty");
    check_refused(SLICE("x"), BROKEN ": is no trace");
    check_refused(SLICE("import torch\nimport torch.nn\n"), BROKEN ": is no trace");
    check_refused(slice_part(bytes, 0, 4), BROKEN ": is no trace");
    check_refused(bytes,
                  "version 2, expected at most 1: read it with a newer monitorch");
    check_refused(slice_part(bytes, 0, 12), "version 2");
    check_refused(slice_part(bytes, 0, 10), "damaged");
    header.version = LOG_VERSION;
    check_refused(slice_part(bytes, 0, 40), "damaged");
    header.version = 0;
    check_refused(bytes, "damaged");
    CHECK(log_reader_new("missing", &error) == NULL &&
          strncmp(error.text, "missing: ", 9) == 0);
    CHECK(log_reader_new(".", &error) == NULL &&
          strstr(error.text, "is a directory") != NULL);
    CHECK(log_reader_new("/dev/null", &error) == NULL &&
          strstr(error.text, "is a device") != NULL);
}

/* A header alone, as a program leaves it that was killed at once. */
static void test_header_alone(void)
{
    struct buffer bytes;
    struct findings found;

    CHECK(write_trace(PATH, &plain, 2, 0));
    bytes = read_bytes(PATH);
    ((struct log_header *)(void *)bytes.bytes)->is_closed = 0;
    bytes.size = sizeof(struct log_header);
    write_bytes(BROKEN, buffer_slice(&bytes));
    found = read_trace(BROKEN, 2, true);
    CHECK(found.is_open && found.count == 0 && found.damage == 0);
    buffer_release(&bytes);
}

/* ---- from the start again ---- */

static void test_rewind(void)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader;
    struct log_item item;
    uint64_t counts[2] = {0, 0};
    size_t damage = 0;

    CHECK(write_trace(PATH, &plain, 2, 3000));
    {
        struct buffer bytes = read_bytes(PATH);

        bytes.bytes[3 * LOG_CHUNK_UNIT + 5000] ^= 1;
        write_bytes(BROKEN, buffer_slice(&bytes));
        buffer_release(&bytes);
    }
    reader = log_reader_new(BROKEN, &error);
    for (int turn = 0; turn < 2; turn++) {
        while (log_reader_next(reader, &item)) {
            counts[turn]++;
        }
        CHECK(!log_reader_next(reader, &item));
        CHECK(turn == 0 || log_reader_damage_count(reader) == damage);
        damage = log_reader_damage_count(reader);
        log_reader_rewind(reader);
    }
    CHECK(damage > 0 && counts[0] == counts[1] && counts[0] > 2000);
    log_reader_free(reader);
}

int main(void)
{
    static const struct log_options ring = {.sample = SAMPLE, .last = 400};

    test_cut();
    test_cut_definitions();
    test_changed(&plain, 60, 7);
    test_changed(&plain, 3000, 4099);
    test_changed(&ring, 5000, 2053);
    test_garbage();
    test_lost_chunk();
    test_refused();
    test_header_alone();
    test_rewind();
    return check_finish();
}
