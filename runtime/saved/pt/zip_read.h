/* The members of a zip archive, as far as they are stored and not compressed. The file is not
 * trusted. */
#ifndef MONITORCH_SAVED_PT_ZIP_READ_H
#define MONITORCH_SAVED_PT_ZIP_READ_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/file/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zip_member {
    struct slice name; /* in the arena */
    uint64_t size;
    uint64_t header;   /* the offset of its own header in the file */
    uint32_t checksum; /* CRC-32; 0: the writer took none */
    bool is_stored;
};

/* Some of the file's bytes, read once. */
struct zip_window {
    const char *bytes; /* in the arena */
    uint64_t offset;   /* in the file */
    size_t size;
};

struct zip_directory {
    const struct mapping *file; /* borrowed */
    uint64_t file_size;
    struct zip_window head; /* holds most members but the values */
    struct zip_window tail;
    struct zip_member *members; /* in the arena */
    size_t member_count;
};

/* Reads the directory at the archive's end. The file has to stay open. */
bool zip_directory_read(struct zip_directory *directory,
                        const struct mapping *file,
                        struct arena *arena,
                        struct error *error);

/* The first member whose name is `folder` and `name`; NULL where there is none. */
const struct zip_member *zip_directory_find(const struct zip_directory *directory,
                                            struct slice folder,
                                            struct slice name);

/* Where the member's bytes begin in the file; all of them are there. */
bool zip_directory_place(const struct zip_directory *directory,
                         const struct zip_member *member,
                         uint64_t *offset,
                         struct error *error);

/* Whether these are the member's bytes, by its checksum. */
bool zip_member_has(const struct zip_member *member, struct slice bytes);

/* Reads a member of at most `limit` bytes into the arena. */
bool zip_directory_load(const struct zip_directory *directory,
                        const struct zip_member *member,
                        size_t limit,
                        struct arena *arena,
                        struct slice *bytes,
                        struct error *error);

#endif
