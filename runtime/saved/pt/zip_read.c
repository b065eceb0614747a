/* The members of a zip archive, after PKWARE's APPNOTE 6.3.10. */
#include "runtime/saved/pt/zip_read.h"

#include "runtime/base/hash/crc32.h"

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
/* How much of the file is read at each end to begin with: most often all but the values. */
#define WINDOW_SIZE 4096
/* The directory of an archive with one tensor has a few members. */
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
fail(struct error *error, const struct zip_directory *directory, const char *what)
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

/* All of it, or an error. */
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
           (count == size || fail(error, directory, "a zip archive that is cut off"));
}

/* `size` bytes from the offset on, as many as the file has. */
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

/* ---- where the directory stands ---- */

struct place {
    uint64_t offset;
    uint64_t size;
    uint64_t count; /* of members */
};

/* The end record in the file's last bytes; NULL where it is not there. */
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

/* The record for archives whose numbers do not fit in the end record, if it has one in front. */
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
        return fail(error, directory, "a zip archive whose end is damaged");
    }
    if (!read_exactly(directory, offset, large, LARGE_END_SIZE, error)) {
        return false;
    }
    if (get_32(large) != LARGE_END_SIGNATURE) {
        return fail(error, directory, "a zip archive whose end is damaged");
    }
    *place = (struct place){get_64(large + 48), get_64(large + 40), get_64(large + 32)};
    return true;
}

/* The end record is the last of the file but for a comment, which is empty most often. */
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
    return fail(error, directory, "no zip archive, expected a file of torch.save");
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
        return fail(error, directory,
                    "a zip archive whose directory lies outside of it");
    }
    return true;
}

/* ---- the directory ---- */

/* The numbers that do not fit in 32 bits stand in an extra field, in this order. */
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

/* The size of the entry at `bytes`; 0 where it is none. */
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
            return fail(error, directory, "a zip archive whose directory is damaged");
        }
        offset += size;
    }
    return true;
}

bool zip_directory_read(struct zip_directory *directory,
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
        return fail(error, directory, "a zip archive with too many members");
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

const struct zip_member *zip_directory_find(const struct zip_directory *directory,
                                            struct slice folder,
                                            struct slice name)
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

bool zip_directory_place(const struct zip_directory *directory,
                         const struct zip_member *member,
                         uint64_t *offset,
                         struct error *error)
{
    uint64_t file_size = directory->file_size;
    unsigned char header[HEADER_SIZE];
    uint64_t begin;

    if (!member->is_stored) {
        return fail(error, directory,
                    "a compressed zip archive, expected a stored one");
    }
    if (member->header > file_size || file_size - member->header < HEADER_SIZE) {
        return fail(error, directory, "a zip archive with a member outside of it");
    }
    if (!read_exactly(directory, member->header, header, HEADER_SIZE, error)) {
        return false;
    }
    begin = member->header + HEADER_SIZE + get_16(header + 26) + get_16(header + 28);
    if (get_32(header) != HEADER_SIGNATURE || begin > file_size ||
        member->size > file_size - begin) {
        return fail(error, directory, "a zip archive with a member outside of it");
    }
    *offset = begin;
    return true;
}

bool zip_member_has(const struct zip_member *member, struct slice bytes)
{
    return member->checksum == 0 ||
           crc32_update(0, bytes.bytes, bytes.size) == member->checksum;
}

bool zip_directory_load(const struct zip_directory *directory,
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
        return fail(error, directory, "a zip archive with a member that is too large");
    }
    copy = arena_allocate(arena, (size_t)member->size, 1);
    if (copy == NULL) {
        return error_set_memory(error);
    }
    *bytes = (struct slice){copy, (size_t)member->size};
    return read_exactly(directory, offset, copy, bytes->size, error) &&
           (zip_member_has(member, *bytes) ||
            fail(error, directory, "a zip archive with a damaged member"));
}
