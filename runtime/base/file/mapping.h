/* Mapped files: a file that grows and is written through memory, part by part, by one process at
 * a time. Only this module calls mmap, munmap, ftruncate and fallocate. Errors start with `path:
 * `. Offsets and sizes of parts are multiples of MAPPING_UNIT. */
#ifndef MONITORCH_BASE_FILE_MAPPING_H
#define MONITORCH_BASE_FILE_MAPPING_H

#include "runtime/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A multiple of the page size on every machine. */
#define MAPPING_UNIT ((size_t)64 * 1024)

struct mapping {
    int descriptor;
    const char *path; /* borrowed from the caller: its name in messages */
    /* The file's identity. A program may close descriptors that are not its own, and get the
     * same number for another file, which is never touched then. */
    uint64_t device;
    uint64_t inode;
};

/* Opens a regular file for reading and writing. Creates it if it is missing, and sets `is_new`
 * then. An existing file is not changed. The file is closed at an exec. */
bool mapping_open(struct mapping *mapping,
                  const char *path,
                  bool *is_new,
                  struct error *error);
/* Opens an existing regular file for reading. */
bool mapping_open_to_read(struct mapping *mapping,
                          const char *path,
                          struct error *error);
void mapping_close(struct mapping *mapping);

/* Locks the file for this process until every copy of the descriptor is closed. Returns false if
 * another process holds the lock. On a file system without locks everyone gets it. */
bool mapping_lock(struct mapping *mapping);
/* Releases the lock, even if a forked process still has a copy of the descriptor. */
void mapping_unlock(struct mapping *mapping);

bool mapping_size(const struct mapping *mapping, uint64_t *size, struct error *error);

/* The size of the file's disk, and how much of it programs may still use. Returns false if the
 * system does not know. Tests set both, in bytes, for an empty file:
 * MONITORCH_TEST_DISK=SIZE:FREE. */
bool mapping_disk(const struct mapping *mapping, uint64_t *size, uint64_t *free);

/* Cuts or extends the file to `size`. */
bool mapping_cut(struct mapping *mapping, uint64_t size, struct error *error);

/* Fills the part with zeros and reserves its disk space, so that writing to it through memory
 * cannot fail. Without that, a full disk would end the process. */
bool mapping_reserve(struct mapping *mapping,
                     uint64_t offset,
                     size_t size,
                     struct error *error);

/* Fills a reserved range with zeros. */
bool mapping_clear(struct mapping *mapping,
                   uint64_t offset,
                   size_t size,
                   struct error *error);

/* Maps a reserved part. Returns NULL on failure; `error` says why. Bytes that are written to it
 * are in the file at once for other processes, even if this one is killed. */
void *
mapping_map(struct mapping *mapping, uint64_t offset, size_t size, struct error *error);
void mapping_unmap(void *bytes, size_t size);

bool mapping_write(struct mapping *mapping,
                   uint64_t offset,
                   const void *bytes,
                   size_t size,
                   struct error *error);
/* Reads at most `size` bytes. `*count` is less at the end of the file. */
bool mapping_read(const struct mapping *mapping,
                  uint64_t offset,
                  void *bytes,
                  size_t size,
                  size_t *count,
                  struct error *error);

#endif
