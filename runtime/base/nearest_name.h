/* Suggestions for a mistyped name. The word may be a glob: `encoder.*.q`. */
#ifndef MONITORCH_BASE_NEAREST_NAME_H
#define MONITORCH_BASE_NEAREST_NAME_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stddef.h>

/* Longer words and names get no suggestion. */
#define NEAREST_NAME_MAX_SIZE 200
#define NEAREST_NAME_MAX      3

/* The nearest of the candidates, which are added one by one. Those kept have the same distance,
 * and are in the order of adding. A name that differs in more than a third of the word's letters
 * is not suggested. */
struct nearest {
    struct slice word;   /* borrowed */
    size_t distance;     /* of the kept names; farther ones are not added */
    size_t letter_count; /* of the word, without `*` and `?` */
    size_t count;        /* of `names` */
    struct slice names[NEAREST_NAME_MAX]; /* borrowed: the candidates */
};

void nearest_init(struct nearest *nearest, struct slice word);
void nearest_add(struct nearest *nearest, struct slice name);

/* Appends `; did you mean a, b or c?`, or nothing if no name is near. */
void nearest_write(const struct nearest *nearest, struct buffer *text);

/* The nearest of `names`. NULL if none is near. */
const char *nearest_name(const char *word, const char *const *names, int count);

#endif
