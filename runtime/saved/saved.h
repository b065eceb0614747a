/* Saved tensors: their keys, and the names of their files. Does not depend on Python.
 * docs/reference/spy.md describes a folder of them. */
#ifndef MONITORCH_SAVED_SAVED_H
#define MONITORCH_SAVED_SAVED_H

#include "runtime/array/array.h"
#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* The key of a saved tensor. Texts are UTF-8, as the program passed them. */
struct saved_key {
    struct slice prefix; /* of the context: `step0`; or "" */
    /* `encoder.attn`, `root`, `manual`; "" if TensorSaver.save itself saved it. */
    struct slice module_path;
    struct slice name; /* `q`; with the path of a leaf: `cache[0]['k']` */
    uint64_t call;     /* number of earlier tensors with the same full name */
};

/* The order of a tensor whose file does not contain it. */
#define SAVED_ORDER_UNKNOWN UINT64_MAX

struct saved_tensor {
    struct saved_key key;
    /* Number of tensors that this process saved before, in any folder. */
    uint64_t order;
    /* The line that saved it; "" and 0 if not known. */
    struct slice file;
    struct slice function;
    uint32_t line;
    struct array array; /* with the data to write, or as it was read */
};

/* Adds `prefix.module_path.name`, the parts that are not empty, joined by dots. Calls are
 * counted by this name. */
void saved_key_add_full_name(const struct saved_key *key, struct buffer *text);

/* Adds the full name as part of a file name. ASCII letters, digits and `._-[]()+=@,` are kept;
 * other bytes, and a leading dot, become %XX. A result of more than 200 bytes is cut and ends
 * with `~` and 16 hex digits of its hash. */
void saved_add_file_stem(struct slice full_name, struct buffer *text);

/* Adds the key as a line of JSON, without the array: {"prefix": "step0", "module":
 * "encoder.attn", "name": "q", "call": 0, "order": 12, "file": …, "line": …, "function": …}. The
 * line is in each .pt file, and for each tensor in the metadata of a safetensors file. */
void saved_add_json(const struct saved_tensor *tensor, struct buffer *text);

struct arena;
/* Copies the tensor and all its data to `arena`, except the values: array.data is NULL. Returns
 * false if memory runs out. */
bool saved_tensor_copy(struct saved_tensor *copy,
                       const struct saved_tensor *tensor,
                       struct arena *arena);

/* Reads such a line, which is not trusted. Texts are copied to `arena`; `array` is unchanged.
 * Missing fields are empty, 0 or SAVED_ORDER_UNKNOWN. Returns false if it is no such line or
 * memory runs out. */
bool saved_read_json(struct saved_tensor *tensor,
                     struct slice text,
                     struct arena *arena);

/* Reads the key from the name of a file without such a line: `a.b.q.call3.pt` is call 3 of the
 * name `q` in the module `a.b`. Without `.callN` it is call 0. Returns false if memory runs out. */
bool saved_read_file_name(struct saved_tensor *tensor,
                          struct slice file_name,
                          struct arena *arena);

#endif
