/* A folder of saved tensors, whatever the formats: .pt files, .safetensors files, and traces with
 * whole values. Files are opened when they are asked for. */
#ifndef MONITORCH_SAVED_FOLDER_H
#define MONITORCH_SAVED_FOLDER_H

#include "runtime/base/error.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>

struct saved_folder;

enum saved_format { SAVED_PT, SAVED_SAFETENSORS, SAVED_TRACE };

struct saved_entry {
    struct saved_tensor tensor; /* array.data is NULL: shape and dtype alone */
    enum saved_format format;
    struct slice file_name; /* in the folder */
    size_t index;           /* in its file */
    /* The place of the packed, contiguous values in the file, for readers that map it; 0 size where
     * they are not in one piece. */
    uint64_t offset;
    uint64_t size;
};

/* `path`: a folder, or one such file. The entries are in the order in which they were saved, as far
 * as that is known, else by name. A file that cannot be read is left out and reported by
 * saved_folder_damage. Fails where the folder cannot be read. */
struct saved_folder *saved_folder_open(const char *path, struct error *error);
void saved_folder_close(struct saved_folder *folder); /* may be NULL */
size_t saved_folder_count(const struct saved_folder *folder);
const struct saved_entry *saved_folder_entry(const struct saved_folder *folder,
                                             size_t index);
/* What could not be read: "name: why"; NULL behind the last. */
const char *saved_folder_damage(const struct saved_folder *folder, size_t index);

/* The tensor with its values: `array` is borrowed from the folder until the next read. */
bool saved_folder_read(struct saved_folder *folder,
                       size_t index,
                       struct array *array,
                       struct error *error);
/* Where entry.size is not 0: the same into the caller's memory, of that size. */
bool saved_folder_read_into(struct saved_folder *folder,
                            size_t index,
                            void *bytes,
                            struct error *error);
/* Frees the values that were read last: for who has no more use of them, and does not close yet. */
void saved_folder_forget(struct saved_folder *folder);

#endif
