/* Text tables: numbers for texts. Equal texts have equal numbers. */
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
    struct slice *texts; /* owned; indexed by number; number 0 is the empty text */
    size_t capacity;
    uint32_t count;
    struct arena arena;        /* holds the texts' bytes */
    struct number_map numbers; /* by the hashes of texts */
    /* Numbers by the address of the text that was added, since mostly the same texts are added
     * again. */
    uint32_t recent[TEXT_TABLE_RECENT];
};

/* Returns false if memory runs out; no release is needed then. */
bool text_table_init(struct text_table *table);
void text_table_release(struct text_table *table);

/* Finds the text's number; a new text gets the next one. Returns false if memory runs out. */
bool text_table_add(struct text_table *table, struct slice text, uint32_t *number);
/* The text's number, or NUMBER_MAP_NONE. */
uint32_t text_table_find(const struct text_table *table, struct slice text);

#endif
