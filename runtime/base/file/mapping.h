/* A file that grows and is written through memory, piece by piece, by one process at a time.
 * The only place that calls mmap, munmap, ftruncate and fallocate. Errors begin with
 * `path: `. Offsets and sizes of pieces are multiples of MAPPING_UNIT. */
#ifndef MONITORCH_BASE_FILE_MAPPING_H
#define MONITORCH_BASE_FILE_MAPPING_H

#include "runtime/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A multiple of the page's size on every machine. */
#define MAPPING_UNIT ((size_t)64 * 1024)

struct mapping {
    int descriptor;
    const char *path; /* borrowed from the caller: what messages call the file */
    /* Which file it is. A program may close descriptors that are not its own, and get the
     * number for another file: that one is never touched. */
    uint64_t device;
    uint64_t inode;
};

/* Opens a regular file for reading and writing, and makes it where it is missing (then
 * `is_new` is set). Nothing in an existing file changes. It is closed at an exec. */
bool mapping_open(struct mapping *mapping,
                  const char *path,
                  bool *is_new,
                  struct error *error);
/* The same for reading alone; the file must be there. */
bool mapping_open_to_read(struct mapping *mapping,
                          const char *path,
                          struct error *error);
void mapping_close(struct mapping *mapping);

/* Keeps the file for this process until every copy of the descriptor is closed. false where
 * another holds it. A file system that knows no locks lets everyone have it. */
bool mapping_lock(struct mapping *mapping);
/* Lets others have it, also while a forked process still has a copy of the descriptor. */
void mapping_unlock(struct mapping *mapping);

bool mapping_size(const struct mapping *mapping, uint64_t *size, struct error *error);

/* The size of the disk that the file is on, and how much of it programs may still use. False where the
 * system does not know. Tests set both, in bytes, for an empty file:
 * MONITORCH_TEST_DISK=SIZE:FREE. */
bool mapping_disk(const struct mapping *mapping, uint64_t *size, uint64_t *free);

/* Makes the file end at `size`. */
bool mapping_cut(struct mapping *mapping, uint64_t size, struct error *error);

/* Fills the piece with zeros and has the disk set apart room for it, so that writing to it
 * through memory cannot fail: a full disk would end the process there. */
bool mapping_reserve(struct mapping *mapping,
                     uint64_t offset,
                     size_t size,
                     struct error *error);

/* Fills a range that is reserved already with zeros. */
bool mapping_clear(struct mapping *mapping,
                   uint64_t offset,
                   size_t size,
                   struct error *error);

/* NULL with the error set on failure. Writing to the piece is in the file at once, as far as
 * other processes and the end of this one go. The piece must have been reserved. */
void *
mapping_map(struct mapping *mapping, uint64_t offset, size_t size, struct error *error);
void mapping_unmap(void *bytes, size_t size);

bool mapping_write(struct mapping *mapping,
                   uint64_t offset,
                   const void *bytes,
                   size_t size,
                   struct error *error);
/* Reads what is there, at most `size` bytes; `*count` is less at the end of the file. */
bool mapping_read(const struct mapping *mapping,
                  uint64_t offset,
                  void *bytes,
                  size_t size,
                  size_t *count,
                  struct error *error);

#endif
