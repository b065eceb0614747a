/* Numbers for texts: equal texts have equal numbers. */
#ifndef MONITORCH_BASE_TEXT_TABLE_H
#define MONITORCH_BASE_TEXT_TABLE_H

#include "runtime/base/arena.h"
#include "runtime/base/number_map.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_TABLE_RECENT 256

struct text_table {
    struct slice *texts; /* owned, by their numbers; number 0 is the empty text */
    size_t capacity;
    uint32_t count;
    struct arena arena;        /* the bytes */
    struct number_map numbers; /* by the texts' hashes */
    /* By the addresses of texts that were added: mostly the same ones come again. */
    uint32_t recent[TEXT_TABLE_RECENT];
};

/* false: out of memory; nothing is to be released then. */
bool text_table_init(struct text_table *table);
void text_table_release(struct text_table *table);

/* Gives the text's number, the next one where it has none. false: out of memory. */
bool text_table_add(struct text_table *table, struct slice text, uint32_t *number);
/* NUMBER_MAP_NONE where it has none. */
uint32_t text_table_find(const struct text_table *table, struct slice text);

#endif
