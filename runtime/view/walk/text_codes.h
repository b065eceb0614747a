/* Distinct texts and their numbers, in the order in which they first came: dictionary encoding. The texts
 * are UTF-8: each byte that is not has U+FFFD in its place, as in `monitorch show --json`. */
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
    struct number_map numbers; /* by the texts' hashes */
    /* Codes of texts by where they lay: most texts are definitions of the trace, and need no hash. */
    uint32_t near[TEXT_CODES_NEAR];
    struct arena arena;
    struct buffer repaired; /* owned; for texts that are no UTF-8 */
};

void text_codes_init(struct text_codes *codes);
void text_codes_release(struct text_codes *codes);
/* Forgets all texts; their numbers begin again at 0. */
void text_codes_reset(struct text_codes *codes);

/* The number of the text, which is copied where it is new. false: out of memory. */
bool text_codes_find(struct text_codes *codes, struct slice text, int32_t *code);

#endif
