/* Folders of saved tensors, in all formats: .pt files, .safetensors files, and traces with whole
 * values. Values are read only on request. */
#ifndef MONITORCH_SAVED_FOLDER_H
#define MONITORCH_SAVED_FOLDER_H

#include "runtime/base/error.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>

struct saved_folder;

enum saved_format { SAVED_PT, SAVED_SAFETENSORS, SAVED_TRACE };

struct saved_entry {
    struct saved_tensor tensor; /* array.data is NULL: only shape and dtype */
    enum saved_format format;
    struct slice file_name; /* in the folder */
    size_t index;           /* index in its file */
    /* The place of the packed, contiguous values in the file, for readers that map it. Size 0 if
     * they are not in one run. */
    uint64_t offset;
    uint64_t size;
};

/* Opens a folder, or a single such file. The entries are in the order of saving if it is known,
 * else by name. A file that cannot be read is skipped, and reported by saved_folder_damage.
 * Returns NULL if the folder cannot be read; `error` says why. */
struct saved_folder *saved_folder_open(const char *path, struct error *error);
void saved_folder_close(struct saved_folder *folder); /* may be NULL */
size_t saved_folder_count(const struct saved_folder *folder);
const struct saved_entry *saved_folder_entry(const struct saved_folder *folder,
                                             size_t index);
/* The file that could not be read, as "name: reason". NULL after the last one. */
const char *saved_folder_damage(const struct saved_folder *folder, size_t index);

/* Reads the tensor with its values. `array` is borrowed from the folder until the next read. */
bool saved_folder_read(struct saved_folder *folder,
                       size_t index,
                       struct array *array,
                       struct error *error);
/* The same into memory of the caller with entry.size bytes. entry.size must not be 0. */
bool saved_folder_read_into(struct saved_folder *folder,
                            size_t index,
                            void *bytes,
                            struct error *error);
/* Frees the last values that were read, for callers that keep the folder open. */
void saved_folder_forget(struct saved_folder *folder);

#endif
