/* Verdicts on the facts of two traces, by the graphs of both.
 *
 * An event is odd if its value differs, or if only one run has it, either because the runs took
 * different branches or because an input of it is odd. A pair that differs is inherited if an
 * input is odd by a certain edge, else own.
 *
 * An odd value comes back, that is, its difference has no effect, if every value made from it is
 * equal in both runs or comes back. It is an intermediate step then and no difference; else it is
 * lost. Three exceptions: an equal result proves nothing if it has fewer elements, since the sum
 * of a layer norm is 0 for any eps. A value that chose another branch does not come back if a
 * value in that branch does not. If both runs give one name different values, they come back only
 * if one of the runs has the other's value elsewhere. */
#ifndef MONITORCH_VIEW_DIFF_JUDGE_VERDICTS_H
#define MONITORCH_VIEW_DIFF_JUDGE_VERDICTS_H

#include "runtime/view/diff/judge/facts.h"

#include <stdbool.h>

/* Makes the verdicts of both sides. Returns false if memory ran out. */
bool diff_verdicts_find(struct diff_facts sides[2], bool has_edits);

/* Returns the code that only this side has and that wrote an input of the fact, unless an input
 * of the other side's fact has that value. NULL: there is none. */
const struct diff_fact *diff_verdicts_find_code(const struct diff_facts *facts,
                                                const struct diff_fact *fact,
                                                const struct diff_facts *others,
                                                const struct diff_fact *other);

#endif
