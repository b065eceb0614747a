/* The members of a zip archive, after PKWARE's APPNOTE 6.3.10. */
#include "runtime/trace/zip_read.h"

#include "runtime/base/buffer.h"

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
/* How much of the file's end is read first: the end of most archives without a comment, and most
 * often the directory too. */
#define TAIL_SIZE 4096
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

static bool fail(struct error *error, const struct mapping *file, const char *what)
{
    error_set(error, ERROR_INPUT, "%s: %s", file->path, what);
    return false;
}

/* All of it, or an error. */
static bool read_exactly(const struct mapping *file,
                         uint64_t offset,
                         void *bytes,
                         size_t size,
                         struct error *error)
{
    size_t count;

    return mapping_read(file, offset, bytes, size, &count, error) &&
           (count == size || fail(error, file, "a zip archive that is cut off"));
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
static bool read_large_end(const struct mapping *file,
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
    if (!read_exactly(file, end - LOCATOR_SIZE, locator, LOCATOR_SIZE, error)) {
        return false;
    }
    if (get_32(locator) != LOCATOR_SIGNATURE) {
        return true;
    }
    offset = get_64(locator + 8);
    if (offset > end || end - offset < LARGE_END_SIZE) {
        return fail(error, file, "a zip archive whose end is damaged");
    }
    if (!read_exactly(file, offset, large, LARGE_END_SIZE, error)) {
        return false;
    }
    if (get_32(large) != LARGE_END_SIGNATURE) {
        return fail(error, file, "a zip archive whose end is damaged");
    }
    *place = (struct place){get_64(large + 48), get_64(large + 40), get_64(large + 32)};
    return true;
}

static bool find_directory(const struct mapping *file,
                           struct buffer *tail,
                           struct place *place,
                           struct error *error)
{
    const unsigned char *end = NULL;
    uint64_t file_size;
    uint64_t end_offset;

    if (!mapping_size(file, &file_size, error)) {
        return false;
    }
    for (size_t wanted = TAIL_SIZE; end == NULL; wanted = END_SIZE + COMMENT_MAX) {
        size_t size = file_size < wanted ? (size_t)file_size : wanted;

        tail->size = 0;
        if (!buffer_reserve(tail, size)) {
            error_set_memory(error);
            return false;
        }
        if (!read_exactly(file, file_size - size, tail->bytes, size, error)) {
            return false;
        }
        tail->size = size;
        end = find_end((const unsigned char *)tail->bytes, size);
        if (end == NULL && (size == file_size || wanted > TAIL_SIZE)) {
            return fail(error, file, "no zip archive, expected a file of torch.save");
        }
    }
    end_offset = file_size - (uint64_t)(tail->bytes + tail->size - (const char *)end);
    *place = (struct place){get_32(end + 16), get_32(end + 12), get_16(end + 10)};
    if (!read_large_end(file, end_offset, place, error)) {
        return false;
    }
    if (place->offset > end_offset || place->size > end_offset - place->offset) {
        return fail(error, file, "a zip archive whose directory lies outside of it");
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

static bool read_entries(struct zip_directory *directory,
                         const struct mapping *file,
                         struct slice bytes,
                         struct error *error)
{
    size_t offset = 0;

    for (size_t i = 0; i < directory->member_count; i++) {
        size_t size = read_entry(&directory->members[i],
                                 (const unsigned char *)bytes.bytes + offset,
                                 bytes.size - offset);

        if (size == 0) {
            return fail(error, file, "a zip archive whose directory is damaged");
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
    struct buffer tail = BUFFER_INIT;
    struct place place = {0};
    bool is_found = find_directory(file, &tail, &place, error);
    char *bytes;

    buffer_release(&tail);
    if (!is_found) {
        return false;
    }
    if (place.size > DIRECTORY_MAX || place.count > place.size / ENTRY_SIZE) {
        return fail(error, file, "a zip archive with too many members");
    }
    bytes = arena_allocate(arena, (size_t)place.size, 1);
    directory->member_count = (size_t)place.count;
    directory->members =
        arena_allocate(arena, directory->member_count, sizeof *directory->members);
    if (bytes == NULL || directory->members == NULL) {
        error_set_memory(error);
        return false;
    }
    return read_exactly(file, place.offset, bytes, (size_t)place.size, error) &&
           read_entries(directory, file, (struct slice){bytes, (size_t)place.size},
                        error);
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

bool zip_member_place(const struct zip_member *member,
                      const struct mapping *file,
                      uint64_t *offset,
                      struct error *error)
{
    unsigned char header[HEADER_SIZE];
    uint64_t file_size;
    uint64_t begin;

    if (!member->is_stored) {
        return fail(error, file, "a compressed zip archive, expected a stored one");
    }
    if (!mapping_size(file, &file_size, error)) {
        return false;
    }
    if (member->header > file_size || file_size - member->header < HEADER_SIZE) {
        return fail(error, file, "a zip archive with a member outside of it");
    }
    if (!read_exactly(file, member->header, header, HEADER_SIZE, error)) {
        return false;
    }
    begin = member->header + HEADER_SIZE + get_16(header + 26) + get_16(header + 28);
    if (get_32(header) != HEADER_SIGNATURE || begin > file_size ||
        member->size > file_size - begin) {
        return fail(error, file, "a zip archive with a member outside of it");
    }
    *offset = begin;
    return true;
}

bool zip_member_read(const struct zip_member *member,
                     const struct mapping *file,
                     size_t limit,
                     struct arena *arena,
                     struct slice *bytes,
                     struct error *error)
{
    uint64_t offset;
    char *copy;

    if (!zip_member_place(member, file, &offset, error)) {
        return false;
    }
    if (member->size > limit) {
        return fail(error, file, "a zip archive with a member that is too large");
    }
    copy = arena_allocate(arena, (size_t)member->size, 1);
    if (copy == NULL) {
        error_set_memory(error);
        return false;
    }
    *bytes = (struct slice){copy, (size_t)member->size};
    return read_exactly(file, offset, copy, bytes->size, error);
}
