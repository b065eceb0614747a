/* The words of a statement: its operations and numbers. They are evidence where values leave
 * several lines possible; no conclusion is drawn from words alone. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_WORDS_H
#define MONITORCH_VIEW_DIFF_MATCH_WORDS_H

#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATCH_NUMBERS_MAX 256

/* `operations` has a bit for each operation of words.def, in their order, and for each operator. */
struct match_words {
    uint64_t operations[2];
    double numbers[MATCH_NUMBERS_MAX];
    size_t number_count;
};

/* Adds the words of a statement. */
void match_words_add(struct match_words *words, struct slice statement);
void match_words_add_number(struct match_words *words, double number);

/* Whether the words have the number, or an operation of theirs has it as its default: the eps of
 * a norm. */
bool match_words_implies(const struct match_words *words, double number);
bool match_words_has_number(const struct match_words *words, double number);
/* Counts the operations of `words` that are not in `others`. */
unsigned match_words_count_foreign(const struct match_words *words,
                                   const struct match_words *others);
/* Counts the operations that the two have in common. */
unsigned match_words_count_common(const struct match_words *words,
                                  const struct match_words *others);
/* The first number of `words` that is not in `others`, except 0, 1, 2 and -1. NaN: none. */
double match_words_foreign_number(const struct match_words *words,
                                  const struct match_words *others);

#endif
