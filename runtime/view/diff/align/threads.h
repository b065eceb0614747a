/* Threads are gone through one after the other: those of the same name together, then those whose
 * names differ in numbers alone, then each that is left. */
#ifndef MONITORCH_VIEW_DIFF_ALIGN_THREADS_H
#define MONITORCH_VIEW_DIFF_ALIGN_THREADS_H

#include "runtime/view/diff/align/side.h"

#include <stdbool.h>

/* Begins with the threads that the traces begin with. Which others there are is known at the
 * end of these. */
void diff_threads_start(struct diff_side sides[2]);

/* Begins with the next ones; false: all are done. */
bool diff_threads_next(struct diff_side sides[2]);

#endif
