/* The insertions into one text: collected in any order, applied in the order of the text. */
#ifndef MONITORCH_INSTRUMENT_OUTPUT_EDITS_H
#define MONITORCH_INSTRUMENT_OUTPUT_EDITS_H

#include "instrument/instrument.h"
#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order of insertions at one offset. */
enum edit_rank {
    EDIT_CLOSE,  /* ends a wrapped expression; inner ones first */
    EDIT_BASE,   /* begins an inserted base of a class */
    EDIT_BOOT,   /* defines the hook, before any call of it */
    EDIT_AFTER,  /* follows a statement */
    EDIT_BEFORE, /* precedes a statement or a value */
    EDIT_OPEN,   /* begins a wrapped expression; outer ones first */
};

struct edit {
    uint64_t
        order; /* order among insertions at one offset: rank, then nesting or sequence */
    struct insertion insertion;
};

struct edits {
    struct edit *items; /* owned */
    size_t count;
    size_t capacity;
    struct buffer text; /* owned; all inserted texts */
    bool has_failed;    /* out of memory; checked once, by edits_sort */
    /* over INSTRUMENT_INSERTED_LIMIT: later insertions were dropped */
    bool is_too_large;
};

void edits_init(struct edits *edits);
void edits_release(struct edits *edits);

/* Begin and end an insertion. Its text is added to `edits->text` between the two calls. */
size_t edits_begin(const struct edits *edits);
void edits_end(struct edits *edits, size_t begin, uint32_t offset, enum edit_rank rank);

/* End an insertion at the start or the end of a wrapped range. `level` orders wraps of one
 * range; 0 is the outermost. */
void edits_end_open(
    struct edits *edits, size_t begin, uint32_t start, uint32_t end, uint32_t level);
void edits_end_close(
    struct edits *edits, size_t begin, uint32_t start, uint32_t end, uint32_t level);

/* Sets the columns that code in the last insertion reports. */
void edits_anchor(struct edits *edits, uint32_t start, uint32_t end);

/* Sorts the insertions. Returns false if any allocation failed. */
bool edits_sort(struct edits *edits);

/* Writes the text with all insertions. Requires edits_sort. Returns false if out of memory. */
bool edits_apply(const struct edits *edits, struct slice text, struct buffer *output);

#endif
