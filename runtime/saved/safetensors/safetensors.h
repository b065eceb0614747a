/* Many tensors in one file of the format safetensors: a header in JSON, then the values, packed.
 * While it is written the values are in a temporary file beside it; the file itself appears when it
 * is finished, whole. */
#ifndef MONITORCH_SAVED_SAFETENSORS_SAFETENSORS_H
#define MONITORCH_SAVED_SAFETENSORS_SAFETENSORS_H

#include "runtime/base/error.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>

struct safetensors_writer;

/* `path` may be replaced when the file is finished. */
struct safetensors_writer *safetensors_writer_new(const char *path,
                                                  struct error *error);
/* Adds one, named `module_path.name.callN` without the context's prefix. The metadata holds the
 * whole key. After a failure (a full disk) those before it are still to be finished. */
bool safetensors_writer_add(struct safetensors_writer *writer,
                            const struct saved_tensor *tensor,
                            struct error *error);
size_t safetensors_writer_count(const struct safetensors_writer *writer);
/* Finishes the file and frees the writer, in any case. Without tensors there is no file. */
bool safetensors_writer_finish(struct safetensors_writer *writer, struct error *error);
/* Frees the writer and leaves no file. */
void safetensors_writer_abandon(struct safetensors_writer *writer);

bool safetensors_has_dtype(enum dtype dtype);

/* A file that is read, not trusted; everything is borrowed from here. */
struct safetensors_file;

struct safetensors_file *safetensors_file_open(const char *path, struct error *error);
void safetensors_file_close(struct safetensors_file *file); /* may be NULL */
size_t safetensors_file_count(const struct safetensors_file *file);
/* In the order in which they were saved; in files of others, as they are in the file. The array's
 * data is NULL. The key is that of the tensor's metadata, else of its name. */
const struct saved_tensor *safetensors_file_tensor(const struct safetensors_file *file,
                                                   size_t index);
/* The place of the values in the file. */
void safetensors_file_place(const struct safetensors_file *file,
                            size_t index,
                            uint64_t *offset,
                            uint64_t *size);
/* Reads the values; `array` is borrowed from here until the next read. */
bool safetensors_file_read(struct safetensors_file *file,
                           size_t index,
                           struct array *array,
                           struct error *error);
/* The same into the caller's memory, as many bytes as safetensors_file_place returns. */
bool safetensors_file_read_into(const struct safetensors_file *file,
                                size_t index,
                                void *bytes,
                                struct error *error);
/* Frees what safetensors_file_read holds. */
void safetensors_file_forget(struct safetensors_file *file);

#endif
