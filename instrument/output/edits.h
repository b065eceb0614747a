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
    EDIT_BOOT,   /* brings the hook into the file: before any call of it */
    EDIT_AFTER,  /* follows a statement */
    EDIT_BEFORE, /* precedes a statement or a value */
    EDIT_OPEN,   /* begins a wrapped expression; outer ones first */
};

struct edit {
    uint64_t order; /* among insertions of one offset: rank, then nesting or sequence */
    struct insertion insertion;
};

struct edits {
    struct edit *items; /* owned */
    size_t count;
    size_t capacity;
    struct buffer text; /* owned; all inserted texts */
    bool has_failed;    /* memory ran out: checked once, by edits_sort */
    /* Over INSTRUMENT_INSERTED_LIMIT: later insertions were dropped. */
    bool is_too_large;
};

void edits_init(struct edits *edits);
void edits_release(struct edits *edits);

/* The text of the next insertion is added to `edits->text` between these two calls. */
size_t edits_begin(const struct edits *edits);
void edits_end(struct edits *edits, size_t begin, uint32_t offset, enum edit_rank rank);

/* The same for the two ends of a wrapped range; `level` orders wraps of one range, 0 is the
 * outermost. */
void edits_end_open(
    struct edits *edits, size_t begin, uint32_t start, uint32_t end, uint32_t level);
void edits_end_close(
    struct edits *edits, size_t begin, uint32_t start, uint32_t end, uint32_t level);

/* Code in the insertion added last reports these columns. */
void edits_anchor(struct edits *edits, uint32_t start, uint32_t end);

/* Sorts the insertions. False where memory ran out at any time. */
bool edits_sort(struct edits *edits);

/* The text with all insertions, after edits_sort. False where memory ran out. */
bool edits_apply(const struct edits *edits, struct slice text, struct buffer *output);

#endif
