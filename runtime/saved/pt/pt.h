/* One tensor in the file format of torch.save: a zip archive, stored, with a pickle that names
 * the tensor's shape and storage. `torch.load(…, weights_only=True)` reads what is written here,
 * and what torch.save writes of a plain tensor is read here, with no pickle ever run. */
#ifndef MONITORCH_SAVED_PT_PT_H
#define MONITORCH_SAVED_PT_PT_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/saved/saved.h"

#include <stdbool.h>

enum pt_write_result {
    PT_WRITTEN,
    PT_REPLACED, /* a file of that name was there */
    PT_EXISTS,   /* it was there, and is as it was: it may not be replaced */
    PT_FAILED,   /* `error` says why; no half file is left */
};

/* Whether the format has the dtype: all but quantised ones, which need their scales, and those
 * whose elements are no whole bytes. */
bool pt_has_dtype(enum dtype dtype);

/* Writes tensor->array (its values, packed, whatever its strides, but those of a large expanded
 * array once, with strides of 0; conjugation and negation resolved) beside `path` and renames.
 * Where the array is contiguous nothing is copied. No lock is needed: several threads may write at
 * once. */
enum pt_write_result pt_write(const char *path,
                              const struct saved_tensor *tensor,
                              bool may_replace,
                              struct error *error);

/* A file that is read; everything in `tensor` is borrowed from here. */
struct pt_file;

/* The file is not trusted: sizes and offsets are checked. Fails where it is no such file, or
 * holds something else than one plain tensor; the error says what. */
struct pt_file *pt_file_open(const char *path, struct error *error);
void pt_file_close(struct pt_file *file); /* may be NULL */

/* Its array's data is NULL, its strides are those that it was saved with. The key is that of the
 * file's JSON line, else of its name. */
const struct saved_tensor *pt_file_tensor(const struct pt_file *file);

/* The place of the values in the file: all bytes between the first element and the last. */
void pt_file_place(const struct pt_file *file, uint64_t *offset, uint64_t *size);

/* Reads the values; `array` is borrowed from here. */
bool pt_file_read(struct pt_file *file, struct array *array, struct error *error);
/* The same into the caller's memory, as many bytes as pt_file_place returns. */
bool pt_file_read_into(const struct pt_file *file, void *bytes, struct error *error);
/* Frees what pt_file_read holds. */
void pt_file_forget(struct pt_file *file);

#endif
