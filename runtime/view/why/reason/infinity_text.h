/* Infinities that a program's text names: they are meant. */
#ifndef MONITORCH_VIEW_WHY_REASON_INFINITY_TEXT_H
#define MONITORCH_VIEW_WHY_REASON_INFINITY_TEXT_H

#include "runtime/base/slice.h"

#include <stdbool.h>

/* Whether the text names one: `-torch.inf`, `float('-inf')`. */
bool infinity_is_named(struct slice text);

/* Whether the statement does no more than to hand values on: names and dots, no call, no
 * arithmetic. */
bool statement_hands_on(struct slice statement);

/* The text of a parameter's default in that of its `def`, without comments and line ends; "": it
 * has none. Borrowed from the definition. */
struct slice parameter_default(struct slice definition, struct slice name);

#endif
