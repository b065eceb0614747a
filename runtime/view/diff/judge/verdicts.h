/* Verdicts on the facts of two traces, by the graphs of both.
 *
 * An event is odd if its value differs, or if one run alone has it and it was made from something
 * odd, or by another way through the program. A pair that differs is inherited if something odd
 * went into it by a certain edge, else own. An odd value comes back if all that was made from it
 * is equal in both runs or comes back: then it is a step of its own, and no difference. That a
 * result of fewer elements is equal proves nothing: the sum of a layer norm is 0 whatever its eps.
 * What chose another way through the program does not come back if something of that way does not.
 * And where both runs give one name another value, one of them must have the other's elsewhere. */
#ifndef MONITORCH_VIEW_DIFF_JUDGE_VERDICTS_H
#define MONITORCH_VIEW_DIFF_JUDGE_VERDICTS_H

#include "runtime/view/diff/judge/facts.h"

#include <stdbool.h>

/* Makes the verdicts of both sides. false: out of memory. */
bool diff_verdicts_find(struct diff_facts sides[2], bool has_edits);

/* Code that this side alone has and that wrote what the fact was made from, where no input of the
 * other side has that value in its place; NULL: there is none. */
const struct diff_fact *diff_verdicts_find_code(const struct diff_facts *facts,
                                                const struct diff_fact *fact,
                                                const struct diff_facts *others,
                                                const struct diff_fact *other);

#endif
