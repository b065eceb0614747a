/* What a statement does, as words: its operations and its numbers. Evidence where values leave several
 * lines open; nothing is concluded from words alone. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_WORDS_H
#define MONITORCH_VIEW_DIFF_MATCH_WORDS_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATCH_NUMBERS_MAX 256

/* Bits of `operations`: those of words.def in their order, and operators. */
struct match_words {
    uint64_t operations[2];
    double numbers[MATCH_NUMBERS_MAX];
    size_t number_count;
};

/* Adds the words of a statement. */
void match_words_add(struct match_words *words, struct slice statement);
void match_words_add_number(struct match_words *words, double number);

/* The same, or an operation of `words` has it where no other number is given: the eps of a norm. */
bool match_words_implies(const struct match_words *words, double number);
bool match_words_has_number(const struct match_words *words, double number);
/* How many operations of `words` are not in `others`. */
unsigned match_words_count_foreign(const struct match_words *words,
                                   const struct match_words *others);
/* How many operations the two have in common. */
unsigned match_words_count_common(const struct match_words *words,
                                  const struct match_words *others);
/* The first number of `words` that is not in `others`, but for 0, 1, 2 and -1; NaN: none. */
double match_words_foreign_number(const struct match_words *words,
                                  const struct match_words *others);

#endif
