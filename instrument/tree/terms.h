/* Terms: the sources of an expression's value, in the notation of runtime/site/format.h. */
#ifndef MONITORCH_INSTRUMENT_TREE_TERMS_H
#define MONITORCH_INSTRUMENT_TREE_TERMS_H

#include "instrument/tree/foreign.h"
#include "instrument/tree/reads.h"
#include "instrument/tree/scope.h"

#include <stdbool.h>
#include <stdint.h>

/* A statement with a longer text, or with deeper nesting, has no term. */
#define TERMS_SIZE_LIMIT  4000
#define TERMS_DEPTH_LIMIT 48

struct terms {
    char text[TERMS_SIZE_LIMIT];
    uint32_t size;
    bool is_left_out;
};

/* The reads to which terms refer by number, and the facts about the file's names. */
struct terms_source {
    const struct scope *scope;     /* borrowed */
    const struct reads *reads;     /* borrowed */
    const struct foreign *foreign; /* borrowed */
};

/* Adds the term of the expression at `node`, whose names are among the reads. */
void terms_add(struct terms *terms, const struct terms_source *source, uint32_t node);

/* Adds such a text unchanged. */
void terms_add_text(struct terms *terms, const char *text);
void terms_add_number(struct terms *terms, uint32_t number);

/* The whole text. Empty if it was left out. */
struct slice terms_text(const struct terms *terms);

#endif
