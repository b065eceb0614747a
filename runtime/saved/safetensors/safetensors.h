/* Files of the format safetensors with many tensors: a header in JSON, then the packed values.
 * During writing, the values are in a temporary file in the same folder; the file itself appears
 * only when it is complete. */
#ifndef MONITORCH_SAVED_SAFETENSORS_SAFETENSORS_H
#define MONITORCH_SAVED_SAFETENSORS_SAFETENSORS_H

#include "runtime/base/error.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>
#include <stddef.h>

struct safetensors_writer;

/* Returns a writer, or NULL on failure; `error` says why. A file at `path` is replaced at the
 * end. */
struct safetensors_writer *safetensors_writer_new(const char *path,
                                                  struct error *error);
/* Adds a tensor under the name `module_path.name.callN`, without the context's prefix; the
 * metadata holds the whole key. After a failure (a full disk), the earlier tensors can still be
 * finished. */
bool safetensors_writer_add(struct safetensors_writer *writer,
                            const struct saved_tensor *tensor,
                            struct error *error);
size_t safetensors_writer_count(const struct safetensors_writer *writer);
/* Finishes the file, and frees the writer in any case. Without tensors no file is made. Returns
 * false on failure; `error` says why. */
bool safetensors_writer_finish(struct safetensors_writer *writer, struct error *error);
/* Frees the writer without leaving a file. */
void safetensors_writer_abandon(struct safetensors_writer *writer);

bool safetensors_has_dtype(enum dtype dtype);

/* An open file, which is not trusted. It owns the data of its tensors. */
struct safetensors_file;

struct safetensors_file *safetensors_file_open(const char *path, struct error *error);
void safetensors_file_close(struct safetensors_file *file); /* may be NULL */
size_t safetensors_file_count(const struct safetensors_file *file);
/* A tensor without its values: the array's data is NULL. Tensors are in the order of saving, or
 * in the order of the file if another program wrote it. The key is that of the tensor's
 * metadata, else of its name. */
const struct saved_tensor *safetensors_file_tensor(const struct safetensors_file *file,
                                                   size_t index);
/* Finds the place of the values in the file. */
void safetensors_file_place(const struct safetensors_file *file,
                            size_t index,
                            uint64_t *offset,
                            uint64_t *size);
/* Reads the values. `array` is borrowed from the file until the next read. */
bool safetensors_file_read(struct safetensors_file *file,
                           size_t index,
                           struct array *array,
                           struct error *error);
/* The same into memory of the caller with the size that safetensors_file_place returns. */
bool safetensors_file_read_into(const struct safetensors_file *file,
                                size_t index,
                                void *bytes,
                                struct error *error);
/* Frees the values that safetensors_file_read has read. */
void safetensors_file_forget(struct safetensors_file *file);

#endif
