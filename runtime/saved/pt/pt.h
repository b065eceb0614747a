/* Files of torch.save with one tensor: an uncompressed zip archive with a pickle of the tensor's
 * shape and storage. `torch.load(…, weights_only=True)` reads the files written here. Files that
 * torch.save writes for a plain tensor can be read here; no pickle is ever run. */
#ifndef MONITORCH_SAVED_PT_PT_H
#define MONITORCH_SAVED_PT_PT_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>

enum pt_write_result {
    PT_WRITTEN,
    PT_REPLACED, /* a file of that name was replaced */
    PT_EXISTS,   /* a file of that name exists and must not be replaced */
    PT_FAILED,   /* `error` says why; no incomplete file is left */
};

/* Whether the format has the dtype: all but quantised ones, which need their scales, and those
 * whose elements are not whole bytes. */
bool pt_has_dtype(enum dtype dtype);

/* Writes tensor->array to a temporary file, which is then renamed to `path`. The values are
 * packed, with conjugation and negation resolved; of a large expanded array each element is
 * written once, with strides of 0. A contiguous array is not copied. No lock is needed: several
 * threads may write at once. */
enum pt_write_result pt_write(const char *path,
                              const struct saved_tensor *tensor,
                              bool may_replace,
                              struct error *error);

/* An open file, which owns the data of its tensor. */
struct pt_file;

/* Opens a file, which is not trusted: sizes and offsets are checked. Returns NULL if it is no
 * such file, or does not hold exactly one plain tensor; `error` says why. */
struct pt_file *pt_file_open(const char *path, struct error *error);
void pt_file_close(struct pt_file *file); /* may be NULL */

/* The tensor without its values: the array's data is NULL, its strides are those in the file.
 * The key is that of the file's JSON line, else of its name. */
const struct saved_tensor *pt_file_tensor(const struct pt_file *file);

/* The place of the values in the file: all bytes from the first element to the last. */
void pt_file_place(const struct pt_file *file, uint64_t *offset, uint64_t *size);

/* Reads the values. `array` is borrowed from the file. */
bool pt_file_read(struct pt_file *file, struct array *array, struct error *error);
/* The same into memory of the caller with the size that pt_file_place returns. */
bool pt_file_read_into(const struct pt_file *file, void *bytes, struct error *error);
/* Frees the values that pt_file_read has read. */
void pt_file_forget(struct pt_file *file);

#endif
