/* The reading of an expression's text, step by step: what the files that do it share. Not for use
 * elsewhere. */
#ifndef MONITORCH_VIEW_WHY_REASON_READING_H
#define MONITORCH_VIEW_WHY_REASON_READING_H

#include "runtime/view/why/reason/expression.h"

/* How tightly operators bind. */
enum level {
    LEVEL_NONE,
    LEVEL_BITS,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_SIGN,
    LEVEL_POWER,
};

bool reading_is_word(char byte);
bool reading_is_digit(char byte);
/* The byte so far ahead; 0 behind the end. */
char reading_peek(const struct expressions *all, size_t ahead);
void reading_skip_blanks(struct expressions *all);
/* Behind its opening quote. */
void reading_skip_string(struct expressions *all, char quote);
struct slice reading_read_word(struct expressions *all);
/* Goes behind that word if it stands there. */
bool reading_skip_word(struct expressions *all, struct slice word);
/* A new item, whose text goes from `start` to where the reading is. */
uint32_t reading_add(struct expressions *all, enum expression_kind kind, size_t start);

/* Behind the bracket that closes the one that stands there. */
void reading_skip_bracket(struct expressions *all);

#endif
