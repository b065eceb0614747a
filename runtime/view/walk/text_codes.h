/* Codes of distinct texts, numbered in the order of their first use: dictionary encoding. Bytes
 * that are not UTF-8 become U+FFFD, as in `monitorch show --json`. */
#ifndef MONITORCH_VIEW_WALK_TEXT_CODES_H
#define MONITORCH_VIEW_WALK_TEXT_CODES_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/number_map.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_CODES_NEAR 32

struct text_codes {
    struct slice *texts; /* owned; the bytes are in the arena */
    size_t count;
    size_t capacity;
    size_t size;               /* of all texts, in bytes */
    struct number_map numbers; /* by the hash of the text */
    /* Cache of codes by the address of the text: most texts are definitions of the trace, and
     * need no hash. */
    uint32_t near[TEXT_CODES_NEAR];
    struct arena arena;
    struct buffer repaired; /* owned; for texts that are not UTF-8 */
};

void text_codes_init(struct text_codes *codes);
void text_codes_release(struct text_codes *codes);
/* Removes all texts. Codes start again at 0. */
void text_codes_reset(struct text_codes *codes);

/* Finds the code of a text; copies a new text. Returns false if memory runs out. */
bool text_codes_find(struct text_codes *codes, struct slice text, int32_t *code);

#endif
