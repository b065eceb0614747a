/* Tensors saved one by one: what each is known by, and the names of its files. Knows nothing of
 * Python. docs/reference/spy.md describes a folder of them. */
#ifndef MONITORCH_SAVED_SAVED_H
#define MONITORCH_SAVED_SAVED_H

#include "runtime/array/array.h"
#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* What a tensor was saved as. Texts are UTF-8, as the program gave them. */
struct saved_key {
    struct slice prefix; /* of the context: `step0`; "" */
    struct slice
        module_path;   /* `encoder.attn`, `root`, `manual`; "" where it was saved by
                                 TensorSaver.save itself */
    struct slice name; /* `q`; with its leaf: `cache[0]['k']` */
    uint64_t call;     /* as which time of that full name, from 0 */
};

/* The order of a tensor whose file does not have it. */
#define SAVED_ORDER_UNKNOWN UINT64_MAX

struct saved_tensor {
    struct saved_key key;
    uint64_t order; /* how many this process had saved before, in whatever folder */
    /* Where the program saved it; "" and 0 where that is not known. */
    struct slice file;
    struct slice function;
    uint32_t line;
    struct array array; /* its data: to be written, or as it was read */
};

/* `prefix.module_path.name`, the parts that are not empty joined by dots: what is counted. */
void saved_key_add_full_name(const struct saved_key *key, struct buffer *text);

/* The full name as part of a file's name: ASCII letters, digits and `._-[]()+=@,` stay, other
 * bytes become %XX, and so does a dot in front; what is then longer than 200 bytes is cut and
 * ends with `~` and 16 hex digits of its hash. */
void saved_add_file_stem(struct slice full_name, struct buffer *text);

/* The key as a line of JSON for people and for readers, without what the array says: {"prefix":
 * "step0", "module": "encoder.attn", "name": "q", "call": 0, "order": 12, "file": …, "line": …,
 * "function": …}. It is in each .pt file and, for all tensors, in a safetensors file's metadata. */
void saved_add_json(const struct saved_tensor *tensor, struct buffer *text);

struct arena;
/* The tensor with all that it points to in `arena`, but its data, which is NULL. False: out of
 * memory. */
bool saved_tensor_copy(struct saved_tensor *copy,
                       const struct saved_tensor *tensor,
                       struct arena *arena);

/* Reads such a line, which is not trusted; texts are copied to `arena`, `array` stays. What the
 * line does not have is empty, 0, or SAVED_ORDER_UNKNOWN. False: it is none, or no memory. */
bool saved_read_json(struct saved_tensor *tensor,
                     struct slice text,
                     struct arena *arena);

/* The description from a file's name, for files without such a line: `a.b.q.call3.pt` is call 3 of
 * the name q; all that is in front is the module's path. Without `.callN` it is call 0. False: out
 * of memory. */
bool saved_read_file_name(struct saved_tensor *tensor,
                          struct slice file_name,
                          struct arena *arena);

#endif
