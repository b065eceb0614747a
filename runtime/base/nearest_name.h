/* The names that a mistyped one was meant to be. The word may be a glob: `encoder.*.q`. */
#ifndef MONITORCH_BASE_NEAREST_NAME_H
#define MONITORCH_BASE_NEAREST_NAME_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stddef.h>

/* Longer words and names have none. */
#define NEAREST_NAME_MAX_SIZE 200
#define NEAREST_NAME_MAX      3

/* Candidates are added one by one; those kept are equally near, in the order in which they were
 * added. No more than a third of the word's letters differ: what is further off is a guess. */
struct nearest {
    struct slice word;   /* borrowed */
    size_t distance;     /* of what was found; farther names are not added */
    size_t letter_count; /* of the word, without `*` and `?` */
    size_t count;        /* of `names` */
    struct slice names[NEAREST_NAME_MAX]; /* borrowed: the candidates */
};

void nearest_init(struct nearest *nearest, struct slice word);
void nearest_add(struct nearest *nearest, struct slice name);

/* Appends `; did you mean a, b or c?`; nothing where none is near. */
void nearest_write(const struct nearest *nearest, struct buffer *text);

/* The one of `names` that `word` was most likely meant to be; NULL where none is near. */
const char *nearest_name(const char *word, const char *const *names, int count);

#endif
